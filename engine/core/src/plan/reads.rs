//! Who reads which value of whom: what must be there before a task starts, and what is lost to it when it isn't.

use std::collections::HashMap;

use super::{Command, Item, Items, Over, Plan, Task, TaskKind};
use crate::ids::TaskId;
use crate::model::Isolation;
use crate::template::{Reference, Script, Segment, Template};

/// A value of a task that a text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Read<'p> {
    /// Whose.
    pub from: TaskId,
    /// Which one: `output`, `text`.
    pub field: &'p str,
    /// Whether the text copes with its absence.
    pub defaulted: bool,
}

impl Read<'_> {
    /// Whether it is about how the task ended, which is known of one that never ran as well.
    pub fn is_of_the_end(&self) -> bool {
        matches!(self.field, "status" | "reason" | "attempts" | "duration")
    }
}

impl Plan {
    /// For each task what it reads of others, each value once, in the order of the text; and behind them all what
    /// `outputs` reads.
    pub fn reads(&self) -> Vec<Vec<Read<'_>>> {
        let ids: HashMap<&str, TaskId> =
            self.tasks.iter().map(|task| (task.address.as_str(), task.id)).collect();
        let mut all: Vec<Vec<Read<'_>>> = self.tasks.iter().map(|task| self.reads_of(task, &ids)).collect();
        let mut outputs = Reads { ids: &ids, found: Vec::new() };
        self.outputs.iter().for_each(|(_, template)| outputs.template(template));
        all.push(outputs.found);
        all
    }

    fn reads_of<'p>(&'p self, task: &'p Task, ids: &HashMap<&str, TaskId>) -> Vec<Read<'p>> {
        let mut reads = Reads { ids, found: Vec::new() };
        reads.task(task);
        let needs = self.graph.needs[task.id.index()].iter();
        match &task.kind {
            // A fork goes on with what was said, and is told what it needs.
            TaskKind::Agent(agent) if task.isolation == Isolation::Fork && agent.fork.is_none() => {
                needs.for_each(|edge| reads.add(edge.from, "notification", false));
            }
            TaskKind::Agent(agent) => {
                agent.fork.into_iter().for_each(|from| reads.add(from, "conversation", false))
            }
            TaskKind::Shell(_) => {}
        }
        reads.found
    }
}

struct Reads<'p, 'i> {
    ids: &'i HashMap<&'i str, TaskId>,
    found: Vec<Read<'p>>,
}

impl<'p> Reads<'p, '_> {
    fn add(&mut self, from: TaskId, field: &'p str, defaulted: bool) {
        match self.found.iter_mut().find(|read| read.from == from && read.field == field) {
            Some(read) => read.defaulted &= defaulted,
            None => self.found.push(Read { from, field, defaulted }),
        }
    }

    fn reference(&mut self, reference: &'p Reference) {
        if let [Segment::Name(root), Segment::Name(id), Segment::Name(field), ..] = reference.path.as_slice()
            && root == "tasks"
            && let Some(from) = self.ids.get(id.as_str())
        {
            self.add(*from, field, reference.defaulted);
        }
    }

    fn template(&mut self, template: &'p Template) {
        template.references.iter().for_each(|reference| self.reference(reference));
    }

    fn script(&mut self, script: &'p Script) {
        script.holes().for_each(|hole| self.template(&hole.template));
    }

    fn item(&mut self, item: &'p Item) {
        match item {
            Item::Value(_) => {}
            Item::Text(template) => self.template(template),
            Item::List(items) => items.iter().for_each(|item| self.item(item)),
            Item::Object(entries) => entries.iter().for_each(|(_, item)| self.item(item)),
        }
    }

    fn items(&mut self, items: &'p Items) {
        match items {
            Items::Expression(template) => self.template(template),
            Items::List(items) => items.iter().for_each(|item| self.item(item)),
        }
    }

    fn task(&mut self, task: &'p Task) {
        if let Some(condition) = &task.condition {
            self.template(&condition.expression);
        }
        if let Some(expansion) = &task.expansion {
            match &expansion.over {
                Over::ForEach { items, .. } => self.items(items),
                Over::Matrix { axes, .. } => axes.iter().for_each(|(_, items)| self.items(items)),
            }
            expansion.key.iter().for_each(|key| self.template(key));
        }
        let own = task.description.iter().chain(&task.retry.condition).chain(&task.expect.that);
        let own = own.chain(&task.artifacts).chain(&task.dir).chain(&task.base);
        own.for_each(|template| self.template(template));
        task.env.iter().for_each(|(_, template)| self.template(template));
        let setup = task.preparation.iter().flat_map(|preparation| &preparation.setup);
        setup.for_each(|command| self.script(&command.script));
        match &task.kind {
            TaskKind::Shell(shell) => match &shell.command {
                Command::Script { script, .. } => self.script(script),
                Command::Words(words) => words.iter().for_each(|word| self.template(word)),
            },
            TaskKind::Agent(agent) => {
                self.template(&agent.prompt);
                agent
                    .checks
                    .iter()
                    .flat_map(|checks| &checks.checks)
                    .for_each(|check| self.script(&check.script));
            }
        }
    }
}

#[cfg(test)]
#[path = "reads_tests.rs"]
mod tests;
