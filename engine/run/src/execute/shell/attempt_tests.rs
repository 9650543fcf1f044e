use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flow_core::ids::Millis;
use flow_core::model::OutputSlice;

use super::*;
use crate::store::{RunFolder, Slots, StateDir, read_slice};
use crate::sys::process::become_subreaper;
use crate::sys::stop::{StopOrder, StopSwitch, stop_pair};

/// A run folder with one slot, in which shell attempts are played.
struct Shell {
    dir: tempfile::TempDir,
    run: RunFolder,
    slots: Slots,
    attempts: u32,
}

/// How an attempt went.
struct Ran {
    outcome: Outcome,
    stdout: String,
    stderr: String,
}

impl Shell {
    fn new() -> Shell {
        become_subreaper().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let run = RunFolder::create(&StateDir::at(&dir.path().join(".flow")).unwrap(), Millis(0)).unwrap();
        let slots = Slots::new(&run, 1);
        Shell { dir, run, slots, attempts: 0 }
    }

    fn launch(&mut self, argv: &[&str]) -> ShellLaunch {
        self.attempts += 1;
        let argv = argv.iter().map(OsString::from).collect();
        let tag = format!("{}/{}/{}", self.run.id(), self.dir.path().display(), self.attempts);
        ShellLaunch::new(argv, self.dir.path().to_owned(), tag)
    }

    async fn go(&mut self, launch: ShellLaunch, stop: StopSignal) -> Ran {
        let files = self.slots.open(0).unwrap();
        let outcome =
            tokio::time::timeout(Duration::from_secs(60), run_shell(launch, files, stop)).await.unwrap();
        let read = |slice: &Option<OutputSlice>| match slice {
            Some(slice) => {
                String::from_utf8_lossy(&read_slice(&self.run, slice, 0..u64::MAX).unwrap()).into_owned()
            }
            None => String::new(),
        };
        Ran { stdout: read(&outcome.stdout), stderr: read(&outcome.stderr), outcome }
    }

    /// Runs a script to its own end.
    async fn run(&mut self, script: &str, change: impl FnOnce(&mut ShellLaunch)) -> Ran {
        let mut launch = self.launch(&["sh", "-c", script]);
        change(&mut launch);
        let (_switch, stop) = stop_pair();
        self.go(launch, stop).await
    }

    /// Runs a script, and when it has made the file `ready`, does something with its switch.
    async fn interrupt(
        &mut self,
        script: &str,
        change: impl FnOnce(&mut ShellLaunch),
        act: impl AsyncFnOnce(&StopSwitch, &Path),
    ) -> Ran {
        let mut launch = self.launch(&["sh", "-c", script]);
        change(&mut launch);
        let (switch, stop) = stop_pair();
        let dir = self.dir.path().to_owned();
        let ready = dir.join("ready");
        let acting = async {
            until(|| ready.exists()).await;
            act(&switch, &dir).await;
        };
        tokio::join!(self.go(launch, stop), acting).0
    }
}

async fn run(script: &str) -> Ran {
    Shell::new().run(script, |_| {}).await
}

async fn until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "nothing happened");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn is_gone(pid: &str) -> bool {
    !Path::new("/proc").join(pid.trim()).exists()
}

fn order(reason: Reason, force: bool) -> StopOrder {
    StopOrder { reason, force }
}

/// End, reason, exit code, signal, leaky.
type Verdict<'a> = (AttemptEnd, Option<Reason>, Option<i32>, Option<&'a str>, bool);

fn check(ran: &Ran, expected: Verdict<'_>) {
    let o = &ran.outcome;
    let found = (o.end, o.reason, o.exit_code, o.signal.as_deref(), o.leaky);
    assert_eq!(found, expected, "{:?}, {}, {}", o.message, ran.stdout, ran.stderr);
}

const WELL: Verdict<'_> = (AttemptEnd::Completed, None, Some(0), None, false);
const GRACELESS: Duration = Duration::from_millis(50);

#[tokio::test]
async fn a_command_completes_and_its_two_outputs_are_kept_apart() {
    let ran = run("echo out; echo err >&2").await;
    check(&ran, WELL);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("out\n", "err\n"));
}

#[tokio::test]
async fn an_exit_code_is_a_failure_with_that_code() {
    let ran = run("exit 7").await;
    check(&ran, (AttemptEnd::Failed, Some(Reason::ExitCode), Some(7), None, false));
    assert_eq!(ran.outcome.message.unwrap(), "exit code 7");
}

#[tokio::test]
async fn a_death_by_signal_says_which_signal() {
    let ran = run("kill -9 $$").await;
    check(&ran, (AttemptEnd::Failed, Some(Reason::Signal), None, Some("SIGKILL"), false));
    check(
        &run("kill -SEGV $$").await,
        (AttemptEnd::Failed, Some(Reason::Signal), None, Some("SIGSEGV"), false),
    );
}

#[tokio::test]
async fn standard_input_is_empty_and_closed() {
    let ran = run("cat > in.txt; wc -c < in.txt").await;
    check(&ran, WELL);
    assert_eq!(ran.stdout.trim(), "0");
}

#[tokio::test]
async fn output_is_kept_byte_for_byte() {
    let mut shell = Shell::new();
    let ran =
        shell.run(r#"i=0; while [ $i -lt 256 ]; do printf "\\$(printf %03o $i)"; i=$((i+1)); done"#, |_| {});
    let slice = ran.await.outcome.stdout.unwrap();
    assert_eq!(read_slice(&shell.run, &slice, 0..256).unwrap(), (0..=255).collect::<Vec<u8>>());
}

#[tokio::test]
async fn the_environment_is_ours_less_some_plus_others() {
    let mut shell = Shell::new();
    let mut tag = String::new();
    let script = r#"echo "${HOME-none} $A $(pwd) $PWD $FLOW_ATTEMPT" "#;
    let ran = shell.run(script, |launch| {
        launch.env.removed = vec!["HOME".into()];
        launch.env.set = vec![("A".into(), "1".into()), ("A".into(), "2".into())];
        tag = crate::sys::process::tag_value(&launch.tag);
    });
    let ran = ran.await;
    let dir = shell.dir.path().display();
    assert_eq!(ran.stdout, format!("none 2 {dir} {dir} {tag}\n"));
}

#[tokio::test]
async fn a_program_is_looked_up_on_the_path_that_the_task_sets() {
    let mut shell = Shell::new();
    std::os::unix::fs::symlink("/bin/echo", shell.dir.path().join("greet")).unwrap();
    let mut launch = shell.launch(&["greet", "hello"]);
    launch.env.set = vec![("PATH".into(), shell.dir.path().into())];
    let (_switch, stop) = stop_pair();
    assert_eq!(shell.go(launch, stop).await.stdout, "hello\n");
}

#[tokio::test]
async fn no_file_of_ours_is_open_in_a_command() {
    let mut shell = Shell::new();
    let events = shell.run.events();
    let _journal = crate::store::Journal::create(&events, crate::store::Durability::Batch).unwrap();
    let _owner = shell.run.lock().unwrap();
    let ran = shell.run("ls -l /proc/self/fd", |_| {}).await;
    let folder = shell.run.path().display().to_string();
    let ours: Vec<_> = ran.stdout.lines().filter_map(|line| Some(line.split_once(&folder)?.1)).collect();
    assert_eq!(ours, ["/out/0.out", "/out/0.err"]);
}

#[tokio::test]
async fn what_stays_in_the_group_is_ended_and_reported() {
    let ran = run("sleep 1000 & echo $!").await;
    check(&ran, (AttemptEnd::Completed, None, Some(0), None, true));
    assert!(is_gone(&ran.stdout));
}

#[tokio::test]
async fn what_escapes_the_group_is_ended_and_reported() {
    let ran = run(
        "setsid sh -c 'trap \"\" TERM; echo $$ >pid; sleep 1000' & until [ -s pid ]; do :; done; cat pid",
    )
    .await;
    check(&ran, (AttemptEnd::Completed, None, Some(0), None, true));
    assert!(is_gone(&ran.stdout));
}

#[tokio::test]
async fn what_ends_by_itself_soon_after_the_command_is_no_leak() {
    let ran = run("{ echo late; } &").await;
    check(&ran, WELL);
    assert_eq!(ran.stdout, "late\n");
}

#[tokio::test]
async fn files_of_a_leaky_attempt_are_not_used_again() {
    let mut shell = Shell::new();
    let first = shell.run("sleep 1000 &", |_| {}).await.outcome.stdout.unwrap();
    let second = shell.run("echo", |_| {}).await.outcome.stdout.unwrap();
    let third = shell.run("echo", |_| {}).await.outcome.stdout.unwrap();
    assert_eq!([first.file.as_str(), &second.file, &third.file], ["out/0.out", "out/0.1.out", "out/0.1.out"]);
    assert_eq!(third.start, 1);
}

const POLITE: &str =
    "trap 'echo bye; exit 0' TERM; echo ready; : >ready; while :; do sleep 1000 & wait; done";
const DEAF: &str = "trap '' TERM; : >ready; while :; do sleep 1000; done";

#[tokio::test]
async fn a_stopped_command_may_clean_up_and_was_killed_whatever_it_exits_with() {
    let ran = Shell::new()
        .interrupt(POLITE, |_| {}, async |switch, _| switch.stop(order(Reason::Cancelled, false)))
        .await;
    check(&ran, (AttemptEnd::Killed, Some(Reason::Cancelled), Some(0), None, false));
    assert_eq!(ran.stdout, "ready\nbye\n");
}

#[tokio::test]
async fn a_timeout_is_a_failure_and_takes_the_grandchildren_along() {
    let script = "(sleep 1000 & echo $! >kid; wait) & until [ -s kid ]; do :; done; : >ready; wait";
    let mut shell = Shell::new();
    let ran =
        shell.interrupt(script, |_| {}, async |switch, _| switch.stop(order(Reason::Timeout, false))).await;
    check(&ran, (AttemptEnd::Failed, Some(Reason::Timeout), None, Some("SIGTERM"), false));
    assert!(is_gone(&std::fs::read_to_string(shell.dir.path().join("kid")).unwrap()));
}

#[tokio::test]
async fn a_command_that_ignores_term_is_killed_after_its_grace() {
    let ran = Shell::new()
        .interrupt(
            DEAF,
            |launch| launch.grace = GRACELESS,
            async |switch, _| {
                switch.stop(order(Reason::FailFast, false));
            },
        )
        .await;
    check(&ran, (AttemptEnd::Killed, Some(Reason::FailFast), None, Some("SIGKILL"), false));
}

#[tokio::test]
async fn a_second_order_ends_the_grace_and_the_first_reason_stands() {
    let ran = Shell::new()
        .interrupt(
            DEAF,
            |launch| launch.grace = Duration::from_secs(1000),
            async |switch, _| {
                switch.stop(order(Reason::Timeout, false));
                tokio::task::yield_now().await;
                switch.stop(order(Reason::Cancelled, true));
            },
        )
        .await;
    check(&ran, (AttemptEnd::Failed, Some(Reason::Timeout), None, Some("SIGKILL"), false));
}

#[tokio::test]
async fn force_does_not_ask() {
    let ran = Shell::new()
        .interrupt(POLITE, |_| {}, async |switch, _| switch.stop(order(Reason::Cancelled, true)))
        .await;
    check(&ran, (AttemptEnd::Killed, Some(Reason::Cancelled), None, Some("SIGKILL"), false));
    assert_eq!(ran.stdout, "ready\n");
}

#[tokio::test]
async fn a_deaf_grandchild_has_the_rest_of_the_grace() {
    // The shell obeys; what it started in its group does not.
    let script = "sh -c 'trap \"\" TERM; echo $$ >kid; while :; do sleep 1000; done' & \
                  until [ -s kid ]; do :; done; : >ready; wait";
    let mut shell = Shell::new();
    let ran = shell
        .interrupt(
            script,
            |launch| launch.grace = GRACELESS,
            async |switch, _| {
                switch.stop(order(Reason::Cancelled, false));
            },
        )
        .await;
    check(&ran, (AttemptEnd::Killed, Some(Reason::Cancelled), None, Some("SIGTERM"), false));
    assert!(is_gone(&std::fs::read_to_string(shell.dir.path().join("kid")).unwrap()));
}

#[tokio::test]
async fn an_escaped_process_of_a_stopped_command_is_ended_too() {
    let script = "setsid sh -c 'echo $$ >kid; sleep 1000' & until [ -s kid ]; do :; done; : >ready; wait";
    let mut shell = Shell::new();
    let ran =
        shell.interrupt(script, |_| {}, async |switch, _| switch.stop(order(Reason::Cancelled, false))).await;
    check(&ran, (AttemptEnd::Killed, Some(Reason::Cancelled), None, Some("SIGTERM"), true));
    assert!(is_gone(&std::fs::read_to_string(shell.dir.path().join("kid")).unwrap()));
}

#[tokio::test]
async fn a_command_that_stands_still_hears_the_order() {
    let script = "(until grep -q '^State:.T' /proc/$$/status; do :; done; : >ready) & kill -STOP $$";
    let ran = Shell::new()
        .interrupt(
            script,
            |launch| launch.grace = Duration::from_secs(1000),
            async |switch, _| {
                switch.stop(order(Reason::Cancelled, false));
            },
        )
        .await;
    check(&ran, (AttemptEnd::Killed, Some(Reason::Cancelled), None, Some("SIGTERM"), false));
}

#[tokio::test]
async fn an_attempt_that_was_stopped_before_its_start_never_starts() {
    let mut shell = Shell::new();
    let launch = shell.launch(&["sh", "-c", ": >started"]);
    let (switch, stop) = stop_pair();
    switch.stop(order(Reason::Cancelled, false));
    let ran = shell.go(launch, stop).await;
    check(&ran, (AttemptEnd::Killed, Some(Reason::Cancelled), None, None, false));
    assert!(!shell.dir.path().join("started").exists());
}

#[tokio::test]
async fn silence_beyond_the_limit_is_a_stall() {
    let ran = Shell::new()
        .run("echo begun; exec sleep 1000", |launch| launch.idle = Some(Duration::from_millis(120)))
        .await;
    check(&ran, (AttemptEnd::Failed, Some(Reason::Stall), None, Some("SIGTERM"), false));
    assert_eq!(ran.stdout, "begun\n");
    assert_eq!(ran.outcome.message.unwrap(), "printed nothing for 120ms (`timeout.idle`)");
}

#[tokio::test]
async fn a_command_that_has_a_limit_of_its_own_ends_there() {
    let ran = Shell::new()
        .run("echo begun; exec sleep 1000", |launch| launch.limit = Some(Duration::from_millis(120)))
        .await;
    check(&ran, (AttemptEnd::Failed, Some(Reason::Timeout), None, Some("SIGTERM"), false));
    assert_eq!(ran.outcome.message.unwrap(), "took longer than 120ms (its `timeout`)");
}

#[tokio::test]
async fn endless_output_is_stopped_and_cut_to_the_limit() {
    let mut shell = Shell::new();
    let limit = 1024 * 1024;
    let ran = shell.run("yes >&2", |launch| launch.max_output = limit).await;
    check(&ran, (AttemptEnd::Failed, Some(Reason::OutputLimit), None, Some("SIGKILL"), false));
    assert_eq!(ran.outcome.message.as_deref(), Some("printed more than 1 MiB (`max_output`)"));
    assert_eq!(ran.stderr.len() as u64, limit);
    assert_eq!(std::fs::metadata(shell.run.out().join("0.err")).unwrap().len(), limit);
}

#[tokio::test]
async fn output_over_the_limit_fails_a_command_that_was_too_quick_to_be_stopped() {
    let ran = Shell::new().run("echo 12345; echo 67890 >&2", |launch| launch.max_output = 8).await;
    check(&ran, (AttemptEnd::Failed, Some(Reason::OutputLimit), Some(0), None, false));
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("12345\n", "67"));
}

fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn a_huge_line_does_not_pass_through_memory() {
    const HUGE: u64 = 100 * 1024 * 1024;
    let mut shell = Shell::new();
    let before = peak_memory();
    let launch = shell.launch(&["sh", "-c", "head -c 104857600 /dev/zero"]);
    let files = shell.slots.open(0).unwrap();
    let (_switch, stop) = stop_pair();
    let outcome = run_shell(ShellLaunch { max_output: 2 * HUGE, ..launch }, files, stop).await;
    assert_eq!(outcome.end, AttemptEnd::Completed);
    assert_eq!(outcome.stdout.unwrap().len, HUGE);
    // The kernel counts a little behind, so the second look may even show less.
    assert!(peak_memory().saturating_sub(before) < HUGE / 2);
}

async fn spawn_failure(change: impl FnOnce(&mut ShellLaunch)) -> (Reason, String) {
    let mut shell = Shell::new();
    let mut launch = shell.launch(&["true"]);
    change(&mut launch);
    let (_switch, stop) = stop_pair();
    let place = shell.dir.path().display().to_string();
    let outcome = shell.go(launch, stop).await.outcome;
    assert_eq!(outcome.end, AttemptEnd::Failed);
    (outcome.reason.unwrap(), outcome.message.unwrap().replace(&place, "DIR"))
}

#[tokio::test]
async fn what_can_not_be_started_says_why() {
    let check = async |change: &dyn Fn(&mut ShellLaunch), message: &str| {
        assert_eq!(spawn_failure(change).await, (Reason::Spawn, message.to_owned()));
    };
    let file = |launch: &ShellLaunch, text: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(launch.dir.join("x"), text).unwrap();
        std::fs::set_permissions(launch.dir.join("x"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    check(&|launch| launch.argv.clear(), "can't start ``: there is no command").await;
    check(&|launch| launch.argv[0] = "no-such-program".into(), "there is no `no-such-program` on PATH").await;
    let no_bash = |launch: &mut ShellLaunch| {
        launch.argv[0] = "bash".into();
        launch.env.set = vec![("PATH".into(), "/nowhere".into())];
    };
    check(&no_bash, "there is no `bash` on PATH; write `shell: sh` to do without").await;
    check(&|launch| launch.dir.push("gone"), "there is no folder `DIR/gone`").await;
    let locked = |launch: &mut ShellLaunch| {
        file(launch, "#!/bin/sh\n", 0o644);
        launch.argv[0] = "./x".into();
    };
    check(&locked, "`./x` may not be executed").await;
    let shapeless = |launch: &mut ShellLaunch| {
        file(launch, "\u{1}\u{2}", 0o755);
        launch.argv[0] = "./x".into();
    };
    check(&shapeless, "`./x` is no program; a script's first line names one after `#!`").await;
    let interpreter = |launch: &mut ShellLaunch| {
        file(launch, "#!/no/such/interpreter\n", 0o755);
        launch.argv[0] = "./x".into();
    };
    check(&interpreter, "there is no `./x`, or what its first line names after `#!`").await;
    check(&|launch| launch.argv.push("a\0b".into()), "a NUL character stands in an argument or a variable")
        .await;
    let (reason, message) = spawn_failure(|launch| launch.argv.push("x".repeat(200_000).into())).await;
    assert_eq!(reason, Reason::Spawn);
    assert!(message.starts_with("arguments and environment are too big"), "{message}");
    assert!(message.contains("has 200000 bytes"), "{message}");
    let variable = ("LARGE".into(), "x".repeat(200_000).into());
    let (_, message) = spawn_failure(|launch| launch.env.set.push(variable)).await;
    assert!(message.contains("the variable `LARGE` has 200000 bytes"), "{message}");
}

/// File handles run out for a whole process, so this test runs itself again in one of its own.
#[test]
fn a_machine_without_file_handles_is_a_matter_of_resources() {
    const VARIABLE: &str = "FLOW_TEST_FEW_HANDLES";
    if std::env::var_os(VARIABLE).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (reason, message) = runtime.block_on(spawn_failure(|_| {
            let mut handles = Vec::new();
            while let Ok(handle) = std::fs::File::open("/dev/null") {
                handles.push(handle);
            }
            // Two for what the test itself opens before the command.
            handles.truncate(handles.len() - 2);
            std::mem::forget(handles);
        }));
        assert_eq!(reason, Reason::Resource);
        assert!(message.starts_with("the machine ran out of"), "{message}");
        return;
    }
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -n 64; exec \"$0\" --exact \"$1\" --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .arg("execute::shell::attempt::tests::a_machine_without_file_handles_is_a_matter_of_resources")
        .env(VARIABLE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[tokio::test]
async fn a_secret_never_reaches_the_output_files() {
    let mut shell = Shell::new();
    let ran = shell
        .run(r#"printf 'a %s' "${KEY%55}"; sleep 0; printf '55 b\n'; echo "$KEY" >&2"#, |launch| {
            launch.env.set = vec![("KEY".into(), "hunter2-5555".into())];
            launch.mask = Some(Arc::new(Mask::new(["hunter2-5555"])));
        })
        .await;
    check(&ran, WELL);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("a *** b\n", "***\n"));
    assert_eq!(std::fs::read(shell.run.out().join("0.out")).unwrap(), b"a *** b\n");
}

#[tokio::test]
async fn a_masked_command_ends_though_others_hold_its_pipes() {
    let ran = Shell::new()
        .run(
            "setsid sh -c 'echo $$ >pid; exec sleep 1000' & until [ -s pid ]; do :; done; cat pid",
            |launch| {
                launch.mask = Some(Arc::new(Mask::new(["hunter2-5555"])));
            },
        )
        .await;
    check(&ran, (AttemptEnd::Completed, None, Some(0), None, true));
    assert!(is_gone(&ran.stdout));
}
