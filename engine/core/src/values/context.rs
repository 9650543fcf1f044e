//! The names that a template sees.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::field::{field, has_output, of_last_attempt, of_outcome};
use crate::event::Instance;
use crate::ids::{Attempt, TaskId};
use crate::model::{Outcome, RunStatus};
use crate::plan::{Over, Plan};
use crate::report::{Fold, TaskReport, Texts};
use crate::template::{Context, Reference, Segment, Template, ValueFiles};

/// What is true of the whole run and doesn't change while it lives.
pub struct Facts {
    /// The run's id.
    pub run: String,
    /// The run folder.
    pub run_dir: String,
    /// The project root.
    pub root: String,
    /// Whether it runs in CI.
    pub ci: bool,
    /// The repository, when the plan speaks of it.
    pub git: GitFacts,
    /// The process environment, secrets included.
    pub env: IndexMap<String, String>,
}

/// What templates can know of the repository.
#[derive(Clone, Debug, Default)]
pub struct GitFacts {
    /// The top level of the checkout.
    pub root: Option<String>,
    /// The branch, unless HEAD is detached.
    pub branch: Option<String>,
    /// The commit of HEAD.
    pub commit: Option<String>,
    /// A tag on that commit.
    pub tag: Option<String>,
    /// Whether tracked files differ from it.
    pub dirty: bool,
}

/// Who asks for a value, and when.
pub struct Scope<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The run so far.
    pub run: &'a Fold,
    /// What doesn't change.
    pub facts: &'a Facts,
    /// Output files.
    pub texts: &'a dyn Texts,
    /// The plan task; `None` for the run's own templates.
    pub task: Option<TaskId>,
    /// The instance of it, once expanded.
    pub instance: Option<&'a Instance>,
    /// Which try.
    pub attempt: Attempt,
    /// Declared variables that are rendered already; `None`: those of the plan, rendered when one of them is read.
    pub env: Option<IndexMap<String, String>>,
    /// Where `file` writes; `None`: it can't.
    pub files: Option<&'a ValueFiles>,
}

impl Scope<'_> {
    /// A context that has every value that the references name, and no other.
    pub fn context<'r>(&self, references: impl IntoIterator<Item = &'r Reference>) -> Context {
        let references: Vec<&Reference> = references.into_iter().collect();
        let reads_own = references.iter().any(|reference| reference.root() == "task");
        let reads_env = references.iter().any(|reference| reference.root() == "env");
        let own = self.env.is_none().then(|| if reads_env { self.plan_env() } else { IndexMap::new() });
        let declared = self.env.as_ref().or(own.as_ref());
        let mut context = Context::new();
        if let Some(files) = self.files {
            context.set_files(files);
        }
        let (mut tasks, mut env, mut secrets) = (Map::new(), Map::new(), Map::new());
        let mut run = self.run_facts();
        for reference in references {
            let name = |at: usize| match reference.path.get(at) {
                Some(Segment::Name(name)) => Some(name.as_str()),
                Some(Segment::Index(_)) | None => None,
            };
            match (name(0), name(1)) {
                (Some("tasks"), Some(task)) => self.add_task(&mut tasks, &mut context, task, name(2)),
                (Some("env"), Some(variable)) => {
                    add_variable(&mut env, variable, self.variable(declared, variable))
                }
                (Some("secrets"), Some(secret)) => {
                    add_variable(&mut secrets, secret, self.facts.env.get(secret))
                }
                // Looks at every task, so only for those who ask.
                (Some("run"), Some("status" | "failed")) if !run.contains_key("status") => {
                    self.add_run_status(&mut run)
                }
                _ => {}
            }
        }
        context.set("tasks", Value::Object(tasks));
        context.set("env", Value::Object(env));
        context.set("secrets", Value::Object(secrets));
        context.set(
            "inputs",
            self.plan.inputs.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        );
        context.set("run", Value::Object(run));
        let git = &self.facts.git;
        context.set(
            "git",
            json!({ "root": git.root, "branch": git.branch, "commit": git.commit, "tag": git.tag, "dirty": git.dirty }),
        );
        context.set("attempt", json!(self.attempt.0));
        if reads_own && self.task.is_some() {
            context.set("task", Value::Object(self.own_names()));
        }
        self.add_instance(&mut context);
        context
    }

    /// The context of `expect.that`: `task` has what the attempt that has just ended left.
    pub fn context_of_outcome(&self, template: &Template, outcome: &Outcome) -> Context {
        self.context_of_own(template, of_outcome(outcome, self.texts))
    }

    /// The context of `retry.if`: `task` has what the last attempt on record left.
    pub fn context_of_last_attempt(&self, template: &Template, task: &TaskReport) -> Context {
        self.context_of_own(template, of_last_attempt(task, self.texts))
    }

    fn context_of_own(&self, template: &Template, own: Result<Map<String, Value>, String>) -> Context {
        let mut context = self.context(&template.references);
        let mut own = own.unwrap_or_else(|why| {
            context.unreadable(format!("what the task printed can't be read: {why}"));
            Map::new()
        });
        own.extend(self.own_names());
        context.set("task", Value::Object(own));
        context
    }

    /// What the task is called, and which try this is.
    fn own_names(&self) -> Map<String, Value> {
        let id = self.task.map(|task| self.plan.tasks[task.index()].address.as_str());
        [
            ("id", json!(id)),
            ("address", json!(self.address())),
            ("key", json!(self.instance.map(|instance| &instance.key))),
            ("attempt", json!(self.attempt.0)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
    }

    fn run_facts(&self) -> Map<String, Value> {
        let facts = self.facts;
        [("id", json!(facts.run)), ("dir", json!(facts.run_dir)), ("ci", json!(facts.ci))]
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .collect()
    }

    /// In the run's own templates (`outputs`) the status is final, in a task's it is `running` until a failure counts.
    fn add_run_status(&self, run: &mut Map<String, Value>) {
        let failed = self.run.plan_rows().any(|task| task.state.is_bad(task.allowed));
        let status = match (failed, self.task) {
            (true, _) => RunStatus::Failed,
            (false, Some(_)) => RunStatus::Running,
            (false, None) => RunStatus::Completed,
        };
        run.insert("status".to_owned(), json!(status.as_str()));
        run.insert("failed".to_owned(), json!(failed));
    }

    /// The plan's variables: each sees those before it. One that can't be rendered is missing.
    fn plan_env(&self) -> IndexMap<String, String> {
        let mut env = IndexMap::with_capacity(self.plan.env.len());
        for (name, template) in &self.plan.env {
            let inner = Scope { env: Some(env.clone()), ..*self };
            if let Ok(value) = template.render(&inner.context(&template.references)) {
                env.insert(name.clone(), value);
            }
        }
        env
    }

    /// The value of a declared variable, else of the process's.
    fn variable<'v>(
        &'v self,
        declared: Option<&'v IndexMap<String, String>>,
        name: &str,
    ) -> Option<&'v String> {
        declared
            .and_then(|declared| declared.get(name))
            .or_else(|| self.facts.env.get(name).filter(|_| !self.plan.secrets.iter().any(|s| s == name)))
    }

    pub(super) fn address(&self) -> Option<String> {
        let task = &self.plan.tasks[self.task?.index()].address;
        Some(
            self.instance
                .map_or_else(|| task.to_string(), |instance| task.instance(&instance.key).to_string()),
        )
    }

    fn add_task(
        &self,
        tasks: &mut Map<String, Value>,
        context: &mut Context,
        task: &str,
        name: Option<&str>,
    ) {
        let Some(found) = self.run.task(&task.into()) else { return };
        let entry = tasks.entry(task).or_insert_with(|| Value::Object(Map::new()));
        if let (Value::Object(fields), Some(name)) = (entry, name)
            && !fields.contains_key(name)
        {
            match field(found, name, self.run, self.texts) {
                Ok(value) => drop(fields.insert(name.to_owned(), value)),
                Err(why) => context.unreadable(why),
            }
            let has_output = found.instances.is_some() || has_output(found);
            if name == "output" && !has_output {
                context.incomplete(task);
            }
        }
    }

    fn add_instance(&self, context: &mut Context) {
        let Some(instance) = self.instance else { return };
        context.set("key", json!(instance.key));
        let over = self
            .task
            .and_then(|task| self.plan.tasks[task.index()].expansion.as_ref())
            .map(|found| &found.over);
        match over {
            Some(Over::ForEach { name, .. }) => context.set(name, instance.item.clone()),
            Some(Over::Matrix { .. }) => context.set("matrix", instance.item.clone()),
            None => {}
        }
    }
}

fn add_variable(into: &mut Map<String, Value>, name: &str, value: Option<&String>) {
    // A missing one stays undefined, so that a strict template fails and `default` works.
    if let Some(value) = value {
        into.insert(name.to_owned(), json!(value));
    }
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
