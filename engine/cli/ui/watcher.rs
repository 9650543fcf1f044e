//! The thread that shows a live run.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use flow_run::store::RunFolder;
use flow_run::watch::{Updates, View};

use super::ci::Ci;
use super::live::Live;
use super::plain::Plain;

/// How a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// A line per running task, redrawn in place.
    Live,
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
    fn show(&mut self, update: &flow_run::watch::Update, line: Option<&flow_run::watch::Line>, view: &View);
    /// Time passed.
    fn tick(&mut self, view: &View, since: Duration);
    /// The run is over.
    fn close(&mut self);
}

/// The watching thread.
pub struct Watcher {
    thread: Option<JoinHandle<View>>,
}

impl Watcher {
    /// Watches until the run's side is dropped.
    pub fn start(how: How, updates: Updates, folder: Arc<RunFolder>) -> Self {
        Watcher { thread: Some(std::thread::spawn(move || watch(how, &updates, folder))) }
    }

    /// Waits for the last update to be drawn.
    pub fn finish(mut self) -> View {
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        ended.unwrap_or_default()
    }
}

fn watch(how: How, updates: &Updates, folder: Arc<RunFolder>) -> View {
    let mut view = View::default();
    let mut screen: Option<Box<dyn Screen>> = match how {
        How::Live => Some(Box::new(Live::new(folder))),
        How::Plain => Some(Box::new(Plain::new(folder, false))),
        How::Verbose => Some(Box::new(Plain::new(folder, true))),
        How::Ci => Some(Box::new(Ci::new(folder, false))),
        How::Github => Some(Box::new(Ci::new(folder, true))),
        How::Json => Some(Box::new(super::plain::JsonLines::default())),
        How::Quiet => None,
    };
    let began = Instant::now();
    loop {
        match updates.next(Duration::from_millis(100)) {
            Ok(Some(update)) => {
                let line = view.update(&update);
                if let Some(screen) = &mut screen {
                    screen.show(&update, line.as_ref(), &view);
                }
            }
            Ok(None) => break,
            Err(_nothing_yet) => {
                if let Some(screen) = &mut screen {
                    screen.tick(&view, began.elapsed());
                }
            }
        }
    }
    if let Some(screen) = &mut screen {
        screen.close();
    }
    if updates.dropped() > 0 {
        super::warning(&format!("{} updates were not shown: this terminal was too slow", updates.dropped()));
    }
    view
}
