//! `Read`: lines of a text file, numbered.

use std::fmt::Write;
use std::io::{BufRead, BufReader};

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Answer, Failure, MAX_ANSWER, Run, Tool, arguments};
use super::context::ToolContext;
use super::judge::Named;
use super::lines::{clip, next_line};
use super::path;

const MAX_LINES: usize = 2_000;
const MAX_WIDTH: usize = 2_000;

pub(super) const TOOL: Tool = Tool {
    name: "Read",
    description: "Reads a text file and returns its lines, each with its number and a tab before it. At most 2000 \
                  lines a call; a line longer than 2000 characters is cut. For a long file, give `offset` and \
                  `limit`. Binary files and folders are refused.",
    schema: || {
        json!({
            "type": "object",
            "properties": {
                "file_path": { "type": "string", "description": "The file, absolute or relative to the working folder" },
                "offset": { "type": "integer", "minimum": 0, "description": "The first line to return, from 1" },
                "limit": { "type": "integer", "minimum": 1, "description": "How many lines; 2000 at most" }
            },
            "required": ["file_path"],
            "additionalProperties": false
        })
    },
    run: Run::Blocking(read),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    file_path: String,
    offset: Option<usize>,
    limit: Option<usize>,
}

fn read(input: Value, context: &ToolContext) -> Answer {
    let Arguments { file_path, offset, limit } = arguments(input)?;
    let path = path::find(context, &named(&file_path))?;
    let (file, metadata) = path::open(&path, &file_path)?;
    let fail = |error: std::io::Error| Failure::io("read", &path, &error);
    let mut reader = BufReader::new(file);
    if reader.fill_buf().map_err(fail)?.contains(&0) {
        return Err(Failure::of(format!("`{file_path}` is binary ({} bytes)", metadata.len())));
    }
    let first = offset.unwrap_or(1).max(1);
    let limit = limit.unwrap_or(MAX_LINES).clamp(1, MAX_LINES);
    let mut out = String::new();
    let mut number = 0;
    while let Some(line) = next_line(&mut reader, MAX_WIDTH * 4).map_err(fail)? {
        if context.stop.order().is_some() {
            return Err("stopped".into());
        }
        number += 1;
        if number < first {
            continue;
        }
        if number - first >= limit || out.len() > MAX_ANSWER - MAX_WIDTH * 4 {
            let _ = writeln!(out, "(the file goes on; for more, set `offset` to {number})");
            break;
        }
        let _ = writeln!(out, "{number:>6}\t{}", clip(&line.text, MAX_WIDTH, line.cut));
    }
    context.reads.remember(&path, &metadata);
    if out.is_empty() {
        return Ok(match number {
            0 => "(the file is empty)".to_owned(),
            _ => format!("(the file has only {number} lines)"),
        });
    }
    Ok(out)
}

fn named(path: &str) -> Named<'_> {
    Named { tool: TOOL.name, parameter: "file_path", path }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
