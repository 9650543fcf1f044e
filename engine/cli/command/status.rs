//! `flow status`: one run.

use std::sync::Arc;
use std::time::Duration;

use flow_core::ids::Millis;
use flow_core::model::Usage;
use flow_core::report::{RunReport, Screen, elapsed, status_page, task_elapsed};
use flow_run::drive::FolderTexts;
use flow_run::sys::clock;
use serde_json::{Value, json};

use super::{reconcile, report};
use crate::args::{ListHow, StatusArgs};
use crate::exit::Exit;
use crate::session::Session;
use crate::ui;

/// Columns where there is no terminal.
const WIDTH: usize = 80;

pub(super) fn run(session: &Session, args: &StatusArgs) -> anyhow::Result<u8> {
    let folder = session.find_run(&args.run)?;
    reconcile::one(session, &folder);
    let report = report::fold(&folder)?;
    let now = clock::now();
    match args.output {
        ListHow::Json => {
            let mut value = as_json(&report, now);
            value["dir"] = folder.path().display().to_string().into();
            ui::print_json(&value)?;
        }
        ListHow::Text => {
            let texts = FolderTexts(Arc::new(folder));
            let screen = Screen { now, width: ui::width().unwrap_or(WIDTH), texts: &texts };
            ui::print(&status_page(&report, &screen))?;
        }
    }
    Ok(Exit::Success.code())
}

fn as_json(report: &RunReport, now: Millis) -> Value {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let tasks: Vec<Value> = report
        .tasks
        .iter()
        .map(|task| {
            json!({
                "address": task.address,
                "state": task.state,
                "reason": task.reason,
                "message": task.message,
                "allowed": task.allowed,
                "attempts": task.attempts.len(),
                "elapsed_ms": millis(task_elapsed(task, now)),
                "tokens": task.usage.as_ref().map_or(0, Usage::total_tokens),
                "fresh_tokens": task.usage.as_ref().map_or(0, Usage::fresh_tokens),
                "agent": task.agent.as_ref().map(|agent| &agent.name),
                "model": task.agent.as_ref().map(|agent| &agent.model),
                "blocked_by": task.blocked_by,
                "description": task.description,
            })
        })
        .collect();
    let running = report.tasks.iter().filter(|task| task.is_under_way());
    json!({
        "run": report.run,
        "plan": report.plan,
        "status": report.status,
        "exit": report.exit,
        "epoch": report.epoch,
        "started": report.started,
        "ended": report.ended,
        "elapsed_ms": millis(elapsed(report, now)),
        "counts": report.counts,
        "total_tokens": report.total_tokens,
        "running": running.map(|task| &task.address).collect::<Vec<_>>(),
        "tasks": tasks,
    })
}
