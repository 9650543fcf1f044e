//! `flow logs`: output of tasks, byte for byte.

use std::io::{self, Write};
use std::time::Duration;

use flow_core::model::OutputSlice;
use flow_core::report::{RunReport, TaskReport};
use flow_run::store::{RunFolder, copy_slice};

use super::report;
use crate::args::LogsArgs;
use crate::exit::{Exit, Failure};
use crate::session::Session;

/// Between two looks at a live run.
const LOOK: Duration = Duration::from_millis(200);

pub(super) fn run(session: &Session, args: &LogsArgs) -> anyhow::Result<u8> {
    let folder = session.find_run(&args.run)?;
    let mut shown = std::collections::HashMap::new();
    loop {
        let alive = folder.owner_alive()?;
        let report = report::fold(&folder)?;
        let tasks = chosen(&report, args)?;
        let named = tasks.len() > 1 || args.task.is_none();
        for task in tasks {
            show(&folder, task, args, named, &mut shown)?;
        }
        if !(args.follow && alive) {
            return Ok(Exit::Success.code());
        }
        std::thread::sleep(LOOK);
    }
}

fn chosen<'a>(report: &'a RunReport, args: &LogsArgs) -> anyhow::Result<Vec<&'a TaskReport>> {
    let Some(wanted) = &args.task else { return Ok(report.tasks.iter().collect()) };
    let fits = |task: &&TaskReport| task.address.as_str() == wanted || task.address.without_keys() == *wanted;
    let found: Vec<_> = report.tasks.iter().filter(fits).collect();
    if found.is_empty() { Err(no_task(report, wanted)) } else { Ok(found) }
}

/// The task of exactly this address.
pub(super) fn find_one<'a>(report: &'a RunReport, wanted: &str) -> anyhow::Result<&'a TaskReport> {
    let found = report.tasks.iter().find(|task| task.address.as_str() == wanted);
    found.ok_or_else(|| no_task(report, wanted))
}

/// What to say of a task that a run doesn't have.
pub(super) fn no_task(report: &RunReport, wanted: &str) -> anyhow::Error {
    let names = report.tasks.iter().map(|task| task.address.as_str());
    let help = match flow_core::text::did_you_mean(wanted, names.clone()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("tasks: {}", flow_core::text::list_some(names, 10)),
    };
    Failure::new(Exit::Invalid, format!("the run has no task `{wanted}`")).help(help).into()
}

type Shown = std::collections::HashMap<(String, u64), u64>;

fn show(
    folder: &RunFolder,
    task: &TaskReport,
    args: &LogsArgs,
    named: bool,
    shown: &mut Shown,
) -> anyhow::Result<()> {
    let all = |slice: &'_ Option<OutputSlice>| slice.clone().filter(|_| !args.stderr);
    let slices = task
        .attempts
        .iter()
        .flat_map(|attempt| [all(&attempt.stdout), attempt.stderr.clone(), all(&attempt.text)]);
    let new: Vec<OutputSlice> = slices
        .flatten()
        .filter(|slice| {
            slice.len > 0 && shown.insert((slice.file.clone(), slice.start), slice.len) != Some(slice.len)
        })
        .collect();
    if new.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let mut write = || -> io::Result<()> {
        if named {
            writeln!(out, "==> {} <==", task.address)?;
        }
        for slice in &new {
            copy_slice(folder, slice, &mut out)?;
        }
        out.flush()
    };
    write().map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::new(Exit::Closed, "").into(),
        _ => Failure::new(Exit::Io, format!("can't show the output of `{}`: {error}", task.address)).into(),
    })
}
