use serde_json::json;

use super::super::testing::{Journal, What, exit};
use super::*;
use crate::event::Event;
use crate::model::{Outcome, Reason, RunStatus, TaskState};

const PLAN: &str = "flow: 1\ntasks:\n  ok: { run: 'true' }\n  bad:\n    run: mypy\n";

#[test]
fn every_failure_is_one_annotation_at_its_task_with_the_line_that_says_most() {
    let mut journal = Journal::of(&["ok", "bad"]);
    journal.of_manifest(Some("workflows/plan.yaml"), PLAN);
    let error = Journal::text(&mut journal, "out/0.err", "a.py:3: error: 50% off\nFound 1 error\n");
    let bad = Outcome { stderr: Some(error), ..exit(3) };
    journal.run("ok", 1, What::Shell, exit(0)).run("bad", 1, What::Shell, bad);
    journal.finish(RunStatus::Failed, 1);
    assert_eq!(
        journal.render("github"),
        "::error file=workflows/plan.yaml,line=4,title=bad%3A exit code 3::a.py:3: error: 50%25 off\n"
    );
    // A plan outside of the repository has no place in it.
    journal.of_manifest(None, PLAN);
    assert!(journal.render("github").starts_with("::error title=bad%3A exit code 3::"));
}

#[test]
fn what_an_agent_failed_by_is_its_message() {
    let mut journal = Journal::of(&["a"]);
    journal.run("a", 1, What::Agent, Outcome::failed(Reason::Provider, "the model answered 400"));
    assert_eq!(journal.render("github"), "::error title=a%3A provider::the model answered 400\n");
}

#[test]
fn no_text_of_a_task_begins_another_command() {
    let mut journal = Journal::of(&["a,b::c\n::error::d"]);
    journal.start("a,b::c\n::error::d", 1, What::Shell).attempt_ended("a,b::c\n::error::d", 1, exit(1)).add(
        Event::TaskEnded {
            task: "a,b::c\n::error::d".into(),
            state: TaskState::Failed,
            reason: Some(Reason::ExitCode),
            message: Some("50%\n::warning::x".into()),
            allowed: false,
        },
    );
    assert_eq!(
        journal.render("github"),
        "::error title=a%2Cb%3A%3Ac %3A%3Aerror%3A%3Ad%3A exit code 1::50%25 ::warning::x\n"
    );
    assert_eq!(data("a\r\n::error::b"), "a%0D%0A::error::b");
}

#[test]
fn later_steps_read_the_outputs() {
    let all = json!({ "verdict": "PASS", "page": "a\nb", "list": [1, "x"], "none": null, "a b": 1 });
    let (lines, left) = outputs(&all, "MARK");
    assert_eq!(lines, "verdict=PASS\npage<<MARK\na\nb\nMARK\nlist=[1,\"x\"]\nnone=\n");
    assert_eq!(left, ["a b"]);
    assert_eq!(outputs(&json!({ "x": "a\nMARK\ny=1" }), "MARK"), (String::new(), vec!["x".to_owned()]));
}
