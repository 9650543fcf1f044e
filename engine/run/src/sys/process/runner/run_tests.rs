use std::ffi::OsString;
use std::io::{Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use super::super::command::{Environment, Limits, Taker};
use super::*;
use crate::sys::process::become_subreaper;
use crate::sys::stop::{StopSwitch, stop_pair};

/// The ways in which a command may print.
#[derive(Clone, Copy, Debug)]
enum Way {
    Files,
    Apart,
    Joined,
}

const WAYS: [Way; 3] = [Way::Files, Way::Apart, Way::Joined];

/// What a command came to in a folder of its own.
struct Played {
    dir: tempfile::TempDir,
    ran: Ran,
    printed: String,
}

impl Played {
    /// Whether the process whose number stands in this file is gone.
    fn is_gone(&self, name: &str) -> bool {
        let pid = std::fs::read_to_string(self.dir.path().join(name)).unwrap();
        !Path::new("/proc").join(pid.trim()).exists()
    }
}

/// Runs a script; once it has made the file `ready`, something is done with its switch.
async fn play(way: Way, script: &str, act: impl FnOnce(&StopSwitch)) -> Played {
    become_subreaper().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let argv = ["sh", "-c", script].map(OsString::from);
    let tag = format!("test/{}", dir.path().display());
    let command = Command {
        argv: &argv,
        env: &Environment::default(),
        dir: dir.path(),
        tag: &tag,
        orphans: Orphans::End,
        limits: Limits::default(),
        grace: Duration::from_millis(50),
    };
    let (switch, mut stop) = stop_pair();
    let mut files = [tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap()];
    let (mut printed, mut errors) = (Vec::new(), Vec::new());
    let output = match way {
        Way::Files => Output::Files(files.each_ref()),
        Way::Apart => Output::Apart([keep(&mut printed), keep(&mut errors)]),
        Way::Joined => Output::Joined(keep(&mut printed)),
    };
    let ready = dir.path().join("ready");
    let acting = async {
        while !ready.exists() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        act(&switch);
        std::future::pending().await
    };
    let ran = tokio::select! {
        ran = tokio::time::timeout(Duration::from_secs(60), run(&command, output, &mut stop)) => ran.unwrap(),
        never = acting => never,
    };
    for file in &mut files {
        file.rewind().unwrap();
        file.read_to_end(&mut printed).unwrap();
    }
    printed.extend(errors);
    Played { dir, ran: ran.unwrap(), printed: String::from_utf8(printed).unwrap() }
}

fn keep(into: &mut Vec<u8>) -> Taker<'_> {
    Box::new(|piece| {
        into.extend_from_slice(piece);
        Ok(())
    })
}

#[tokio::test]
async fn what_ignores_term_is_killed_and_so_is_what_it_has_started() {
    // The grandchild is in a session of its own and holds the output open.
    let script = r#"trap "" TERM
        setsid sh -c 'trap "" TERM; echo $$ >stray; while :; do sleep 1000; done' &
        sh -c 'echo $$ >member; while :; do sleep 1000; done' &
        until [ -s stray ] && [ -s member ]; do :; done
        echo out; echo err >&2; : >ready; while :; do sleep 1000; done"#;
    for (way, force) in WAYS.into_iter().flat_map(|way| [(way, false), (way, true)]) {
        let order = StopOrder { reason: Reason::FailFast, force };
        let played = play(way, script, |switch| switch.stop(order)).await;
        let ran = &played.ran;
        let seen = (ran.cut, ran.status.signal(), ran.left_over, ran.swept.escaped);
        assert_eq!(seen, (Some(Cut::Ordered(Reason::FailFast)), Some(9), false, true), "{way:?} {force}");
        assert!(played.is_gone("stray") && played.is_gone("member"), "{way:?} {force}");
        assert_eq!(played.printed, "out\nerr\n", "{way:?} {force}");
        assert!(ran.taken.is_ok());
    }
}

#[tokio::test]
async fn what_is_left_in_the_group_is_ended_and_its_output_taken() {
    let script = r#"sh -c 'trap "echo bye; exit" TERM; echo $$ >member; while :; do sleep 1000 & wait; done' &
        until [ -s member ]; do :; done; echo out"#;
    for way in WAYS {
        let played = play(way, script, |_| {}).await;
        let ran = &played.ran;
        assert_eq!((ran.cut, ran.status.code(), ran.left_over), (None, Some(0), true), "{way:?}");
        assert!(played.is_gone("member"), "{way:?}");
        assert_eq!(played.printed, "out\nbye\n", "{way:?}");
    }
}

#[tokio::test]
async fn nothing_is_lost_of_what_is_more_than_a_pipe_holds() {
    for way in WAYS {
        let played = play(way, "head -c 3000000 /dev/zero; printf end", |_| {}).await;
        assert_eq!(played.printed.len(), 3_000_003, "{way:?}");
        assert!(played.printed.ends_with("\0end"), "{way:?}");
    }
}

#[tokio::test]
async fn a_taker_that_fails_gets_no_more_and_the_command_a_closed_pipe() {
    let argv = ["sh", "-c", "exec yes"].map(OsString::from);
    let command = Command {
        argv: &argv,
        env: &Environment::default(),
        dir: Path::new("/"),
        tag: "test/full",
        orphans: Orphans::Leave,
        limits: Limits::default(),
        grace: Duration::ZERO,
    };
    let (_switch, mut stop) = stop_pair();
    let mut taken = 0;
    let full = |_: &[u8]| {
        taken += 1;
        Err(io::ErrorKind::StorageFull.into())
    };
    let ran = run(&command, Output::Joined(Box::new(full)), &mut stop).await.unwrap();
    assert_eq!(ran.status.signal(), Some(rustix::process::Signal::PIPE.as_raw()));
    assert_eq!(ran.taken.unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(taken, 1);
}
