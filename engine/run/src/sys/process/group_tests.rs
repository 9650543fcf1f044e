use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;

use super::super::ProcessIdentity;
use super::super::stray::become_subreaper;
use tokio::time::Instant;

use super::*;

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdout(Stdio::piped());
    command
}

fn first_pid(leader: &mut Leader) -> Pid {
    let mut line = String::new();
    BufReader::new(leader.take_pipes().0.unwrap()).read_line(&mut line).unwrap();
    Pid::from_raw(line.trim().parse().unwrap()).unwrap()
}

async fn until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut pause = Pause::new();
    while !condition() {
        assert!(Instant::now() < deadline, "nothing happened");
        pause.sleep().await;
    }
}

#[tokio::test]
async fn a_leader_is_waited_for_with_and_without_a_pidfd() {
    for poll in [false, true] {
        let mut leader = Leader::spawn(&mut sh("exit 7")).unwrap();
        if poll {
            leader.exit = ExitWatch::Poll;
        }
        let (status, remnant) = leader.wait().await.unwrap();
        assert_eq!(status.code(), Some(7));
        assert!(!remnant.is_alive());
        assert!(!is_live_leader(leader.pid));
    }
}

#[tokio::test]
async fn waiting_ends_with_the_leader_though_others_hold_its_output() {
    become_subreaper().unwrap();
    let mut leader = Leader::spawn(&mut sh("sleep 1000 & exit 0")).unwrap();
    let (_, remnant) = leader.wait().await.unwrap();
    assert!(remnant.is_alive());
    remnant.signal(Signal::KILL);
    assert!(remnant.ends_within(Duration::from_secs(10)).await);
}

#[tokio::test]
async fn a_dropped_leader_takes_its_group_with_it() {
    become_subreaper().unwrap();
    let mut leader = Leader::spawn(&mut sh("sleep 1000 & echo $!; wait")).unwrap();
    let kid = ProcessIdentity::of(first_pid(&mut leader)).unwrap();
    let pid = leader.pid;
    drop(leader);
    until(|| !kid.is_alive() && !is_live_leader(pid)).await;
    assert!(Remnant(pid).ends_within(Duration::from_secs(10)).await);
}

#[tokio::test]
async fn a_wait_may_be_given_up_and_taken_up_again() {
    let mut leader = Leader::spawn(&mut sh("exec sleep 1000")).unwrap();
    tokio::select! {
        biased;
        _ = leader.wait() => panic!("it sleeps"),
        () = std::future::ready(()) => {}
    }
    leader.signal(Signal::KILL);
    let (status, _) = leader.wait().await.unwrap();
    assert_eq!(status.signal(), Some(Signal::KILL.as_raw()));
    assert!(leader.wait().await.unwrap_err().to_string().starts_with("bug:"));
}
