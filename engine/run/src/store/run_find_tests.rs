use super::*;

const RUNS: [&str; 3] = ["20261129-100000-0aaaaa", "20261130-075412-0bbbbb", "20261130-075412-0ccccc"];

fn find(runs: &[&str], text: &str) -> Result<String, String> {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(&dir.path().join(".flow")).unwrap();
    for run in runs {
        crate::sys::files::make_private_dir(&state.runs().join(run)).unwrap();
        std::fs::write(state.runs().join(run).join("events.jsonl"), "{}\n").unwrap();
    }
    // None of these is a run; the last died before its first event.
    std::fs::create_dir(state.runs().join("20980101-000000-0zzzzz")).unwrap();
    std::fs::create_dir(state.runs().join("20970101-000000-0zzzzz")).unwrap();
    std::fs::write(state.runs().join("20970101-000000-0zzzzz").join("events.jsonl"), "").unwrap();
    std::fs::write(state.runs().join("20990101-000000-0zzzzz"), "").unwrap();
    std::fs::create_dir(state.runs().join("Notes")).unwrap();
    let place = dir.path().display().to_string();
    RunFolder::find(&state, text)
        .map(|run| run.id().to_string())
        .map_err(|error| error.to_string().replace(&place, "DIR"))
}

#[test]
fn a_run_is_found_by_id_prefix_or_as_the_latest() {
    assert_eq!(find(&RUNS, RUNS[1]).unwrap(), RUNS[1]);
    assert_eq!(find(&RUNS, "20261129").unwrap(), RUNS[0]);
    assert_eq!(find(&RUNS, "latest").unwrap(), RUNS[2]);
}

#[test]
fn an_id_that_begins_another_is_found_all_the_same() {
    assert_eq!(find(&["a", "ab"], "a").unwrap(), "a");
}

#[test]
fn a_run_that_is_not_there_is_answered_with_those_that_are() {
    let message = find(&RUNS, "20261201").unwrap_err();
    assert_eq!(
        message,
        format!("there is no run `20261201`; the newest are `{}`, `{}`, `{}`", RUNS[2], RUNS[1], RUNS[0])
    );
}

#[test]
fn an_ambiguous_prefix_is_answered_with_candidates() {
    let message = find(&RUNS, "20261130").unwrap_err();
    assert_eq!(message, format!("2 runs begin with `20261130`: `{}`, `{}`", RUNS[2], RUNS[1]));
}

#[test]
fn without_runs_the_folder_is_named() {
    assert_eq!(find(&[], "latest").unwrap_err(), "there are no runs in `DIR/.flow`");
    assert_eq!(find(&[], "2026").unwrap_err(), "there are no runs in `DIR/.flow`");
}

#[test]
fn what_could_lead_elsewhere_is_no_run_id() {
    assert_eq!(find(&RUNS, "../x").unwrap_err(), "`../x` is no run id");
    assert_eq!(find(&RUNS, "a\u{1b}").unwrap_err(), "`a\\u{1b}` is no run id");
    assert_eq!(find(&RUNS, "").unwrap_err(), "`` is no run id");
}

#[test]
fn a_run_folder_that_others_may_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(&dir.path().join(".flow")).unwrap();
    let run = RunFolder::create(&state, flow_core::ids::Millis(0)).unwrap();
    std::fs::write(run.events(), "{}\n").unwrap();
    std::fs::set_permissions(run.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = RunFolder::find(&state, "latest").unwrap_err();
    assert!(matches!(error, FindError::State(StateError::WorldWritable { .. })));
}
