//! A manifest with everything around it, for tests.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::{
    AgentRegistry, AgentText, CompileInput, Compiled, GitPlace, GivenInput, GivenValue, Place, Purpose,
    agent_registry, compile,
};
use crate::diagnostic::{SourceFile, render};
use crate::model::{AgentSource, PermissionRules, Settings, SettingsLayer, ToolRule};
use crate::plan::Plan;

/// A manifest and the place in which it is compiled: git is ready, bash is there, the environment is
/// empty, and there is the agent `general-purpose`.
pub(crate) struct Trial {
    text: String,
    agents: Vec<AgentText>,
    settings: Settings,
    inputs: Vec<GivenInput>,
    place: FakePlace,
    purpose: Purpose,
}

struct FakePlace {
    env: HashMap<String, String>,
    files: HashMap<String, String>,
    git: GitPlace,
    depth: usize,
    bash: bool,
}

impl Place for FakePlace {
    fn env(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned()
    }

    fn read(&self, path: &str) -> Result<String, String> {
        self.files.get(path).cloned().ok_or_else(|| "no such file".to_owned())
    }

    fn git(&self) -> GitPlace {
        self.git
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn exists(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    fn has_program(&self, name: &str) -> bool {
        self.bash || name != "bash"
    }
}

impl Trial {
    /// A manifest; `flow: 1` is put before it.
    pub(crate) fn of(text: &str) -> Self {
        let trial = Trial {
            text: format!("flow: 1\n{text}"),
            agents: Vec::new(),
            settings: Settings::default(),
            inputs: Vec::new(),
            place: FakePlace {
                env: HashMap::new(),
                files: HashMap::new(),
                git: GitPlace::Ready,
                depth: 0,
                bash: true,
            },
            purpose: Purpose::Run,
        };
        trial.agent_from(AgentSource::BuiltIn, "general-purpose.md", "name: general-purpose")
    }

    /// An agent of the project: the keys of its front matter.
    pub(crate) fn agent(self, file: &str, keys: &str) -> Self {
        self.agent_from(AgentSource::Project, &format!("agents/{file}"), keys)
    }

    fn agent_from(mut self, source: AgentSource, path: &str, keys: &str) -> Self {
        let text = format!("---\n{keys}\ndescription: works\n---\nYou work.\n");
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        self.agents.push(AgentText::new(source, folder, Arc::new(SourceFile::new(path, text))));
        self
    }

    /// Only to be looked at.
    pub(crate) fn look(mut self) -> Self {
        self.purpose = Purpose::Look;
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.place.env.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn file(mut self, path: &str, text: &str) -> Self {
        self.place.files.insert(path.to_owned(), text.to_owned());
        self
    }

    pub(crate) fn git(mut self, git: GitPlace) -> Self {
        self.place.git = git;
        self
    }

    pub(crate) fn depth(mut self, depth: usize) -> Self {
        self.place.depth = depth;
        self
    }

    pub(crate) fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    pub(crate) fn without_bash(mut self) -> Self {
        self.place.bash = false;
        self
    }

    /// `-i name=text`.
    pub(crate) fn given(mut self, name: &str, text: &str) -> Self {
        self.inputs.push(GivenInput {
            name: name.to_owned(),
            value: GivenValue::Text(text.to_owned()),
            place: None,
        });
        self
    }

    /// `-i name:=json`.
    pub(crate) fn given_json(mut self, name: &str, value: Value) -> Self {
        self.inputs.push(GivenInput { name: name.to_owned(), value: GivenValue::Json(value), place: None });
        self
    }

    /// `--inputs-file`.
    pub(crate) fn inputs_file(mut self, text: &str) -> Self {
        let file = Arc::new(SourceFile::new("in.yaml", text));
        self.inputs.extend(super::inputs_file(&file).expect("a file of inputs"));
        self
    }

    /// A rule under `[permissions] allow` of the user's settings.
    pub(crate) fn allowed(mut self, rule: &str) -> Self {
        let allow = vec![ToolRule::parse(rule)];
        let layer = SettingsLayer::User;
        self.settings.permissions.push(PermissionRules { layer, allow, ask: Vec::new(), deny: Vec::new() });
        self
    }

    pub(crate) fn compile(&self) -> Compiled {
        let copy = |agent: &AgentText| AgentText::new(agent.source, &*agent.folder, Arc::clone(&agent.file));
        let agents = self.agents.iter().map(copy).collect();
        let agents = agent_registry(agents, &[], vec![".claude/agents".to_owned(), "agents".to_owned()]);
        self.compile_with(&agents)
    }

    /// The same with other agents.
    pub(crate) fn compile_with(&self, agents: &AgentRegistry) -> Compiled {
        compile(&CompileInput {
            file: Arc::new(SourceFile::new("plan.yaml", self.text.as_str())),
            agents,
            settings: &self.settings,
            inputs: &self.inputs,
            place: &self.place,
            purpose: self.purpose,
        })
    }

    /// Everything that was found, as a person reads it.
    pub(crate) fn report(&self) -> String {
        let found = self.compile().diagnostics;
        found.iter().map(|finding| render(finding, false)).collect::<Vec<_>>().join("\n\n")
    }

    /// The plan of a manifest in which nothing is found.
    pub(crate) fn plan(&self) -> Plan {
        let report = self.report();
        assert_eq!(report, "", "{}", self.text);
        self.compile().plan.expect("a plan, since nothing was found")
    }
}

/// Everything that is found in a manifest, as a person reads it.
pub(crate) fn check(text: &str) -> String {
    Trial::of(text).report()
}
