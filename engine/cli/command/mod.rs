//! One file a command.

mod agents;
mod attach;
mod check;
mod completions;
mod conversation;
mod detach;
mod doctor;
mod engine;
mod events;
mod gc;
mod graph;
mod init;
mod last_words;
mod logs;
mod lost_outputs;
mod models;
mod plan;
mod ps;
mod reconcile;
mod report;
mod resume;
mod run;
mod status;
mod stop;

use crate::args::{Cli, Command};
use crate::session::Session;

/// Runs the command; the answer is the exit code.
pub fn dispatch(cli: Cli) -> anyhow::Result<u8> {
    let session = Session::new(&cli)?;
    match cli.command {
        Command::Init(args) => init::run(&session, &args),
        Command::Run(args) => run::run(&session, &args),
        Command::Check(args) => check::run(&session, &args),
        Command::Plan(args) => plan::run(&session, &args),
        Command::Graph(args) => graph::run(&session, &args),
        Command::Ps(args) => ps::run(&session, &args),
        Command::Status(args) => status::run(&session, &args),
        Command::Attach(args) => attach::run(&session, &args),
        Command::Logs(args) => logs::run(&session, &args),
        Command::Events(args) => events::run(&session, &args),
        Command::Report(args) => report::run(&session, &args),
        Command::Resume(args) => resume::run(&session, &args),
        Command::Retry(args) => resume::retry(&session, &args),
        Command::Stop(args) => stop::run(&session, &args),
        Command::Gc(args) => gc::run(&session, &args),
        Command::Agents { command } => agents::run(&session, &command),
        Command::Doctor(args) => doctor::run(&session, &args),
        Command::Completions { shell } => completions::run(shell),
    }
}
