//! `flow status`: one run.

use std::collections::HashMap;
use std::time::Duration;

use flow_core::converse::Activity;
use flow_core::ids::{Address, Millis};
use flow_core::model::Cause;
use flow_core::report::{RunReport, Screen, elapsed, status_page, task_elapsed};
use flow_run::engine::{Engine, Run, now};
use serde_json::{Value, json};

use crate::args::{ListHow, StatusArgs};
use crate::ui;

/// Columns where there is no terminal.
const WIDTH: usize = 80;

pub(super) fn run(engine: &Engine, args: &StatusArgs) -> anyhow::Result<u8> {
    let run = engine.find_run(&args.run)?;
    engine.reconcile_run(&run).iter().for_each(ui::notice);
    let report = run.report()?;
    let now = now();
    let live = live(&run, &report);
    match args.output {
        ListHow::Json => {
            let mut value = as_json(&report, &live, now);
            value["dir"] = run.path().display().to_string().into();
            ui::print_json(&value)?;
        }
        ListHow::Text => {
            let texts = run.texts();
            let screen = Screen { now, width: ui::width().unwrap_or(WIDTH), texts: &texts, live: &live };
            ui::print(&status_page(&report, &screen))?;
        }
    }
    Ok(Cause::Success.code())
}

/// What agents that work have come to. A log that can't be read says nothing.
fn live(run: &Run, report: &RunReport) -> HashMap<Address, Activity> {
    let mut live = HashMap::new();
    for task in report.tasks.iter().filter(|task| task.agent.is_some() && task.is_under_way()) {
        let mut activity = Activity::default();
        let lines = run.agent_log(&task.address).read_new().unwrap_or_default();
        lines.iter().for_each(|logged| activity.take(&logged.line));
        live.insert(task.address.clone(), activity);
    }
    live
}

fn as_json(report: &RunReport, live: &HashMap<Address, Activity>, now: Millis) -> Value {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let tasks: Vec<Value> = report
        .tasks
        .iter()
        .map(|task| {
            let activity = live.get(&task.address);
            let mut usage = task.usage.clone().unwrap_or_default();
            activity.iter().for_each(|activity| usage += &activity.usage);
            json!({
                "address": task.address,
                "state": task.state,
                "reason": task.reason,
                "message": task.message,
                "allowed": task.allowed,
                "attempts": task.attempts.len(),
                "elapsed_ms": millis(task_elapsed(task, now)),
                "tokens": usage.total_tokens(),
                "fresh_tokens": usage.fresh_tokens(),
                "turn": activity.map(|activity| activity.turn),
                "activity": activity.and_then(|activity| activity.doing.as_ref()),
                "agent": task.agent.as_ref().map(|agent| &agent.name),
                "model": task.agent.as_ref().map(|agent| &agent.model),
                "blocked_by": task.blocked_by,
                "description": task.description,
            })
        })
        .collect();
    let running = report.tasks.iter().filter(|task| task.is_under_way());
    let under_way: u64 = live.values().map(|activity| activity.usage.total_tokens()).sum();
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
        "total_tokens": report.total_tokens + under_way,
        "running": running.map(|task| &task.address).collect::<Vec<_>>(),
        "tasks": tasks,
    })
}
