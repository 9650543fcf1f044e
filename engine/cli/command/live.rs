//! What `run`, `resume` and `retry` share: a run that lives here is shown, reported, and gives its exit code.

use std::io::IsTerminal;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use flow_core::model::{Cause, Command};
use flow_core::report::{Format, denied_lines};
use flow_run::engine::{
    Answering, Durability, Engine, EngineError, Run, RunHandle, RunOptions, Watched, in_ci,
};
use serde_json::Value;

use super::{detach, report};
use crate::args::{DurabilityHow, EngineArgs, ModelArgs, OutputHow};
use crate::exit::Failure;
use crate::ui;

/// Shows a run until its end; the answer is its exit code. `detached`: a foreground half waits for the id of the run.
pub(super) fn show(
    engine: &Engine,
    handle: RunHandle,
    args: &EngineArgs,
    reports: Vec<WantedReport>,
    detached: bool,
) -> anyhow::Result<u8> {
    let began = Instant::now();
    let (run, plan) = (handle.run().clone(), Arc::clone(handle.plan()));
    // The terminal is the foreground half's, until that has the id and from then on.
    let redraws = !detached && ui::can_redraw();
    let how = how(args.output, args.verbose, args.quiet, redraws);
    if !detached && matches!(how, ui::How::Live { .. } | ui::How::Plain | ui::How::Verbose) {
        ui::note(&format!("run {} of `{}`, {} at once", run.id(), plan.name, handle.concurrency()));
    }
    let (watched, running) = handle.watch();
    let Watched { updates, earlier, limits } = watched;
    let watched = ui::Watched { run: run.clone(), earlier, limits, ours: true };
    let announced = if detached { detach::announce(&run) } else { Ok(()) };
    let watcher = announced.and_then(|()| {
        ui::Watcher::start(how, updates, watched).map_err(|error| EngineError::Thread(error).into())
    });
    let watcher = match watcher {
        Ok(watcher) => watcher,
        Err(error) => {
            // Nobody would see it.
            run.command(&Command::StopRun { force: true, signal: None })?;
            running.wait()?;
            return Err(error);
        }
    };
    watcher.finish();
    let ended = running.wait()?;
    let report = &ended.report;
    if how == ui::How::Github {
        report::tell_github(&run, report)?;
    }
    ui::denied(&denied_lines(report, &plan));
    if how != ui::How::Quiet {
        let folder = engine.show(run.path());
        ui::summary(how, &ui::Ended { report, took: began.elapsed(), folder: &folder });
    }
    if let Some(unwritten) = ended.unwritten {
        return Err(unwritten.into());
    }
    // Who asked for a report on standard output reads that, and nothing behind it.
    let report_is_printed = reports.iter().any(|report| report.path.is_none());
    for report in reports {
        report.write(&run)?;
    }
    if !report_is_printed {
        print_outputs(how, ended.outputs)?;
    }
    Ok(ended.cause.code())
}

/// Writes the outputs of a run to standard output, unless its events stand there.
pub(super) fn print_outputs(how: ui::How, outputs: Option<Value>) -> anyhow::Result<()> {
    // What reads a pipe gets an object in any case; a person of a plan without outputs has nothing to read.
    let nothing = outputs.is_none() && std::io::stdout().is_terminal();
    if how == ui::How::Json || nothing {
        return Ok(());
    }
    ui::print_json(&outputs.unwrap_or_else(|| Value::Object(serde_json::Map::new())))
}

/// How a run is shown.
pub(super) fn how(output: OutputHow, verbose: bool, quiet: bool, redraws: bool) -> ui::How {
    let plain = if verbose { ui::How::Verbose } else { ui::How::Plain };
    // Where nothing can be redrawn, lines are told.
    let live = match redraws {
        true => ui::How::Live { verbose },
        false => plain,
    };
    match output {
        _ if quiet => ui::How::Quiet,
        OutputHow::Tui => live,
        OutputHow::Plain => plain,
        OutputHow::Json => ui::How::Json,
        OutputHow::Github => ui::How::Github,
        OutputHow::Quiet => ui::How::Quiet,
        OutputHow::Auto if in_ci() && verbose => plain,
        OutputHow::Auto if ui::in_github_actions() => ui::How::Github,
        OutputHow::Auto if in_ci() => ui::How::Ci,
        OutputHow::Auto => live,
    }
}

/// Who answers, as the command line says it.
pub(super) fn answering(args: &ModelArgs) -> Answering {
    Answering { model: args.model.clone(), model_script: args.model_script.clone() }
}

/// How a run is run, as the command line says it.
pub(super) fn options(args: &EngineArgs, jobs: Option<NonZeroU32>, fail_fast: bool) -> RunOptions {
    let durability = match args.durability {
        DurabilityHow::None => Durability::None,
        DurabilityHow::Batch => Durability::Batch,
        DurabilityHow::Always => Durability::Always,
    };
    RunOptions { jobs, fail_fast, strict: args.strict, durability, owns_process: true }
}

/// `--report FMT=PATH`, checked before anything runs.
pub(super) struct WantedReport {
    format: &'static Format,
    path: Option<PathBuf>,
}

pub(super) fn reports(wanted: &[String]) -> anyhow::Result<Vec<WantedReport>> {
    wanted
        .iter()
        .map(|text| {
            let (name, path) = text.split_once('=').unwrap_or((text, "-"));
            let format = report::format(name)?;
            Ok(WantedReport { format, path: (path != "-").then(|| PathBuf::from(path)) })
        })
        .collect()
}

impl WantedReport {
    fn write(&self, run: &Run) -> anyhow::Result<()> {
        let text = run.render(self.format)?;
        match &self.path {
            None => ui::print(&text),
            Some(path) => std::fs::write(path, text).map_err(|error| {
                Failure::new(Cause::Io, format!("can't write the report `{}`: {error}", path.display()))
                    .into()
            }),
        }
    }
}
