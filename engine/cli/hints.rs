//! What somebody meant by a command line that can't be read.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use flow_core::text::shell_word;

/// Commands of other tools, and what they are called here.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["validate", "lint", "verify", "vet"], "flow check PLAN"),
    (&["start", "exec", "execute", "up", "apply"], "flow run PLAN"),
    (&["list", "ls", "runs", "history"], "flow ps"),
    (&["show", "describe", "inspect", "info"], "flow status RUN"),
    (&["tail", "log", "output"], "flow logs RUN"),
    (&["cancel", "kill", "abort"], "flow stop RUN"),
    (&["continue", "restart", "rerun"], "flow resume RUN"),
    (&["dot", "dag", "draw", "viz"], "flow graph PLAN"),
    (&["clean", "prune", "cleanup"], "flow gc"),
];

/// Commands that the design has and this version lacks.
const LATER: &[&str] = &["approve", "cache", "explain", "fmt", "reject", "schema", "test", "trust", "web"];

/// A message and what to do in place of clap's own words; `None` where those are good enough.
pub(crate) fn hint(error: &clap::Error) -> Option<(String, String)> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = word(ContextKind::InvalidSubcommand)?;
            let is_plan =
                [".yaml", ".yml"].iter().any(|end| word.ends_with(end)) || Path::new(word).is_file();
            if is_plan {
                let message = format!("`{word}` is a file, not a command");
                return Some((message, format!("flow run {}", shell_word(word))));
            }
            let message = format!("there is no command `{word}`");
            if let Some((_, meant)) = COMMANDS.iter().find(|(names, _)| names.contains(&word)) {
                return Some((message, format!("write `{meant}`")));
            }
            LATER.contains(&word).then(|| (message, "this version of flow doesn't have it".to_owned()))
        }
        ErrorKind::UnknownArgument => {
            let word = word(ContextKind::InvalidArg)?;
            let (name, _) = word.split_once('=')?;
            let is_input = name.trim_end_matches(':').chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            (is_input && !name.is_empty()).then(|| {
                let message = format!("`{word}` stands there without `-i`");
                (message, format!("an input is given with `-i {}`", shell_word(word)))
            })
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "hints_tests.rs"]
mod tests;
