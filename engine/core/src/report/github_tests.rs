use super::super::testing::{Journal, What, exit};
use super::*;
use crate::event::Event;
use crate::model::{Reason, RunStatus, TaskState};

#[test]
fn every_failure_is_one_annotation_at_the_plan() {
    let mut journal = Journal::of(&["ok", "bad"]);
    journal.run("ok", 1, What::Shell, exit(0)).run("bad", 1, What::Shell, exit(3));
    journal.finish(RunStatus::Failed, 1);
    assert_eq!(
        journal.render("github"),
        "::error file=plan.yaml,title=bad failed (exit_code)::exit code 3\n"
    );
}

#[test]
fn no_text_of_a_task_begins_another_command() {
    let mut journal = Journal::of(&["a,b::c"]);
    journal.start("a,b::c", 1, What::Shell).attempt_ended("a,b::c", 1, exit(1)).add(Event::TaskEnded {
        task: "a,b::c".into(),
        state: TaskState::Failed,
        reason: Some(Reason::ExitCode),
        message: Some("50%\n::warning::x".into()),
        allowed: false,
    });
    assert_eq!(
        journal.render("github"),
        "::error file=plan.yaml,title=a%2Cb%3A%3Ac failed (exit_code)::50%25 ::warning::x\n"
    );
    assert_eq!(data("a\r\n::error::b"), "a%0D%0A::error::b");
}
