use super::super::testing::{Journal, What, ends, exit};
use super::*;
use crate::model::{AttemptEnd, Reason};

/// The lines at the end of a run with these tasks: `!` before one that failed, `?` before one that was stopped.
fn check(tasks: &[&str], status: RunStatus, expected: &[&str]) {
    let names: Vec<&str> = tasks.iter().map(|task| task.trim_start_matches(['!', '?'])).collect();
    let mut journal = Journal::of(&names);
    for (task, name) in tasks.iter().zip(&names) {
        let outcome = match task.chars().next() {
            Some('!') => exit(1),
            Some('?') => ends(AttemptEnd::Killed, Reason::Cancelled),
            _ => exit(0),
        };
        journal.run(name, 1, What::Shell, outcome);
    }
    journal.finish(status, 1);
    let run = "20261130-075412-k3f9q2";
    let told = next_steps(&journal.report(), " -C '/my proj'");
    let told: Vec<String> = told.iter().map(|(words, command)| format!("{words}: {command}")).collect();
    let expected: Vec<String> = expected.iter().map(|line| line.replace("RUN", run)).collect();
    assert_eq!(told, expected);
}

const WHY: &str = "Why: flow logs RUN --failed -C '/my proj'";

#[test]
fn after_a_success_there_is_nothing_to_do() {
    check(&["a"], RunStatus::Completed, &[]);
}

#[test]
fn failed_tasks_are_looked_at_and_tried_again() {
    check(&["a", "!b c"], RunStatus::Failed, &[WHY, "Try again: flow retry RUN 'b c' -C '/my proj'"]);
    let many = ["!a", "!b", "!c", "!d", "!e"];
    check(&many[..4], RunStatus::Failed, &[WHY, "Try again: flow retry RUN a b c d -C '/my proj'"]);
    check(&many, RunStatus::Failed, &[WHY, "Try again: flow retry RUN -C '/my proj'"]);
}

#[test]
fn what_was_interrupted_goes_on() {
    let on = "Go on: flow resume RUN -C '/my proj'";
    check(&["a", "?b"], RunStatus::Killed, &[on]);
    check(&["!a", "?b"], RunStatus::Killed, &[WHY, on]);
    check(&["a"], RunStatus::Failed, &[on]);
}
