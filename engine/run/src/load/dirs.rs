//! The folders outside the project that say something about a run.

use std::ffi::OsString;
use std::path::PathBuf;

/// Where a person's and a machine's definitions stand. Read from the environment once, by whoever starts flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dirs {
    /// The person's home.
    pub home: Option<PathBuf>,
    /// The person's configuration of all programs.
    pub config: Option<PathBuf>,
    /// The machine's policy for flow.
    pub policy: Option<PathBuf>,
}

impl Dirs {
    /// Takes them from environment variables: `HOME`, `XDG_CONFIG_HOME`, `FLOW_POLICY_DIR`.
    pub fn from_variables(get: impl Fn(&str) -> Option<OsString>) -> Self {
        // The XDG rules: a path that isn't absolute counts as unset.
        let absolute = |name| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = absolute("HOME");
        let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
        let policy = absolute("FLOW_POLICY_DIR").or_else(|| Some(PathBuf::from("/etc/flow")));
        Dirs { home, config, policy }
    }

    /// The person's `flow.toml`, whether or not it is there.
    pub fn user_settings(&self) -> Option<PathBuf> {
        Some(self.config.as_ref()?.join("flow/flow.toml"))
    }

    /// The person's folders of agents, weakest first.
    pub(super) fn user_agents(&self) -> impl Iterator<Item = PathBuf> {
        let own = self.config.as_ref().map(|config| config.join("flow/agents"));
        let claude = self.home.as_ref().map(|home| home.join(".claude/agents"));
        own.into_iter().chain(claude)
    }
}

#[cfg(test)]
#[path = "dirs_tests.rs"]
mod tests;
