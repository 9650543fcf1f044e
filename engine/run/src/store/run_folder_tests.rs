use super::*;

fn state() -> (tempfile::TempDir, StateDir) {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(&dir.path().join(".flow")).unwrap();
    (dir, state)
}

#[test]
fn a_run_is_named_after_its_moment_and_order_by_name_is_order_by_time() {
    let moment = |ms: u64| new_id(Millis(1_796_025_252_000 + ms)).unwrap();
    assert!(moment(0).as_str().starts_with("20261130-075412-00"), "{}", moment(0));
    assert_eq!(moment(7).as_str().len(), "20261130-075412-k3f9q2".len());
    let ids: Vec<_> = [0, 1, 31, 32, 500, 999, 1000].map(moment).into();
    assert!(ids.is_sorted(), "{ids:?}");
    assert_ne!(moment(7), moment(7));
}

#[test]
fn runs_that_start_together_get_folders_of_their_own() {
    let (_dir, state) = state();
    let made: std::collections::BTreeSet<_> =
        (0..50).map(|_| RunFolder::create(&state, Millis(0)).unwrap().id().clone()).collect();
    assert_eq!(made.len(), 50);
}

#[test]
fn a_task_has_a_folder_of_one_level_whatever_its_address() {
    let (_dir, state) = state();
    let run = RunFolder::create(&state, Millis(0)).unwrap();
    let path = run.make_task(&Address::task("review").instance("../../etc")).unwrap();
    assert!(path.is_dir());
    assert_eq!(path.parent().unwrap(), run.path().join("tasks"));
    assert_eq!(run.relative(&path).unwrap(), "tasks/review.5B.2E.2E.2F.2E.2E.2Fetc.5D");
    assert_eq!(run.relative(Path::new("/etc")), None);
}

#[test]
fn a_path_that_leads_out_of_the_folder_is_refused() {
    let (_dir, state) = state();
    let run = RunFolder::create(&state, Millis(0)).unwrap();
    assert_eq!(run.resolve("out/0.out").unwrap(), run.path().join("out/0.out"));
    for bad in ["", "/etc/passwd", "../x", "out/../../x", "."] {
        assert!(run.resolve(bad).is_err(), "{bad}");
    }
}
