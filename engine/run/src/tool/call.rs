//! Making a call: from a name and its arguments to an answer, whatever happens in between.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::path::Path;

use flow_core::converse::CallResult;
use flow_core::model::{DenialReason, ToolClass, ToolInfo, known_tool};
use flow_core::text::did_you_mean;
use flow_core::wire::ToolSpec;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::TOOLS;
use super::context::ToolContext;

/// The most bytes that a tool answers with; the loop cuts at 100 KiB, and a tool can say better what is missing.
pub(super) const MAX_ANSWER: usize = 96 * 1024;

/// A tool: what the model is told of it, and what it does.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// JSON Schema of the arguments.
    pub(super) schema: fn() -> Value,
    pub(super) run: Run,
}

/// How a tool does its work.
pub(super) enum Run {
    /// On a thread that may block.
    Blocking(fn(Value, &ToolContext) -> Answer),
    /// By waiting.
    Waiting(for<'a> fn(Value, &'a ToolContext) -> BoxFuture<'a, Answer>),
}

/// What a tool says when all went well, or why it did not.
pub(super) type Answer = Result<String, Failure>;

/// Why a call came to nothing, in words for the model.
#[derive(Debug)]
pub(super) struct Failure {
    text: String,
    /// Whether it was not allowed.
    refused: Option<DenialReason>,
}

/// What came of a call.
#[derive(Debug)]
pub struct Called {
    /// The result for the model.
    pub result: CallResult,
    /// Why it was refused where that shows only once its path is followed: the loop allows a call by its text.
    pub refused: Option<DenialReason>,
}

impl Failure {
    /// A failure in these words.
    pub(super) fn of(text: impl Into<String>) -> Self {
        Failure { text: text.into(), refused: None }
    }

    /// A call that was not allowed.
    pub(super) fn refused(reason: DenialReason, text: impl Into<String>) -> Self {
        Failure { text: text.into(), refused: Some(reason) }
    }

    /// What the system answered to an attempt to `verb` a path.
    pub(super) fn io(verb: &str, path: &Path, error: &std::io::Error) -> Self {
        Failure::of(format!("can't {verb} `{}`: {error}", path.display()))
    }
}

impl<T: Into<String>> From<T> for Failure {
    fn from(text: T) -> Self {
        Failure::of(text)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The tools of these names as they are offered to a model, in a stable order. A name that is no tool adds nothing.
pub fn specs<S: AsRef<str>>(names: &[S]) -> Vec<ToolSpec> {
    TOOLS
        .iter()
        .filter(|tool| names.iter().any(|name| name.as_ref() == tool.name))
        .map(|tool| ToolSpec {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            input_schema: (tool.schema)(),
            class: known_tool(tool.name).map_or(ToolClass::Writer, ToolInfo::class),
        })
        .collect()
}

/// Makes one call. Dropping it ends the processes it has started; a file that is being written is written whole.
pub async fn call(name: &str, input: Value, context: &ToolContext) -> Called {
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        let help = did_you_mean(name, TOOLS.iter().map(|tool| tool.name))
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        return failed(format!("there is no tool `{name}`{help}"));
    };
    if context.stop.order().is_some() {
        return failed("stopped before it began".to_owned());
    }
    made(tool, input, context).await
}

/// Makes the call of a tool that exists.
async fn made(tool: &Tool, input: Value, context: &ToolContext) -> Called {
    let answer = match tool.run {
        Run::Blocking(run) => {
            let context = context.clone();
            tokio::task::spawn_blocking(move || run(input, &context)).await.map_err(|_| ())
        }
        Run::Waiting(run) => AssertUnwindSafe(run(input, context)).catch_unwind().await.map_err(|_| ()),
    };
    match answer {
        Ok(Ok(content)) => Called { result: CallResult { content, is_error: false }, refused: None },
        Ok(Err(failure)) => Called { refused: failure.refused, ..failed(failure.text) },
        Err(()) => failed(format!("bug: the tool `{}` panicked; try it another way", tool.name)),
    }
}

fn failed(content: String) -> Called {
    Called { result: CallResult { content, is_error: true }, refused: None }
}

/// Reads a tool's arguments.
pub(super) fn arguments<T: DeserializeOwned>(input: Value) -> Result<T, Failure> {
    serde_json::from_value(input).map_err(|error| Failure::of(format!("the arguments don't fit: {error}")))
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
