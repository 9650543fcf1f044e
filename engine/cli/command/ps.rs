//! `flow ps`.

use std::fmt::Write;
use std::time::Duration;

use flow_core::model::{Cause, RunStatus};
use flow_core::report::RunReport;
use flow_core::text::{format_duration, visible};
use flow_run::engine::{Engine, Run, now};
use serde_json::{Value, json};

use crate::args::{ListHow, PsArgs};
use crate::ui;

/// How many runs are shown unless all are asked for.
const NEWEST: usize = 20;

pub(super) fn run(engine: &Engine, args: &PsArgs) -> anyhow::Result<u8> {
    engine.reconcile()?.iter().for_each(ui::notice);
    let most = if args.all { usize::MAX } else { NEWEST };
    let mut rows = Vec::new();
    for run in engine.runs()?.into_iter().take(most) {
        match run.report() {
            Ok(report) => rows.push((run, report)),
            // One unreadable run hides no other.
            Err(error) => ui::warning(&format!("{}: {}", run.id(), error.in_full())),
        }
    }
    match args.output {
        ListHow::Json => {
            let all: Vec<Value> = rows.iter().map(|(run, report)| row(run, report)).collect();
            ui::print_json(&all)?;
        }
        ListHow::Text => ui::print(&table(&rows))?,
    }
    Ok(Cause::Success.code())
}

fn row(folder: &Run, run: &RunReport) -> Value {
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

fn table(rows: &[(Run, RunReport)]) -> String {
    if rows.is_empty() {
        return "no runs yet; start one with `flow run PLAN`\n".to_owned();
    }
    let mut text =
        format!("{:<24} {:<10} {:<24} {:>8} {:>10}  TASKS\n", "RUN", "STATUS", "PLAN", "TOOK", "AGO");
    let now = now();
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
