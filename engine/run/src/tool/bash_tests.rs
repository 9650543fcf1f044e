use super::super::testing::Bench;
use super::*;
use std::path::Path;
use std::time::Instant;

fn ok(command: &str) -> String {
    Bench::new(&[]).ok("Bash", json!({ "command": command }))
}

fn err(command: &str) -> String {
    Bench::new(&[]).err("Bash", json!({ "command": command }))
}

/// Whether a process with this id is there and no zombie.
fn alive(id: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(id.trim()).join("stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}

#[test]
fn both_streams_come_back_in_order() {
    assert_eq!(ok("echo a; echo b >&2; echo c"), "a\nb\nc");
    assert_eq!(ok("true"), "(no output)");
}

#[test]
fn a_failing_command_is_an_error_with_its_code() {
    assert_eq!(err("echo out; exit 3"), "out\n[exit code 3]");
    assert_eq!(err("kill -9 $$"), "[ended by signal 9]");
}

#[test]
fn it_starts_in_the_working_folder_without_input_or_terminal() {
    let mut bench = Bench::new(&[("sub/a", "")]);
    bench.context.dir = bench.path("sub");
    assert_eq!(bench.ok("Bash", json!({ "command": "ls; cat; tty -s || echo none" })), "a\nnone");
}

#[test]
fn the_middle_of_much_output_is_left_out() {
    let text = ok("echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last");
    assert!(text.starts_with("first\nxxx") && text.ends_with("xxx\nlast"));
    assert!(text.contains("bytes left out") && text.len() < 31_000, "{}", text.len());
}

#[test]
fn only_listed_variables_are_inherited() {
    let vars = [
        "PATH",
        "HOME",
        "LC_ALL",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GIT_DIR",
        "BASH_ENV",
        "LD_PRELOAD",
    ];
    let kept: Vec<&str> = vars.into_iter().filter(|name| is_inherited(name.as_ref())).collect();
    assert_eq!(kept, ["PATH", "HOME", "LC_ALL"]);
}

#[test]
fn given_variables_and_the_tag_are_there_and_the_engine_s_own_are_not() {
    let mut bench = Bench::new(&[]);
    bench.context.env.push(("GIVEN".to_owned(), "yes".to_owned()));
    let env = bench.ok("Bash", json!({ "command": "env" }));
    assert!(env.lines().any(|line| line == "GIVEN=yes"), "{env}");
    assert!(env.lines().any(|line| line == "FLOW_ATTEMPT=test.1"), "{env}");
    // Cargo sets this one for the test itself.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!env.contains("CARGO_MANIFEST_DIR"), "{env}");
}

#[test]
fn the_time_limit_ends_the_whole_group() {
    let bench = Bench::new(&[]);
    let command = "sleep 600 & echo $! > child; echo begun; wait";
    let text = bench.err("Bash", json!({ "command": command, "timeout": 300 }));
    assert_eq!(text, "begun\n[ended at its time limit of 300ms]");
    assert!(!alive(&bench.text("child")));
}

#[test]
fn a_command_that_ignores_the_request_is_killed() {
    let began = Instant::now();
    let text = Bench::new(&[])
        .err("Bash", json!({ "command": "trap '' TERM; while :; do sleep 0.05; done", "timeout": 100 }));
    assert_eq!(text, "[ended at its time limit of 100ms]");
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn what_is_left_in_the_background_is_ended() {
    let bench = Bench::new(&[]);
    let text = bench.ok("Bash", json!({ "command": "sleep 600 & echo $! > child; echo done" }));
    assert_eq!(text, "done\n[processes that it left in the background were ended]");
    assert!(!alive(&bench.text("child")));
}

#[test]
fn an_escaped_process_that_holds_the_output_open_does_not_hold_the_call() {
    let bench = Bench::new(&[]);
    let began = Instant::now();
    let text =
        bench.ok("Bash", json!({ "command": "setsid sleep 600 & echo $! > child; sleep 0.2; echo done" }));
    assert!(text.starts_with("done"), "{text}");
    assert!(began.elapsed() < Duration::from_secs(60));
    let id = rustix::process::Pid::from_raw(bench.text("child").trim().parse().unwrap()).unwrap();
    let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
}

#[tokio::test]
async fn a_stop_ends_the_command() {
    let bench = Bench::new(&[]);
    let call =
        super::super::call("Bash", json!({ "command": "echo begun > begun; sleep 600" }), &bench.context);
    let stop = async {
        while !bench.path("begun").exists() {
            tokio::task::yield_now().await;
        }
        bench.stop(false);
    };
    let (called, ()) = tokio::join!(call, stop);
    let result = called.result;
    assert_eq!((result.content.as_str(), result.is_error), ("[stopped]", true));
}

#[tokio::test]
async fn what_ignores_a_stop_is_gone_when_the_call_returns() {
    for force in [false, true] {
        let bench = Bench::new(&[]);
        let command =
            "trap '' TERM; sleep 600 & echo $$ > id.new; mv id.new id; while :; do sleep 0.05; done";
        let call = super::super::call("Bash", json!({ "command": command }), &bench.context);
        let stop = async {
            while !bench.path("id").exists() {
                tokio::task::yield_now().await;
            }
            bench.stop(force);
        };
        let (called, ()) = tokio::join!(call, stop);
        assert_eq!(called.result.content, "[stopped]");
        assert!(!alive(&bench.text("id")));
    }
}

#[tokio::test]
async fn a_dropped_call_kills_its_group() {
    let bench = Bench::new(&[]);
    let command = "sleep 600 & echo $! > child.new; mv child.new child; wait";
    let call = super::super::call("Bash", json!({ "command": command }), &bench.context);
    let begun = async {
        while !bench.path("child").exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = call => panic!("the command ended by itself"),
        () = begun => {}
    }
    let id = bench.text("child");
    let deadline = Instant::now() + Duration::from_secs(10);
    while alive(&id) {
        assert!(Instant::now() < deadline, "still alive");
        tokio::task::yield_now().await;
    }
}
