//! What a person sees of a live run, as data: folded from updates, drawn elsewhere.

use flow_core::event::{Event, Instance, Launch};
use flow_core::ids::{Address, Attempt, Millis};
use flow_core::model::{Counted, Counts, Outcome, Reason};
use flow_core::text::visible;
use indexmap::{IndexMap, IndexSet};

use super::channel::Update;
use super::group::{Group, Spent};
use super::held::Limits;
use super::line::Line;
use crate::execute::Progress;

/// A live run.
#[derive(Debug, Default)]
pub struct View {
    /// What runs, in order of start.
    pub running: IndexMap<Address, RunningTask>,
    /// Tasks that became many, in the order in which they did.
    pub groups: IndexMap<Address, Group>,
    /// How many tasks and instances there are so far; parents of expansions are not counted.
    pub total: usize,
    /// How many have ended, by state.
    pub ended: Counts,
    /// When the run (or this epoch) began.
    pub began: Millis,
    /// Since when the run is told to stop.
    pub stopping: Option<Stopping>,
    /// What may run, and how much of it at once.
    pub limits: Limits,
    /// The longest address so far, in characters.
    pub longest: usize,
    /// Tasks that may start, but for instances.
    pub(super) ready: IndexSet<Address>,
    /// Models whose provider asked for patience: until when, and why.
    pub(super) parked: IndexMap<String, (Millis, String)>,
    /// Tokens of attempts that have ended.
    ended_spent: Spent,
    last: IndexMap<Address, Box<Outcome>>,
    ends: IndexMap<Address, Counted>,
}

/// An order to stop the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopping {
    /// Why.
    pub reason: Reason,
    /// Whether everything is killed at once.
    pub force: bool,
}

/// A task that runs.
#[derive(Debug)]
pub struct RunningTask {
    /// Which try.
    pub attempt: Attempt,
    /// Since when.
    pub since: Millis,
    /// What it is.
    pub launch: Option<Launch>,
    /// The model turn it is in.
    pub turn: u32,
    /// Tokens so far.
    pub spent: Spent,
    /// What it did last, one line.
    pub activity: String,
    /// Whether it waits for a provider.
    pub waiting: bool,
}

impl View {
    /// A run that has not begun.
    pub fn within(limits: Limits) -> Self {
        View { limits, ..View::default() }
    }

    /// Takes an update in; says what is worth a line that stays.
    pub fn update(&mut self, update: &Update) -> Option<Line> {
        match update {
            Update::Event(entry) => self.event(entry.at, &entry.event),
            Update::Progress(task, progress) => {
                self.progress(task, progress);
                None
            }
            Update::Output { .. } => None,
            Update::Note(text) => Some(Line::Note { text: text.clone() }),
        }
    }

    /// Tokens of all attempts so far.
    pub fn spent(&self) -> Spent {
        let mut all = self.ended_spent;
        self.running.values().for_each(|task| all.add(task.spent));
        all
    }

    /// The task whose instance this is, once it became its instances.
    pub fn group_of(&self, task: &Address) -> Option<(&Address, &Group)> {
        let (parent, _) = task.as_str().split_once('[')?;
        self.groups.get_key_value(&Address::task(parent))
    }

    /// How many tasks and instances could run if there were room.
    pub fn queued(&self) -> usize {
        self.ready.len() + self.groups.values().map(Group::queued).sum::<usize>()
    }

    fn event(&mut self, at: Millis, event: &Event) -> Option<Line> {
        match event {
            Event::RunStarted { tasks, concurrency, .. } => {
                self.total = tasks.len();
                self.began = at;
                self.limits.concurrency.get_or_insert(*concurrency);
                tasks.iter().for_each(|task| self.measure(task.as_str()));
                None
            }
            Event::RunResumed { lost, reset, .. } => {
                self.began = at;
                self.running.clear();
                self.ready.clear();
                self.parked.clear();
                self.stopping = None;
                self.groups.values_mut().for_each(|group| (group.running, group.began) = (0, None));
                lost.iter().chain(reset).for_each(|task| self.uncount(task));
                None
            }
            Event::TaskExpanded { task, instances } => {
                self.expanded(task, instances);
                None
            }
            Event::TaskReady { task } => {
                self.ready.insert(task.clone());
                None
            }
            // A child takes no slot; what is said here is said of tasks.
            Event::AttemptStarting { slot: None, .. } => None,
            Event::AttemptStarting { task, attempt, slot: Some(_) } => {
                self.ready.swap_remove(task);
                self.group(task, |group| {
                    group.running += 1;
                    group.began.get_or_insert(at);
                });
                let running = RunningTask {
                    attempt: *attempt,
                    since: at,
                    launch: None,
                    turn: 0,
                    spent: Spent::default(),
                    activity: String::new(),
                    waiting: false,
                };
                self.running.insert(task.clone(), running);
                None
            }
            Event::AttemptRunning { task, launch, .. } => {
                if let Some(running) = self.running.get_mut(task) {
                    running.activity.clone_from(&launch.description);
                    running.launch = Some(launch.clone());
                }
                None
            }
            Event::AttemptEnded { task, outcome, .. } => {
                let was_running = self.running.shift_remove(task).is_some();
                let spent = outcome.usage.as_ref().map(Spent::of).unwrap_or_default();
                self.ended_spent.add(spent);
                if task.starter().is_some() {
                    return None;
                }
                self.group(task, |group| {
                    group.running = group.running.saturating_sub(usize::from(was_running));
                    group.spent.add(spent);
                });
                self.last.insert(task.clone(), outcome.clone());
                None
            }
            Event::TaskRetry { task, attempt, due } => Some(Line::Retry {
                task: task.clone(),
                attempt: *attempt,
                after: due.since(at),
                outcome: self.last.shift_remove(task),
            }),
            Event::TaskEnded { task, .. } if task.starter().is_some() => None,
            Event::TaskEnded { task, state, reason, message, allowed } => {
                self.ready.swap_remove(task);
                let outcome = self.last.shift_remove(task);
                let parent = self.groups.contains_key(task);
                if !parent {
                    self.count(task, Counted { state: *state, allowed: *allowed, begun: outcome.is_some() });
                    self.group(task, |group| group.last = at);
                }
                Some(Line::Ended {
                    task: task.clone(),
                    state: *state,
                    reason: *reason,
                    allowed: *allowed,
                    outcome,
                    message: message.clone(),
                    parent,
                })
            }
            Event::KillRequested { task: None, reason, force } => {
                let force = *force || self.stopping.is_some_and(|before| before.force);
                self.stopping = Some(Stopping { reason: *reason, force });
                Some(Line::Stopping { reason: *reason, force })
            }
            Event::ProviderParked { provider, until, reason } => {
                self.parked.insert(provider.clone(), (*until, reason.clone()));
                Some(Line::Parked {
                    provider: provider.clone(),
                    wait: until.since(at),
                    reason: reason.clone(),
                })
            }
            Event::RunEnded { status, message, .. } => {
                Some(Line::Finished { status: *status, message: message.clone() })
            }
            // A picture: what it doesn't draw has no word here.
            _ => None,
        }
    }

    fn expanded(&mut self, task: &Address, instances: &[Instance]) {
        self.ready.swap_remove(task);
        let fresh = Group { instances: instances.len(), ..Group::default() };
        let before = self.groups.insert(task.clone(), fresh);
        if before.is_some() {
            let gone = format!("{task}[");
            let old: Vec<_> =
                self.ends.keys().filter(|own| own.as_str().starts_with(&gone)).cloned().collect();
            old.iter().for_each(|own| self.uncount(own));
        }
        let before = before.map_or(1, |before| before.instances);
        self.total = (self.total + instances.len()).saturating_sub(before);
        instances.iter().for_each(|instance| self.measure(task.instance(&instance.key).as_str()));
    }

    fn measure(&mut self, address: &str) {
        self.longest = self.longest.max(visible(address).chars().count());
    }

    /// Changes the group that an instance belongs to.
    fn group(&mut self, task: &Address, change: impl FnOnce(&mut Group)) {
        if let Some((parent, _)) = task.as_str().split_once('[')
            && let Some(group) = self.groups.get_mut(&Address::task(parent))
        {
            change(group);
        }
    }

    fn count(&mut self, task: &Address, end: Counted) {
        self.uncount(task);
        self.ends.insert(task.clone(), end);
        self.ended.add(end);
        self.group(task, |group| group.ended.add(end));
    }

    /// Takes back what was counted of a task that runs again.
    fn uncount(&mut self, task: &Address) {
        if let Some(end) = self.ends.swap_remove(task) {
            self.ended.take(end);
            self.group(task, |group| group.ended.take(end));
        }
    }

    fn progress(&mut self, task: &Address, progress: &Progress) {
        let Some(running) = self.running.get_mut(task) else { return };
        match progress {
            Progress::Waiting(waiting) => running.waiting = *waiting,
            Progress::Turn(turn) => running.turn = *turn,
            Progress::Tokens { fresh, cached } => {
                running.spent = Spent { fresh: *fresh, cached: *cached };
            }
            Progress::Tool(tool, call) => running.activity = format!("{tool} {call}"),
            Progress::Text(line) => running.activity = format!("writes: {line}"),
            Progress::Parked { .. } | Progress::Logged(_) => {}
        }
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
