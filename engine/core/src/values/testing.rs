//! A compiled plan, a journal so far, and the scope in which its templates are rendered, for the tests of this folder.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

use super::context::{Facts, GitFacts, Scope};
use super::kind::WorkKind;
use super::packet::{AttemptPacket, Shared};
use super::sealed::Sealed;
use super::work::{Program, ShellWork, Work};
use super::work_of_task::work_of_task;
use crate::compile::testing::Trial;
use crate::event::Instance;
use crate::ids::{Attempt, RunId, TaskId};
use crate::model::{Outcome, Settings};
use crate::plan::Plan;
use crate::report::Fold;
use crate::report::testing::Journal;

/// A run in the middle.
pub(super) struct Middle {
    plan: Plan,
    pub(super) journal: Journal,
    facts: Facts,
}

impl Middle {
    /// A plan of which nothing has run; `flow: 1` is put before it.
    pub(super) fn of(text: &str) -> Self {
        Middle::compiled(Trial::of(text))
    }

    pub(super) fn compiled(trial: Trial) -> Self {
        // Warnings are another test's business.
        let plan = trial.compile().plan.unwrap_or_else(|| panic!("{}", trial.report()));
        let tasks: Vec<&str> = plan.tasks.iter().map(|task| task.address.as_str()).collect();
        let journal = Journal::of(&tasks);
        let facts = Facts {
            run: "20261130-075412-k3f9q2".to_owned(),
            run_dir: "/runs/r".to_owned(),
            root: "/repo".to_owned(),
            ci: false,
            git: GitFacts { branch: Some("main".to_owned()), ..GitFacts::default() },
            env: IndexMap::new(),
        };
        Middle { plan, journal, facts }
    }

    /// Sets a variable of the process.
    pub(super) fn env(mut self, name: &str, value: &str) -> Self {
        self.facts.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Looks at the run with the eyes of a task.
    pub(super) fn look<T>(
        &self,
        task: &str,
        instance: Option<&Instance>,
        look: impl FnOnce(&Scope<'_>, &crate::plan::Task) -> T,
    ) -> T {
        let mut run = Fold::default();
        self.journal.entries.iter().for_each(|entry| run.take(entry));
        let found = self.plan.tasks.iter().find(|found| found.address.as_str() == task).unwrap();
        let scope = Scope {
            plan: &self.plan,
            run: &run,
            facts: &self.facts,
            texts: &self.journal,
            task: Some(TaskId::at(found.id.index())),
            instance,
            attempt: Attempt::FIRST,
            env: None,
            files: None,
        };
        look(&scope, found)
    }

    /// What the first attempt of a task would be.
    pub(super) fn work(&self, task: &str) -> Result<Work, Box<Outcome>> {
        self.look(task, None, |scope, task| work_of_task(scope, task, &Settings::default()))
    }

    /// The same, as it is handed to whoever runs it.
    pub(super) fn packet(&self, task: &str) -> AttemptPacket {
        let shared = Shared {
            run: RunId::parse(&self.facts.run).unwrap(),
            settings: Arc::default(),
            hidden_env: ["API_KEY".to_owned()].into(),
        };
        let packet = |scope: &Scope<'_>, found: &crate::plan::Task| {
            AttemptPacket::of_task(scope, found, (task.into(), 0), &shared).unwrap()
        };
        self.look(task, None, packet)
    }

    /// The value of a process's variable.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.facts.env.get(name).map(String::as_str)
    }

    /// The prompt of an agent task.
    pub(super) fn prompt(&self, task: &str) -> String {
        match self.work(task).map(|work| work.kind) {
            Ok(WorkKind::Agent(agent)) => agent.prompt,
            Ok(WorkKind::Shell(_)) => panic!("`{task}` is no agent"),
            Err(outcome) => format!("error: {}", outcome.message.unwrap_or_default()),
        }
    }

    /// Script and variables of a shell task.
    pub(super) fn script(&self, task: &str) -> (String, IndexMap<String, String>) {
        let work = match self.work(task) {
            Ok(work) => work,
            Err(outcome) => {
                return (format!("error: {}", outcome.message.unwrap_or_default()), IndexMap::new());
            }
        };
        let WorkKind::Shell(ShellWork { program: Program::Script(script), .. }) = work.kind else {
            panic!("`{task}` has no script")
        };
        let opened = |value: Sealed| value.open(|name| self.variable(name)).unwrap().into_owned();
        let declared = work.env.into_iter().map(|(name, value)| (name, opened(value)));
        (script.text, declared.chain(script.env).collect())
    }

    /// The instances of a task, as `key=item`.
    pub(super) fn expand(&self, task: &str) -> Result<Vec<String>, String> {
        self.look(task, None, |scope, task| {
            let expansion = task.expansion.as_ref().unwrap();
            let shown = |instance: Instance| format!("{}={}", instance.key, instance.item);
            super::instances(expansion, scope).map(|all| all.into_iter().map(shown).collect())
        })
    }
}

/// An instance of a key and an item.
pub(super) fn instance(key: &str, item: Value) -> Instance {
    Instance { key: key.to_owned(), item }
}
