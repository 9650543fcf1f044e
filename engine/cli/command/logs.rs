//! `flow logs`: what tasks printed, byte for byte, and what agents said and did.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use flow_core::ids::Address;
use flow_core::model::{Cause, OutputSlice};
use flow_core::report::{RunReport, TaskReport};
use flow_run::engine::{Engine, LiveOutput, Run, no_task};

use super::conversation::Conversation;
use super::last_words;
use crate::args::LogsArgs;
use crate::exit::Failure;

/// Between two looks at a live run.
const LOOK: Duration = Duration::from_millis(200);

pub(super) fn run(engine: &Engine, args: &LogsArgs) -> anyhow::Result<u8> {
    let (run, wanted) = find(engine, args)?;
    let wanted = wanted.as_deref();
    if args.failed && !args.raw {
        last_words::show(&run, &chosen(&run.report()?, wanted)?)?;
        return Ok(Cause::Success.code());
    }
    let mut shown =
        Shown { lengths: HashMap::new(), conversations: HashMap::new(), last: None, ended_with: b'\n' };
    loop {
        let alive = run.is_live()?;
        let live = run.live_outputs()?;
        let report = run.report()?;
        let tasks = chosen(&report, wanted)?;
        let named = tasks.len() > 1 || wanted.is_none();
        for task in tasks.into_iter().filter(|task| !args.failed || last_words::tells(task)) {
            let own = live.iter().find(|live| live.task == task.address);
            show(&run, (task, own), args, named, &mut shown)?;
        }
        if !(args.follow && alive) {
            return Ok(Cause::Success.code());
        }
        std::thread::sleep(LOOK);
    }
}

/// The run and the task that are meant. One word alone may be a task of the latest run.
fn find(engine: &Engine, args: &LogsArgs) -> anyhow::Result<(Run, Option<String>)> {
    let error = match engine.find_run(&args.run) {
        Ok(run) => return Ok((run, args.task.clone())),
        Err(error) => error,
    };
    if args.task.is_none()
        && let Ok(latest) = engine.find_run("latest")
        && latest.report().is_ok_and(|report| report.tasks.iter().any(|task| fits(task, &args.run)))
    {
        return Ok((latest, Some(args.run.clone())));
    }
    Err(error.into())
}

fn fits(task: &TaskReport, wanted: &str) -> bool {
    task.address.as_str() == wanted || task.address.without_keys() == *wanted
}

fn chosen<'a>(report: &'a RunReport, wanted: Option<&str>) -> anyhow::Result<Vec<&'a TaskReport>> {
    let Some(wanted) = wanted else { return Ok(report.tasks.iter().collect()) };
    let found: Vec<_> = report.tasks.iter().filter(|task| fits(task, wanted)).collect();
    if found.is_empty() { Err(no_task(report, wanted).into()) } else { Ok(found) }
}

/// The task of exactly this address.
pub(super) fn find_one<'a>(report: &'a RunReport, wanted: &str) -> anyhow::Result<&'a TaskReport> {
    let found = report.tasks.iter().find(|task| task.address.as_str() == wanted);
    found.ok_or_else(|| no_task(report, wanted).into())
}

/// What has been shown so far.
struct Shown {
    /// Of each output that begins at a place of a file: how much.
    lengths: HashMap<(String, u64), u64>,
    conversations: HashMap<Address, Conversation>,
    /// Whose output came last.
    last: Option<Address>,
    /// Its last byte.
    ended_with: u8,
}

impl Shown {
    /// Whether something of an output was shown.
    fn knows(&self, slice: &OutputSlice) -> bool {
        self.lengths.contains_key(&(slice.file.clone(), slice.start))
    }

    /// What is new of an output.
    fn rest(&mut self, slice: OutputSlice) -> Option<OutputSlice> {
        let shown = self.lengths.entry((slice.file.clone(), slice.start)).or_default();
        let new = slice.len.checked_sub(*shown).filter(|new| *new > 0)?;
        let start = slice.start + *shown;
        *shown = slice.len;
        Some(OutputSlice::new(slice.file, start, new))
    }

    /// What is new of a conversation.
    fn said(&mut self, run: &Run, task: &TaskReport) -> io::Result<String> {
        let begin = || Conversation::new(run, &task.address);
        self.conversations.entry(task.address.clone()).or_insert_with(begin).new_text(task)
    }
}

fn show(
    run: &Run,
    (task, live): (&TaskReport, Option<&LiveOutput>),
    args: &LogsArgs,
    named: bool,
    shown: &mut Shown,
) -> anyhow::Result<()> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::new(Cause::Closed, "").into(),
        _ => {
            let message = format!("can't show the output of `{}`: {error}", task.address);
            anyhow::Error::from(Failure::new(Cause::Io, message))
        }
    };
    let talks = task.agent.is_some() && !args.raw && !args.stderr;
    let said = if talks { shown.said(run, task).map_err(failed)? } else { String::new() };
    let all = |slice: &'_ Option<OutputSlice>| slice.clone().filter(|_| !args.stderr);
    let slices = task.attempts.iter().flat_map(|attempt| {
        [all(&attempt.stdout), attempt.stderr.clone(), all(&attempt.text).filter(|_| !talks)]
    });
    let live = live
        .into_iter()
        .flat_map(|live| [Some(live.stdout.clone()).filter(|_| !args.stderr), Some(live.stderr.clone())]);
    let slices: Vec<Option<OutputSlice>> = slices.collect();
    for slice in slices.iter().flatten().filter(|slice| !shown.knows(slice)) {
        run.check(slice).map_err(failed)?;
    }
    let new: Vec<OutputSlice> =
        slices.into_iter().chain(live).flatten().filter_map(|slice| shown.rest(slice)).collect();
    if new.is_empty() && said.is_empty() {
        return Ok(());
    }
    let named = named && shown.last.replace(task.address.clone()).as_ref() != Some(&task.address);
    let mut out = Ends { out: io::stdout().lock(), last: shown.ended_with };
    let mut write = || -> io::Result<()> {
        if named {
            // What was printed before may lack its newline.
            let gap = if out.last == b'\n' { "" } else { "\n" };
            writeln!(out, "{gap}==> {} <==", task.address)?;
        }
        out.write_all(said.as_bytes())?;
        for slice in &new {
            run.copy(slice, &mut out)?;
        }
        out.flush()
    };
    write().map_err(failed)?;
    shown.ended_with = out.last;
    Ok(())
}

/// Knows how what was written ends.
struct Ends<W> {
    out: W,
    last: u8,
}

impl<W: Write> Write for Ends<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        if let Some(last) = bytes[..written].last() {
            self.last = *last;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
