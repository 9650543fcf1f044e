//! A folder with files, and an agent's tools at work in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::converse::CallResult;
use flow_core::model::{PermissionMode, PermissionRules, Reason, SettingsLayer, ToolPolicy, ToolRule};
use flow_core::policy::{ModeSource, Permissions};
use serde_json::Value;

use super::{ReadState, ToolContext, call};
use crate::sys::stop::{StopOrder, StopSwitch, stop_pair};

pub(super) struct Bench {
    pub(super) context: ToolContext,
    switch: StopSwitch,
    _folder: tempfile::TempDir,
}

impl Bench {
    /// A tree with these files, in which everything inside the tree passes.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The tree is one level down, so that a test can have something outside.
        let tree = folder.path().canonicalize().unwrap().join("tree");
        std::fs::create_dir(&tree).unwrap();
        for (name, content) in files {
            let path = tree.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let (switch, stop) = stop_pair();
        let context = ToolContext {
            permissions: Arc::new(permissions(&tree)),
            dir: tree.clone(),
            tree,
            opened: Arc::default(),
            env: Vec::new(),
            stop,
            tag: "test.1".to_owned(),
            reads: ReadState::default(),
        };
        Bench { context, switch, _folder: folder }
    }

    /// The same with other rules.
    pub(super) fn ruled(mut self, change: impl FnOnce(&mut Permissions)) -> Self {
        let mut permissions = Permissions::clone(&self.context.permissions);
        change(&mut permissions);
        self.context.permissions = Arc::new(permissions);
        self
    }

    /// Tells calls to end, or to end at once.
    pub(super) fn stop(&self, force: bool) {
        self.switch.stop(StopOrder { reason: Reason::Cancelled, force });
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.context.tree.join(name)
    }

    pub(super) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(super) fn call(&self, tool: &str, input: Value) -> CallResult {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(call(tool, input, &self.context)).result
    }

    /// The answer of a call that must do well.
    pub(super) fn ok(&self, tool: &str, input: Value) -> String {
        let result = self.call(tool, input);
        assert!(!result.is_error, "{}", result.content);
        result.content
    }

    /// The answer of a call that must fail.
    pub(super) fn err(&self, tool: &str, input: Value) -> String {
        let result = self.call(tool, input);
        assert!(result.is_error, "{}", result.content);
        result.content
    }
}

fn permissions(tree: &Path) -> Permissions {
    Permissions {
        mode: PermissionMode::AcceptEdits,
        mode_source: ModeSource::Definition,
        tree: tree.to_owned(),
        dir: tree.to_owned(),
        home: None,
        readable: Vec::new(),
        private_tree: true,
        layers: Vec::new(),
        task: PermissionRules {
            layer: SettingsLayer::Flag,
            allow: vec![ToolRule::parse("Bash")],
            ask: Vec::new(),
            deny: Vec::new(),
        },
        definition: ToolPolicy::Inherit,
        disallowed: Vec::new(),
    }
}
