//! A run that another process drives, as updates: its journal, and the logs of the agents that run.
//!
//! What is told this way is what the driving process tells its own watchers, but for one thing: that an agent waits for a
//! provider is not written down, and is seen from what it does not do.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use flow_core::converse::{LogLine, Logged, last_line};
use flow_core::event::{Entry, Event};
use flow_core::ids::Address;

use super::channel::Update;
use super::counts::Spent;
use crate::execute::Progress;
use crate::store::{JournalError, JournalTail, RunFolder};

/// Reads a run from its folder, again and again.
#[derive(Debug)]
pub struct Follower {
    folder: Arc<RunFolder>,
    journal: JournalTail,
    /// Agents that run.
    agents: HashMap<Address, AgentLog>,
}

impl Follower {
    /// At the beginning of a run.
    pub fn new(folder: Arc<RunFolder>) -> Self {
        let journal = JournalTail::new(folder.events());
        Follower { folder, journal, agents: HashMap::new() }
    }

    /// The events since the last look.
    pub fn events(&mut self) -> Result<Vec<Entry>, JournalError> {
        let entries = self.journal.more()?;
        entries.iter().for_each(|entry| self.learn(&entry.event));
        Ok(entries)
    }

    /// What agents that run have done since the last look. A log that can't be read says nothing.
    pub fn progress(&mut self) -> Vec<Update> {
        let mut updates = Vec::new();
        for (task, log) in &mut self.agents {
            let said = log.more().unwrap_or_default();
            updates.extend(said.into_iter().map(|progress| Update::Progress(task.clone(), progress)));
        }
        updates
    }

    fn learn(&mut self, event: &Event) {
        match event {
            Event::AttemptRunning { task, launch, .. } if launch.agent.is_some() => {
                let path = self.folder.task(task).join("wire.jsonl");
                // What earlier attempts wrote is passed over: its beginning starts anew.
                self.agents.insert(task.clone(), AgentLog { path, ..AgentLog::default() });
            }
            Event::AttemptEnded { task, .. } => drop(self.agents.remove(task)),
            Event::RunResumed { .. } => self.agents.clear(),
            _ => {}
        }
    }
}

/// The log of an agent, read as it grows.
#[derive(Debug, Default)]
struct AgentLog {
    path: PathBuf,
    offset: u64,
    told: Told,
}

impl AgentLog {
    fn more(&mut self) -> io::Result<Vec<Progress>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // A line that is being written is whole the next time.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.offset += whole as u64;
        let text = String::from_utf8_lossy(&bytes[..whole]);
        let lines = text.lines().filter_map(Logged::read);
        Ok(lines.flat_map(|logged| self.told.line(logged.line)).collect())
    }
}

/// What is known of an agent from its log.
#[derive(Debug, Default)]
struct Told {
    spent: Spent,
    /// Calls without a result.
    open_calls: usize,
}

impl Told {
    fn line(&mut self, line: LogLine) -> Vec<Progress> {
        match line {
            LogLine::Began { continued, .. } => {
                if !continued {
                    self.spent = Spent::default();
                }
                self.open_calls = 0;
                vec![Progress::Waiting(true)]
            }
            LogLine::RequestBegan { turn } => vec![Progress::Waiting(false), Progress::Turn(turn)],
            LogLine::RequestEnded { usage: Some(usage), .. } => {
                let used = Spent::of(&usage);
                self.spent.fresh += used.fresh;
                self.spent.cached += used.cached;
                vec![Progress::Tokens { fresh: self.spent.fresh, cached: self.spent.cached }]
            }
            // It asks again, or ends.
            LogLine::RequestEnded { usage: None, .. } => vec![Progress::Waiting(true)],
            LogLine::Text { text, .. } => last_line(&text).map(Progress::Text).into_iter().collect(),
            LogLine::ToolCalled { tool, call, .. } => {
                self.open_calls += 1;
                vec![Progress::Tool(tool, call)]
            }
            LogLine::ToolEnded { .. } => {
                self.open_calls = self.open_calls.saturating_sub(1);
                // With its last result it turns to the model.
                if self.open_calls == 0 { vec![Progress::Waiting(true)] } else { Vec::new() }
            }
            LogLine::Prompt { .. }
            | LogLine::ToolRefused { .. }
            | LogLine::Checked { .. }
            | LogLine::Ended { .. } => Vec::new(),
        }
    }
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
