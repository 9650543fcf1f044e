use super::{Entry, Event};

#[track_caller]
fn check(line: &str, expected: (Option<&str>, Option<&str>)) {
    let entry: Entry = serde_json::from_str(line).unwrap();
    assert_eq!(serde_json::to_string(&entry).unwrap(), line, "it is written as it was read");
    let Event::WorktreeMade { branch, base, .. } = &entry.event else { panic!("{entry:?}") };
    assert_eq!((branch.as_deref(), base.as_deref()), expected);
}

#[test]
fn a_copy_has_neither_branch_nor_base_in_either_version() {
    for version in [1, 2] {
        let head = format!(
            r#"{{"v":{version},"seq":0,"at":1,"ev":"worktree_made","task":"t","attempt":1,"path":"/t""#
        );
        check(&format!("{head}}}"), (None, None));
        check(
            &format!(r#"{head},"branch":"flow/r/t.1","base":"0f5c"}}"#),
            (Some("flow/r/t.1"), Some("0f5c")),
        );
    }
}
