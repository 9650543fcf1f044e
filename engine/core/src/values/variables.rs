//! The declared variables of an attempt: those of the plan, then those of its task, each rendered with those before it.

use std::path::PathBuf;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::context::Scope;
use super::limits::check_variable;
use super::render::render;
use super::sealed::Sealed;
use crate::model::Outcome;
use crate::plan::Task;
use crate::template::{Reference, Segment, Template, ValueFiles};

/// The declared variables of an attempt.
#[derive(Default)]
pub(super) struct Variables {
    /// With their values: what the templates that follow see.
    pub(super) values: IndexMap<String, String>,
    /// As the attempt carries them.
    pub(super) carried: IndexMap<String, Sealed>,
    /// The files that they name.
    pub(super) files: Vec<(PathBuf, Sealed)>,
}

impl Variables {
    /// Renders them. `files`: where `file` writes.
    pub(super) fn of(scope: &Scope<'_>, task: &Task, files: &ValueFiles) -> Result<Self, Box<Outcome>> {
        let mut variables = Variables::default();
        for (name, template) in scope.plan.env.iter().chain(&task.env) {
            let is_open = !template.references.iter().any(|reference| variables.hold_secret(reference));
            let twin = (!is_open).then(|| files.twin());
            let inner = Scope { env: Some(variables.values.clone()), ..*scope };
            let value = render(&inner, &format!("env.{name}"), template)?;
            check_variable(name, &value)?;
            let made = files.take();
            let carried = match twin {
                None => {
                    variables.files.extend(made.into_iter().map(|(path, text)| (path, Sealed::Plain(text))));
                    Sealed::Plain(value.clone())
                }
                Some(twin) => variables.seal(scope, template, (value.clone(), made), &twin),
            };
            variables.values.insert(name.clone(), value);
            variables.carried.insert(name.clone(), carried);
        }
        Ok(variables)
    }

    /// Whether a value speaks of a secret, or of a variable that holds one.
    fn hold_secret(&self, reference: &Reference) -> bool {
        match &*reference.path {
            [Segment::Name(root), ..] if root == "secrets" => true,
            [Segment::Name(root), Segment::Name(name), ..] if root == "env" => {
                self.carried.get(name).is_some_and(|value| value.plain().is_none())
            }
            _ => false,
        }
    }

    /// Seals a value, and what it has put into files, by rendering its template once more, with names for secrets.
    fn seal(
        &mut self,
        scope: &Scope<'_>,
        template: &Template,
        (value, made): (String, Vec<(PathBuf, String)>),
        twin: &ValueFiles,
    ) -> Sealed {
        let written =
            self.carried.iter().filter_map(|(name, value)| Some((name.clone(), value.written()?.to_owned())));
        let inner = Scope { env: Some(written.collect()), files: Some(twin), ..*scope };
        let mut context = inner.context(&template.references);
        let secrets = scope.plan.secrets.iter().map(|name| (name.clone(), Value::from(Sealed::name(name))));
        context.set("secrets", Value::Object(secrets.collect::<Map<_, _>>()));
        let named = template.render(&context).ok();
        let mut twins = twin.take().into_iter().map(|(_, text)| text);
        let secret = |name: &str| scope.facts.env.get(name).map(String::as_str);
        let files = made.into_iter().map(|(path, text)| (path, Sealed::of(text, twins.next(), secret)));
        self.files.extend(files);
        Sealed::of(value, named, secret)
    }
}
