//! `flow resume` and `flow retry`.

use flow_core::model::Cause;
use flow_run::engine::Engine;

use super::live;
use crate::args::{GoOnArgs, ResumeArgs, RetryArgs};
use crate::ui;

pub(super) fn run(engine: &Engine, args: &ResumeArgs) -> anyhow::Result<u8> {
    go_on(engine, &args.run, &[], &args.go_on)
}

pub(super) fn retry(engine: &Engine, args: &RetryArgs) -> anyhow::Result<u8> {
    go_on(engine, &args.run, &args.tasks, &args.go_on)
}

/// Goes on with a run. With names only these tasks run again, else everything that did not end well.
fn go_on(engine: &Engine, run: &str, names: &[String], args: &GoOnArgs) -> anyhow::Result<u8> {
    let reports = live::reports(&args.engine.report)?;
    let run = engine.find_run(run)?;
    let said = live::answering(&args.engine.models);
    let options = live::options(&args.engine, args.jobs, args.fail_fast);
    let tell = &mut |notice| ui::notice(&notice);
    match engine.retry(&run, names, (&said, options), tell)? {
        Some(handle) => live::show(engine, handle, &args.engine, reports, false),
        None => Ok(Cause::Success.code()),
    }
}
