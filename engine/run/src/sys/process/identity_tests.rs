use std::process::{Command, Stdio};

use super::*;

#[test]
fn this_process_is_alive_and_survives_a_trip_through_json() {
    let us = ProcessIdentity::current().unwrap();
    let json = serde_json::to_string(&us).unwrap();
    assert!(serde_json::from_str::<ProcessIdentity>(&json).unwrap().is_alive());
}

#[test]
fn the_same_number_with_another_start_or_another_boot_is_another_process() {
    let us = ProcessIdentity::current().unwrap();
    let start_time = us.start_time.map(|start| start + 1);
    assert!(!ProcessIdentity { start_time, ..us.clone() }.is_alive());
    assert!(!ProcessIdentity { boot_id: Some("another".into()), ..us.clone() }.is_alive());
    assert!(!ProcessIdentity { pid: 0, ..us }.is_alive());
}

#[test]
fn what_an_earlier_flow_left_out_is_no_sign_of_death() {
    let us = ProcessIdentity::current().unwrap();
    let start_time = us.start_time.map(|start| start + 1);
    assert!(ProcessIdentity { boot_id: None, ..us.clone() }.is_alive());
    assert!(!ProcessIdentity { boot_id: None, start_time, ..us.clone() }.is_alive());
    let number_alone: ProcessIdentity = serde_json::from_str(&format!(r#"{{"pid":{}}}"#, us.pid)).unwrap();
    assert!(number_alone.is_alive());
}

#[test]
fn this_process_is_no_other_one() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    assert!(ProcessIdentity::of(Pid::from_child(&child)).unwrap().is_another_alive());
    assert!(!ProcessIdentity::current().unwrap().is_another_alive());
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[test]
fn a_process_that_ended_is_not_alive_even_before_it_is_reaped() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let identity = ProcessIdentity::of(Pid::from_child(&child)).unwrap();
    assert!(identity.is_alive());
    child.kill().unwrap();
    let ended = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
    rustix::process::waitid(rustix::process::WaitId::Pid(Pid::from_child(&child)), ended).unwrap();
    assert!(!identity.is_alive());
    child.wait().unwrap();
    assert!(!identity.is_alive());
}
