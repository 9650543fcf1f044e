//! The commands of an attempt: a `run`, the `checks` of an agent, and what they have in common.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::ids::{Attempt, TaskId};
use flow_core::model::Reason;
use flow_core::plan::{AgentTask, Task, TaskKind};
use flow_core::values::{Common, PreparedAgent, PreparedCheck, PreparedCommand, PreparedShell};

use super::driver::Driver;
use super::judge::PairsFile;
use super::launch::{Refused, refused};
use crate::execute::{Mask, ShellLaunch};

/// A script longer than this can't be an argument: Linux refuses one past 128 KiB.
const LONGEST_ARGUMENT: usize = 120 * 1024;

impl Driver {
    /// The empty file that `$FLOW_OUTPUT` names.
    pub(super) fn pairs_file(
        &self,
        (id, attempt): (TaskId, Attempt),
        limit: Option<u64>,
        common: &Common,
    ) -> Result<PairsFile, Refused> {
        let folder = self.setup.folder.make_task(&self.address(id));
        let made = folder.map(|folder| folder.join(format!("{attempt}.pairs"))).and_then(|path| {
            std::fs::write(&path, "")?;
            Ok(path)
        });
        let path = made.map_err(|error| {
            refused(Reason::Resource, format!("can't make the file of `$FLOW_OUTPUT`: {error}"))
        })?;
        Ok(PairsFile { path, limit: limit.unwrap_or(ShellLaunch::MAX_OUTPUT), mask: mask(common) })
    }

    pub(super) fn shell_launch(
        &self,
        (id, attempt): (TaskId, Attempt),
        task: &Task,
        shell: &PreparedShell,
        dir: PathBuf,
        pairs: Option<&Path>,
    ) -> Result<ShellLaunch, Refused> {
        let argv = match &shell.command {
            PreparedCommand::Words(words) => words.iter().map(Into::into).collect(),
            PreparedCommand::Script { shell, script } => self.script_argv(id, shell, script)?,
        };
        let max_output = match &task.kind {
            TaskKind::Shell(shell) => shell.max_output.unwrap_or(ShellLaunch::MAX_OUTPUT),
            TaskKind::Agent(_) => ShellLaunch::MAX_OUTPUT,
        };
        let mut launch = self.command((id, attempt), task, argv, dir, shell.common.env.iter());
        launch.env.set.extend(pairs.map(|path| ("FLOW_OUTPUT".into(), path.into())));
        launch.max_output = max_output;
        launch.mask = mask(&shell.common);
        Ok(launch)
    }

    /// The launches of an agent's `checks`.
    pub(super) fn agent_checks(
        &self,
        (id, attempt): (TaskId, Attempt),
        task: &Task,
        agent_task: &AgentTask,
        agent: &PreparedAgent,
        dir: &Path,
    ) -> Result<Vec<(String, ShellLaunch)>, Refused> {
        let Some(checks) = &agent_task.checks else { return Ok(Vec::new()) };
        let launch = |check: &PreparedCheck| {
            let argv = self.script_argv(id, &checks.shell, &check.script)?;
            let env = open_env(&agent.common).chain(check.env.iter().map(|(name, value)| (name, value)));
            let launch = self.command((id, attempt), task, argv, dir.to_path_buf(), env);
            Ok((check.shown.clone(), launch))
        };
        agent.checks.iter().map(launch).collect()
    }

    /// A command with what every one has.
    fn command<'e>(
        &self,
        (id, attempt): (TaskId, Attempt),
        task: &Task,
        argv: Vec<OsString>,
        dir: PathBuf,
        env: impl Iterator<Item = (&'e String, &'e String)>,
    ) -> ShellLaunch {
        let own = [("FLOW_RUN", self.setup.folder.id().as_str()), ("FLOW_TASK", self.address(id).as_str())]
            .map(|(name, value)| (name.into(), value.into()));
        let mut launch = ShellLaunch::new(argv, dir, self.tag(id, attempt));
        launch.env.removed = self.setup.hidden_env.iter().map(Into::into).collect();
        launch.env.set =
            own.into_iter().chain(env.map(|(name, value)| (name.into(), value.into()))).collect();
        launch.idle = task.timeout.idle;
        launch.grace = task.timeout.grace.unwrap_or(ShellLaunch::GRACE);
        launch
    }

    fn script_argv(&self, id: TaskId, shell: &[String], script: &str) -> Result<Vec<OsString>, Refused> {
        let mut argv: Vec<OsString> = shell.iter().map(Into::into).collect();
        if script.len() > LONGEST_ARGUMENT {
            argv.pop();
            argv.push(self.script_file(id, script)?.into_os_string());
        } else {
            argv.push(script.into());
        }
        Ok(argv)
    }

    fn script_file(&self, id: TaskId, script: &str) -> Result<PathBuf, Refused> {
        let folder = self.setup.folder.make_task(&self.address(id));
        let written = folder.map(|folder| folder.join("script")).and_then(|path| {
            std::fs::write(&path, script)?;
            Ok(path)
        });
        written.map_err(|error| refused(Reason::Resource, format!("can't write the script: {error}")))
    }
}

/// The declared variables that an agent's commands get: those without secrets.
pub(super) fn open_env(common: &Common) -> impl Iterator<Item = (&String, &String)> {
    common.env.iter().filter(|(name, _)| !common.secret_env.contains(name))
}

/// What hides the secrets of a launch, if it has any.
fn mask(common: &Common) -> Option<Arc<Mask>> {
    let secrets = &common.secrets;
    (!secrets.is_empty()).then(|| Arc::new(Mask::new(secrets.iter().map(String::as_str))))
}
