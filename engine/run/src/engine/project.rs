//! The engine of a project: where it works, and what it finds there before any plan is named.

use std::path::{Path, PathBuf};

use flow_core::compile::{AgentRegistry, agent_registry, settings};
use flow_core::diagnostic::Diagnostic;
use flow_core::model::Settings;

use super::error::EngineError;
use crate::load::{self, Dirs, Project};
use crate::store::StateDir;

/// Which project is meant, and what belongs to it beside what lies in it.
#[derive(Clone, Debug, Default)]
pub struct ProjectOptions {
    /// The folder to work in as if started there; the current one otherwise, in which the person then stands.
    pub directory: Option<PathBuf>,
    /// Where runs are kept instead of `.flow` in the project root.
    pub state_dir: Option<PathBuf>,
    /// More (or other) agent definitions: files, folders or JSON.
    pub agents: Vec<String>,
    /// Where a person's and the machine's definitions stand; where the environment says otherwise.
    pub dirs: Option<Dirs>,
}

/// The engine of one project.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(super) project: Project,
    dirs: Dirs,
    agent_flags: Vec<String>,
    /// Whether the person is in another folder.
    elsewhere: bool,
}

impl Engine {
    /// Finds the project.
    pub fn open(options: ProjectOptions) -> Result<Engine, EngineError> {
        let here = std::env::current_dir().map_err(EngineError::NoCurrentFolder)?;
        let elsewhere = options.directory.is_some();
        let start = match options.directory {
            None => here,
            Some(dir) => match here.join(&dir).canonicalize() {
                Ok(start) => start,
                Err(source) => return Err(EngineError::NoFolder { dir, source }),
            },
        };
        Ok(Engine {
            project: Project::locate(&start, options.state_dir),
            dirs: options.dirs.unwrap_or_else(|| Dirs::from_variables(|name| std::env::var_os(name))),
            agent_flags: options.agents,
            elsewhere,
        })
    }

    /// The project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// A path as the person can use it: relative to their folder, which isn't ours when another was named.
    pub fn show(&self, path: &Path) -> String {
        match self.elsewhere {
            true => path.display().to_string(),
            false => self.project.show(path),
        }
    }

    /// The settings for plans of a folder, and what is odd or wrong about them.
    pub fn settings(&self, plan_dir: &Path) -> (Settings, Vec<Diagnostic>) {
        let (texts, mut findings) = load::find_settings(&self.project, plan_dir, &self.dirs);
        let (settings, more) = settings(texts, &self.own_settings());
        findings.extend(more);
        (settings, findings)
    }

    /// The person's own flow.toml as they would write it, whether or not it is there.
    pub fn own_settings(&self) -> String {
        let Some(path) = self.dirs.user_settings() else { return "~/.config/flow/flow.toml".to_owned() };
        match self.dirs.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) => format!("~/{}", below.display()),
            None => path.display().to_string(),
        }
    }

    /// The agents for plans of a folder, and which flags and policies can't be read.
    pub fn agents(&self, plan_dir: &Path, settings: &Settings) -> (AgentRegistry, Vec<Diagnostic>) {
        let found = load::find_agents(&self.project, plan_dir, &self.dirs, &self.agent_flags);
        (agent_registry(found.texts, &settings.disabled_agents, found.searched), found.findings)
    }

    /// The plans that are meant where none is named: `plan.yaml` here, and all of `workflows/`.
    pub fn plans(&self) -> Vec<String> {
        let mut plans = Vec::new();
        if self.project.here.join("plan.yaml").is_file() {
            plans.push("plan.yaml".to_owned());
        }
        let workflows = self.project.root.join("workflows");
        let entries = std::fs::read_dir(&workflows).into_iter().flatten().filter_map(Result::ok);
        let mut found: Vec<_> = entries
            .map(|entry| entry.path())
            .filter(|path| {
                path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
            })
            .map(|path| self.project.show(&path))
            .collect();
        found.sort();
        plans.extend(found);
        plans
    }

    /// Every plan that can be named: those of the project, then those that flow brings along.
    pub fn nameable_plans(&self) -> (Vec<String>, Vec<&'static str>) {
        (load::own_plans(&self.project), load::shipped_plans().collect())
    }

    /// The state folder, made when it isn't there.
    pub(super) fn state(&self) -> Result<StateDir, EngineError> {
        Ok(StateDir::at(&self.project.state_dir)?)
    }
}
