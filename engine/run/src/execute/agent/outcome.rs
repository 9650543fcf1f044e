//! What an agent's attempt comes to.

use std::borrow::Cow;

use flow_core::converse::{AgentEnd, Converse};
use flow_core::model::{AttemptEnd, Denial, Digest, Outcome, Reason, Usage};
use flow_core::text::format_duration;

use super::checks::Printed;
use super::files::{AgentFiles, FilesError};
use super::launch::AgentLaunch;
use crate::sys::stop::StopOrder;

/// The largest output, as JSON, that an outcome carries itself.
const MAX_INLINE: usize = 64 * 1024;

/// Why the loop was left before it had finished.
pub(super) enum Cut {
    Stopped(StopOrder),
    Files(FilesError),
    Bug(&'static str),
}

impl From<FilesError> for Cut {
    fn from(error: FilesError) -> Self {
        Cut::Files(error)
    }
}

/// An attempt at its end.
pub(super) struct Ending<'a> {
    pub(super) launch: &'a AgentLaunch,
    pub(super) files: &'a AgentFiles,
}

impl Ending<'_> {
    /// The loop has finished. `printed`: what the check that failed last printed.
    pub(super) fn finished(&self, end: AgentEnd, printed: Option<Printed>) -> Result<Outcome, FilesError> {
        let state = match end.reason {
            None => AttemptEnd::Completed,
            Some(_) => AttemptEnd::Failed,
        };
        let message = end.message.map(|message| self.masked(&message).into_owned());
        let mut outcome = Outcome::bare(state, end.reason, message);
        outcome.usage = Some(self.usage_of(end.usage));
        outcome.denials = self.denials_of(&end.denials);
        outcome.text = self.files.text(&self.masked(&end.text))?;
        if let (Some(Reason::CheckFailed), Some([stdout, stderr])) = (end.reason, printed) {
            (outcome.stdout, outcome.stderr) = (stdout, stderr);
        }
        if let Some(mut output) = end.output {
            if let Some(mask) = &self.launch.mask {
                mask.apply_within(&mut output);
            }
            let json = output.to_string();
            if json.len() <= MAX_INLINE {
                outcome.output = Some(output);
            } else {
                outcome.output_file = Some(self.files.output(&json)?);
                outcome.output_hash = Some(Digest::of(json.as_bytes()));
            }
        }
        Ok(outcome)
    }

    /// The loop was left.
    pub(super) fn cut(&self, cut: Cut, machine: &Converse) -> Result<Outcome, FilesError> {
        let mut outcome = match cut {
            Cut::Stopped(order) => Outcome::bare(
                AttemptEnd::when_stopped(order.reason),
                Some(order.reason),
                self.stop_message(order.reason),
            ),
            Cut::Files(error) => return Err(error),
            Cut::Bug(what) => Outcome::failed(Reason::Internal, format!("bug: {what}")),
        };
        outcome.usage = Some(self.usage_of(machine.usage().clone()));
        outcome.denials = self.denials_of(machine.denials());
        outcome.text = self.files.text(&self.masked(machine.text()))?;
        Ok(outcome)
    }

    fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.launch.mask.as_ref().map_or(Cow::Borrowed(text), |mask| mask.apply(text))
    }

    fn stop_message(&self, reason: Reason) -> Option<String> {
        // Whoever gave another order knows more about it.
        let idle = self.launch.idle.filter(|_| reason == Reason::Stall)?;
        Some(format!("showed no sign of life for {} (`timeout.idle`)", format_duration(idle)))
    }

    /// What this attempt adds to what earlier ones reported. A turn that was begun counts, answered or not: it may have cost
    /// something.
    fn usage_of(&self, all: Usage) -> Usage {
        let mut usage = all.less(&self.launch.reported.usage);
        if usage.model.is_empty() {
            usage.model = self.launch.model.id().to_owned();
        }
        usage
    }

    fn denials_of(&self, all: &[Denial]) -> Vec<Denial> {
        all.iter().skip(self.launch.reported.denials).cloned().collect()
    }
}
