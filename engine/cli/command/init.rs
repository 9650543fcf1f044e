//! `flow init`: a project that runs at once, without a key and without a network.

use std::io;
use std::path::Path;

use flow_core::text::shell_word;

use crate::args::InitArgs;
use crate::exit::{Exit, Failure};
use crate::session::Session;
use crate::ui;

/// What is written, in the order in which it is told.
const FILES: &[(&str, &str)] = &[
    (PLAN, include_str!("../init/plan.yaml")),
    ("agents/scout.md", include_str!("../init/scout.md")),
    (SETTINGS, include_str!("../init/flow.toml")),
    (SCRIPT, include_str!("../init/model.yaml")),
    (".github/workflows/flow.yml", include_str!("../init/flow.yml")),
];
const PLAN: &str = "plan.yaml";
const SETTINGS: &str = "flow.toml";
const SCRIPT: &str = "model.yaml";

pub(super) fn run(session: &Session, args: &InitArgs) -> anyhow::Result<u8> {
    let dir = session.project.here.join(&args.dir);
    let mut kept = Vec::new();
    for (name, text) in FILES {
        let path = dir.join(name);
        let shown = session.project.show(&path);
        match write(&path, text) {
            Ok(true) => ui::note(&format!("wrote {shown}")),
            Ok(false) => {
                ui::warning(&format!("{shown} is there already and was left as it is"));
                kept.push(*name);
            }
            Err(error) => {
                return Err(Failure::new(Exit::Io, format!("can't write `{shown}`: {error}")).into());
            }
        }
    }
    say_what_to_do(&args.dir, &kept);
    Ok(Exit::Success.code())
}

/// Writes a file that isn't there; says whether it wrote.
fn write(path: &Path, text: &str) -> io::Result<bool> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = match std::fs::OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(error),
    };
    io::Write::write_all(&mut file, text.as_bytes())?;
    Ok(true)
}

fn say_what_to_do(dir: &Path, kept: &[&str]) {
    let place = match dir.as_os_str() == "." {
        true => String::new(),
        false => format!("-C {} ", shell_word(&dir.display().to_string())),
    };
    if kept.contains(&PLAN) {
        ui::note(&format!("look at the plan that was there with `flow {place}check {PLAN}`"));
        return;
    }
    // Settings that were there may name no written model.
    let script = if kept.contains(&SETTINGS) { format!(" --model-script {SCRIPT}") } else { String::new() };
    ui::note(&format!("run it: flow {place}run {PLAN}{script}"));
    ui::note(
        "it needs no key: a written model answers; for a real one set ANTHROPIC_API_KEY or OPENAI_API_KEY and run it again",
    );
}
