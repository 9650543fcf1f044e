//! What GitHub Actions shows beside the code: one workflow command a failure.

use super::format::{Format, Texts};
use super::run_report::{RunReport, TaskReport};
use crate::text::{one_line, visible};

pub(super) const FORMAT: Format =
    Format { name: "github", file: "report.github", about: "annotations of GitHub Actions", render };

/// The longest message of an annotation, in characters.
const WIDTH: usize = 400;

fn render(report: &RunReport, _: &dyn Texts) -> String {
    report.failures().map(|task| annotation(report, task)).collect()
}

fn annotation(report: &RunReport, task: &TaskReport) -> String {
    let reason = task.reason.map(|reason| format!(" ({})", reason.as_str())).unwrap_or_default();
    let title = format!("{} {}{reason}", task.address, task.state.as_str());
    let said = task.message.clone().unwrap_or_else(|| match (task.exit_code, &task.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by {signal}"),
        (None, None) => title.clone(),
    });
    let (file, title) = (property(&report.path), property(&title));
    format!("::error file={file},title={title}::{}\n", data(&one_line(&visible(&said), WIDTH)))
}

/// Text behind the second `::`: it can't begin another command.
pub fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text between the first two `::`.
pub fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
#[path = "github_tests.rs"]
mod tests;
