//! `flow attach`: the live view of a run that another process drives.
//!
//! All of it is read from the run's folder; nothing that is done here reaches the run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use flow_core::event::{Entry, Event};
use flow_core::model::Cause;
use flow_core::plan::Plan;
use flow_core::report::{RunReport, denied_lines};
use flow_run::store::RunFolder;
use flow_run::sys::signals::{Order, Orders, suspend};
use flow_run::watch::{self, Follower, Limits, Publisher, Update};

use super::{engine, reconcile, report};
use crate::args::AttachArgs;
use crate::exit::Failure;
use crate::kept;
use crate::session::Session;
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

pub(super) fn run(session: &Session, args: &AttachArgs) -> anyhow::Result<u8> {
    let folder = Arc::new(match &args.run {
        Some(name) => session.find_run(name)?,
        None => newest_live(session)?,
    });
    reconcile::one(session, &folder);
    let how = engine::how(args.output, args.verbose, args.quiet, ui::can_redraw());
    let mut follower = Follower::new(Arc::clone(&folder));
    let earlier = follower.events()?;
    let plan = kept::read(folder.path()).ok().and_then(|kept| session.plan_of(kept));
    let left = match earlier.iter().fold(None, ended) {
        // It was over before anybody looked.
        Some(exit) if !folder.owner_alive()? => Left::Ended(exit),
        ended => {
            // How many tasks at once the journal says.
            let limits = plan.as_ref().map(|plan| Limits { concurrency: None, ..Limits::of(plan, 0) });
            let watched = ui::Watched {
                folder: Arc::clone(&folder),
                earlier,
                limits: limits.unwrap_or_default(),
                ours: false,
            };
            look_on(watched, follower, (ended, how))?
        }
    };
    let now = report::fold(&folder)?;
    match left {
        Left::Told(order) => {
            let flow = ui::program();
            let run = folder.id();
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
            say_the_end(session, (&folder, plan.as_ref()), &now, how)?;
            Ok(exit)
        }
        Left::Lost => {
            reconcile::one(session, &folder);
            let message = format!("the engine of run {} died: {}", folder.id(), now.counts.in_words());
            let help = format!("go on with `{} resume {}`", ui::program(), folder.id());
            Err(Failure::new(Cause::TaskFailed, message).help(help).into())
        }
    }
}

fn newest_live(session: &Session) -> anyhow::Result<RunFolder> {
    for folder in session.runs()? {
        if folder.owner_alive()? {
            return Ok(folder);
        }
    }
    let help = format!("what has run: {} ps", ui::program());
    Err(Failure::new(Cause::NothingSelected, "no run is under way here").help(help).into())
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
    mut follower: Follower,
    (ended, how): (Option<u8>, ui::How),
) -> anyhow::Result<Left> {
    let folder = Arc::clone(&watched.folder);
    if matches!(how, ui::How::Live { .. } | ui::How::Plain | ui::How::Verbose) {
        ui::note(&format!("run {}; Ctrl-C leaves it running", folder.id()));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("can't start the runtime")?;
    runtime.block_on(async {
        // Before anything is shown: whoever sees the run may want to leave it.
        let orders = Orders::listen().context("can't listen for signals")?;
        let (publisher, updates) = watch::channel();
        let watcher = ui::Watcher::start(how, updates, watched).context("can't start a thread")?;
        let left = follow(&folder, &mut follower, &publisher, (orders, ended)).await;
        drop(publisher);
        watcher.finish();
        left
    })
}

async fn follow(
    folder: &RunFolder,
    follower: &mut Follower,
    publisher: &Publisher,
    (mut orders, mut over): (Orders, Option<u8>),
) -> anyhow::Result<Left> {
    let mut since = Instant::now();
    loop {
        // Asked first: what it wrote before it left is read below.
        let alive = folder.owner_alive()?;
        for entry in follower.events()? {
            over = ended(over, &entry);
            since = Instant::now();
            publisher.publish(Update::Event(Arc::new(entry)));
        }
        follower.progress().into_iter().for_each(|update| publisher.publish(update));
        match over {
            Some(exit) if !alive || since.elapsed() > LEAVING => return Ok(Left::Ended(exit)),
            None if !alive => return Ok(Left::Lost),
            Some(_) | None => {}
        }
        tokio::select! {
            order = orders.next() => match order {
                // A terminal that can't stop us is no reason to leave.
                Order::Suspend => drop(suspend()),
                order => return Ok(Left::Told(order)),
            },
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

fn say_the_end(
    session: &Session,
    (folder, plan): (&Arc<RunFolder>, Option<&Plan>),
    now: &RunReport,
    how: ui::How,
) -> anyhow::Result<()> {
    let shown = session.show(folder.path());
    if how == ui::How::Github {
        report::tell_github(folder, now)?;
    }
    if let Some(plan) = plan {
        ui::denied(&denied_lines(now, plan));
    }
    if how != ui::How::Quiet {
        let took = Duration::from_millis(now.duration_ms);
        ui::summary(how, &ui::Ended { report: now, took, folder: &shown });
    }
    engine::print_outputs(how, now.outputs.clone())
}
