//! A run that another process drives, as updates: its journal, the logs of the agents that run, and what its commands print.
//!
//! What is told this way is what the driving process tells its own watchers, but for one thing: that an agent waits for a
//! provider is not written down, and is seen from what it does not do.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use flow_core::converse::{LogLine, last_line};
use flow_core::event::{Entry, Event};
use flow_core::ids::Address;

use super::channel::Update;
use super::group::Spent;
use super::outputs::Outputs;
use crate::execute::{LogReader, Progress};
use crate::store::{JournalError, JournalTail, RunFolder};

/// Reads a run from its folder, again and again.
#[derive(Debug)]
pub struct Follower {
    folder: Arc<RunFolder>,
    journal: JournalTail,
    /// Agents that run or have run.
    agents: HashMap<Address, AgentLog>,
    outputs: Outputs,
    /// What the last look at those that have ended brought.
    late: Vec<Update>,
    /// Whether anybody has looked at the agents yet.
    looked: bool,
}

impl Follower {
    /// At the beginning of a run.
    pub fn new(folder: Arc<RunFolder>) -> Self {
        let journal = JournalTail::new(folder.events());
        Follower {
            folder,
            journal,
            agents: HashMap::new(),
            outputs: Outputs::default(),
            late: Vec::new(),
            looked: false,
        }
    }

    /// The events since the last look.
    pub fn events(&mut self) -> Result<Vec<Entry>, JournalError> {
        let entries = self.journal.more()?;
        for entry in &entries {
            self.learn(&entry.event);
            self.outputs.take(entry, self.looked);
        }
        Ok(entries)
    }

    /// What agents that run have done, and what commands have printed, since the last look. What can't be read says nothing.
    pub fn progress(&mut self) -> Vec<Update> {
        self.looked = true;
        let mut updates = std::mem::take(&mut self.late);
        for (task, log) in self.agents.iter_mut().filter(|(_, log)| log.runs) {
            let said = log.more().unwrap_or_default();
            updates.extend(said.into_iter().map(|progress| Update::Progress(task.clone(), progress)));
        }
        updates.extend(self.outputs.more(&self.folder));
        updates
    }

    fn learn(&mut self, event: &Event) {
        match event {
            Event::AttemptRunning { task, launch, .. } if launch.agent.is_some() => {
                // What earlier attempts wrote is read once: what is told of them starts anew with each.
                let folder = self.folder.task(task);
                let begin =
                    || AgentLog { reader: LogReader::new(&folder), told: Told::default(), runs: true };
                self.agents.entry(task.clone()).or_insert_with(begin).runs = true;
            }
            Event::AttemptEnded { task, .. } => {
                if let Some(log) = self.agents.get_mut(task) {
                    log.runs = false;
                    let rest = if self.looked { log.more().unwrap_or_default() } else { Vec::new() };
                    let calls = rest.into_iter().filter(|said| matches!(said, Progress::Logged(_)));
                    self.late.extend(calls.map(|progress| Update::Progress(task.clone(), progress)));
                }
            }
            Event::RunResumed { .. } => self.agents.values_mut().for_each(|log| log.runs = false),
            _ => {}
        }
    }
}

/// The log of an agent, read as it grows.
#[derive(Debug)]
struct AgentLog {
    reader: LogReader,
    told: Told,
    /// Whether an attempt is under way.
    runs: bool,
}

impl AgentLog {
    fn more(&mut self) -> io::Result<Vec<Progress>> {
        let mut all = Vec::new();
        for logged in self.reader.read_new()? {
            if logged.is_call() {
                all.push(Progress::Logged(Box::new(logged.clone())));
            }
            all.extend(self.told.line(logged.line));
        }
        Ok(all)
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
