//! `Write`: a whole file.

use std::fs;
use std::io::ErrorKind;

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Answer, Failure, Run, Tool, arguments};
use super::context::ToolContext;
use super::judge::Named;
use super::path;

pub(super) const TOOL: Tool = Tool {
    name: "Write",
    description: "Writes a whole file, with the folders it needs. An existing file must have been Read before and \
                  is replaced. To change a part of a file, use Edit.",
    schema: || {
        json!({
            "type": "object",
            "properties": {
                "file_path": { "type": "string", "description": "The file, absolute or relative to the working folder" },
                "content": { "type": "string", "description": "The whole new content" }
            },
            "required": ["file_path", "content"],
            "additionalProperties": false
        })
    },
    run: Run::Blocking(write),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    file_path: String,
    content: String,
}

fn write(input: Value, context: &ToolContext) -> Answer {
    let Arguments { file_path, content } = arguments(input)?;
    let path = path::find(context, &named(&file_path))?;
    let old = match fs::symlink_metadata(&path) {
        Ok(metadata) if metadata.is_file() => Some(metadata),
        Ok(_) => return Err(Failure::of(format!("`{file_path}` is there and is no regular file"))),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::io("write", &path, &error)),
    };
    match &old {
        Some(old) => path::must_know(context, &path, &file_path, old)?,
        None => {
            let folder = path.parent().ok_or_else(|| Failure::of(format!("`{file_path}` names no file")))?;
            fs::create_dir_all(folder).map_err(|error| Failure::io("make the folder", folder, &error))?;
        }
    }
    let now = path::replace(&path, content.as_bytes(), old.as_ref())?;
    context.reads.remember(&path, &now);
    let what = if old.is_some() { "replaced" } else { "created" };
    Ok(format!("{what} `{file_path}`: {} lines, {} bytes", content.lines().count(), content.len()))
}

fn named(path: &str) -> Named<'_> {
    Named { tool: TOOL.name, parameter: "file_path", path }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
