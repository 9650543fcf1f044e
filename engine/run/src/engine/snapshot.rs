//! What a run keeps of what it runs, as read, so that a resume runs the same: `plan.yaml`, `kept.json`, `agents/`,
//! `files/`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::compile::{AgentRegistry, AgentText, GivenInput, GivenValue, agent_registry};
use flow_core::diagnostic::{Code, Diagnostic, SourceFile, Span};
use flow_core::model::{AgentDef, AgentSource};
use flow_core::plan::{InstanceLimit, Plan, Selected};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::EngineError;
use super::prepare::Prepared;
use crate::load::Project;
use crate::sys::files;

/// `kept.json`: what the texts beside it can't say themselves.
#[derive(Debug, Serialize, Deserialize)]
struct Index {
    /// The manifest as the person named it.
    plan: String,
    /// The folder that its paths are relative to.
    dir: PathBuf,
    /// Typed inputs.
    inputs: IndexMap<String, Value>,
    /// Definitions in the order of `agents/N.md`.
    agents: Vec<KeptAgent>,
    /// Names of definitions that the settings took out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    disabled: Vec<String>,
    /// For each task whether it takes part; absent when all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    selected: Option<Vec<bool>>,
    /// Of which tasks only some instances take part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    limits: Vec<InstanceLimit>,
    /// The paths of what the manifest names beside it, in the order of `files/N`.
    #[serde(default)]
    files: Vec<String>,
    /// Who answers.
    #[serde(default)]
    answering: Answering,
    /// `--strict`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
}

/// What the person said of who answers, whatever plan and settings say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answering {
    /// `--model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `--model-script`, as an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_script: Option<PathBuf>,
}

/// What the text of a definition doesn't say.
#[derive(Debug, Serialize, Deserialize)]
struct KeptAgent {
    name: String,
    source: AgentSource,
    path: String,
    /// The folder that it stood in, where others of it are kept: two of one name in one folder clash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    /// Why it could not be read, where it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unreadable: Option<String>,
}

/// What a run keeps of what it runs, read back.
#[derive(Debug)]
pub(super) struct RunSnapshot {
    /// The manifest.
    pub(super) file: Arc<SourceFile>,
    /// The folder that its paths are relative to.
    pub(super) dir: PathBuf,
    /// The inputs.
    pub(super) inputs: Vec<GivenInput>,
    /// The definitions that it kept.
    pub(super) agents: AgentRegistry,
    /// What takes part; `None` when all does.
    pub(super) selected: Option<Selected>,
    /// The files that it names, by the path as written.
    pub(super) files: IndexMap<String, String>,
    /// Who answered so far.
    pub(super) answering: Answering,
    /// Whether it was begun with `--strict`.
    pub(super) strict: bool,
}

/// The definitions that a run keeps.
#[derive(Debug)]
pub(super) struct Definitions {
    /// By the name that each has.
    files: Vec<(String, AgentText)>,
    /// Names that the settings take out.
    disabled: Vec<String>,
}

impl Definitions {
    /// Those that a plan uses, and no others: no agent can start one that the plan doesn't name.
    pub(super) fn of_plan(plan: &Plan) -> Self {
        let text = |(number, agent): (usize, &AgentDef)| {
            let file = Arc::new(SourceFile::new(agent.path.clone(), agent.file.text.clone()));
            (agent.name.clone(), AgentText::new(agent.source, agent_file(number), file))
        };
        Definitions { files: plan.agents.iter().enumerate().map(text).collect(), disabled: Vec::new() }
    }
}

/// What the person said of a run that stays true for all of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    /// What takes part; `None` when all does.
    pub(super) selected: Option<&'a Selected>,
    /// Who answers.
    pub(super) answering: &'a Answering,
    /// `--strict`.
    pub(super) strict: bool,
}

/// Writes what is run into a run folder.
pub(super) fn keep(
    folder: &Path,
    prepared: &Prepared,
    agents: &Definitions,
    said: Said<'_>,
) -> Result<(), EngineError> {
    write(folder, prepared, agents, said)
        .map_err(|source| EngineError::Keep { folder: folder.to_owned(), source })
}

fn write(folder: &Path, prepared: &Prepared, agents: &Definitions, said: Said<'_>) -> io::Result<()> {
    fs::write(folder.join("plan.yaml"), &prepared.file.text)?;
    if !agents.files.is_empty() {
        fs::create_dir_all(folder.join("agents"))?;
    }
    for (number, (_, agent)) in agents.files.iter().enumerate() {
        fs::write(folder.join(agent_file(number)), &agent.file.text)?;
    }
    if !prepared.files.is_empty() {
        fs::create_dir_all(folder.join("files"))?;
    }
    for (number, text) in prepared.files.values().enumerate() {
        fs::write(folder.join(named_file(number)), text)?;
    }
    let index = Index {
        plan: prepared.file.name.clone(),
        dir: prepared.dir.clone(),
        inputs: prepared.plan.inputs.clone(),
        agents: agents.files.iter().enumerate().map(KeptAgent::of).collect(),
        disabled: agents.disabled.clone(),
        selected: said.selected.map(|selected| selected.tasks.clone()),
        limits: said.selected.map(|selected| selected.limits.clone()).unwrap_or_default(),
        files: prepared.files.keys().cloned().collect(),
        answering: said.answering.clone(),
        strict: said.strict,
    };
    let text = serde_json::to_string_pretty(&index).map_err(io::Error::from)?;
    files::write_atomically(&folder.join("kept.json"), text.as_bytes())
}

fn agent_file(number: usize) -> String {
    format!("agents/{number}.md")
}

fn named_file(number: usize) -> String {
    format!("files/{number}")
}

impl KeptAgent {
    fn of((number, (name, agent)): (usize, &(String, AgentText))) -> Self {
        KeptAgent {
            name: name.clone(),
            source: agent.source,
            path: agent.file.name.clone(),
            folder: Some(agent.folder.clone()).filter(|folder| *folder != agent_file(number)),
            unreadable: agent.unreadable.as_ref().map(|why| why.message.clone()),
        }
    }

    fn text(self, number: usize, text: String) -> AgentText {
        let file = Arc::new(SourceFile::new(self.path, text));
        // One folder each where none is said: two kept definitions never clash.
        let folder = self.folder.unwrap_or_else(|| agent_file(number));
        let unreadable =
            self.unreadable.map(|message| Diagnostic::new(Code::Unreadable, &file, Span::default(), message));
        AgentText { unreadable, ..AgentText::new(self.source, folder, file) }
    }
}

impl RunSnapshot {
    /// The files that the run keeps and that say something else now, as the person would name them. What is not there any
    /// more, or never was a file, says nothing.
    pub(super) fn changed_since(&self, project: &Project) -> Vec<String> {
        let manifest = Path::new(&self.file.name).file_name().map(|name| self.dir.join(name));
        let named = self.files.iter().map(|(path, text)| (self.dir.join(path), text));
        let all = manifest.map(|path| (path, &self.file.text)).into_iter().chain(named);
        all.filter(|(path, kept)| fs::read_to_string(path).is_ok_and(|now| now != **kept))
            .map(|(path, _)| project.show(&path))
            .collect()
    }
}

/// Reads back what a run keeps.
pub(super) fn read(folder: &Path) -> Result<RunSnapshot, EngineError> {
    read_back(folder).map_err(|source| EngineError::Kept { folder: folder.to_owned(), source })
}

fn read_back(folder: &Path) -> io::Result<RunSnapshot> {
    let index: Index =
        serde_json::from_str(&fs::read_to_string(folder.join("kept.json"))?).map_err(io::Error::from)?;
    let mut texts = Vec::with_capacity(index.agents.len());
    for (number, agent) in index.agents.into_iter().enumerate() {
        let text = fs::read_to_string(folder.join(agent_file(number)))?;
        texts.push(agent.text(number, text));
    }
    let mut files = IndexMap::with_capacity(index.files.len());
    for (number, path) in index.files.into_iter().enumerate() {
        files.insert(path, fs::read_to_string(folder.join(named_file(number)))?);
    }
    Ok(RunSnapshot {
        files,
        file: Arc::new(SourceFile::new(index.plan, fs::read_to_string(folder.join("plan.yaml"))?)),
        dir: index.dir,
        inputs: index
            .inputs
            .into_iter()
            .map(|(name, value)| GivenInput { name, value: GivenValue::Json(value), place: None })
            .collect(),
        agents: agent_registry(texts, &index.disabled, Vec::new()),
        selected: index.selected.map(|tasks| Selected { tasks, limits: index.limits }),
        answering: index.answering,
        strict: index.strict,
    })
}

#[cfg(test)]
#[path = "snapshot_tests.rs"]
mod tests;
