use super::super::testing::{Journal, What, exit};
use super::*;
use crate::event::Event;
use crate::model::Outcome;

/// A command that exited with 2 after saying this.
fn check(stdout: &str, stderr: &str, expected: &str) {
    let mut journal = Journal::of(&["a"]);
    let (out, err) =
        (Journal::text(&mut journal, "out/0.out", stdout), Journal::text(&mut journal, "out/0.err", stderr));
    let message = Some("exit code 2".to_owned());
    journal.run("a", 1, What::Shell, Outcome { stdout: Some(out), stderr: Some(err), message, ..exit(2) });
    assert_eq!(cause_line(&journal.report().tasks[0], &journal), expected);
}

#[test]
fn the_line_that_speaks_of_an_error_says_most() {
    check(
        "",
        "a.py:3: error: Incompatible types\nFound 1 error in 1 file\n",
        "exit code 2: a.py:3: error: Incompatible types",
    );
    check("", "warming up\n\u{1b}[31mthe last\u{1b}[0m\n\n", "exit code 2: the last");
    check(
        "FAILED tests/a.py::b - assert 1\n1 failed\n",
        "a warning\n",
        "exit code 2: FAILED tests/a.py::b - assert 1",
    );
    check("ok\n", "", "exit code 2: ok");
    check("", "", "exit code 2");
}

#[test]
fn an_agent_or_a_limit_says_it_in_the_message() {
    let mut journal = Journal::of(&["a", "b", "c"]);
    journal.run("a", 1, What::Agent, Outcome::failed(Reason::Provider, "the model answered 400: no"));
    journal.add(Event::TaskEnded {
        task: "b".into(),
        state: TaskState::Blocked,
        reason: Some(Reason::Upstream),
        message: Some("blocked by a (provider)".into()),
        allowed: false,
    });
    journal.ended("c", TaskState::Killed, Some(Reason::Cancelled));
    let report = journal.report();
    let told: Vec<String> = report.tasks.iter().map(|task| cause_line(task, &journal)).collect();
    assert_eq!(told, ["the model answered 400: no", "by a (provider)", ""]);
}
