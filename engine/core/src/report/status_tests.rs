use super::super::testing::{Journal, What, exit, said};
use super::*;
use crate::event::Event;
use crate::model::{Outcome, Reason, RunStatus};

fn page(journal: &Journal, width: usize) -> String {
    let text = status_page(
        &journal.report(),
        &Screen { now: Millis(100_000), width, texts: journal, live: &HashMap::new() },
    );
    for line in text.lines() {
        assert!(line.chars().count() <= width, "{} columns: {line}", line.chars().count());
    }
    text
}

fn journal() -> Journal {
    let mut journal =
        Journal::of(&["lint", "a_task_with_a_rather_long_name_that_nobody_wanted", "audit", "after", "last"]);
    let error = Journal::text(
        &mut journal,
        "out/0.err",
        "src/a.py:3: error: Incompatible types in assignment (expression has type None)\n",
    );
    journal.start("lint", 1, What::Shell).attempt_ended("lint", 1, exit(1));
    journal.run("lint", 2, What::Shell, Outcome { stderr: Some(error), ..exit(2) });
    journal.run("a_task_with_a_rather_long_name_that_nobody_wanted", 1, What::Shell, exit(0));
    journal.expand("audit", &["src/requests/adapters.py", "src/requests/sessions.py"]);
    let text = Journal::text(&mut journal, "tasks/r/output.md", "Fine.");
    journal.run("audit[src/requests/adapters.py]", 1, What::Agent, said(text));
    journal.start("audit[src/requests/sessions.py]", 1, What::Agent);
    journal.add(Event::TaskEnded {
        task: "after".into(),
        state: TaskState::Blocked,
        reason: Some(Reason::Upstream),
        message: Some("blocked by lint (exit code 2)".into()),
        allowed: false,
    });
    journal
}

#[test]
fn a_page_fits_its_screen_and_says_why() {
    insta::assert_snapshot!(page(&journal(), 80), @r"
    run 20261130-075412-k3f9q2 of audit: running, 1m40s
    2 completed, 1 failed, 1 blocked, 1 running, 1 waiting; 1.0k tokens

    TASK                      STATE      TRIES   TIME  TOKENS  WHAT
    lint                      failed         2   2.4s          src/a.py:3: error: I…
    a_task_…at_nobody_wanted  completed          1.2s          do a_task_with_a_rat…
    audit                     running            2.5s          1 completed, 1 runni…
    audit[s…sts/adapters.py]  completed          2.5s    1.0k  do audit[src/request…
    audit[s…sts/sessions.py]  running           1m23s          do audit[src/request…
    after                     blocked                          by lint (exit code 2)
    last                      created
    ");
    insta::assert_snapshot!(page(&journal(), 120), @r"
    run 20261130-075412-k3f9q2 of audit: running, 1m40s
    2 completed, 1 failed, 1 blocked, 1 running, 1 waiting; 1.0k tokens

    TASK                                  STATE      TRIES   TIME  TOKENS  WHAT
    lint                                  failed         2   2.4s          src/a.py:3: error: Incompatible types in assignm…
    a_task_with…_name_that_nobody_wanted  completed          1.2s          do a_task_with_a_rather_long_name_that_nobody_wa…
    audit                                 running            2.5s          1 completed, 1 running
    audit[src/requests/adapters.py]       completed          2.5s    1.0k  do audit[src/requests/adapters.py]
    audit[src/requests/sessions.py]       running           1m23s          do audit[src/requests/sessions.py]
    after                                 blocked                          by lint (exit code 2)
    last                                  created
    ");
}

#[test]
fn a_run_that_is_over_says_what_was_not_run() {
    let mut journal = Journal::of(&["a", "b"]);
    journal.run("a", 1, What::Shell, exit(0)).ended("b", TaskState::Killed, Some(Reason::Cancelled));
    journal.finish(RunStatus::Killed, 130);
    insta::assert_snapshot!(page(&journal, 80), @r"
    run 20261130-075412-k3f9q2 of audit: interrupted, 6.0s
    1 completed, 1 not run

    TASK  STATE      TIME  WHAT
    a     completed  1.2s  do a
    b     not run
    ");
}

#[test]
fn an_agent_that_works_shows_its_turn_its_tokens_and_what_it_does() {
    let journal = journal();
    let usage = Usage { input_tokens: 4_000, output_tokens: 200, ..Usage::default() };
    let activity = Activity { turn: 3, usage, doing: Some("Read src/requests/sessions.py".to_owned()) };
    let live = HashMap::from([("audit[src/requests/sessions.py]".into(), activity)]);
    let screen = Screen { now: Millis(100_000), width: 100, texts: &journal, live: &live };
    let text = status_page(&journal.report(), &screen);
    assert!(text.contains("; 5.2k tokens"), "{text}");
    let row = text.lines().find(|line| line.contains("sessions.py")).unwrap();
    assert!(row.contains("4.2k  turn 3: Read src/requests"), "{row}");
}
