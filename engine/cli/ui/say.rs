//! Messages on standard error.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use flow_core::text::visible;

use crate::args::ColorWhen;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// Decides once for the whole program whether there are colours.
pub fn set_color(when: ColorWhen) {
    match when {
        ColorWhen::Auto => {}
        ColorWhen::Always => anstream::ColorChoice::Always.write_global(),
        ColorWhen::Never => anstream::ColorChoice::Never.write_global(),
    }
}

/// `error: …`, and what to do.
pub fn error(message: &str, help: Option<&str>) {
    say("error", ERROR, message, help);
}

/// `warning: …`.
pub fn warning(message: &str) {
    say("warning", WARNING, message, None);
}

/// `note: …`.
pub fn note(message: &str) {
    say("note", NOTE, message, None);
}

/// Whether GitHub Actions reads what is said.
pub fn in_github_actions() -> bool {
    std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true")
}

fn say(word: &str, style: Style, message: &str, help: Option<&str>) {
    let mut out = anstream::stderr().lock();
    // Nobody can be told that standard error is gone.
    let _ = writeln!(out, "{style}{word}{style:#}: {}", visible(message));
    if let Some(help) = help {
        let _ = writeln!(out, "{NOTE}help{NOTE:#}: {}", visible(help));
    }
}
