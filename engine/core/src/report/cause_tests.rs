use super::super::testing::{Journal, What, exit};
use super::*;
use crate::event::Event;
use crate::model::{Outcome, Reason};

/// Why a run ends whose tasks ended with these codes; `allowed`: those failures that are.
fn cause(journal: &Journal, status: RunStatus, by: EndedBy) -> Cause {
    let mut fold = Fold::default();
    journal.entries.iter().for_each(|entry| fold.take(entry));
    fold.cause(status, by)
}

fn failed(journal: &mut Journal, task: &str, allowed: bool, verdict_unmet: bool) {
    let outcome = Outcome { verdict_unmet, ..exit(1) };
    journal.start(task, 1, What::Shell).attempt_ended(task, 1, outcome).add(Event::TaskEnded {
        task: task.into(),
        state: TaskState::Failed,
        reason: Some(Reason::ExitCode),
        message: None,
        allowed,
    });
}

#[test]
fn allowed_failures_count_under_strict_alone() {
    let mut journal = Journal::of(&["a"]);
    failed(&mut journal, "a", true, false);
    let strict = EndedBy { strict: true, signal: None };
    assert_eq!(cause(&journal, RunStatus::Completed, strict), Cause::AllowedFailures);
    assert_eq!(cause(&journal, RunStatus::Completed, EndedBy::default()), Cause::Success);
    assert_eq!(cause(&Journal::of(&["a"]), RunStatus::Completed, strict), Cause::Success);
}

#[test]
fn a_verdict_is_the_cause_where_nothing_else_failed() {
    let mut journal = Journal::of(&["a", "b", "c"]);
    failed(&mut journal, "a", false, true);
    failed(&mut journal, "b", true, false);
    assert_eq!(cause(&journal, RunStatus::Failed, EndedBy::default()), Cause::Rejected);
    failed(&mut journal, "c", false, false);
    assert_eq!(cause(&journal, RunStatus::Failed, EndedBy::default()), Cause::TaskFailed);
}

#[test]
fn a_parent_fails_as_its_instances_do() {
    let mut journal = Journal::of(&["m"]);
    journal.expand("m", &["x"]);
    failed(&mut journal, "m[x]", false, true);
    journal.ended("m", TaskState::Failed, None);
    assert_eq!(cause(&journal, RunStatus::Failed, EndedBy::default()), Cause::Rejected);
}

#[test]
fn what_an_agent_started_is_no_cause() {
    let mut journal = Journal::of(&["lead", "judge"]);
    journal.start("lead", 1, What::Agent);
    for event in crate::schedule::child_started("lead", "b0000000000000001") {
        journal.add(event);
    }
    let child = "lead/@b0000000000000001";
    journal.attempt_ended(child, 1, exit(3)).ended(child, TaskState::Failed, Some(Reason::ExitCode));
    journal.attempt_ended("lead", 1, exit(0)).ended("lead", TaskState::Completed, None);
    failed(&mut journal, "judge", false, true);
    assert_eq!(cause(&journal, RunStatus::Failed, EndedBy::default()), Cause::Rejected);
}

#[test]
fn a_run_that_was_stopped_says_by_what() {
    let journal = Journal::of(&["a"]);
    let by = |signal| cause(&journal, RunStatus::Killed, EndedBy { strict: false, signal });
    assert_eq!(by(Some(Signal::Interrupt)), Cause::Interrupted);
    assert_eq!(by(Some(Signal::HangUp)), Cause::HungUp);
    assert_eq!([by(Some(Signal::Terminate)), by(None)], [Cause::Terminated; 2]);
}
