//! `Glob`: files by their names.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use globset::GlobBuilder;
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Answer, Failure, Run, Tool, arguments};
use super::context::ToolContext;
use super::judge::{Named, may_show};
use super::path;
use super::walk::walk;

const MAX_FILES: usize = 100;

pub(super) const TOOL: Tool = Tool {
    name: "Glob",
    description: "Finds files by a pattern such as `**/*.rs` or `src/{a,b}/*.md`: `*` stays inside a folder name, \
                  `**/` crosses folders. Returns paths, the newest file first, at most 100. What `.gitignore` \
                  leaves out is not found.",
    schema: || {
        json!({
            "type": "object",
            "properties": {
                "pattern": { "type": "string", "description": "The pattern, relative to `path`" },
                "path": { "type": "string", "description": "The folder to search; the working folder unless set" }
            },
            "required": ["pattern"],
            "additionalProperties": false
        })
    },
    run: Run::Blocking(glob),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
}

fn glob(input: Value, context: &ToolContext) -> Answer {
    let Arguments { pattern, path } = arguments(input)?;
    if Path::new(&pattern).is_absolute() || pattern.split('/').any(|part| part == "..") {
        return Err(
            "the pattern is relative to `path` and stays below it; set `path` to search elsewhere".into()
        );
    }
    let named = Named { tool: TOOL.name, parameter: "path", path: path.as_deref().unwrap_or(".") };
    let root = path::find(context, &named)?;
    if !root.is_dir() {
        return Err(Failure::of(format!("`{}` is no folder", path::shown(context, &root))));
    }
    let matcher = GlobBuilder::new(pattern.trim_start_matches("./"))
        .literal_separator(true)
        .build()
        .map_err(|error| Failure::of(format!("the pattern is wrong: {error}")))?
        .compile_matcher();
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in walk(&root).build() {
        if context.stop.order().is_some() {
            return Err("stopped".into());
        }
        // A folder that can't be read is one that holds nothing for this agent.
        let Ok(entry) = entry else { continue };
        let is_file = entry.file_type().is_some_and(|kind| !kind.is_dir());
        let inside = entry.path().strip_prefix(&root).unwrap_or(entry.path());
        if is_file && matcher.is_match(inside) && may_show(context, TOOL.name, entry.path()) {
            let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
            found.push((modified.unwrap_or(SystemTime::UNIX_EPOCH), entry.into_path()));
        }
    }
    if found.is_empty() {
        return Ok("(no file matches)".to_owned());
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut out: Vec<String> =
        found.iter().take(MAX_FILES).map(|(_, path)| path::shown(context, path).into_owned()).collect();
    if found.len() > MAX_FILES {
        out.push(format!("({} more; use a narrower pattern)", found.len() - MAX_FILES));
    }
    Ok(out.join("\n"))
}

#[cfg(test)]
#[path = "glob_tests.rs"]
mod tests;
