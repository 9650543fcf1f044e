//! The conversation of an agent, told as far as it has gone.

use std::io;

use flow_core::converse::{LogLine, Teller, ended};
use flow_core::ids::Address;
use flow_core::model::TaskState;
use flow_core::report::TaskReport;
use flow_run::engine::{AgentLog, Run};

/// A conversation that is told.
pub(super) struct Conversation {
    run: Run,
    task: Address,
    /// None before the first look.
    reader: Option<AgentLog>,
    teller: Teller,
    /// How the last attempt ended, told once another follows: of the last one the task knows more.
    end: Option<LogLine>,
    /// Whether the end of the task was told.
    over: bool,
}

impl Conversation {
    pub(super) fn new(run: &Run, task: &Address) -> Self {
        let (run, task) = (run.clone(), task.clone());
        Conversation { run, task, reader: None, teller: Teller::default(), end: None, over: false }
    }

    /// What is new, and how the task ended.
    pub(super) fn new_text(&mut self, task: &TaskReport) -> io::Result<String> {
        let lines: Vec<LogLine> = match &mut self.reader {
            Some(reader) => reader.read_new()?.into_iter().map(|logged| logged.line).collect(),
            none => {
                let reader = none.insert(self.run.agent_log(&self.task));
                let lines: Vec<_> = reader.read_new()?.into_iter().map(|logged| logged.line).collect();
                let knows = lines.iter().any(|line| matches!(line, LogLine::Began { .. }));
                // A run of an earlier version, or one that has just begun.
                if knows { lines } else { self.run.conversation(&self.task)? }
            }
        };
        let mut text = String::new();
        for line in lines {
            if let Some(end) = self.end.take() {
                text.push_str(&self.teller.line(&end));
            }
            match line {
                LogLine::Ended { .. } => self.end = Some(line),
                line => text.push_str(&self.teller.line(&line)),
            }
        }
        if !self.over && is_over(task.state) {
            self.over = true;
            text.push_str(&end_of(task));
        }
        Ok(text)
    }
}

fn is_over(state: TaskState) -> bool {
    !matches!(state, TaskState::Created | TaskState::Starting | TaskState::Running)
}

/// How a task ended.
pub(super) fn end_of(task: &TaskReport) -> String {
    ended(task.state.in_words(!task.attempts.is_empty()), task.reason, task.message.as_deref())
}
