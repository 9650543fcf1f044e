//! The report as CI systems read it: a test case a task.

use std::fmt::Write as _;

use super::format::{Format, Texts};
use super::run_report::{RunReport, TaskReport};
use crate::model::TaskState;
use crate::text::escape_xml;

pub(super) const FORMAT: Format =
    Format { name: "junit", file: "report.junit.xml", about: "JUnit XML, for CI systems", render };

/// Lines of output shown of a failed task.
const LINES: usize = 40;

// Writing to a string can't fail, so the results of `write!` are dropped in this file.

fn render(report: &RunReport, texts: &dyn Texts) -> String {
    let tasks: Vec<&TaskReport> = report.counted().collect();
    let count = |fits: fn(&Case) -> bool| tasks.iter().filter(|task| fits(&Case::of(task))).count();
    let numbers = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\"",
        tasks.len(),
        count(|case| *case == Case::Failure),
        count(|case| *case == Case::Error),
        count(|case| *case == Case::Skipped),
        seconds(report.duration_ms)
    );
    let name = attribute(&report.plan);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"{name}\" {numbers}>");
    let _ = writeln!(out, "  <testsuite name=\"{name}\" {numbers}>");
    for task in tasks {
        case(&mut out, report, task, texts);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// What a task is to a test system.
#[derive(PartialEq, Eq)]
enum Case {
    Passed,
    Failure,
    /// It did not end by itself.
    Error,
    Skipped,
}

impl Case {
    fn of(task: &TaskReport) -> Self {
        match task.state {
            TaskState::Completed => Case::Passed,
            TaskState::Failed if task.allowed => Case::Skipped,
            TaskState::Failed => Case::Failure,
            TaskState::Killed | TaskState::Lost => Case::Error,
            TaskState::Skipped
            | TaskState::Blocked
            | TaskState::Created
            | TaskState::Starting
            | TaskState::Running => Case::Skipped,
        }
    }
}

fn case(out: &mut String, report: &RunReport, task: &TaskReport, texts: &dyn Texts) {
    let (name, class) = (attribute(task.address.as_str()), attribute(&report.plan));
    let _ = write!(
        out,
        "    <testcase name=\"{name}\" classname=\"{class}\" time=\"{}\"",
        seconds(task.duration_ms)
    );
    let element = match Case::of(task) {
        Case::Passed => {
            out.push_str("/>\n");
            return;
        }
        Case::Failure => "failure",
        Case::Error => "error",
        Case::Skipped => "skipped",
    };
    let kind = task.reason.map_or(task.state.as_str(), |reason| reason.as_str());
    let message = task.message.clone().unwrap_or_else(|| match task.exit_code {
        Some(code) => format!("exit code {code}"),
        None => task.state.as_str().to_owned(),
    });
    let message = attribute(&message);
    match element {
        "skipped" => {
            let _ = writeln!(out, ">\n      <skipped message=\"{}: {message}\"/>\n    </testcase>", kind);
        }
        _ => {
            let tail = escape_xml(&tail(task, texts));
            let _ = writeln!(
                out,
                ">\n      <{element} type=\"{kind}\" message=\"{message}\">{tail}</{element}>\n    </testcase>"
            );
        }
    }
}

/// The last lines of what the last attempt said.
fn tail(task: &TaskReport, texts: &dyn Texts) -> String {
    let Some(last) = task.attempts.last() else { return String::new() };
    let slices = [&last.stderr, &last.stdout, &last.text];
    let slice = slices.into_iter().flatten().find(|slice| slice.len > 0);
    slice.map(|slice| texts.tail(slice, LINES)).unwrap_or_default()
}

fn seconds(millis: u64) -> String {
    format!("{}.{:03}", millis / 1000, millis % 1000)
}

/// Text inside the quotes of an attribute.
fn attribute(text: &str) -> String {
    escape_xml(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
#[path = "junit_tests.rs"]
mod tests;
