//! An agent in a folder of its own, for tests of its attempts.

use std::path::PathBuf;
use std::sync::Arc;

use flow_core::converse::{AgentSpec, OutputForm};
use flow_core::ids::{Address, Attempt};
use flow_core::model::{
    ModelWish, Outcome, PermissionMode, PermissionRules, Reason, Settings, SettingsLayer, ToolPolicy,
    ToolRule,
};
use flow_core::policy::{ModeSource, Permissions};
use serde_json::Value;
use tokio::sync::mpsc;

use super::super::progress::Progress;
use super::launch::{AgentLaunch, AgentPlace, AgentStart, Reported};
use super::session::{AgentHandle, start_agent};
use crate::provider::{ModelHandle, ProviderConfig, Providers};
use crate::sys::stop::{StopOrder, StopSignal, StopSwitch, stop_pair};
use crate::tool;

/// A run folder and a tree, and an agent to be started in them.
pub(super) struct Bench {
    pub(super) root: tempfile::TempDir,
    pub(super) launch: AgentLaunch,
    pub(super) switch: StopSwitch,
    pub(super) stop: StopSignal,
}

impl Bench {
    /// An agent `worker` of a task `t` whose model is this script.
    pub(super) fn new(script: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("model.yaml");
        std::fs::write(&path, script).unwrap();
        let config = ProviderConfig {
            settings: Settings::default(),
            script: Some(path),
            model: None,
            env: Box::new(|_| None),
        };
        let model = Providers::new(config).unwrap().resolve(ModelWish::Plan("test-model")).unwrap().model;
        Bench::with(root, model)
    }

    pub(super) fn with(root: tempfile::TempDir, model: ModelHandle) -> Self {
        let tree = root.path().canonicalize().unwrap().join("tree");
        std::fs::create_dir(&tree).unwrap();
        std::fs::write(tree.join("a.txt"), "alpha\n").unwrap();
        let permissions = Permissions {
            mode: PermissionMode::Default,
            mode_source: ModeSource::Definition,
            tree: tree.clone(),
            dir: tree.clone(),
            home: None,
            readable: Vec::new(),
            private_tree: false,
            layers: Vec::new(),
            task: PermissionRules {
                layer: SettingsLayer::Flag,
                allow: vec![ToolRule::parse("Bash")],
                ask: Vec::new(),
                deny: Vec::new(),
            },
            definition: ToolPolicy::Inherit,
            disallowed: Vec::new(),
        };
        let spec = AgentSpec {
            forked: false,
            model: "to be replaced".to_owned(),
            system: "You work.".into(),
            tools: tool::specs(&["Read", "Glob", "Grep", "Write", "Edit", "Bash"]).into(),
            permissions: Arc::new(permissions),
            max_turns: 10,
            max_tokens: 1000,
            effort: None,
            output: OutputForm::Text,
            repair: 1,
            max_tool_concurrency: 4,
            background: false,
            checked: false,
        };
        let (switch, stop) = stop_pair();
        let launch = AgentLaunch {
            forked: None,
            address: Address::task("t"),
            attempt: Attempt::FIRST,
            agent_id: "a0123456789abcdef".to_owned(),
            reported: Reported::default(),
            agent_name: "worker".to_owned(),
            spec,
            prompt: "Do it.".to_owned(),
            model,
            place: AgentPlace {
                dir: tree.clone(),
                tree,
                opened: Vec::new(),
                env: Vec::new(),
                tag: format!("test.{}", unique()),
            },
            idle: None,
            folder: root.path().join("run/tasks/t"),
            folder_name: "tasks/t".to_owned(),
            position: 0,
            mask: None,
            start: AgentStart::Fresh,
            checks: None,
        };
        Bench { root, launch, switch, stop }
    }

    pub(super) fn set(mut self, change: impl FnOnce(&mut AgentLaunch)) -> Self {
        change(&mut self.launch);
        self
    }

    pub(super) async fn run(self) -> Ran {
        self.run_while(|_, _, _| {}).await
    }

    /// Runs until this much has been said, then gives the order.
    pub(super) async fn run_until(self, until: impl Fn(&Progress) -> bool, order: StopOrder) -> Ran {
        let act = |said: &Progress, switch: &StopSwitch, _: &AgentHandle| {
            if until(said) {
                switch.stop(order);
            }
        };
        self.run_while(act).await
    }

    /// Runs to the end, and does something with switch and handle whenever something is said.
    pub(super) async fn run_while(self, mut act: impl FnMut(&Progress, &StopSwitch, &AgentHandle)) -> Ran {
        let (sender, mut receiver) = mpsc::channel(64);
        let (handle, running) = start_agent(self.launch, self.stop, sender);
        let running = tokio::spawn(running);
        let mut progress = Vec::new();
        while let Some(said) = receiver.recv().await {
            act(&said, &self.switch, &handle);
            progress.push(said);
        }
        Ran { root: self.root, outcome: running.await.unwrap(), progress }
    }
}

fn unique() -> u32 {
    crate::sys::files::random_u32().unwrap()
}

pub(super) const CANCEL: StopOrder = StopOrder { reason: Reason::Cancelled, force: false };

/// What an attempt left behind.
pub(super) struct Ran {
    pub(super) root: tempfile::TempDir,
    pub(super) outcome: Outcome,
    pub(super) progress: Vec<Progress>,
}

impl Ran {
    pub(super) fn folder(&self) -> PathBuf {
        self.root.path().join("run/tasks/t")
    }

    pub(super) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder().join(name)).unwrap()
    }

    pub(super) fn lines(&self, name: &str) -> Vec<Value> {
        self.file(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What the log says of one kind.
    pub(super) fn logged(&self, ev: &str) -> Vec<Value> {
        self.lines("wire.jsonl").into_iter().filter(|line| line["ev"] == ev).collect()
    }

    pub(super) fn statuses(&self) -> Vec<Value> {
        self.logged("request_ended").iter().map(|line| line["status"].clone()).collect()
    }

    /// The text that the outcome points at.
    pub(super) fn text(&self) -> String {
        let slice = self.outcome.text.as_ref().unwrap();
        let bytes = std::fs::read(self.root.path().join("run").join(&slice.file)).unwrap();
        let (start, len) = (slice.start as usize, slice.len as usize);
        String::from_utf8(bytes[start..start + len].to_vec()).unwrap()
    }

    pub(super) fn turns(&self) -> u32 {
        self.outcome.usage.as_ref().unwrap().turns
    }

    /// Turns in the log are those of the report.
    pub(super) fn check_log(&self) {
        let mut turns: Vec<u64> =
            self.logged("request_ended").iter().map(|line| line["turn"].as_u64().unwrap()).collect();
        turns.dedup();
        assert_eq!(turns, (1..=u64::from(self.turns())).collect::<Vec<_>>());
    }
}
