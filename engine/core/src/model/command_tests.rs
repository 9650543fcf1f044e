use super::*;

/// What a line of `control.jsonl` says.
fn read(line: &str) -> Command {
    serde_json::from_str(line).unwrap()
}

#[test]
fn what_every_version_wrote_is_read() {
    let stop = |force, signal| Command::StopRun { force, signal };
    assert_eq!(read(r#"{"order":"stop_run"}"#), stop(false, None));
    assert_eq!(read(r#"{"order":"stop_run","force":true}"#), stop(true, None));
    let task = Command::StopTask { task: "a[1]".into(), force: true };
    assert_eq!(read(r#"{"order":"stop_task","task":"a[1]","force":true}"#), task);
}

#[test]
fn what_this_version_writes_is_what_earlier_ones_read() {
    let written = |command: &Command| serde_json::to_string(command).unwrap();
    assert_eq!(
        written(&Command::StopRun { force: false, signal: None }),
        r#"{"order":"stop_run","force":false}"#
    );
    assert_eq!(
        written(&Command::StopTask { task: "a".into(), force: false }),
        r#"{"order":"stop_task","task":"a","force":false}"#
    );
}
