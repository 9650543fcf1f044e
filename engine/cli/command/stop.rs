//! `flow stop`: an order to a live run, from any process.

use std::time::{Duration, Instant};

use flow_core::event::Event;
use flow_core::ids::Address;
use flow_core::model::{Cause, Command, TaskState};
use flow_core::report::RunReport;
use flow_run::engine::{Engine, Run};

use super::logs;
use crate::args::StopArgs;
use crate::exit::Failure;
use crate::ui;

/// Between two looks at the run.
const LOOK: Duration = Duration::from_millis(50);

/// How long an engine may take to hear an order.
const HEARING: Duration = Duration::from_secs(10);

pub(super) fn run(engine: &Engine, args: &StopArgs) -> anyhow::Result<u8> {
    let run = engine.find_run(&args.run)?;
    engine.reconcile_run(&run).iter().for_each(ui::notice);
    let before = run.report()?;
    if !run.is_live()? {
        return Err(nothing_lives(&before));
    }
    let command = match &args.task {
        None => Command::StopRun { force: args.now, signal: None },
        Some(name) => {
            let task = logs::find_one(&before, name)?;
            if task.state.is_terminal() {
                let message = format!("`{name}` has ended already: {}", task.state.as_str());
                return Err(Failure::new(Cause::NothingSelected, message).into());
            }
            Command::StopTask { task: task.address.clone(), force: args.now }
        }
    };
    let seen = run.entries()?.len();
    run.command(&command)?;
    wait(&run, args.task.as_deref().map(Address::from).as_ref(), seen)
}

/// Waits until the order has come to its end. A deaf task ends with its grace, so this does too.
fn wait(run: &Run, task: Option<&Address>, seen: usize) -> anyhow::Result<u8> {
    let sent = Instant::now();
    let mut heard = false;
    loop {
        let alive = run.is_live()?;
        let entries = run.entries()?;
        heard |= entries[seen.min(entries.len())..].iter().any(|entry| match &entry.event {
            Event::KillRequested { task: killed, .. } => killed.is_none() || killed.as_ref() == task,
            _ => false,
        });
        let Some(now) = RunReport::fold(&entries) else { return Ok(Cause::Io.code()) };
        if let Some(task) = task
            && let Some(found) = now.tasks.iter().find(|found| found.address == *task)
            && found.state.is_terminal()
        {
            ui::note(&format!("`{task}` ended: {}", found.state.as_str()));
            return Ok(Cause::Success.code());
        }
        if !alive {
            let now = run.report()?;
            ui::note(&format!("run {} ended: {}", run.id(), now.status.as_str()));
            return Ok(Cause::Success.code());
        }
        if !heard && sent.elapsed() > HEARING {
            let message = format!("the engine of run {} does not hear", run.id());
            let failure = Failure::new(Cause::Io, message);
            return Err(match run.owner() {
                Some(owner) => failure.help(format!("end it with `kill {}`", owner)).into(),
                None => failure.into(),
            });
        }
        std::thread::sleep(LOOK);
    }
}

fn nothing_lives(report: &RunReport) -> anyhow::Error {
    let status = report.status.as_str();
    let lost = report.tasks.iter().any(|task| task.state == TaskState::Lost);
    let failure = Failure::new(
        Cause::NothingSelected,
        format!("run {} does not live any more: {status}; there is nothing to stop", report.run),
    );
    match lost {
        true => failure.help(format!("go on with `{} resume {}`", ui::program(), report.run)).into(),
        false => failure.into(),
    }
}
