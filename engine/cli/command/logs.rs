//! `flow logs`: output of tasks, byte for byte.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use flow_core::ids::Address;
use flow_core::model::{OutputSlice, TaskState};
use flow_core::report::{RunReport, TaskReport};
use flow_run::store::{RunFolder, Unended, copy_slice, read_journal, unended};

use super::report;
use crate::args::LogsArgs;
use crate::exit::{Exit, Failure};
use crate::session::Session;

/// Between two looks at a live run.
const LOOK: Duration = Duration::from_millis(200);

pub(super) fn run(session: &Session, args: &LogsArgs) -> anyhow::Result<u8> {
    let folder = session.find_run(&args.run)?;
    let mut shown = Shown::default();
    loop {
        let alive = folder.owner_alive()?;
        let live = unended(&folder, &read_journal(&folder.events())?.entries);
        let report = report::fold(&folder)?;
        let tasks = chosen(&report, args)?;
        let named = tasks.len() > 1 || args.task.is_none();
        for task in tasks {
            let own = live.iter().find(|unended| unended.task == task.address);
            show(&folder, (task, own), args, named, &mut shown)?;
        }
        if !(args.follow && alive) {
            return Ok(Exit::Success.code());
        }
        std::thread::sleep(LOOK);
    }
}

fn chosen<'a>(report: &'a RunReport, args: &LogsArgs) -> anyhow::Result<Vec<&'a TaskReport>> {
    let is_wanted = |task: &&TaskReport| {
        !args.failed || matches!(task.state, TaskState::Failed | TaskState::Killed | TaskState::Lost)
    };
    let Some(wanted) = &args.task else { return Ok(report.tasks.iter().filter(is_wanted).collect()) };
    let fits = |task: &&TaskReport| task.address.as_str() == wanted || task.address.without_keys() == *wanted;
    let found: Vec<_> = report.tasks.iter().filter(fits).collect();
    if found.is_empty() {
        return Err(no_task(report, wanted));
    }
    Ok(found.into_iter().filter(is_wanted).collect())
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

/// What has been shown so far.
#[derive(Default)]
struct Shown {
    /// Of each output that begins at a place of a file: how much.
    lengths: HashMap<(String, u64), u64>,
    /// Whose output came last.
    last: Option<Address>,
}

impl Shown {
    /// What is new of an output.
    fn rest(&mut self, slice: OutputSlice) -> Option<OutputSlice> {
        let shown = self.lengths.entry((slice.file.clone(), slice.start)).or_default();
        let new = slice.len.checked_sub(*shown).filter(|new| *new > 0)?;
        let start = slice.start + *shown;
        *shown = slice.len;
        Some(OutputSlice::new(slice.file, start, new))
    }
}

fn show(
    folder: &RunFolder,
    (task, live): (&TaskReport, Option<&Unended>),
    args: &LogsArgs,
    named: bool,
    shown: &mut Shown,
) -> anyhow::Result<()> {
    let all = |slice: &'_ Option<OutputSlice>| slice.clone().filter(|_| !args.stderr);
    let slices = task
        .attempts
        .iter()
        .flat_map(|attempt| [all(&attempt.stdout), attempt.stderr.clone(), all(&attempt.text)]);
    let live = live
        .into_iter()
        .flat_map(|live| [Some(live.stdout.clone()).filter(|_| !args.stderr), Some(live.stderr.clone())]);
    let new: Vec<OutputSlice> = slices.chain(live).flatten().filter_map(|slice| shown.rest(slice)).collect();
    if new.is_empty() {
        return Ok(());
    }
    let named = named && shown.last.replace(task.address.clone()).as_ref() != Some(&task.address);
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
