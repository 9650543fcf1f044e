//! From the journal to a report, one entry at a time.

use std::collections::{HashMap, HashSet};

use super::run_report::{
    AttemptReport, BranchStart, LaunchReport, MadeTree, Need, RunReport, Starter, TaskReport, counts_of,
};
use crate::event::{Entry, Event, Instance, Launch};
use crate::ids::{Address, Attempt, Millis};
use crate::model::{ChildMode, Counts, Outcome, Reason, RunStatus, TaskState, Usage};

/// A report in the making. It can be asked at any time, and goes on after that.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    /// The report but for what is put together at the end.
    head: Option<RunReport>,
    /// Plan tasks in manifest order, then every instance there ever was.
    rows: Vec<TaskReport>,
    /// What agents started, in the order in which they did.
    children: Vec<TaskReport>,
    index: HashMap<Address, Place>,
    /// When the current epoch began, and the last event of it.
    epoch_started: Millis,
    last: Millis,
    /// The time that earlier epochs took.
    before: u64,
}

/// Where the row of an address is.
#[derive(Clone, Copy, Debug)]
enum Place {
    Plan(usize),
    Child(usize),
}

impl Fold {
    /// Takes an entry in.
    pub fn take(&mut self, entry: &Entry) {
        let at = entry.at;
        match &entry.event {
            Event::RunStarted { run, plan, path, root, tasks, edges, inputs, flow, branch, .. } => {
                self.head = Some(RunReport {
                    version: 1,
                    run: run.clone(),
                    plan: plan.clone(),
                    path: path.clone(),
                    root: root.clone(),
                    flow: flow.clone(),
                    branch: branch.clone(),
                    status: RunStatus::Running,
                    exit: None,
                    message: None,
                    started: at,
                    ended: None,
                    duration_ms: 0,
                    epoch: 1,
                    written_models: Vec::new(),
                    inputs: inputs.clone(),
                    outputs: None,
                    counts: Counts::default(),
                    usage: Usage::default(),
                    total_tokens: 0,
                    tasks: Vec::new(),
                    dropped: Vec::new(),
                    children: Vec::new(),
                });
                self.epoch_started = at;
                for task in tasks {
                    self.add(TaskReport::new(task.clone()));
                }
                for edge in edges {
                    let from = tasks.get(edge.from as usize);
                    if let (Some(from), Some(to)) = (from, self.rows.get_mut(edge.to as usize)) {
                        to.needs.push(Need { task: from.clone(), on: edge.on });
                    }
                }
            }
            Event::RunResumed { epoch, lost, reset, given_up } => {
                given_up.iter().for_each(|task| self.on(task, TaskReport::give_up));
                self.resumed(*epoch, lost, reset, at);
            }
            Event::TaskExpanded { task, instances } => self.expanded(task, instances),
            Event::ChildStarted { task, by, call, kind, mode, description, .. } => {
                let attempt = self.task(by).and_then(|row| row.attempts.last()).map(|one| one.attempt);
                let by = Starter {
                    task: by.clone(),
                    attempt: attempt.unwrap_or(Attempt::FIRST),
                    call: call.clone(),
                };
                self.index.insert(task.clone(), Place::Child(self.children.len()));
                self.children.push(TaskReport {
                    by: Some(Box::new(by)),
                    kind: Some(kind.info().word.to_owned()),
                    description: Some(description.clone()),
                    background: *mode == ChildMode::Background,
                    ..TaskReport::new(task.clone())
                });
            }
            Event::AttemptStarting { task, attempt, slot } => self.starting(task, (*attempt, *slot), at),
            Event::AttemptRunning { task, launch, .. } => {
                self.answers(launch);
                self.on(task, |row| row.running(launch));
            }
            Event::AttemptEnded { task, outcome, .. } => self.on(task, |row| row.attempt_ended(outcome)),
            Event::TaskRetry { task, .. } => self.on(task, |row| row.state = TaskState::Created),
            Event::TaskEnded { task, state, reason, message, allowed } => {
                self.on(task, |row| row.ended(*state, *reason, message.as_ref(), *allowed));
            }
            Event::RunEnded { status, exit, outputs, message } => {
                if let Some(head) = &mut self.head {
                    head.status = *status;
                    head.exit = Some(*exit);
                    head.outputs = outputs.clone();
                    head.message = message.clone();
                    head.ended = Some(at);
                }
            }
            Event::WorktreeMade { task, attempt, path, branch, base } => {
                let branch = branch.clone().zip(base.clone()).map(|(name, base)| BranchStart { name, base });
                let tree = MadeTree { made: at, path: path.clone(), branch, is_open: true, commit: None };
                self.on_attempt(task, *attempt, |attempt| attempt.tree = Some(tree));
            }
            Event::WorktreeEnded { task, attempt, commit, .. } => {
                self.on_attempt(task, *attempt, |attempt| {
                    if let Some(tree) = &mut attempt.tree {
                        (tree.is_open, tree.commit) = (false, commit.clone());
                    }
                })
            }
            // How a merge ended stands in the outcome; one without an end is undone by whoever comes next.
            Event::TaskReady { .. }
            | Event::KillRequested { .. }
            | Event::MergeStarted { .. }
            | Event::MergeEnded { .. }
            | Event::ProviderParked { .. } => {}
        }
        self.last = at;
    }

    /// The branch of the checkout when the run began, where it was asked.
    pub fn branch(&self) -> Option<&str> {
        self.head.as_ref()?.branch.as_deref()
    }

    /// What is known of a task by now.
    pub fn task(&self, task: &Address) -> Option<&TaskReport> {
        self.index.get(task).map(|&place| match place {
            Place::Plan(at) => &self.rows[at],
            Place::Child(at) => &self.children[at],
        })
    }

    /// The rows that count for the plan: its tasks in manifest order, each before the instances that it has now. Whatever
    /// judges or counts a run goes over these: what agents started, and what is no instance any more, fails nothing.
    pub fn plan_rows(&self) -> impl Iterator<Item = &TaskReport> {
        let tasks = self.rows.iter().filter(|row| row.parent.is_none());
        tasks.flat_map(|task| std::iter::once(task).chain(self.instances(task)))
    }

    /// The instances that a task has now, in item order.
    fn instances(&self, task: &TaskReport) -> impl Iterator<Item = &TaskReport> {
        task.instances.iter().flatten().filter_map(|one| self.task(one))
    }

    fn all(&self) -> impl Iterator<Item = &TaskReport> {
        self.rows.iter().chain(&self.children)
    }

    /// The private trees that were made and not settled, in the order in which they were made.
    pub fn open_trees(&self) -> Vec<(&TaskReport, &AttemptReport, &MadeTree)> {
        let attempts = self.all().flat_map(|row| row.attempts.iter().map(move |one| (row, one)));
        let open = attempts
            .filter_map(|(row, one)| Some((row, one, one.tree.as_ref().filter(|tree| tree.is_open)?)));
        let mut open: Vec<_> = open.collect();
        open.sort_by_key(|(_, _, tree)| tree.made);
        open
    }

    /// The commands without an end, be it that they run or that their engine died; those of an engine before the last one
    /// have got one when the run was gone on with. Their output grows, or grew, where the last attempt before them in
    /// their slot had left it.
    pub fn live_commands(&self) -> impl Iterator<Item = (&TaskReport, &AttemptReport)> {
        let commands = self.all().filter(|row| row.state == TaskState::Running && row.agent.is_none());
        commands.filter_map(|row| Some((row, row.attempts.last().filter(|last| last.end.is_none())?)))
    }

    /// How far the outputs of ended attempts reach in each file.
    pub fn written(&self) -> HashMap<&str, u64> {
        let mut ends: HashMap<&str, u64> = HashMap::new();
        let attempts = self.all().flat_map(|row| &row.attempts);
        for slice in attempts.flat_map(|one| [&one.stdout, &one.stderr]).flatten() {
            let end = ends.entry(&slice.file).or_default();
            *end = (*end).max(slice.start + slice.len);
        }
        ends
    }

    /// The report as it stands; `None` before `RunStarted`.
    pub fn report(&self) -> Option<RunReport> {
        let mut report = self.head.clone()?;
        let as_reported = |row: &TaskReport| {
            let mut row = row.clone();
            row.duration_ms += self.instances(&row).map(|one| one.duration_ms).sum::<u64>();
            row.wall_ms = row.instances.as_ref().map(|_| at_work(self.instances(&row)));
            row.blocked_by = self.blocks(&row);
            row
        };
        report.tasks = self.plan_rows().map(as_reported).collect();
        let placed: HashSet<&Address> = report.tasks.iter().map(|row| &row.address).collect();
        let gone = |row: &&TaskReport| !placed.contains(&row.address) && !row.launches.is_empty();
        report.dropped = self.rows.iter().filter(gone).cloned().collect();
        report.children = self.children.clone();
        report.counts = counts_of(&report.tasks);
        let mut all = Usage::default();
        report.rows().filter_map(|row| row.usage.as_ref()).for_each(|usage| all += usage);
        all.model.clear();
        report.usage = all;
        report.total_tokens = report.usage.total_tokens();
        report.duration_ms = self.before + millis(self.epoch_started, self.last);
        Some(report)
    }

    /// What a blocked task needs and can't have.
    fn blocks(&self, row: &TaskReport) -> Vec<Address> {
        let is_missing =
            |need: &&Need| self.task(&need.task).is_some_and(|task| !need.on.holds(task.state, task.allowed));
        let blocked = row.state == TaskState::Blocked;
        let missing = row.needs.iter().filter(|_| blocked).filter(is_missing);
        missing.map(|need| need.task.clone()).collect()
    }

    /// Takes down which written model answers, if one does.
    fn answers(&mut self, launch: &Launch) {
        let written = launch.agent.as_ref().and_then(|agent| agent.written.as_ref());
        if let (Some(head), Some(file)) = (&mut self.head, written)
            && !head.written_models.contains(file)
        {
            head.written_models.push(file.clone());
        }
    }

    fn add(&mut self, row: TaskReport) {
        self.index.insert(row.address.clone(), Place::Plan(self.rows.len()));
        self.rows.push(row);
    }

    fn on(&mut self, task: &Address, change: impl FnOnce(&mut TaskReport)) {
        match self.index.get(task) {
            Some(&Place::Plan(at)) => change(&mut self.rows[at]),
            Some(&Place::Child(at)) => change(&mut self.children[at]),
            None => {}
        }
    }

    fn on_attempt(&mut self, task: &Address, attempt: Attempt, change: impl FnOnce(&mut AttemptReport)) {
        self.on(task, |row| {
            if let Some(found) = row.attempts.iter_mut().rfind(|one| one.attempt == attempt) {
                change(found);
            }
        });
    }

    fn expanded(&mut self, task: &Address, instances: &[Instance]) {
        for instance in instances {
            let address = task.instance(&instance.key);
            // One that a resume names again goes on with the history of its address.
            if !self.index.contains_key(&address) {
                self.add(TaskReport { parent: Some(task.clone()), ..TaskReport::new(address.clone()) });
            }
            self.on(&address, |row| {
                row.start_over();
                row.key = Some(instance.key.clone());
                row.item = Some(instance.item.clone());
            });
        }
        let addresses = instances.iter().map(|instance| task.instance(&instance.key)).collect();
        self.on(task, |row| {
            row.instances = Some(addresses);
            row.state = TaskState::Running;
        });
    }

    fn starting(&mut self, task: &Address, (attempt, slot): (Attempt, Option<u32>), at: Millis) {
        let epoch = self.head.as_ref().map_or(1, |head| head.epoch);
        self.on(task, |row| {
            if row.launches.last().is_none_or(|launch| launch.state.is_some()) {
                let launch = u32::try_from(row.launches.len() + 1).unwrap_or(u32::MAX);
                row.launches.push(LaunchReport { launch, epoch, state: None, reason: None, message: None });
                row.duration_ms = 0;
            }
            let launch = row.launches.last().map_or(1, |launch| launch.launch);
            row.attempts.push(AttemptReport { slot, ..AttemptReport::new(attempt, launch, at) });
            (row.state, row.begun) = (TaskState::Starting, true);
        });
    }

    fn resumed(&mut self, epoch: u32, lost: &[Address], reset: &[Address], at: Millis) {
        self.before += millis(self.epoch_started, self.last);
        self.epoch_started = at;
        if let Some(head) = &mut self.head {
            (head.epoch, head.status) = (epoch, RunStatus::Running);
            (head.exit, head.message, head.outputs, head.ended) = (None, None, None, None);
        }
        for task in lost {
            self.on(task, TaskReport::lose);
        }
        for task in lost.iter().chain(reset) {
            for instance in self.task(task).and_then(|row| row.instances.clone()).unwrap_or_default() {
                self.on(&instance, TaskReport::start_over);
            }
            self.on(task, TaskReport::start_over);
            let parent = self.task(task).and_then(|row| row.parent.clone());
            if let Some(parent) = parent {
                self.on(&parent, |row| {
                    row.state = TaskState::Running;
                    (row.reason, row.message, row.allowed) = (None, None, false);
                });
            }
        }
    }
}

impl TaskReport {
    fn new(address: Address) -> Self {
        TaskReport {
            address,
            parent: None,
            by: None,
            key: None,
            item: None,
            kind: None,
            description: None,
            background: false,
            state: TaskState::Created,
            reason: None,
            message: None,
            allowed: false,
            needs: Vec::new(),
            blocked_by: Vec::new(),
            exit_code: None,
            signal: None,
            duration_ms: 0,
            wall_ms: None,
            usage: None,
            denials: Vec::new(),
            artifacts: Vec::new(),
            worktree: None,
            agent: None,
            dir: None,
            leaky: false,
            verdict_unmet: false,
            output: None,
            output_file: None,
            output_hash: None,
            instances: None,
            launches: Vec::new(),
            attempts: Vec::new(),
            begun: false,
        }
    }

    /// Puts a task back to where nothing of it has begun. Its launches and attempts stay on record, and what they used.
    fn start_over(&mut self) {
        // An engine that died after the end of an attempt had no time to say what followed.
        let left = self.attempts.last().and_then(|attempt| Some((attempt.end?, attempt.reason)));
        if let Some((end, reason)) = left {
            self.close_launch(end.task_state(reason), reason, None);
        }
        let fresh = TaskReport::new(self.address.clone());
        *self = TaskReport {
            parent: self.parent.take(),
            by: self.by.take(),
            key: self.key.take(),
            item: self.item.take(),
            kind: self.kind.take(),
            description: self.description.take(),
            needs: std::mem::take(&mut self.needs),
            usage: self.usage.take(),
            denials: std::mem::take(&mut self.denials),
            leaky: self.leaky,
            launches: std::mem::take(&mut self.launches),
            attempts: std::mem::take(&mut self.attempts),
            ..fresh
        };
    }

    fn running(&mut self, launch: &Launch) {
        self.state = TaskState::Running;
        self.kind = Some(launch.kind.clone());
        self.description = Some(launch.description.clone());
        self.background = launch.background;
        self.agent = launch.agent.clone();
        self.dir = Some(launch.dir.clone());
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.agent_id = launch.agent.as_ref().map(|agent| agent.id.clone());
        }
    }

    fn attempt_ended(&mut self, outcome: &Outcome) {
        self.state = TaskState::Running;
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.ended(outcome);
        }
        self.exit_code = outcome.exit_code;
        self.signal = outcome.signal.clone();
        self.duration_ms += outcome.duration_ms;
        self.worktree = outcome.worktree.clone();
        self.artifacts = outcome.artifacts.clone();
        self.output = outcome.output.clone();
        self.output_file = outcome.output_file.clone();
        self.output_hash = outcome.output_hash;
        self.message = outcome.message.clone();
        self.leaky |= outcome.leaky;
        self.verdict_unmet = outcome.verdict_unmet;
        self.denials.extend(outcome.denials.iter().cloned());
        if let Some(usage) = &outcome.usage {
            *self.usage.get_or_insert_default() += usage;
        }
    }

    fn ended(&mut self, state: TaskState, reason: Option<Reason>, message: Option<&String>, allowed: bool) {
        (self.state, self.reason, self.allowed) = (state, reason, allowed);
        if let Some(message) = message {
            self.message = Some(message.clone());
        }
        self.close_launch(state, reason, self.message.clone());
    }
}

impl AttemptReport {
    fn new(attempt: Attempt, launch: u32, started: Millis) -> Self {
        AttemptReport {
            attempt,
            launch,
            started,
            slot: None,
            end: None,
            reason: None,
            message: None,
            exit_code: None,
            signal: None,
            duration_ms: 0,
            agent_id: None,
            usage: None,
            denied: 0,
            tree: None,
            worktree: None,
            stdout: None,
            stderr: None,
            text: None,
        }
    }

    fn ended(&mut self, outcome: &Outcome) {
        self.end = Some(outcome.end);
        self.reason = outcome.reason;
        self.message = outcome.message.clone();
        self.exit_code = outcome.exit_code;
        self.signal = outcome.signal.clone();
        self.duration_ms = outcome.duration_ms;
        self.usage = outcome.usage.clone();
        self.denied = outcome.denials.len();
        self.worktree = outcome.worktree.clone();
        self.stdout = outcome.stdout.clone();
        self.stderr = outcome.stderr.clone();
        self.text = outcome.text.clone();
        if outcome.agent_id.is_some() {
            self.agent_id = outcome.agent_id.clone();
        }
    }
}

/// How long at least one of these tasks was at work.
fn at_work<'a>(tasks: impl Iterator<Item = &'a TaskReport>) -> u64 {
    let attempts = tasks.flat_map(|task| &task.attempts);
    let mut spans: Vec<(u64, u64)> =
        attempts.map(|one| (one.started.0, one.started.0 + one.duration_ms)).collect();
    spans.sort_unstable();
    let (mut sum, mut until) = (0, 0);
    for (from, to) in spans {
        sum += to.saturating_sub(from.max(until));
        until = until.max(to);
    }
    sum
}

fn millis(from: Millis, to: Millis) -> u64 {
    to.0.saturating_sub(from.0)
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
