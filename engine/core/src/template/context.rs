//! The values that an evaluation sees.

use std::sync::Arc;

use indexmap::IndexMap;
use minijinja::value::{Object, ObjectRepr};
use serde_json::{Map, Value};

use super::files::ValueFiles;

/// How the run stands, for `success()`, `failure()` and `cancelled()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Something before has failed.
    pub failed: bool,
    /// The run was cancelled.
    pub cancelled: bool,
}

/// The values that an evaluation sees: nothing else of the world reaches a template.
#[derive(Clone, Debug, Default)]
pub struct Context {
    shared: Arc<Shared>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    pub(super) values: IndexMap<String, Value>,
    pub(super) status: Status,
    pub(super) files: Option<ValueFiles>,
    incomplete: Vec<String>,
    fault: Option<String>,
}

impl Context {
    /// A context without values.
    #[must_use]
    pub fn new() -> Self {
        Context::default()
    }

    /// Gives a name its value: `inputs`, `tasks`, `item`.
    pub fn set(&mut self, name: impl Into<String>, value: Value) {
        let shared = Arc::make_mut(&mut self.shared);
        shared.values.insert(name.into(), value);
        shared.empty_outputs();
    }

    /// Says that a task did not complete: its `.output` is null, and null through every field.
    pub fn incomplete(&mut self, task: impl Into<String>) {
        let shared = Arc::make_mut(&mut self.shared);
        shared.incomplete.push(task.into());
        shared.empty_outputs();
    }

    /// Says that a value can't be read: every evaluation fails, since none may see another value in its place.
    pub fn unreadable(&mut self, why: impl Into<String>) {
        Arc::make_mut(&mut self.shared).fault.get_or_insert_with(|| why.into());
    }

    pub(super) fn fault(&self) -> Option<&str> {
        self.shared.fault.as_deref()
    }

    /// Says how the run stands.
    pub fn set_status(&mut self, status: Status) {
        Arc::make_mut(&mut self.shared).status = status;
    }

    /// Gives the filter `file` a folder. The caller writes the files: [`ValueFiles::take`].
    pub fn set_files(&mut self, files: &ValueFiles) {
        Arc::make_mut(&mut self.shared).files = Some(files.clone());
    }

    pub(super) fn root(&self, grows: bool) -> Root {
        Root { shared: Arc::clone(&self.shared), grows }
    }
}

impl Shared {
    fn empty_outputs(&mut self) {
        if self.incomplete.is_empty() {
            return;
        }
        let tasks = self.values.entry("tasks".to_owned()).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(tasks) = tasks else { return };
        for name in &self.incomplete {
            let task = tasks.entry(name.as_str()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(task) = task {
                task.insert("output".to_owned(), Value::Null);
            }
        }
    }
}

/// What minijinja holds of a context: an object that answers no name a template can write. Names reach their values
/// through [`super::lookup`].
#[derive(Debug)]
pub(super) struct Root {
    pub(super) shared: Arc<Shared>,
    /// Whether the template names things and uses them again, so that its text may not pass the limit.
    pub(super) grows: bool,
}

/// The name under which functions find the root; no identifier.
pub(super) const ROOT: &str = "%root";

impl Object for Root {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &minijinja::Value) -> Option<minijinja::Value> {
        (key.as_str() == Some(ROOT)).then(|| minijinja::Value::from_dyn_object(Arc::clone(self)))
    }
}
