//! `flow doctor`: what flow needs here, and what is in its way.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use flow_core::diagnostic::Diagnostic;
use flow_core::model::{Cause, Settings};
use flow_core::text::{list_some, visible};
use flow_run::engine::{Abandoned, DefaultModel, Engine, ModelKeys, Run, has_program};
use rustix::fs::{Access, access, statvfs};
use serde_json::{Value, json};

use crate::args::{DoctorArgs, ListHow};
use crate::ui;

/// A disk with less than this is low, and with a tenth of it full.
const LOW_DISK: u64 = 1 << 30;

/// How a check went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    Odd,
    Bad,
}

/// A finding about the place, and what to do about it.
struct Check {
    what: &'static str,
    state: State,
    said: String,
    next: Option<String>,
}

impl Check {
    fn good(what: &'static str, said: impl Into<String>) -> Self {
        Check { what, state: State::Good, said: said.into(), next: None }
    }

    fn odd(what: &'static str, said: impl Into<String>, next: impl Into<String>) -> Self {
        Check { what, state: State::Odd, said: said.into(), next: Some(next.into()) }
    }

    fn bad(what: &'static str, said: impl Into<String>, next: impl Into<String>) -> Self {
        Check { what, state: State::Bad, said: said.into(), next: Some(next.into()) }
    }
}

pub(super) fn run(engine: &Engine, args: &DoctorArgs) -> anyhow::Result<u8> {
    let (settings, findings) = engine.settings(&engine.project().here);
    let mut checks = vec![git(), bash(), config(&findings), agents(engine, &settings)];
    checks.extend(models(engine, &settings));
    checks.extend([state(engine), disk(&engine.project().root)]);
    checks.extend(dead_runs(engine));
    checks.extend(trees(engine));
    match args.output {
        ListHow::Json => ui::print_json(&checks.iter().map(as_json).collect::<Vec<_>>())?,
        ListHow::Text => ui::print(&as_text(&checks))?,
    }
    let bad = checks.iter().any(|check| check.state == State::Bad);
    Ok(if bad { Cause::TaskFailed } else { Cause::Success }.code())
}

fn git() -> Check {
    const NEXT: &str = "install git; without it no task can have a worktree of its own";
    match Command::new("git").arg("--version").stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => {
            Check::good("git", String::from_utf8_lossy(&output.stdout).trim())
        }
        Ok(output) => Check::bad("git", format!("`git --version` ended with {}", output.status), NEXT),
        Err(_) => Check::bad("git", "`git` is not on the PATH", NEXT),
    }
}

fn bash() -> Check {
    match has_program("bash") {
        true => Check::good("bash", "on the PATH"),
        false => Check::bad(
            "bash",
            "`bash` is not on the PATH",
            "install bash, or give the plan's tasks another `shell`",
        ),
    }
}

fn config(findings: &[Diagnostic]) -> Check {
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    match (errors, findings.len()) {
        (0, 0) => Check::good("flow.toml", "fine, or not there"),
        (0, warnings) => {
            const NEXT: &str = "see them with `flow check`";
            let (said, help) =
                findings.first().map_or(("", None), |first| (first.message.as_str(), first.help.as_deref()));
            let more = if warnings > 1 { format!(" (and {} more)", warnings - 1) } else { String::new() };
            Check::odd("flow.toml", format!("{said}{more}"), help.unwrap_or(NEXT))
        }
        (errors, _) => Check::bad(
            "flow.toml",
            format!("can't be used: {errors} errors, the first: {}", first(findings)),
            "see them with `flow check`",
        ),
    }
}

fn first(findings: &[Diagnostic]) -> &str {
    findings.iter().find(|finding| finding.is_error()).map_or("", |finding| finding.message.as_str())
}

fn agents(engine: &Engine, settings: &Settings) -> Check {
    const NEXT: &str = "see them with `flow agents check`";
    let (registry, unreadable) = engine.agents(&engine.project().here, settings);
    let usable = registry.names().count();
    let findings: Vec<&Diagnostic> = registry.findings().into_iter().chain(&unreadable).collect();
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    match (errors, findings.len()) {
        (0, 0) => Check::good("agents", format!("{usable} definitions")),
        (0, odd) => Check::odd("agents", format!("{usable} definitions, {odd} oddities"), NEXT),
        (errors, _) => Check::bad("agents", format!("{errors} errors in definitions"), NEXT),
    }
}

/// The default model, and which keys there are. No key is ever shown.
fn models(engine: &Engine, settings: &Settings) -> Vec<Check> {
    let ModelKeys { set, unset } = engine.model_keys(settings);
    let keys = match set.as_slice() {
        [] => Check::odd(
            "keys",
            "no model key is set",
            format!("for a real model set one of {}", list_some(unset.iter().map(String::as_str), 4)),
        ),
        set => Check::good("keys", format!("{} set", list_some(set.iter().map(String::as_str), 4))),
    };
    // Whoever is signed in there looks for the model here.
    let claude = (set.is_empty() && has_program("claude")).then(|| {
        let said = "`claude` is on the PATH, and its sign-in is no model for flow: there is no such provider";
        Check::odd("claude", said, "flow asks models itself, with a key")
    });
    let model = match engine.default_model(settings) {
        Ok(DefaultModel::Written(file)) => Check::odd(
            "model",
            format!("the written model `{file}`"),
            "what it says was written down beforehand; for a real one set a key, or name it under `[models]`",
        ),
        Ok(DefaultModel::Real(name)) => Check::good("model", format!("`{name}`")),
        Err(error) => {
            let next = error.help().unwrap_or_else(|| "look at `[models]` in flow.toml".to_owned());
            Check::odd("model", error.to_string(), next)
        }
    };
    [keys, model].into_iter().chain(claude).collect()
}

fn state(engine: &Engine) -> Check {
    let path = &engine.project().state_dir;
    let shown = engine.project().show(path);
    let writable = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    match engine.has_state() {
        Ok(true) if writable(path) => Check::good("state", shown),
        Ok(true) => Check::bad(
            "state",
            format!("`{shown}` can't be written"),
            "give yourself the right to write there",
        ),
        Ok(false) if path.parent().is_some_and(writable) => {
            Check::good("state", format!("`{shown}` is made with the first run"))
        }
        Ok(false) => Check::bad(
            "state",
            format!("`{shown}` can't be made"),
            "choose another folder with `--state-dir` or FLOW_STATE_DIR",
        ),
        Err(error) => Check::bad(
            "state",
            error.in_full(),
            "mend that, or choose another folder with `--state-dir` or FLOW_STATE_DIR",
        ),
    }
}

fn disk(root: &Path) -> Check {
    const NEXT: &str =
        "make room: runs are kept in `.flow/runs`, worktrees in `~/.local/state/flow/worktrees`";
    let Ok(found) = statvfs(root) else { return Check::good("disk", "its size is not known here") };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let said = format!("{} MiB free", free >> 20);
    match free {
        free if free < LOW_DISK / 10 => Check::bad("disk", said, NEXT),
        free if free < LOW_DISK => Check::odd("disk", said, NEXT),
        _ => Check::good("disk", said),
    }
}

fn dead_runs(engine: &Engine) -> Vec<Check> {
    let dead = match engine.dead_runs() {
        Ok(dead) => dead,
        // The state folder's own check says why.
        Err(_) => return Vec::new(),
    };
    if dead.is_empty() {
        return vec![Check::good("runs", "no run has lost its engine")];
    }
    let of = |dead: &Run| {
        let (run, orphans) = (dead.id(), dead.processes());
        match orphans.as_slice() {
            [] => Check::odd(
                "runs",
                format!("the engine of {run} died"),
                format!("go on with `{} resume {run}`", ui::program()),
            ),
            pids => {
                let pids: Vec<String> = pids.iter().map(ToString::to_string).collect();
                Check::bad(
                    "runs",
                    format!("the engine of {run} died and left processes: {}", pids.join(" ")),
                    "`flow ps` ends them",
                )
            }
        }
    };
    dead.iter().map(of).collect()
}

fn trees(engine: &Engine) -> Vec<Check> {
    let all = engine.abandoned_trees();
    if all.is_empty() {
        return vec![Check::good("worktrees", "none is locked by a dead process")];
    }
    let of = |tree: Abandoned| {
        let path = tree.path.display();
        let next = match engine.find_run(&tree.run) {
            Ok(_) => "`flow ps` takes it down; work in it goes to its branch".to_owned(),
            Err(_) => {
                format!("its run is gone; look into it, then `git worktree unlock {path}` and remove it")
            }
        };
        Check::bad("worktrees", format!("{path} is locked by run {}, whose engine died", tree.run), next)
    };
    all.into_iter().map(of).collect()
}

fn as_text(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let sign = match check.state {
            State::Good => "ok",
            State::Odd => "!",
            State::Bad => "x",
        };
        let _ = writeln!(text, "{sign:<2} {:<10} {}", check.what, visible(&check.said));
        if let Some(next) = &check.next {
            let _ = writeln!(text, "   {:<10} -> {}", "", visible(next));
        }
    }
    text
}

fn as_json(check: &Check) -> Value {
    let state = match check.state {
        State::Good => "ok",
        State::Odd => "warning",
        State::Bad => "error",
    };
    json!({ "check": check.what, "state": state, "message": check.said, "next": check.next })
}
