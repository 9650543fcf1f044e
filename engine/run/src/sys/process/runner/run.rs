//! One run of a command, from its start to its confirmed end.

use std::io;
use std::process::ExitStatus;

use flow_core::model::Reason;

use super::super::{Leader, Swept, sweep};
use super::command::{Command, Orphans, Output};
use super::pipes::Pipes;
use super::spawn::start;
use super::watch::{end_remnant, watch};
use crate::sys::stop::{StopOrder, StopSignal};

/// How a command ended. Nothing of it lives any more.
#[derive(Debug)]
pub struct Ran {
    /// How its own process ended.
    pub status: ExitStatus,
    /// Why it was made to end, if it was.
    pub cut: Option<Cut>,
    /// Whether processes in its group outlived it that should not have.
    pub left_over: bool,
    /// What was found of processes that had left its group.
    pub swept: Swept,
    /// Whether all that it printed was taken.
    pub taken: io::Result<()>,
}

/// Why a command was made to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It was told to.
    Ordered(Reason),
    /// It broke a limit of its own.
    Limited(Limit),
}

/// A limit that a command can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The time that it may take.
    Time,
    /// The time that it may be silent.
    Idle,
    /// How much it may print.
    Output,
}

impl Cut {
    /// What an outcome has to say of it.
    pub fn reason(self) -> Reason {
        match self {
            Cut::Ordered(reason) => reason,
            Cut::Limited(Limit::Time) => Reason::Timeout,
            Cut::Limited(Limit::Idle) => Reason::Stall,
            Cut::Limited(Limit::Output) => Reason::OutputLimit,
        }
    }
}

/// Why there is no end to speak of.
#[derive(Debug)]
pub enum NotRun {
    /// It was told to end before it was started.
    Stopped(StopOrder),
    /// It can't be started.
    Spawn(io::Error),
    /// Its end can't be waited for, so it may be running.
    Wait(io::Error),
}

/// Runs a command until it ends, or is told to, and until nothing of it lives. Dropped before that, its group is killed.
pub async fn run(command: &Command<'_>, output: Output<'_>, stop: &mut StopSignal) -> Result<Ran, NotRun> {
    let (leader, pipes) = start(command, &output, stop).await?;
    let mut pipes = Pipes::new(pipes, output).map_err(NotRun::Wait)?;
    let ran = pipes.taken_while(end(leader, command, stop)).await?;
    Ok(Ran { taken: pipes.finish(), ..ran })
}

/// Waits for the end of the command, and of what it leaves behind.
async fn end(mut leader: Leader, command: &Command<'_>, stop: &mut StopSignal) -> Result<Ran, NotRun> {
    let (end, stopping) = watch(&mut leader, command, stop).await;
    let (status, remnant) = end.map_err(NotRun::Wait)?;
    let left_over = end_remnant(&remnant, stopping, stop).await;
    let swept = match command.orphans {
        Orphans::End => sweep(command.tag).await,
        Orphans::Leave => Swept::default(),
    };
    Ok(Ran { status, cut: stopping.map(|stopping| stopping.cut), left_over, swept, taken: Ok(()) })
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
