//! Who reads which value of whom: what must be there before a task starts, and what is lost to it when it isn't.

use std::collections::HashMap;

use super::{AgentTask, FactInfo, Item, Items, Over, Plan, Task, Written};
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
        FactInfo::of_name(self.field).is_some_and(FactInfo::is_of_the_end)
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

    /// Whether a text of the plan speaks of a name, such as `git`.
    pub fn speaks_of(&self, root: &str) -> bool {
        let mut found = false;
        let mut see = |template: &Template| {
            found |= template.references.iter().any(|reference| reference.root() == root);
        };
        let own = self.env.iter().chain(&self.outputs).map(|(_, template)| template).chain(&self.lock);
        own.for_each(&mut see);
        self.tasks.iter().for_each(|task| task.templates(&mut see));
        found
    }

    fn reads_of<'p>(&'p self, task: &'p Task, ids: &HashMap<&str, TaskId>) -> Vec<Read<'p>> {
        let mut reads = Reads { ids, found: Vec::new() };
        task.templates(&mut |template| reads.template(template));
        let needs = self.graph.needs[task.id.index()].iter();
        // A fork goes on with what was said, and is told what it needs.
        match task.kind.agent() {
            Some(AgentTask { fork: Some(from), .. }) => reads.add(*from, "conversation", false),
            Some(_) if task.isolation == Isolation::Fork => {
                needs.for_each(|edge| reads.add(edge.from, "notification", false));
            }
            Some(_) | None => {}
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
}

impl Task {
    /// Shows every template of the task.
    fn templates<'p>(&'p self, see: &mut dyn FnMut(&'p Template)) {
        if let Some(condition) = &self.condition {
            see(&condition.expression);
        }
        if let Some(expansion) = &self.expansion {
            match &expansion.over {
                Over::ForEach { items, .. } => in_items(items, see),
                Over::Matrix { axes, .. } => axes.iter().for_each(|(_, items)| in_items(items, see)),
            }
            expansion.key.iter().for_each(&mut *see);
        }
        let own = self.description.iter().chain(&self.retry.condition).chain(&self.expect.that);
        own.chain(&self.artifacts).chain(&self.dir).chain(&self.base).for_each(&mut *see);
        self.env.iter().for_each(|(_, template)| see(template));
        let setup = self.preparation.iter().flat_map(|preparation| &preparation.setup);
        setup.for_each(|command| in_script(&command.script, see));
        match self.kind.written() {
            Written::Script(script) => in_script(script, see),
            Written::Words(words) => words.iter().for_each(&mut *see),
            Written::Text(text) => see(text),
        }
        self.kind.scripts().for_each(|script| in_script(script, see));
    }
}

fn in_script<'p>(script: &'p Script, see: &mut dyn FnMut(&'p Template)) {
    script.holes().for_each(|hole| see(&hole.template));
}

fn in_items<'p>(items: &'p Items, see: &mut dyn FnMut(&'p Template)) {
    match items {
        Items::Expression(template) => see(template),
        Items::List(items) => items.iter().for_each(|item| in_item(item, see)),
    }
}

fn in_item<'p>(item: &'p Item, see: &mut dyn FnMut(&'p Template)) {
    match item {
        Item::Value(_) => {}
        Item::Text(template) => see(template),
        Item::List(items) => items.iter().for_each(|item| in_item(item, see)),
        Item::Object(entries) => entries.iter().for_each(|(_, item)| in_item(item, see)),
    }
}

#[cfg(test)]
#[path = "reads_tests.rs"]
mod tests;
