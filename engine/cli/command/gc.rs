//! `flow gc`.

use std::fmt::Write;

use flow_core::model::Cause;
use flow_core::text::visible;
use flow_run::engine::{Engine, GcAction, GcOptions, Remains};
use serde_json::{Value, json};

use crate::args::{GcArgs, ListHow};
use crate::project;
use crate::ui;

pub(super) fn run(engine: &Engine, args: &GcArgs) -> anyhow::Result<u8> {
    let settings = project::settings(engine, &engine.project().root)?;
    let options = GcOptions { dry_run: args.dry_run, force: args.force, keep: args.keep };
    let all = engine.gc(&settings, options, &mut |notice| ui::notice(&notice))?;
    match args.output {
        ListHow::Json => ui::print_json(&all.iter().map(as_json).collect::<Vec<_>>())?,
        ListHow::Text => ui::print(&as_text(engine, &all))?,
    }
    let failed = all.iter().any(|one| one.action == GcAction::Failed);
    Ok(if failed { Cause::Io.code() } else { Cause::Success.code() })
}

fn as_json(row: &Remains) -> Value {
    json!({
        "kind": row.what,
        "run": row.run,
        "name": row.name,
        "path": row.path,
        "branch": row.branch,
        "commit": row.commit,
        "state": row.state,
        "action": row.action.as_str(),
        "why": row.why,
    })
}

fn as_text(engine: &Engine, rows: &[Remains]) -> String {
    if rows.is_empty() {
        return "nothing is left behind\n".to_owned();
    }
    let mut text = String::new();
    for row in rows {
        let action = row.action.as_str().replace('_', " ");
        let shown = row.branch.clone().unwrap_or_else(|| {
            row.path.as_deref().map_or_else(|| row.name.clone(), |path| engine.project().show(path))
        });
        let commit = row.commit.as_deref().map(|commit| format!(" at {}", &commit[..commit.len().min(12)]));
        let _ = writeln!(
            text,
            "{action:<12} {:<8} {}{}: {}",
            row.what,
            visible(&shown),
            commit.unwrap_or_default(),
            row.why
        );
    }
    text
}
