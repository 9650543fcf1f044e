//! What a person can know of a task before it runs: inputs and written-out lists have their values, the rest is marked.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::argv::{arguments, is_end_of_options};
use super::context::{Facts, GitFacts, Scope};
use super::expand::instances;
use crate::event::Instance;
use crate::ids::Attempt;
use crate::model::{Digest, OutputSlice};
use crate::plan::{Expansion, Item, Items, Over, Plan, Task, Written};
use crate::report::{Fold, Texts};
use crate::template::{Reference, Script, ScriptPart, Template, ValueFiles};
use crate::text::shell_word;

/// A task, or one of its instances, before the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The instance's key; `None` for a task that doesn't expand, or whose instances only the run knows.
    pub key: Option<String>,
    /// The script or the prompt: known values in their places, the others as they are written.
    pub text: String,
    /// The references that only the run knows, each once.
    pub later: Vec<String>,
}

/// The task, or each of its instances where they are known. The error is an expression that fails on known values.
pub fn preview(plan: &Plan, task: &Task) -> Result<Vec<Preview>, String> {
    let (run, facts, files) =
        (Fold::default(), no_facts(), ValueFiles::within(".flow/runs/RUN/values".into()));
    let scope =
        |instance| Scope { files: Some(&files), ..before_the_run(plan, (&run, &facts), task, instance) };
    let Some(expansion) = task.expansion.as_deref().filter(|expansion| is_known(expansion)) else {
        return Ok(vec![one(&scope(None), task, None)?]);
    };
    instances(expansion, &scope(None))?
        .iter()
        .map(|instance| one(&scope(Some(instance)), task, Some(instance)))
        .collect()
}

/// The instances of a task, where they are known before the run.
pub fn known_instances(plan: &Plan, task: &Task) -> Option<Vec<Instance>> {
    let expansion = task.expansion.as_deref().filter(|expansion| is_known(expansion))?;
    let (run, facts) = (Fold::default(), no_facts());
    instances(expansion, &before_the_run(plan, (&run, &facts), task, None)).ok()
}

fn before_the_run<'a>(
    plan: &'a Plan,
    (run, facts): (&'a Fold, &'a Facts),
    task: &Task,
    instance: Option<&'a Instance>,
) -> Scope<'a> {
    Scope {
        plan,
        run,
        facts,
        texts: &NoTexts,
        task: Some(task.id),
        instance,
        attempt: Attempt::FIRST,
        env: None,
        files: None,
    }
}

fn one(scope: &Scope<'_>, task: &Task, instance: Option<&Instance>) -> Result<Preview, String> {
    let mut shown = Shown { scope, known: names(task, instance.is_some()), later: BTreeSet::new() };
    let text = match task.kind.written() {
        Written::Script(script) => shown.script(script)?,
        Written::Words(words) => shown.words(words)?,
        Written::Text(text) => {
            shown.value(task.kind.info().key(), text)?.unwrap_or_else(|| text.source.to_string())
        }
    };
    let later = shown.later.into_iter().collect();
    Ok(Preview { key: instance.map(|instance| instance.key.clone()), text, later })
}

struct Shown<'a> {
    scope: &'a Scope<'a>,
    known: Vec<&'a str>,
    later: BTreeSet<String>,
}

impl Shown<'_> {
    fn script(&mut self, script: &Script) -> Result<String, String> {
        let mut text = String::new();
        for part in &script.parts {
            match part {
                ScriptPart::Text(plain) => text.push_str(plain),
                ScriptPart::Hole(hole) => match self.value("run", &hole.template)? {
                    // A value is never shell text, and must not look like some.
                    Some(value) => text.push_str(&shell_word(&value)),
                    None => text.push_str(&hole.template.source),
                },
            }
        }
        Ok(text)
    }

    /// One word a line: what is one argument shows.
    fn words(&mut self, words: &[Template]) -> Result<String, String> {
        let (mut lines, mut options_ended) = (Vec::with_capacity(words.len()), false);
        for (at, word) in words.iter().enumerate() {
            if self.is_known(word) {
                let arguments = arguments(self.scope, at, word, options_ended);
                let arguments =
                    arguments.map_err(|outcome| outcome.message.unwrap_or_else(|| format!("`run[{at}]`")))?;
                lines.extend(arguments.iter().map(|argument| format!("- {argument}")));
            } else {
                lines.push(format!("- {}", word.source));
            }
            options_ended |= is_end_of_options(word);
        }
        Ok(lines.join("\n"))
    }

    /// Whether it has its value before the run; what it lacks is noted.
    fn is_known(&mut self, template: &Template) -> bool {
        let unknown: Vec<String> =
            unknown(&template.references, &self.known).map(ToString::to_string).collect();
        let is_known = unknown.is_empty() && !template.asks_status();
        self.later.extend(unknown);
        is_known
    }

    /// The rendered text; `None`, and noted, when only the run knows it.
    fn value(&mut self, what: &str, template: &Template) -> Result<Option<String>, String> {
        if !self.is_known(template) {
            return Ok(None);
        }
        let rendered = template.render(&self.scope.context(&template.references));
        rendered.map(Some).map_err(|error| format!("`{what}`: {error}"))
    }
}

/// The first names whose values are known before the run.
fn names(task: &Task, has_instance: bool) -> Vec<&str> {
    let over = task.expansion.as_ref().filter(|_| has_instance).map(|expansion| &expansion.over);
    match over {
        None => vec!["inputs"],
        Some(Over::ForEach { name, .. }) => vec!["inputs", "key", name],
        Some(Over::Matrix { .. }) => vec!["inputs", "key", "matrix"],
    }
}

fn unknown<'r>(references: &'r [Reference], known: &[&str]) -> impl Iterator<Item = &'r Reference> {
    references.iter().filter(|reference| !known.contains(&reference.root()))
}

/// Whether the instances of an expansion are known before the run.
fn is_known(expansion: &Expansion) -> bool {
    let (lists, own): (Vec<&Items>, &str) = match &expansion.over {
        Over::ForEach { items, name } => (vec![items], name),
        Over::Matrix { axes, .. } => (axes.iter().map(|(_, items)| items).collect(), "matrix"),
    };
    let fixed = |template: &Template| unknown(&template.references, &["inputs"]).next().is_none();
    let key = expansion.key.iter().flat_map(|key| &key.references);
    lists.into_iter().all(|items| match items {
        Items::Expression(template) => fixed(template),
        Items::List(items) => items.iter().all(|item| is_item_known(item, &fixed)),
    }) && key.into_iter().all(|reference| ["inputs", "key", own].contains(&reference.root()))
}

fn is_item_known(item: &Item, fixed: &dyn Fn(&Template) -> bool) -> bool {
    match item {
        Item::Value(_) => true,
        Item::Text(template) => fixed(template),
        Item::List(items) => items.iter().all(|item| is_item_known(item, fixed)),
        Item::Object(entries) => entries.iter().all(|(_, item)| is_item_known(item, fixed)),
    }
}

fn no_facts() -> Facts {
    Facts {
        run: "RUN".to_owned(),
        run_dir: ".flow/runs/RUN".to_owned(),
        root: ".".to_owned(),
        ci: false,
        git: GitFacts::default(),
        env: IndexMap::new(),
    }
}

/// Nothing has run, so nothing has been printed.
pub(super) struct NoTexts;

impl Texts for NoTexts {
    fn tail(&self, _: &OutputSlice, _: usize) -> String {
        String::new()
    }

    fn text(&self, _: &OutputSlice, _: usize) -> (String, u64) {
        (String::new(), 0)
    }

    fn whole(&self, _: &OutputSlice) -> Result<String, String> {
        Ok(String::new())
    }

    fn json(&self, _: &str, _: Option<Digest>) -> Result<serde_json::Value, String> {
        Ok(serde_json::Value::Null)
    }

    fn check(&self, _: &OutputSlice) -> Result<(), String> {
        Ok(())
    }

    fn path(&self, _: &OutputSlice) -> String {
        String::new()
    }
}

#[cfg(test)]
#[path = "preview_tests.rs"]
mod tests;
