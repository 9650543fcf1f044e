//! What a run keeps of what it runs, as read, so that a resume runs the same: `plan.yaml`, `kept.json`, `agents/`,
//! `files/`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::compile::{AgentRegistry, AgentText, GivenInput, GivenValue, agent_registry};
use flow_core::diagnostic::SourceFile;
use flow_core::model::AgentSource;
use flow_core::plan::{InstanceLimit, Selected};
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

#[derive(Debug, Serialize, Deserialize)]
struct KeptAgent {
    name: String,
    source: AgentSource,
    path: String,
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
    /// The definitions it uses, and no others.
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
pub(super) fn keep(folder: &Path, prepared: &Prepared, said: Said<'_>) -> Result<(), EngineError> {
    write(folder, prepared, said).map_err(|source| EngineError::Keep { folder: folder.to_owned(), source })
}

fn write(folder: &Path, prepared: &Prepared, said: Said<'_>) -> io::Result<()> {
    let agents = &prepared.plan.agents;
    fs::write(folder.join("plan.yaml"), &prepared.file.text)?;
    if !agents.is_empty() {
        fs::create_dir_all(folder.join("agents"))?;
    }
    for (number, agent) in agents.iter().enumerate() {
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
        agents: agents
            .iter()
            .map(|agent| KeptAgent {
                name: agent.name.clone(),
                source: agent.source,
                path: agent.path.clone(),
            })
            .collect(),
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
    for (number, agent) in index.agents.iter().enumerate() {
        let text = fs::read_to_string(folder.join(agent_file(number)))?;
        // One folder each: two kept definitions never clash.
        let file = Arc::new(SourceFile::new(agent.path.clone(), text));
        texts.push(AgentText::new(agent.source, agent_file(number), file));
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
        agents: agent_registry(texts, &[], Vec::new()),
        selected: index.selected.map(|tasks| Selected { tasks, limits: index.limits }),
        answering: index.answering,
        strict: index.strict,
    })
}
