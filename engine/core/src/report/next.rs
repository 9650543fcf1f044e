//! What a person does after a run: why it ended as it did, and how to go on. At most two commands, whatever happened.

use super::RunReport;
use crate::model::RunStatus;
use crate::text::shell_word;

/// The most tasks that a command names; more of them are all that did not end well.
const NAMED: usize = 4;

/// The commands with a word before each. `place` are the options that make them good from any folder.
pub fn next_steps(report: &RunReport, place: &str) -> Vec<(&'static str, String)> {
    let failed: Vec<_> = report.failures().filter(|task| task.state.is_failure(task.allowed)).collect();
    let run = &report.run;
    let why = (!failed.is_empty()).then(|| ("Why", format!("flow logs {run} --failed{place}")));
    let again = || {
        let names = failed.iter().take(NAMED + 1).map(|task| shell_word(task.address.as_str()));
        let names: Vec<String> = names.collect();
        let names = if names.len() > NAMED { String::new() } else { format!(" {}", names.join(" ")) };
        ("Try again", format!("flow retry {run}{names}{place}"))
    };
    let on = || ("Go on", format!("flow resume {run}{place}"));
    let then = match report.status {
        RunStatus::Completed | RunStatus::Running => return Vec::new(),
        RunStatus::Failed if !failed.is_empty() => again(),
        RunStatus::Failed | RunStatus::Killed | RunStatus::Lost => on(),
    };
    why.into_iter().chain([then]).collect()
}

#[cfg(test)]
#[path = "next_tests.rs"]
mod tests;
