//! `checks`: commands that must pass once an agent says that it is done.

use std::sync::Arc;

use flow_core::converse::CheckFault;
use flow_core::model::{AttemptEnd, Outcome, OutputSlice};
use flow_core::text::one_line;

use super::super::shell::{ShellLaunch, run_shell};
use crate::store::{RunFolder, SlotFiles, tail_of_slice};
use crate::sys::stop::{StopOrder, StopSignal};

/// How much of what a check printed goes back to the agent: lines, and bytes.
const LINES: usize = 40;
const BYTES: usize = 8 * 1024;

/// The checks of an attempt.
#[derive(Debug)]
pub struct AgentChecks {
    /// Each with a line for people.
    pub commands: Vec<(String, ShellLaunch)>,
    /// Where they print.
    pub files: SlotFiles,
    /// The run folder.
    pub folder: Arc<RunFolder>,
    /// What the check that failed last printed: standard output, standard error.
    pub printed: Option<Printed>,
}

/// Standard output and standard error, each if there was any.
pub(super) type Printed = [Option<OutputSlice>; 2];

impl AgentChecks {
    /// Runs the checks one after the other up to the first that fails. The outer error is an order to stop.
    pub(super) async fn run(&mut self, stop: &StopSignal) -> Result<Result<(), CheckFault>, StopOrder> {
        self.printed = None;
        for (shown, launch) in &self.commands {
            let files = match self.files.next() {
                Ok(files) => files,
                Err(error) => {
                    let message = format!("check `{shown}` has no place to print to: {error}");
                    return Ok(Err(CheckFault { message, output: String::new() }));
                }
            };
            let outcome = run_shell(launch.clone(), files, stop.clone()).await;
            if let Some(order) = stop.order() {
                return Err(order);
            }
            if outcome.end != AttemptEnd::Completed {
                let fault = self.fault(shown, &outcome);
                self.printed = Some([outcome.stdout, outcome.stderr]);
                return Ok(Err(fault));
            }
        }
        Ok(Ok(()))
    }

    fn fault(&self, shown: &str, outcome: &Outcome) -> CheckFault {
        let why = outcome.message.as_deref().unwrap_or("it failed");
        let message = format!("check `{}` failed: {why}", one_line(shown, 80));
        let ends = [&outcome.stdout, &outcome.stderr].into_iter().flatten().map(|slice| {
            let bytes = tail_of_slice(&self.folder, slice, LINES).unwrap_or_default();
            let from = bytes.len().saturating_sub(BYTES);
            String::from_utf8_lossy(&bytes[from..]).trim_end().to_owned()
        });
        let output = ends.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
        CheckFault { message, output }
    }
}
