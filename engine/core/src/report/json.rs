//! The report for programs. Keys are only ever added; what is unknown is absent.

use super::format::{Format, Texts};
use super::run_report::RunReport;

pub(super) const FORMAT: Format =
    Format { name: "json", file: "report.json", about: "everything, for programs", render };

fn render(report: &RunReport, _: &dyn Texts) -> String {
    match serde_json::to_string_pretty(report) {
        Ok(text) => text + "\n",
        Err(error) => serde_json::json!({ "bug": error.to_string() }).to_string(),
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
