//! `flow`, the program: reads the command line, asks the engine, speaks with the person.
//!
//! Standard output carries data only; everything else goes to standard error. Which error is which cause stands in `exit.rs`.

#![allow(unreachable_pub, reason = "a program has no API")]

mod args;
mod command;
mod exit;
mod hints;
mod inputs;
mod project;
mod ui;

use std::process::ExitCode;

use clap::Parser;
use flow_core::model::Cause;

use crate::args::Cli;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if let Some((message, help)) = hints::hint(&error) {
                ui::error(&message, Some(&help));
                return exit::with(Cause::Usage);
            }
            // Help and version are answers, not errors; a closed pipe behind them is nobody's business.
            let _ = error.print();
            return exit::with(if error.use_stderr() { Cause::Usage } else { Cause::Success });
        }
    };
    ui::set_color(cli.color);
    ui::set_program(&cli);
    match command::dispatch(cli) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            exit::tell(&error);
            exit::with(exit::of(&error))
        }
    }
}
