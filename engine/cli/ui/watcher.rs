//! The thread that shows a live run.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use flow_core::event::Entry;
use flow_run::engine::{Run, now};
use flow_run::watch::{Limits, Line, Update, Updates, View};

use super::ci::Ci;
use super::live::Live;
use super::plain::Plain;

/// How often what moves is drawn.
const TICK: Duration = Duration::from_millis(100);

/// How a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// A line per running task, redrawn in place; `verbose`: what begins and the calls of tools scroll above.
    Live {
        /// Whether starts and tool calls are told.
        verbose: bool,
    },
    /// A line per task that ended.
    Plain,
    /// A line per event of every task.
    Verbose,
    /// Failures only.
    Ci,
    /// The same, as GitHub Actions folds and marks it.
    Github,
    /// Every event as JSON on standard output.
    Json,
    /// Nothing.
    Quiet,
}

/// A view that is drawn.
pub(super) trait Screen {
    /// Draws an update that the view has taken in already.
    fn show(&mut self, update: &Update, line: Option<&Line>, view: &View);
    /// Time passed.
    fn tick(&mut self, view: &View, since: Duration);
    /// The run is over.
    fn close(&mut self, view: &View);
}

/// The run that is watched.
pub struct Watched {
    /// The run.
    pub run: Run,
    /// What the journal held before: it counts, and nobody is told of it again, but for failures of a run that isn't ours.
    pub earlier: Vec<Entry>,
    /// What may run at once.
    pub limits: Limits,
    /// Whether Ctrl-C ends the run, and not just the view.
    pub ours: bool,
}

/// The watching thread.
pub struct Watcher {
    thread: Option<JoinHandle<View>>,
}

impl Watcher {
    /// Watches until the run's side is dropped.
    pub fn start(how: How, updates: Updates, watched: Watched) -> std::io::Result<Self> {
        let thread = std::thread::Builder::new()
            .name("watcher".to_owned())
            .spawn(move || watch(how, &updates, watched))?;
        Ok(Watcher { thread: Some(thread) })
    }

    /// Waits for the last update to be drawn.
    pub fn finish(mut self) -> View {
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        ended.unwrap_or_default()
    }
}

fn watch(how: How, updates: &Updates, watched: Watched) -> View {
    let Watched { run, earlier, limits, ours } = watched;
    let mut view = View::within(limits);
    let mut screen: Option<Box<dyn Screen>> = match how {
        How::Live { verbose } => Some(Box::new(Live::new(run, verbose, ours))),
        How::Plain => Some(Box::new(Plain::new(run, false))),
        How::Verbose => Some(Box::new(Plain::new(run, true))),
        How::Ci => Some(Box::new(Ci::new(run, false))),
        How::Github => Some(Box::new(Ci::new(run, true))),
        How::Json => Some(Box::new(super::plain::JsonLines::default())),
        How::Quiet => None,
    };
    for entry in earlier {
        let update = Update::Event(Arc::new(entry));
        let line = view.update(&update).filter(|line| !ours && is_failure(line));
        if let Some(screen) = &mut screen {
            screen.show(&update, line.as_ref(), &view);
        }
    }
    // Of a run that another process drives the time has run before.
    let before = if ours { Duration::ZERO } else { now().since(view.began) };
    let began = Instant::now();
    let mut ticked = began;
    loop {
        match updates.next(TICK.saturating_sub(ticked.elapsed())) {
            Ok(Some(update)) => {
                let line = view.update(&update);
                if let Some(screen) = &mut screen {
                    screen.show(&update, line.as_ref(), &view);
                }
            }
            Ok(None) => break,
            Err(_nothing_yet) => {}
        }
        // On time also while there is always something new.
        if ticked.elapsed() >= TICK {
            ticked = Instant::now();
            if let Some(screen) = &mut screen {
                screen.tick(&view, before + began.elapsed());
            }
        }
    }
    if let Some(screen) = &mut screen {
        screen.close(&view);
    }
    if updates.dropped() > 0 {
        super::warning(&format!("{} updates were not shown: this terminal was too slow", updates.dropped()));
    }
    view
}

fn is_failure(line: &Line) -> bool {
    matches!(line, Line::Ended { state, allowed, parent: false, .. } if state.is_failure(*allowed))
}
