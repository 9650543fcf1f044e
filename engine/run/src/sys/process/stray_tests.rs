use std::process::Command;

use super::super::{Leader, Remnant};
use super::*;

/// Runs a script under a tag until its leader ends; returns the tag and what it printed.
async fn run(name: &str, script: &str) -> (String, Vec<Pid>) {
    become_subreaper().unwrap();
    let tag = format!("test-{}-{name}", getpid());
    let mut command = Command::new("sh");
    command.args(["-c", script]).env(ATTEMPT_VARIABLE, tag_value(&tag)).stdout(std::process::Stdio::piped());
    let mut leader = Leader::spawn(&mut command).unwrap();
    let output = leader.take_pipes().0.unwrap();
    let (_, remnant): (_, Remnant) = leader.wait().await.unwrap();
    assert!(remnant.ends_within(Duration::from_secs(10)).await);
    // What escaped may hold the pipe, so one line is read, not all there is.
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
    let pids = line.split_whitespace().map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap());
    (tag, pids.collect())
}

fn is_gone(pid: Pid) -> bool {
    procfs::stat(pid).is_err()
}

#[tokio::test]
async fn nothing_is_swept_where_nothing_escaped() {
    let (tag, _) = run("none", "true").await;
    assert!(!sweep(&tag).await.escaped);
}

#[tokio::test]
async fn a_process_in_a_session_of_its_own_is_ended_and_reaped() {
    let (tag, pids) = run("setsid", "setsid sleep 1000 2>/dev/null & echo $!").await;
    assert!(sweep(&tag).await.escaped);
    assert!(pids.iter().all(|pid| is_gone(*pid)), "{pids:?}");
}

#[tokio::test]
async fn a_daemon_that_ignores_term_and_its_children_are_ended_too() {
    // The fifo makes the leader outlast the moment in which the trap is set.
    let script = r#"
        F=$(mktemp -u); mkfifo "$F"; export F
        setsid sh -c 'trap "" TERM; sleep 1000 & echo $$ $! >"$F"; wait' &
        cat "$F"; rm "$F""#;
    let (tag, pids) = run("daemon", script).await;
    assert_eq!(pids.len(), 2);
    assert!(sweep(&tag).await.escaped);
    assert!(pids.iter().all(|pid| is_gone(*pid)), "{pids:?}");
}

#[tokio::test]
async fn another_attempts_stray_is_left_alone() {
    let (tag, pids) = run("other", "setsid sleep 1000 2>/dev/null & echo $!").await;
    assert!(!sweep(&format!("{tag}-1")).await.escaped);
    assert!(!sweep(&tag[..tag.len() - 1]).await.escaped);
    assert!(!is_gone(pids[0]));
    let others = format!("{tag}-1");
    while whose(pids[0], &others) == Orphan::Nameless {
        tokio::task::yield_now().await;
    }
    assert_eq!(whose(pids[0], &others), Orphan::Other, "its mark says whose it is");
    assert!(sweep(&tag).await.escaped);
}

#[tokio::test]
async fn a_runs_tag_finds_all_of_its_attempts() {
    let (tag, pids) = run("run/a/1", "setsid sleep 1000 2>/dev/null & echo $!").await;
    let run = tag.strip_suffix("/a/1").unwrap();
    assert!(sweep_everywhere(run).await);
    assert!(is_gone(pids[0]));
}

/// It ends orphans of other tests too, so this test runs itself again in a process of its own.
#[test]
fn a_daemon_without_environment_is_ended_with_the_engine() {
    const VARIABLE: &str = "FLOW_TEST_ORPHANS";
    if std::env::var_os(VARIABLE).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            assert!(!sweep_orphans().await);
            let script = r#"env -i PATH="$PATH" setsid sh -c 'trap "" TERM; echo $$; exec sleep 1000' &"#;
            let (tag, pids) = run("nameless", script).await;
            assert!(!sweep(&tag).await.escaped);
            assert!(sweep_orphans().await);
            assert!(is_gone(pids[0]));
        });
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "sys::process::stray::tests::a_daemon_without_environment_is_ended_with_the_engine",
        ])
        .env(VARIABLE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn a_tag_is_found_whole_or_as_a_parent_among_others() {
    let check = |value: &str, tag: &str| names_tag(value.as_bytes(), tag.as_bytes());
    assert!(check("a", "a"));
    assert!(check("outer/x/1 inner/y/2", "outer/x/1"));
    assert!(check("outer/x/1 inner/y/2", "inner"));
    assert!(!check("outer/x/11", "outer/x/1"));
    assert!(!check("an-outer/x/1", "outer"));
    assert!(!check("", "a"));
}
