//! `flow completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use flow_core::model::Cause;

use crate::args::Cli;
use crate::ui;

pub(super) fn run(shell: Shell) -> anyhow::Result<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "flow", &mut text);
    ui::print(&String::from_utf8_lossy(&text))?;
    Ok(Cause::Success.code())
}
