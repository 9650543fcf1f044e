//! Standard output: data only.

use std::io::{self, Write};

use flow_core::model::Cause;
use serde::Serialize;

use crate::exit::Failure;

/// Writes text as it is. A closed pipe ends the program with its own exit code and no message.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    closed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Writes a value as JSON on one line.
pub fn print_line(value: &impl Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string(value)? + "\n"))
}

/// Writes a value as indented JSON and a newline.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
}

fn closed(written: io::Result<()>) -> anyhow::Result<()> {
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::new(Cause::Closed, "").into(),
        _ => Failure::new(Cause::Io, format!("can't write to standard output: {error}")).into(),
    })
}

/// How wide the terminal is that the output goes to, if it goes to one.
pub fn width() -> Option<usize> {
    console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns))
}
