//! Judging a call once more, by where its path really leads.

use std::path::Path;

use flow_core::model::DenialReason;
use flow_core::policy::Verdict;
use serde_json::{Map, Value};

use super::call::Failure;
use super::context::ToolContext;

/// A path in the arguments of a call.
pub(super) struct Named<'a> {
    pub(super) tool: &'static str,
    /// The parameter that holds it.
    pub(super) parameter: &'static str,
    /// As the model wrote it.
    pub(super) path: &'a str,
}

/// Asks the rules about the real path of a call. What would ask a person is refused: the loop has asked by the text
/// of the path, and nobody agreed to this place.
pub(super) fn judge(context: &ToolContext, named: &Named<'_>, real: &Path) -> Result<(), Failure> {
    let Named { tool, parameter, path } = named;
    let refused = |reason, why: &str| {
        Failure::refused(reason, format!("`{path}` leads to `{}`: {why}", real.display()))
    };
    let text = real
        .to_str()
        .ok_or_else(|| refused(DenialReason::Rule, "its name is no UTF-8, and no rule can speak of it"))?;
    let input = Map::from_iter([((*parameter).to_owned(), Value::from(text))]);
    match context.permissions.decide(tool, &Value::Object(input)) {
        Verdict::Allow => Ok(()),
        Verdict::Ask => {
            Err(refused(DenialReason::NobodyToAsk, "no rule allows that, and nobody can be asked"))
        }
        Verdict::Deny(reason, why) => Err(refused(reason, &why)),
    }
}

/// Whether a search may show a file that it has come upon: what a Read of it would be refused, it may not tell.
pub(super) fn may_show(context: &ToolContext, tool: &'static str, file: &Path) -> bool {
    judge(context, &Named { tool, parameter: "path", path: "" }, file).is_ok()
}
