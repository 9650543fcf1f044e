//! What becomes of a call before it is made: does the tool exist, do the arguments fit, does it pass.

use std::cell::OnceCell;

use indexmap::IndexMap;
use jsonschema::{Draft, Validator};
use serde_json::Value;

use super::output::violations;
use super::spec::call_line;
use super::{AgentSpec, CallResult};
use crate::model::{Denial, DenialReason, PermissionMode, ToolClass, tool};
use crate::policy::Verdict;
use crate::text::{did_you_mean, list_some, one_line};
use crate::wire::ToolSpec;

/// Reads calls against the tools that an agent has.
#[derive(Debug)]
pub(super) struct Judge {
    tools: IndexMap<String, Offered>,
}

/// A tool that the agent has: how its calls go together, and what their arguments must fit.
#[derive(Debug)]
struct Offered {
    class: ToolClass,
    schema: Value,
    /// Made at the first call. `None`: the schema can't be used, so the tool itself has to look.
    validator: OnceCell<Option<Validator>>,
}

impl Offered {
    fn problems(&self, input: &Value) -> Vec<String> {
        // The draft whose own schema is small: that each schema is checked against it is most of what this costs, and tools
        // use no keyword that came later.
        let build = || jsonschema::options().with_draft(Draft::Draft7).offline().build(&self.schema).ok();
        self.validator
            .get_or_init(build)
            .as_ref()
            .map(|validator| violations(validator, input))
            .unwrap_or_default()
    }
}

/// The judgement over one call.
#[derive(Debug)]
pub(super) enum Judgement {
    /// It is made, together with others of its class.
    Make(ToolClass),
    /// It can't be made as it was written.
    Bad(CallResult, Option<Denial>),
    /// It may not be made.
    Refused(CallResult, Denial),
}

impl Judge {
    pub(super) fn new(tools: &[ToolSpec]) -> Self {
        let offered = |tool: &ToolSpec| {
            let (class, schema) = (tool.class, tool.input_schema.clone());
            (tool.name.clone(), Offered { class, schema, validator: OnceCell::new() })
        };
        Judge { tools: tools.iter().map(offered).collect() }
    }

    /// Judges a call of any tool but `StructuredOutput`.
    pub(super) fn judge(&self, spec: &AgentSpec, name: &str, input: &Value) -> Judgement {
        let denial = |reason| {
            let asks = matches!(reason, DenialReason::NobodyToAsk | DenialReason::AsyncAgent);
            let why = asks.then(|| spec.permissions.special_place(name, input)).flatten().map(str::to_owned);
            Denial { tool: name.to_owned(), call: call_line(name, input), reason, why }
        };
        let Some(tool) = self.tools.get(name) else {
            let (reason, text) = self.missing(name);
            return Judgement::Bad(failed(text), Some(denial(reason)));
        };
        if !input.is_object() {
            let shown = match input {
                Value::String(text) => one_line(text, 200),
                other => one_line(&other.to_string(), 200),
            };
            let text = format!("the arguments of `{name}` are not a JSON object: {shown}");
            return Judgement::Bad(failed(text), None);
        }
        let found = tool.problems(input);
        if !found.is_empty() {
            let text = format!("the arguments of `{name}` don't fit: {}", found.join("; "));
            return Judgement::Bad(failed(text), None);
        }
        match spec.permissions.decide(name, input) {
            Verdict::Allow => Judgement::Make(tool.class),
            // `bubble` hands a question up, also from the background; there is nobody there either.
            Verdict::Ask if spec.background && spec.permissions.mode != PermissionMode::Bubble => {
                let text =
                    "no rule allows this call, and an agent in the background asks nobody; go on without it";
                Judgement::Refused(failed(text), denial(DenialReason::AsyncAgent))
            }
            Verdict::Ask => {
                let text = "no rule allows this call, and nobody can be asked; go on without it".to_owned();
                Judgement::Refused(failed(text), denial(DenialReason::NobodyToAsk))
            }
            Verdict::Deny(reason, text) => {
                let why = (reason == DenialReason::Rule).then(|| text.clone());
                Judgement::Refused(failed(text), Denial { why, ..denial(reason) })
            }
        }
    }

    fn missing(&self, name: &str) -> (DenialReason, String) {
        let names = || self.tools.keys().map(String::as_str);
        let offered = match self.tools.len() {
            0 => "there are none".to_owned(),
            _ => format!("the tools are {}", list_some(names(), 30)),
        };
        if tool(name).is_some() {
            return (
                DenialReason::NotAvailable,
                format!("this agent doesn't have the tool `{name}`; {offered}"),
            );
        }
        let near =
            did_you_mean(name, names()).map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
        (DenialReason::UnknownTool, format!("no tool is called `{}`{near}; {offered}", one_line(name, 60)))
    }
}

/// A result that says why there is none.
pub(super) fn failed(content: impl Into<String>) -> CallResult {
    CallResult { content: content.into(), is_error: true }
}
