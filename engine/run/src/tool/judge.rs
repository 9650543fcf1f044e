//! Judging a call once more, by where its path really leads.

use std::path::Path;

use super::call::Failure;
use super::context::ToolContext;

/// Judges the real path of a call: only the agent's own tree is open.
pub(super) fn judge(context: &ToolContext, given: &str, real: &Path) -> Result<(), Failure> {
    if real.starts_with(&context.tree) {
        return Ok(());
    }
    Err(Failure(format!("`{given}` leads to `{}`, which is outside the agent's tree", real.display())))
}
