//! Messages on standard error.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};
use flow_core::text::{shell_word, visible};

use crate::args::{Cli, ColorWhen};

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

/// How the person has to call us to mean the same project: `flow`, or `flow -C DIR`.
static PROGRAM: OnceLock<String> = OnceLock::new();

/// ` --state-dir DIR`, where runs are kept elsewhere.
static STATE: OnceLock<String> = OnceLock::new();

/// Takes over the options that say where the project and its runs are.
pub fn set_program(cli: &Cli) {
    // Whole: what is shown in one folder may be pasted in another.
    let option = |name: &str, path: &Option<PathBuf>| {
        path.as_ref()
            .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()))
            .map(|path| format!(" {name} {}", shell_word(&path.display().to_string())))
            .unwrap_or_default()
    };
    let (dir, state) = (option("-C", &cli.directory), option("--state-dir", &cli.state_dir));
    let _ = PROGRAM.set(format!("flow{dir}{state}"));
    let _ = STATE.set(state);
    let here = cli.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    if let Ok(here) = here.canonicalize() {
        let _ = HERE.set(here);
    }
}

/// The folder that shown paths are relative to.
static HERE: OnceLock<PathBuf> = OnceLock::new();

/// A path as it was shown, relative to the top of its checkout; `None` when it is no file in one, which GitHub can't place.
/// Without any checkout the folder itself counts as one.
pub fn path_in_repository(shown: &str) -> Option<String> {
    let here = HERE.get()?;
    let path = here.join(shown).canonicalize().ok()?;
    let top = here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(here);
    Some(path.strip_prefix(top).ok()?.display().to_string())
}

/// What commands begin with that are shown to be copied.
pub fn program() -> &'static str {
    PROGRAM.get().map_or("flow", String::as_str)
}

/// Options behind a command that make it mean this project from whatever folder it is called.
pub fn place() -> String {
    let here = HERE.get().map(|here| format!(" -C {}", shell_word(&here.display().to_string())));
    here.unwrap_or_default() + STATE.get().map_or("", String::as_str)
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

/// Whether standard error is a terminal on which lines can be drawn again.
pub fn can_redraw() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    std::io::stderr().is_terminal() && !dumb
}

/// `denied: …`, a line each.
pub fn denied(lines: &[String]) {
    lines.iter().for_each(|line| say("denied", WARNING, line, None));
}

/// Whether GitHub Actions reads what is said.
pub fn in_github_actions() -> bool {
    std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true")
}

/// A text of several lines, none of which begins with what a CI system takes for a command: such a line stands behind a bar.
pub fn guarded(text: &str) -> String {
    let is_command = |line: &str| ["::", "##["].iter().any(|sign| line.trim_start().starts_with(sign));
    let text = visible(text);
    let mut lines = text.split('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |said, line| said + if is_command(line) { "\n| " } else { "\n" } + line)
}

fn say(word: &str, style: Style, message: &str, help: Option<&str>) {
    let mut out = anstream::stderr().lock();
    // Nobody can be told that standard error is gone.
    let _ = writeln!(out, "{style}{word}{style:#}: {}", guarded(message));
    if let Some(help) = help {
        let _ = writeln!(out, "{NOTE}help{NOTE:#}: {}", guarded(help));
    }
}

/// `1 error`, `2 errors`.
pub fn many(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

#[cfg(test)]
#[path = "say_tests.rs"]
mod tests;
