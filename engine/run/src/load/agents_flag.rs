//! `--agents FILE|DIR|JSON`.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use flow_core::compile::AgentText;
use flow_core::diagnostic::{Code, Diagnostic, SourceFile, Span};
use flow_core::import::import;
use flow_core::model::AgentSource;
use flow_core::syntax::AGENT_LIMIT;
use flow_core::text::list_some;
use serde_json::{Map, Value};

use super::agents::{read_deep, read_flag_folder};
use super::project::Project;
use super::read::{finding, read_source};

const FLAG: &str = "--agents";

/// The agents of one use of the flag: a Markdown file, a folder of them, or JSON (written out or as a file) of the form
/// `{"name": {"description": …, "prompt": …, …}}`.
pub(super) fn from_flag(project: &Project, value: &str) -> Result<Vec<AgentText>, Vec<Diagnostic>> {
    if value.trim_start().starts_with('{') {
        return from_json(Arc::new(SourceFile::new(FLAG, value)), FLAG);
    }
    let path = project.here.join(value);
    if path.is_dir() {
        let texts = read_flag_folder(project, &path);
        let findings: Vec<_> = texts.iter().filter_map(|text| text.unreadable.clone()).collect();
        if !findings.is_empty() {
            return Err(findings);
        }
        return match texts.iter().any(|text| defines(&text.file)) {
            true => Ok(texts),
            false => Err(vec![defines_nothing(value, "folder", &below(project, &path))]),
        };
    }
    let file = read_source(&path, AGENT_LIMIT, value).map_err(|finding| vec![finding])?;
    if value.ends_with(".json") {
        return from_json(file, value);
    }
    match defines(&file) {
        true => Ok(vec![AgentText::new(AgentSource::Flag, value, file)]),
        false => Err(vec![defines_nothing(value, "file", &[])]),
    }
}

/// Whether a file is a definition or tries to be one.
fn defines(file: &Arc<SourceFile>) -> bool {
    import(file).is_some_and(|import| import.agent.is_some() || !import.found.is_empty())
}

/// Whoever names a place expects agents from it; that there are none must not be found out by the plan that wants them.
fn defines_nothing(value: &str, what: &str, below: &[String]) -> Diagnostic {
    finding(Code::Unreadable, format!("`{FLAG} {value}`: the {what} defines no agent")).help(match below {
        [] => {
            "an agent is a Markdown file that begins with `---`, `name:` and `description:` lines, and `---`"
                .to_owned()
        }
        below => format!(
            "only its own files are read; below it there are {}",
            list_some(below.iter().map(String::as_str), 4)
        ),
    })
}

/// The folders below one that have definitions, as a person would name them.
fn below(project: &Project, folder: &Path) -> Vec<String> {
    let mut folders: Vec<String> = read_deep(project, folder)
        .iter()
        .filter(|text| defines(&text.file))
        .filter_map(|text| Some(Path::new(&text.file.name).parent()?.display().to_string()))
        .collect();
    folders.dedup();
    folders
}

fn from_json(file: Arc<SourceFile>, folder: &str) -> Result<Vec<AgentText>, Vec<Diagnostic>> {
    let malformed = |code, span, message: String| {
        let help = r#"write `{"name": {"description": "...", "prompt": "..."}}`"#;
        Diagnostic::new(code, &file, span, message).help(help)
    };
    let agents: Map<String, Value> = serde_json::from_str(&file.text).map_err(|error| {
        let at = offset(&file.text, error.line(), error.column());
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or(&why).to_owned();
        vec![malformed(
            Code::Malformed,
            Span::new(at, at),
            format!("the agents aren't well-formed JSON: {why}"),
        )]
    })?;
    let (mut texts, mut findings) = (Vec::new(), Vec::new());
    for (name, agent) in &agents {
        match markdown(name, agent) {
            Some(text) => texts.push(AgentText::new(
                AgentSource::Flag,
                folder,
                Arc::new(SourceFile::new(format!("{folder} ({name})"), text)),
            )),
            None => {
                let message = format!("agent `{name}` isn't an object with the text `prompt`");
                findings.push(malformed(Code::WrongType, Span::default(), message));
            }
        }
    }
    if findings.is_empty() { Ok(texts) } else { Err(findings) }
}

/// The agent as the file that says the same, so that there is one reader of definitions.
fn markdown(name: &str, agent: &Value) -> Option<String> {
    let keys = agent.as_object()?;
    let prompt = keys.get("prompt")?.as_str()?;
    let mut text = String::from("---\n");
    let name = ("name", Value::from(name));
    let rest = keys.iter().map(|(key, value)| (key.as_str(), value.clone()));
    for (key, value) in std::iter::once(name).chain(rest) {
        if key != "prompt" && !(key == "name" && text.len() > 4) {
            // JSON is YAML, for keys as for values. Writing to a string can't fail.
            let key = if is_plain(key) { key.to_owned() } else { Value::from(key).to_string() };
            let _ = writeln!(text, "{key}: {value}");
        }
    }
    text.push_str("---\n");
    text.push_str(prompt);
    Some(text)
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The offset of a place that serde_json names: line from 1, column in bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

#[cfg(test)]
#[path = "agents_flag_tests.rs"]
mod tests;
