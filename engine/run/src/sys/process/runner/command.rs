//! What to run, how long to bear with it, and where it prints to.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A command to run.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// Program and arguments. The program is looked up on the `PATH` that the command gets.
    pub argv: &'a [OsString],
    /// Its environment.
    pub env: &'a Environment,
    /// The folder it works in.
    pub dir: &'a Path,
    /// `FLOW_ATTEMPT` of its processes.
    pub tag: &'a str,
    /// What becomes of processes that have left its group.
    pub orphans: Orphans,
    /// What it may not do.
    pub limits: Limits<'a>,
    /// Between TERM and KILL.
    pub grace: Duration,
}

/// The environment of a command: ours, less some variables, plus others.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Variables that it doesn't get.
    pub removed: Vec<OsString>,
    /// Variables that it gets; a later one wins.
    pub set: Vec<(OsString, OsString)>,
}

/// What becomes of processes that carry the tag and have left the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orphans {
    /// The tag is this command's alone: they are ended with it.
    End,
    /// Others carry the same tag: whoever gave it ends them.
    Leave,
}

/// What a running command may not do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'a> {
    /// How long it may take; time in which we stood still ourselves doesn't count.
    pub time: Option<Duration>,
    /// What is expected of its output.
    pub printing: Option<Printing<'a>>,
}

/// What is expected of an output.
#[derive(Clone, Copy)]
pub struct Printing<'a> {
    /// How much has been printed so far.
    pub printed: &'a (dyn Fn() -> u64 + Sync),
    /// The most that may be.
    pub most: u64,
    /// How long there may be silence.
    pub idle: Option<Duration>,
}

impl fmt::Debug for Printing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Printing").field("most", &self.most).field("idle", &self.idle).finish_non_exhaustive()
    }
}

/// Takes what a command prints, piece by piece. After an error it gets no more, and the command a closed pipe.
pub type Taker<'a> = Box<dyn FnMut(&[u8]) -> io::Result<()> + Send + Sync + 'a>;

/// Where standard output and standard error go.
pub enum Output<'a> {
    /// Into a file each. Nothing of it passes through this process.
    Files([&'a File; 2]),
    /// Through a pipe each.
    Apart([Taker<'a>; 2]),
    /// Both through one pipe, so that lines stand in the order in which they were written.
    Joined(Taker<'a>),
}
