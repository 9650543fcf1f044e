//! One file a command.

mod agents;
mod attach;
mod check;
mod completions;
mod conversation;
mod detach;
mod doctor;
mod events;
mod gc;
mod graph;
mod init;
mod last_words;
mod live;
mod logs;
mod plan;
mod ps;
mod report;
mod resume;
mod run;
mod status;
mod stop;

use flow_run::engine::{Engine, ProjectOptions};

use crate::args::{Cli, Command};

/// Runs the command; the answer is the exit code.
pub fn dispatch(cli: Cli) -> anyhow::Result<u8> {
    let engine = Engine::open(ProjectOptions {
        directory: cli.directory.clone(),
        state_dir: cli.state_dir.clone(),
        agents: cli.agents.clone(),
        dirs: None,
    })?;
    match cli.command {
        Command::Init(args) => init::run(&engine, &args),
        Command::Run(args) => run::run(&engine, &args),
        Command::Check(args) => check::run(&engine, &args),
        Command::Plan(args) => plan::run(&engine, &args),
        Command::Graph(args) => graph::run(&engine, &args),
        Command::Ps(args) => ps::run(&engine, &args),
        Command::Status(args) => status::run(&engine, &args),
        Command::Attach(args) => attach::run(&engine, &args),
        Command::Logs(args) => logs::run(&engine, &args),
        Command::Events(args) => events::run(&engine, &args),
        Command::Report(args) => report::run(&engine, &args),
        Command::Resume(args) => resume::run(&engine, &args),
        Command::Retry(args) => resume::retry(&engine, &args),
        Command::Stop(args) => stop::run(&engine, &args),
        Command::Gc(args) => gc::run(&engine, &args),
        Command::Agents { command } => agents::run(&engine, &command),
        Command::Doctor(args) => doctor::run(&engine, &args),
        Command::Completions { shell } => completions::run(shell),
    }
}
