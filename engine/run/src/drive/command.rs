//! The commands of an attempt: a `run`, its `setup`, the `checks` of an agent, and what they have in common.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use flow_core::ids::{Attempt, NodeId};
use flow_core::model::Reason;
use flow_core::plan::{AgentTask, TaskKind};
use flow_core::values::{Common, PreparedAgent, PreparedCommand, PreparedShell};

use super::driver::Driver;
use super::judge::PairsFile;
use super::launch::{Refused, Site, refused};
use crate::execute::ShellLaunch;
use crate::workspace::PrivateTree;

/// A script longer than this can't be an argument: Linux refuses one past 128 KiB.
const LONGEST_ARGUMENT: usize = 120 * 1024;

/// Says above which folder git looks for no repository.
const GIT_CEILING: &str = "GIT_CEILING_DIRECTORIES";

impl Driver {
    /// The empty file that `$FLOW_OUTPUT` names.
    pub(super) fn pairs_file(
        &self,
        (id, attempt): (NodeId, Attempt),
        limit: Option<u64>,
    ) -> Result<PairsFile, Refused> {
        let folder = self.setup.folder.make_task(&self.address(id));
        let made = folder.map(|folder| folder.join(format!("{attempt}.pairs"))).and_then(|path| {
            std::fs::write(&path, "")?;
            Ok(path)
        });
        let path = made.map_err(|error| {
            refused(Reason::Resource, format!("can't make the file of `$FLOW_OUTPUT`: {error}"))
        })?;
        Ok(PairsFile { path, limit: limit.unwrap_or(ShellLaunch::MAX_OUTPUT), mask: self.mask.clone() })
    }

    pub(super) fn shell_launch(
        &self,
        site: Site<'_>,
        shell: &PreparedShell,
        pairs: Option<&Path>,
    ) -> Result<ShellLaunch, Refused> {
        let Site { id, task, .. } = site;
        let argv = match &shell.command {
            PreparedCommand::Words(words) => words.iter().map(Into::into).collect(),
            PreparedCommand::Script { shell, script } => self.script_argv(id, "script", shell, script)?,
        };
        let max_output = match &task.kind {
            TaskKind::Shell(shell) => shell.max_output.unwrap_or(ShellLaunch::MAX_OUTPUT),
            TaskKind::Agent(_) => ShellLaunch::MAX_OUTPUT,
        };
        let mut launch = self.command(site, argv);
        set(&mut launch, &shell.common.env);
        launch.env.set.extend(pairs.map(|path| ("FLOW_OUTPUT".into(), path.into())));
        launch.idle = task.timeout.idle;
        launch.max_output = max_output;
        Ok(launch)
    }

    /// The commands of `setup`, each with a line for people, with the environment that the task's own command has, or would have.
    pub(super) fn setup_launches(
        &self,
        site: Site<'_>,
        common: &Common,
    ) -> Result<Vec<(String, ShellLaunch)>, Refused> {
        // Not in `dir` of the task: that may be what a setup makes.
        let site = Site { dir: site.tree.map_or(site.dir, PrivateTree::dir), ..site };
        let launches = common.setup.iter().enumerate().map(|(number, setup)| {
            let argv = self.script_argv(site.id, &format!("setup.{number}"), &setup.shell, &setup.script)?;
            let mut launch = self.command(site, argv);
            set(&mut launch, &setup.env);
            Ok((setup.shown.clone(), launch))
        });
        launches.collect()
    }

    /// The launches of an agent's `checks`.
    pub(super) fn agent_checks(
        &self,
        site: Site<'_>,
        agent_task: &AgentTask,
        agent: &PreparedAgent,
    ) -> Result<Vec<(String, ShellLaunch)>, Refused> {
        let Some(checks) = &agent_task.checks else { return Ok(Vec::new()) };
        let open = agent.common.env_without_secrets();
        let launches = agent.checks.iter().enumerate().map(|(number, check)| {
            let argv = self.script_argv(site.id, &format!("check.{number}"), &checks.shell, &check.script)?;
            let mut launch = self.command(site, argv);
            set(&mut launch, open.iter().chain(&check.env).map(|(name, value)| (name, value)));
            launch.idle = site.task.timeout.idle;
            launch.limit = check.timeout;
            Ok((check.shown.clone(), launch))
        });
        launches.collect()
    }

    /// A command with what every one of a task has around it.
    fn command(&self, site: Site<'_>, argv: Vec<OsString>) -> ShellLaunch {
        let Site { id, attempt, task, dir, tree } = site;
        let own = [("FLOW_RUN", self.setup.folder.id().as_str()), ("FLOW_TASK", self.address(id).as_str())]
            .map(|(name, value)| (name.into(), value.into()));
        let ceiling = tree.and_then(PrivateTree::git_ceiling).map(|path| (GIT_CEILING.into(), path.into()));
        let mut launch = ShellLaunch::new(argv, dir.to_owned(), self.tag(id, attempt));
        launch.env.removed = self.setup.hidden_env.iter().map(Into::into).collect();
        launch.env.set = own.into_iter().chain(ceiling).collect();
        launch.grace = task.timeout.grace.unwrap_or(ShellLaunch::GRACE);
        launch.mask = self.mask.clone();
        launch
    }

    /// The words that run a script. One that is too long is a file of the task.
    fn script_argv(
        &self,
        id: NodeId,
        file: &str,
        shell: &[String],
        script: &str,
    ) -> Result<Vec<OsString>, Refused> {
        let mut argv: Vec<OsString> = shell.iter().map(Into::into).collect();
        if script.len() > LONGEST_ARGUMENT {
            argv.pop();
            argv.push(self.script_file(id, file, script)?.into_os_string());
        } else {
            argv.push(script.into());
        }
        Ok(argv)
    }

    fn script_file(&self, id: NodeId, file: &str, script: &str) -> Result<PathBuf, Refused> {
        let folder = self.setup.folder.make_task(&self.address(id));
        let written = folder.map(|folder| folder.join(file)).and_then(|path| {
            std::fs::write(&path, script)?;
            Ok(path)
        });
        written.map_err(|error| refused(Reason::Resource, format!("can't write the script: {error}")))
    }
}

/// What the commands of an agent's tools have around them.
pub(super) fn agent_env(common: &Common, tree: Option<&PrivateTree>) -> Vec<(String, String)> {
    let ceiling = tree.and_then(PrivateTree::git_ceiling);
    let ceiling = ceiling.map(|path| (GIT_CEILING.to_owned(), path.display().to_string()));
    ceiling.into_iter().chain(common.env_without_secrets()).collect()
}

fn set<'e>(launch: &mut ShellLaunch, variables: impl IntoIterator<Item = (&'e String, &'e String)>) {
    launch.env.set.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
}
