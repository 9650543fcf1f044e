use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use flow_core::ids::Millis;

use super::super::StateDir;
use super::*;

fn run() -> (tempfile::TempDir, RunFolder) {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(&dir.path().join(".flow")).unwrap();
    let run = RunFolder::create(&state, Millis(0)).unwrap();
    (dir, run)
}

#[test]
fn a_run_has_one_owner_and_says_who() {
    let (_dir, run) = run();
    assert!(!run.owner_alive().unwrap());
    assert_eq!(run.last_owner(), None);
    let lock = run.lock().unwrap();
    assert!(run.owner_alive().unwrap());
    let error = run.lock().unwrap_err().to_string();
    assert_eq!(error, format!("run `{}` is being run by process {}", run.id(), std::process::id()));
    drop(lock);
    assert!(!run.owner_alive().unwrap());
    assert_eq!(run.last_owner().unwrap(), ProcessIdentity::current().unwrap());
    run.lock().unwrap();
}

#[test]
fn ownership_ends_when_its_process_is_killed() {
    let (_dir, run) = run();
    let file = run.path().join("owner");
    let script = r#"exec 9>"$0"; flock 9; echo locked; read -r _"#;
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(&file).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut owner = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(owner.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "locked\n");
    assert!(run.owner_alive().unwrap());
    assert!(matches!(run.lock(), Err(OwnerError::Owned { owner: None, .. })));
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(!run.owner_alive().unwrap());
    run.lock().unwrap();
}

#[test]
fn children_do_not_inherit_ownership() {
    let (_dir, run) = run();
    let lock = run.lock().unwrap();
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    drop(lock);
    assert!(!run.owner_alive().unwrap());
    child.kill().unwrap();
    child.wait().unwrap();
}
