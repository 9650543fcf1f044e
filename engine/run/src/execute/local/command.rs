//! The commands of an attempt: a `run`, its `setup`, the `checks` of an agent, and what they have in common.

use std::ffi::OsString;
use std::path::PathBuf;

use flow_core::model::Reason;
use flow_core::text::LONGEST_ARGUMENT;
use flow_core::values::{ShellScript, Step};

use super::site::{Refused, Site, refused};
use crate::execute::ShellLaunch;
use crate::workspace::PrivateTree;

/// Says above which folder git looks for no repository.
const GIT_CEILING: &str = "GIT_CEILING_DIRECTORIES";

impl Site<'_> {
    /// The commands of `setup`, each with a line for people, with the environment that the work's own command has, or would
    /// have.
    pub(super) fn setup(&self) -> Result<Vec<(String, ShellLaunch)>, Refused> {
        let launches = self.packet.work.setup.iter().enumerate().map(|(number, step)| {
            let mut launch = self.script(&format!("setup.{number}"), &step.script)?;
            // Not in `dir` of the task: that may be what a setup makes.
            if let Some(tree) = &self.tree {
                launch.dir = tree.dir().to_owned();
            }
            self.declare(&mut launch)?;
            set(&mut launch, step.script.env.iter().cloned());
            Ok((step.shown.clone(), launch))
        });
        launches.collect()
    }

    /// An agent's `checks`, each with a line for people.
    pub(super) fn checks(&self, checks: &[Step]) -> Result<Vec<(String, ShellLaunch)>, Refused> {
        let launches = checks.iter().enumerate().map(|(number, check)| {
            let mut launch = self.script(&format!("check.{number}"), &check.script)?;
            set(&mut launch, self.packet.work.open_env());
            set(&mut launch, check.script.env.iter().cloned());
            launch.idle = self.packet.work.timeout.idle;
            launch.limit = check.timeout;
            Ok((check.shown.clone(), launch))
        });
        launches.collect()
    }

    /// A script with what every command has around it. `file`: what it is called where it has to be a file.
    pub(super) fn script(&self, file: &str, script: &ShellScript) -> Result<ShellLaunch, Refused> {
        let mut argv: Vec<OsString> = script.shell.iter().map(Into::into).collect();
        if script.text.len() > LONGEST_ARGUMENT {
            argv.pop();
            argv.push(self.script_file(file, &script.text)?.into_os_string());
        } else {
            argv.push((&script.text).into());
        }
        Ok(self.command(argv))
    }

    /// A command with what every one of an attempt has around it.
    pub(super) fn command(&self, argv: Vec<OsString>) -> ShellLaunch {
        let packet = self.packet;
        let own = [("FLOW_RUN", packet.run.as_str()), ("FLOW_TASK", packet.address.as_str())]
            .map(|(name, value)| (name.into(), value.into()));
        let ceiling = self.tree.as_deref().and_then(PrivateTree::git_ceiling);
        let ceiling = ceiling.map(|path| (GIT_CEILING.into(), path.into()));
        let mut launch = ShellLaunch::new(argv, self.dir.clone(), packet.tag());
        launch.env.removed = packet.hidden_env.iter().map(Into::into).collect();
        launch.env.set = own.into_iter().chain(ceiling).collect();
        launch.grace = packet.work.timeout.grace.unwrap_or(ShellLaunch::GRACE);
        launch.mask = self.host.mask.clone();
        launch
    }

    /// Gives a command the declared variables, those that hold secrets among them.
    pub(super) fn declare(&self, launch: &mut ShellLaunch) -> Result<(), Refused> {
        for (name, value) in &self.packet.work.env {
            launch.env.set.push((name.into(), self.host.open(value)?.into()));
        }
        Ok(())
    }

    /// What the commands of an agent's tools have around them.
    pub(super) fn agent_env(&self) -> Vec<(String, String)> {
        let ceiling = self.tree.as_deref().and_then(PrivateTree::git_ceiling);
        let ceiling = ceiling.map(|path| (GIT_CEILING.to_owned(), path.display().to_string()));
        let open = self.packet.work.open_env().map(|(name, value)| (name.to_owned(), value.to_owned()));
        ceiling.into_iter().chain(open).collect()
    }

    fn script_file(&self, file: &str, script: &str) -> Result<PathBuf, Refused> {
        let written = self.make_folder().map(|folder| folder.join(file)).and_then(|path| {
            std::fs::write(&path, script)?;
            Ok(path)
        });
        written.map_err(|error| refused(Reason::Resource, format!("can't write the script: {error}")))
    }
}

/// Gives a command variables.
pub(super) fn set<T: Into<OsString>>(launch: &mut ShellLaunch, variables: impl IntoIterator<Item = (T, T)>) {
    launch.env.set.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
}
