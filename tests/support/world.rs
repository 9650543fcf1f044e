//! Git, and waiting for what must come.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs git and gives its standard output; a failure fails the test.
#[track_caller]
pub fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Polls until something holds or the time is up; says which. A test asserts the answer, so time only bounds a failure.
pub fn wait_until(at_most: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if holds() {
            return true;
        }
        if begun.elapsed() > at_most {
            return false;
        }
        std::thread::park_timeout(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Whether a process is alive; a zombie is not.
pub fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with('Z'))
}

/// Sends a signal by its name.
pub fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap();
    assert!(status.success(), "kill -{name} {pid}");
}
