//! `flow ps`.

use std::fmt::Write;
use std::time::Duration;

use flow_core::model::{Cause, RunStatus};
use flow_core::text::{format_duration, visible};
use flow_run::store::RunFolder;
use flow_run::sys::clock;
use serde_json::{Value, json};

use super::{reconcile, report};
use crate::args::{ListHow, PsArgs};
use crate::session::Session;
use crate::ui;

/// How many runs are shown unless all are asked for.
const NEWEST: usize = 20;

pub(super) fn run(session: &Session, args: &PsArgs) -> anyhow::Result<u8> {
    reconcile::all(session)?;
    let most = if args.all { usize::MAX } else { NEWEST };
    let mut rows = Vec::new();
    for folder in session.runs()?.into_iter().take(most) {
        match report::fold(&folder) {
            Ok(run) => rows.push((folder, run)),
            // One unreadable run hides no other.
            Err(error) => ui::warning(&format!("{}: {error:#}", folder.id())),
        }
    }
    match args.output {
        ListHow::Json => {
            let all: Vec<Value> = rows.iter().map(|(folder, run)| row(folder, run)).collect();
            ui::print_json(&all)?;
        }
        ListHow::Text => ui::print(&table(&rows))?,
    }
    Ok(Cause::Success.code())
}

fn row(folder: &RunFolder, run: &flow_core::report::RunReport) -> Value {
    json!({
        "run": run.run,
        "plan": run.plan,
        "status": run.status,
        "exit": run.exit,
        "started": run.started,
        "ended": run.ended,
        "dir": folder.path(),
        "tasks": run.tasks.iter().map(|task| json!({
            "address": task.address, "state": task.state, "reason": task.reason, "attempts": task.attempts.len(),
        })).collect::<Vec<_>>(),
    })
}

fn table(rows: &[(RunFolder, flow_core::report::RunReport)]) -> String {
    if rows.is_empty() {
        return "no runs yet; start one with `flow run PLAN`\n".to_owned();
    }
    let mut text =
        format!("{:<24} {:<10} {:<24} {:>8} {:>10}  TASKS\n", "RUN", "STATUS", "PLAN", "TOOK", "AGO");
    let now = clock::now();
    for (_, run) in rows {
        // A run whose engine died took until its last event.
        let took = match run.status {
            RunStatus::Running => now.since(run.started),
            RunStatus::Completed | RunStatus::Failed | RunStatus::Killed | RunStatus::Lost => {
                Duration::from_millis(run.duration_ms)
            }
        };
        let ago = now.since(run.started);
        let counts = run.counts.in_words();
        let _ = writeln!(
            text,
            "{:<24} {:<10} {:<24} {:>8} {:>10}  {counts}",
            run.run.to_string(),
            run.status.as_str(),
            visible(&flow_core::text::one_line(&run.plan, 24)),
            format_duration(took),
            format_duration(ago),
        );
    }
    text
}
