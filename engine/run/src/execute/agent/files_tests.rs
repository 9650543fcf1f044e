use super::*;

#[test]
fn a_full_disk_and_anything_else_are_different_reasons() {
    let reason = |kind: ErrorKind| {
        let error = FilesError { path: "x".into(), source: io::Error::from(kind) };
        error.outcome().reason
    };
    assert_eq!(reason(ErrorKind::StorageFull), Some(Reason::NoSpace));
    assert_eq!(reason(ErrorKind::PermissionDenied), Some(Reason::Internal));
}

#[test]
fn calls_are_counted_by_whole_lines() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(recorded_calls(folder.path()).unwrap(), 0);
    std::fs::write(folder.path().join(WIRE), "{}\n{}\n{\"torn").unwrap();
    assert_eq!(recorded_calls(folder.path()).unwrap(), 2);
}
