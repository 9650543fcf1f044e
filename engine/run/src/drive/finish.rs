//! From the last attempt to the end of the run.

use flow_core::event::Event;
use flow_core::ids::Attempt;
use flow_core::model::RunStatus;
use flow_core::report::EndedBy;
use serde_json::{Map, Value};

use super::driver::{DriveError, Driver, RunEnd};

impl Driver {
    /// The last event, and everything on disk before anybody hears that the run is over.
    pub(super) fn finish(mut self, mut status: RunStatus) -> Result<RunEnd, DriveError> {
        self.release_trees()?;
        let mut message = None;
        let outputs = match self.outputs() {
            Ok(outputs) => outputs,
            Err(error) => {
                if status == RunStatus::Completed {
                    status = RunStatus::Failed;
                    message = Some(error);
                }
                None
            }
        };
        let cause = self.setup.run.cause(status, EndedBy { strict: self.setup.strict, signal: self.signal });
        self.write(vec![Event::RunEnded { status, exit: cause.code(), outputs: outputs.clone(), message }])?;
        self.sync()?;
        Ok(RunEnd { status, cause, outputs, run: self.setup.run })
    }

    fn outputs(&self) -> Result<Option<Value>, String> {
        let plan = &self.setup.plan;
        if plan.outputs.is_empty() {
            return Ok(None);
        }
        let scope = flow_core::values::Scope {
            plan,
            run: &self.setup.run,
            facts: &self.setup.facts,
            texts: &self.texts,
            task: None,
            instance: None,
            attempt: Attempt::FIRST,
            env: None,
            files: None,
        };
        let mut outputs = Map::new();
        for (name, template) in &plan.outputs {
            let value = template.value(&scope.context(&template.references));
            outputs.insert(name.clone(), value.map_err(|error| format!("`outputs.{name}`: {error}"))?);
        }
        Ok(Some(Value::Object(outputs)))
    }
}
