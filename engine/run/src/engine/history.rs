//! Everything that happened in a run: its journal, and the calls of its agents from their logs.

use flow_core::converse::Logged;
use flow_core::event::{Entry, Event};
use flow_core::ids::{Address, Millis};
use indexmap::IndexMap;

use super::AgentLog;
use super::error::EngineError;
use super::runs::Run;
use crate::store::JournalTail;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Happened {
    /// An event of the journal.
    Event(Entry),
    /// A call of a task's agent.
    Call(Address, Logged),
}

impl Happened {
    /// When.
    pub fn at(&self) -> Millis {
        match self {
            Happened::Event(entry) => entry.at,
            Happened::Call(_, logged) => logged.at,
        }
    }
}

/// A run, read from its beginning as far as it has gone.
#[derive(Debug)]
pub struct History {
    run: Run,
    journal: JournalTail,
    agents: IndexMap<Address, AgentLog>,
}

impl Run {
    /// All that has happened, and what will.
    pub fn history(&self) -> History {
        let journal = JournalTail::new(self.folder.events());
        History { run: self.clone(), journal, agents: IndexMap::new() }
    }
}

impl History {
    /// What has happened since the last look, in the order of its moments. The journal keeps its own order whatever the
    /// clock did; of one instant it comes first.
    pub fn more(&mut self) -> Result<Vec<Happened>, EngineError> {
        let entries = self.journal.more()?;
        for entry in &entries {
            if let Event::AttemptRunning { task, launch, .. } = &entry.event
                && launch.agent.is_some()
                && !self.agents.contains_key(task)
            {
                self.agents.insert(task.clone(), self.run.agent_log(task));
            }
        }
        let mut calls: Vec<Happened> = Vec::new();
        for (task, log) in &mut self.agents {
            // A log that can't be read says nothing.
            let lines = log.read_new().unwrap_or_default();
            let new = lines.into_iter().filter(Logged::is_call);
            calls.extend(new.map(|logged| Happened::Call(task.clone(), logged)));
        }
        calls.sort_by_key(Happened::at);
        let mut calls = calls.into_iter().peekable();
        let mut all = Vec::with_capacity(entries.len() + calls.len());
        for entry in entries.into_iter().map(Happened::Event) {
            while let Some(call) = calls.next_if(|call| call.at() < entry.at()) {
                all.push(call);
            }
            all.push(entry);
        }
        all.extend(calls);
        Ok(all)
    }
}
