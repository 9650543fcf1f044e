//! `flow attach`: the live view of a run that another process drives.
//!
//! All of it is read from the run's folder; nothing that is done here reaches the run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use flow_core::event::{Entry, Event};
use flow_core::model::Cause;
use flow_core::plan::Plan;
use flow_core::report::{RunReport, denied_lines};
use flow_run::engine::{Engine, EngineError, Listener, Look, Order, Run, Subscription};
use flow_run::watch::{self, Limits, Publisher, Update};

use super::{live, report};
use crate::args::AttachArgs;
use crate::exit::Failure;
use crate::ui;

/// Between two looks at the run.
const LOOK: Duration = Duration::from_millis(100);

/// How long an engine may take to leave after it has said that the run is over: it writes its reports.
const LEAVING: Duration = Duration::from_secs(10);

/// How looking on ended.
enum Left {
    /// The run is over, with this exit code.
    Ended(u8),
    /// Its engine is gone without a word.
    Lost,
    /// The person has seen enough.
    Told(Order),
}

pub(super) fn run(engine: &Engine, args: &AttachArgs) -> anyhow::Result<u8> {
    let run = match &args.run {
        Some(name) => engine.find_run(name)?,
        None => newest_live(engine)?,
    };
    engine.reconcile_run(&run).iter().for_each(ui::notice);
    let how = live::how(args.output, args.verbose, args.quiet, ui::can_redraw());
    let mut subscription = run.subscribe(0);
    let Look { updates, live } = subscription.look()?;
    let (earlier, latest) = split(updates);
    let plan = engine.plan_of_run(&run);
    let left = match earlier.iter().fold(None, ended) {
        // It was over before anybody looked.
        Some(exit) if !live => Left::Ended(exit),
        ended => {
            // How many tasks at once the journal says.
            let limits = plan.as_ref().map(|plan| Limits { concurrency: None, ..Limits::of(plan, 0) });
            let watched =
                ui::Watched { run: run.clone(), earlier, limits: limits.unwrap_or_default(), ours: false };
            look_on(watched, (subscription, latest), (ended, how))?
        }
    };
    let now = run.report()?;
    match left {
        Left::Told(order) => {
            let flow = ui::program();
            let run = run.id();
            ui::note(&format!(
                "run {run} goes on\nSee it again: {flow} attach {run}\nEnd it: {flow} stop {run}"
            ));
            Ok(match order {
                Order::Terminate => Cause::Terminated,
                Order::HangUp => Cause::HungUp,
                Order::Interrupt | Order::Suspend => Cause::Interrupted,
            }
            .code())
        }
        Left::Ended(exit) => {
            say_the_end(engine, (&run, plan.as_ref()), &now, how)?;
            Ok(exit)
        }
        Left::Lost => {
            engine.reconcile_run(&run).iter().for_each(ui::notice);
            let message = format!("the engine of run {} died: {}", run.id(), now.counts.in_words());
            let help = format!("go on with `{} resume {}`", ui::program(), run.id());
            Err(Failure::new(Cause::TaskFailed, message).help(help).into())
        }
    }
}

fn newest_live(engine: &Engine) -> anyhow::Result<Run> {
    for run in engine.runs()? {
        if run.is_live()? {
            return Ok(run);
        }
    }
    let help = format!("what has run: {} ps", ui::program());
    Err(Failure::new(Cause::NothingSelected, "no run is under way here").help(help).into())
}

/// The events that have happened before anybody looked, and what is under way.
fn split(updates: Vec<Update>) -> (Vec<Entry>, Vec<Update>) {
    let (mut earlier, mut latest) = (Vec::new(), Vec::new());
    for update in updates {
        match update {
            Update::Event(entry) => earlier.push(Arc::unwrap_or_clone(entry)),
            Update::Progress(..) | Update::Output { .. } | Update::Note(_) => latest.push(update),
        }
    }
    (earlier, latest)
}

/// The exit code of a run that is over, after one more event.
fn ended(before: Option<u8>, entry: &Entry) -> Option<u8> {
    match &entry.event {
        Event::RunEnded { exit, .. } => Some(*exit),
        Event::RunResumed { .. } => None,
        _ => before,
    }
}

/// Shows the run until it ends, its engine dies, or the person has seen enough.
fn look_on(
    watched: ui::Watched,
    (mut subscription, latest): (Subscription, Vec<Update>),
    (ended, how): (Option<u8>, ui::How),
) -> anyhow::Result<Left> {
    let run = watched.run.clone();
    if matches!(how, ui::How::Live { .. } | ui::How::Plain | ui::How::Verbose) {
        ui::note(&format!("run {}; Ctrl-C leaves it running", run.id()));
    }
    // Before anything is shown: whoever sees the run may want to leave it.
    let listener = Listener::new()?;
    let (publisher, updates) = watch::channel();
    let watcher = ui::Watcher::start(how, updates, watched).map_err(EngineError::Thread)?;
    latest.into_iter().for_each(|update| publisher.publish(update));
    let left = follow(&mut subscription, &publisher, (listener, ended));
    drop(publisher);
    watcher.finish();
    left
}

fn follow(
    subscription: &mut Subscription,
    publisher: &Publisher,
    (mut listener, mut over): (Listener, Option<u8>),
) -> anyhow::Result<Left> {
    let mut since = Instant::now();
    loop {
        let Look { updates, live } = subscription.look()?;
        for update in updates {
            if let Update::Event(entry) = &update {
                over = ended(over, entry);
                since = Instant::now();
            }
            publisher.publish(update);
        }
        match over {
            Some(exit) if !live || since.elapsed() > LEAVING => return Ok(Left::Ended(exit)),
            None if !live => return Ok(Left::Lost),
            Some(_) | None => {}
        }
        if let Some(order) = listener.next(LOOK) {
            return Ok(Left::Told(order));
        }
    }
}

fn say_the_end(
    engine: &Engine,
    (run, plan): (&Run, Option<&Plan>),
    now: &RunReport,
    how: ui::How,
) -> anyhow::Result<()> {
    let shown = engine.show(run.path());
    if how == ui::How::Github {
        report::tell_github(run, now)?;
    }
    if let Some(plan) = plan {
        ui::denied(&denied_lines(now, plan));
    }
    if how != ui::How::Quiet {
        let took = Duration::from_millis(now.duration_ms);
        ui::summary(how, &ui::Ended { report: now, took, folder: &shown });
    }
    live::print_outputs(how, now.outputs.clone())
}
