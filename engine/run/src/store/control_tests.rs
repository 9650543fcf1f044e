use flow_core::ids::Millis;

use super::super::StateDir;
use super::*;

fn folder() -> (tempfile::TempDir, RunFolder) {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(&dir.path().join("state")).unwrap();
    let folder = RunFolder::create(&state, Millis(1_700_000_000_000)).unwrap();
    (dir, folder)
}

#[test]
fn a_command_is_read_once_and_only_by_an_engine_that_lived_when_it_was_given() {
    let (_dir, folder) = folder();
    let mut first = ControlReader::from_now(&folder);
    assert_eq!(first.read().unwrap(), []);
    let command = Command::StopTask { task: "a[1]".into(), force: false };
    folder.send(&command).unwrap();
    assert_eq!(first.read().unwrap(), std::slice::from_ref(&command));
    assert_eq!(first.read().unwrap(), []);
    assert_eq!(ControlReader::from_now(&folder).read().unwrap(), []);
}

#[test]
fn what_is_no_command_is_passed_over_and_what_is_not_whole_is_waited_for() {
    let (_dir, folder) = folder();
    let mut reader = ControlReader::from_now(&folder);
    std::fs::write(folder.control(), "nonsense\n{\"order\":\"fly\"}\n{\"order\":\"stop_run\"}\n{\"order\":")
        .unwrap();
    assert_eq!(reader.read().unwrap(), [Command::StopRun { force: false, signal: None }]);
    let mut text = std::fs::read_to_string(folder.control()).unwrap();
    text.push_str("\"stop_run\",\"force\":true}\n");
    std::fs::write(folder.control(), text).unwrap();
    assert_eq!(reader.read().unwrap(), [Command::StopRun { force: true, signal: None }]);
}
