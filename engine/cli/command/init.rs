//! `flow init`: a project that runs at once, without a key and without a network.

use std::io;
use std::path::{Path, PathBuf};

use flow_core::model::Cause;
use flow_core::text::{list_some, shell_word};
use flow_run::engine::{Engine, Project};
use serde_json::Value;

use crate::args::InitArgs;
use crate::exit::Failure;
use crate::ui;

/// What is written, in the order in which it is told.
const FILES: &[(&str, &str)] = &[
    (PLAN, include_str!("../init/plan.yaml")),
    ("agents/scout.md", include_str!("../init/scout.md")),
    (SETTINGS, include_str!("../init/flow.toml")),
    (SCRIPT, include_str!("../init/model.yaml")),
];
const WORKFLOW: &str = include_str!("../init/flow.yml");
/// The lines of it that name files from the top of the repository.
const KEPT_FILES: &str = "            .flow/runs\n            flow.xml\n";
const WORKFLOWS: &str = ".github/workflows";
const PLAN: &str = "plan.yaml";
const SETTINGS: &str = "flow.toml";
const SCRIPT: &str = "model.yaml";

pub(super) fn run(engine: &Engine, args: &InitArgs) -> anyhow::Result<u8> {
    let dir = engine.project().here.join(&args.dir);
    let around = Project::locate(&dir, None);
    let mut kept = Vec::new();
    for (name, text) in FILES {
        if !write(engine.project(), &dir.join(name), text)? {
            kept.push(*name);
        }
    }
    let dir = dir.canonicalize().unwrap_or(dir);
    let (path, text) = workflow(&dir);
    let wrote_workflow = write(engine.project(), &path, &text)?;
    say_what_is_left_out(&around, &dir);
    say_what_to_do(&args.dir, &kept);
    if wrote_workflow {
        ui::note(
            "for the CI file set on GitHub, under Settings > Secrets and variables > Actions: the variables FLOW_REPOSITORY and \
             FLOW_REV (the URL and the commit of flow's source), and the secret ANTHROPIC_API_KEY or OPENAI_API_KEY",
        );
    }
    Ok(Cause::Success.code())
}

/// The CI file. GitHub reads those at the top of a repository only, so there it goes, and there it works in this folder.
fn workflow(dir: &Path) -> (PathBuf, String) {
    let top = dir.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(dir);
    let inside = dir.strip_prefix(top).unwrap_or(Path::new("")).display().to_string();
    if inside.is_empty() {
        return (dir.join(WORKFLOWS).join("flow.yml"), WORKFLOW.to_owned());
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = inside.chars().map(plain).collect();
    let text = WORKFLOW
        .replacen("name: flow\n", &format!("name: {}\n", Value::from(format!("flow: {inside}"))), 1)
        // JSON is YAML, whatever the folder is called.
        .replacen(
            "jobs:",
            &format!("defaults:\n  run:\n    working-directory: {}\n\njobs:", Value::from(&*inside)),
            1,
        )
        .replace(KEPT_FILES, &kept_files(&inside));
    (top.join(WORKFLOWS).join(format!("flow-{name}.yml")), text)
}

/// The files that the CI file keeps, as patterns from the top of the repository.
fn kept_files(inside: &str) -> String {
    let mut literal = String::new();
    for c in inside.chars() {
        match c {
            '*' | '?' | '[' => literal.extend(['[', c, ']']),
            _ => literal.push(c),
        }
    }
    let line = |file: &str| format!("            {literal}/{file}\n");
    [".flow/runs", "flow.xml"].map(line).concat()
}

/// Settings of its own make a folder a project of its own, to which those around it don't belong. Agents do, in one
/// checkout.
fn say_what_is_left_out(around: &Project, dir: &Path) {
    if around.root == dir {
        return;
    }
    // As one who stands in the folder names them.
    let there = Project { here: dir.to_owned(), ..around.clone() };
    let settings = around.root.join(SETTINGS);
    if settings.is_file() {
        ui::note(&format!(
            "the folder is a project of its own now: the settings of `{}` don't count in it",
            there.show(&settings)
        ));
    }
    if Project::locate(dir, None).top == around.top {
        return;
    }
    let folders: Vec<String> = around.agent_folders().map(|folder| there.show(&folder)).collect();
    if let Some(first) = folders.first() {
        ui::note(&format!(
            "the agents of {} count in it with `--agents {}` only",
            list_some(folders.iter().map(String::as_str), 3),
            shell_word(first)
        ));
    }
}

/// Writes a file that isn't there, and says so; whether it wrote.
fn write(project: &Project, path: &Path, text: &str) -> anyhow::Result<bool> {
    let shown = project.show(path);
    match create(path, text) {
        Ok(true) => ui::note(&format!("wrote {shown}")),
        Ok(false) => {
            ui::warning(&format!("{shown} is there already and was left as it is"));
            return Ok(false);
        }
        Err(error) => return Err(Failure::new(Cause::Io, format!("can't write `{shown}`: {error}")).into()),
    }
    Ok(true)
}

fn create(path: &Path, text: &str) -> io::Result<bool> {
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
