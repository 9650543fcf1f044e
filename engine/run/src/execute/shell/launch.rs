//! A command of a plan, with everything resolved.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::super::mask::Mask;
use crate::sys::process::Environment;

/// What to run, and how long to bear with it.
#[derive(Clone, Debug)]
pub struct ShellLaunch {
    /// Program and arguments; the script is among them already.
    pub argv: Vec<OsString>,
    /// Its environment.
    pub env: Environment,
    /// The folder it works in.
    pub dir: PathBuf,
    /// How long it may take, where nobody else holds the clock.
    pub limit: Option<Duration>,
    /// How long it may be silent.
    pub idle: Option<Duration>,
    /// Between TERM and KILL.
    pub grace: Duration,
    /// The most that standard output and standard error may hold together.
    pub max_output: u64,
    /// `FLOW_ATTEMPT` of its processes: unique, best `RUN/TASK/ATTEMPT`.
    pub tag: String,
    /// What must not be written to its output files.
    pub mask: Option<Arc<Mask>>,
}

impl ShellLaunch {
    /// `grace` unless the plan says otherwise.
    pub const GRACE: Duration = Duration::from_secs(10);
    /// `max_output` unless the plan says otherwise.
    pub const MAX_OUTPUT: u64 = 64 * 1024 * 1024;

    /// A launch with nothing but the defaults.
    pub fn new(argv: Vec<OsString>, dir: PathBuf, tag: String) -> Self {
        ShellLaunch {
            argv,
            env: Environment::default(),
            dir,
            limit: None,
            idle: None,
            grace: Self::GRACE,
            max_output: Self::MAX_OUTPUT,
            tag,
            mask: None,
        }
    }
}
