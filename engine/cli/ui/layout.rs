//! What the live view shows of a run at a moment, on a terminal of a size: lines, and nothing else.
//!
//! A row for each task that runs; a task that became many has a line of its own with its counts, and its instances below
//! it. Where there are more rows than room, those at work go before those that wait for a provider, and the rest is counted.

use std::fmt::Write;
use std::time::Duration;

use flow_core::ids::{Address, Millis};
use flow_core::model::Reason;
use flow_core::text::{format_count, format_tokens, middle, one_line, visible};
use flow_run::watch::{Group, RunningTask, Spent, View};
use indexmap::IndexMap;

use super::words::{self, BAD, FAINT, ODD, SIGN};

/// One turn of the sign that something runs.
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Terminals of so many columns have room for cached tokens beside each task, and for tokens at all.
const WIDE: usize = 110;
const NARROW: usize = 64;

/// Terminals of so many lines keep some of them for what has happened.
const TALL: usize = 20;

/// Lower ones show no more than how far the run is.
const LOW: usize = 8;

/// The moment and the terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) lines: usize,
    pub(super) columns: usize,
    pub(super) now: Millis,
    /// How long the run has been watched.
    pub(super) since: Duration,
    /// Whether Ctrl-C ends the run, and not just the view.
    pub(super) ours: bool,
}

/// Columns for names, of rows and of lines that stay: what the longest needs, at most a share of the terminal. It is the
/// same from the first line of a run to the last.
pub(super) fn name_width(view: &View, columns: usize) -> usize {
    let most = (columns * 3 / 10).max(12);
    if view.limits.expands { most } else { view.longest.clamp(12, most) }
}

/// A line that stays, broken between words where it is wider than the terminal; what follows stands below its name.
pub(super) fn folded(line: &str, columns: usize) -> Vec<String> {
    let room = columns.saturating_sub(1).max(2 * SIGN);
    if console::measure_text_width(line) <= room {
        return vec![line.to_owned()];
    }
    let mut text = Vec::new();
    let mut last = String::new();
    for word in line.split_inclusive(' ') {
        let wide = console::measure_text_width(&last) + console::measure_text_width(word.trim_end());
        if wide > room && !last.trim().is_empty() {
            text.push(last.trim_end().to_owned());
            last = format!("{:<SIGN$} ", "");
            // Blanks between parts say nothing at the beginning of a line.
            if word == " " {
                continue;
            }
        }
        last.push_str(word);
    }
    text.push(last.trim_end().to_owned());
    text
}

/// What is drawn in place, no line as wide as the terminal.
pub(super) fn area(view: &View, frame: &Frame) -> Vec<String> {
    let mut below = vec![status(view, frame)];
    below.extend(hint(view, frame).filter(|_| frame.lines >= LOW));
    // The line of the cursor, and what stays above.
    let free = if frame.lines < TALL { 2 } else { 4 };
    let room = frame.lines.saturating_sub(free + below.len()).max(1);
    let mut text = rows(view, frame, room);
    text.append(&mut below);
    // Some terminals break a line when its last column is written.
    let width = frame.columns.saturating_sub(1);
    text.iter().map(|line| console::truncate_str(line, width, "…").into_owned()).collect()
}

/// Tasks of the plan that run, and those that became many with the instances that do.
fn blocks(view: &View) -> IndexMap<&Address, Vec<(&Address, &RunningTask)>> {
    let mut blocks: IndexMap<&Address, Vec<_>> = IndexMap::new();
    for (address, task) in &view.running {
        let block = view.group_of(address).map_or(address, |(parent, _)| parent);
        blocks.entry(block).or_default().push((address, task));
    }
    let under_way = |group: &Group| group.ended.total > 0 && group.ended.total < group.instances;
    for (parent, _) in view.groups.iter().filter(|(_, group)| under_way(group)) {
        blocks.entry(parent).or_default();
    }
    blocks
}

fn rows(view: &View, frame: &Frame, room: usize) -> Vec<String> {
    let blocks = blocks(view);
    let headers = blocks.keys().filter(|block| view.groups.contains_key(**block)).count();
    let all = headers + view.running.len();
    // The line that counts the rest takes one itself.
    let room = if all > room { room.saturating_sub(1) } else { room };
    let shares = shares(view, &blocks, room);
    let mut text = Vec::new();
    let (mut hidden, mut waiting) = (0, 0);
    for ((block, tasks), share) in blocks.iter().zip(shares) {
        let group = view.groups.get(*block);
        if let Some(group) = group.filter(|_| text.len() < room) {
            text.push(header(block, group, frame));
        }
        for (at, (address, task)) in tasks.iter().enumerate() {
            if share.contains(&at) && text.len() < room {
                text.push(row(view, (address, group.is_some()), task, frame));
            } else {
                hidden += 1;
                waiting += usize::from(task.waiting);
            }
        }
    }
    if hidden > 0 {
        let waits = match waiting {
            _ if view.stopping.is_some() => String::new(),
            0 => String::new(),
            all if all == hidden => ", waiting for a provider".to_owned(),
            some => format!(", {some} of them waiting for a provider"),
        };
        text.push(format!("{FAINT}{:<SIGN$} {hidden} more{waits}{FAINT:#}", ""));
    }
    text
}

/// Which tasks of each block are shown: every block gets a row, the rest goes round, and within a block those at work go
/// before those that wait.
fn shares(
    view: &View,
    blocks: &IndexMap<&Address, Vec<(&Address, &RunningTask)>>,
    room: usize,
) -> Vec<Vec<usize>> {
    let mut left =
        room.saturating_sub(blocks.keys().filter(|block| view.groups.contains_key(**block)).count());
    let mut counts = vec![0; blocks.len()];
    loop {
        let before = left;
        for (count, tasks) in counts.iter_mut().zip(blocks.values()) {
            if *count < tasks.len() && left > 0 {
                *count += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    let chosen = |(count, tasks): (usize, &Vec<(&Address, &RunningTask)>)| {
        let mut order: Vec<usize> = (0..tasks.len()).collect();
        order.sort_by_key(|at| tasks[*at].1.waiting);
        order.truncate(count);
        order
    };
    counts.into_iter().zip(blocks.values()).map(chosen).collect()
}

/// `review  23/100 · 3 failed · 37 queued`.
fn header(parent: &Address, group: &Group, frame: &Frame) -> String {
    let name = middle(&words::name(parent.as_str()), frame.columns / 3);
    let done = group.ended.total - group.ended.not_run;
    let mut text = format!("{:<SIGN$} {name}  {done}/{}", turning(frame), group.instances);
    let failed = group.ended.failed + group.ended.lost;
    if failed > 0 {
        let _ = write!(text, " · {BAD}{failed} failed{BAD:#}");
    }
    for (count, word) in [(group.queued(), "queued"), (group.ended.not_run, "not run")] {
        if count > 0 {
            let _ = write!(text, " · {count} {word}");
        }
    }
    text
}

fn turning(frame: &Frame) -> &'static str {
    FRAMES[usize::try_from(frame.since.as_millis() / 100).unwrap_or(0) % FRAMES.len()]
}

fn row(view: &View, (address, nested): (&Address, bool), task: &RunningTask, frame: &Frame) -> String {
    let width = name_width(view, frame.columns);
    let name = match nested {
        false => words::fitted(address.as_str(), width),
        true => format!("  {}", words::fitted(key(address), width - 2)),
    };
    let word = match task {
        _ if view.stopping.is_some() => "stops".to_owned(),
        task if task.waiting => "waits".to_owned(),
        task if task.attempt.0 > 1 => format!("try {}", task.attempt),
        _ => String::new(),
    };
    let sign = format!("{} {word}", turning(frame));
    let time = words::clock(frame.now.since(task.since));
    let mut text = match view.stopping.is_some() || task.waiting {
        true => format!("{ODD}{sign:<SIGN$}{ODD:#} {name} {time:>7}"),
        false => format!("{sign:<SIGN$} {name} {time:>7}"),
    };
    let is_agent = task.launch.as_ref().is_some_and(|launch| launch.agent.is_some());
    if is_agent && frame.columns >= NARROW {
        let turn = if task.turn > 0 { format!("turn {}", task.turn) } else { String::new() };
        let _ = write!(text, "  {turn:<7} {}", tokens(task.spent, frame.columns >= WIDE));
    }
    let room = frame.columns.saturating_sub(1);
    let _ = write!(text, "  {}", one_line(&visible(&task.activity), room));
    text
}

/// Tokens of one task in a column of their own.
fn tokens(spent: Spent, wide: bool) -> String {
    match (spent.is_none(), wide) {
        (true, true) => format!("{:<25}", ""),
        (true, false) => format!("{:>5}", ""),
        (false, true) => format!("{:<25}", format_tokens(spent.fresh, spent.cached)),
        (false, false) => format!("{:>5}", format_count(spent.fresh)),
    }
}

/// What an instance has of its own.
fn key(address: &Address) -> &str {
    let (_, key) = address.as_str().split_once('[').unwrap_or(("", address.as_str()));
    key.strip_suffix(']').unwrap_or(key)
}

/// How far the run is.
fn status(view: &View, frame: &Frame) -> String {
    let full = words::status(view, frame.since, true);
    match console::measure_text_width(&full) < frame.columns {
        true => full,
        false => words::status(view, frame.since, false),
    }
}

/// What holds the run back, or what a key does to it now.
fn hint(view: &View, frame: &Frame) -> Option<String> {
    let Some(stopping) = view.stopping else {
        return view.held(frame.now).map(|held| format!("{FAINT}{}{FAINT:#}", visible(&held)));
    };
    let what = match stopping.reason {
        _ if stopping.force => "killing what runs",
        Reason::FailFast => "stopping: a task failed (fail fast)",
        _ if frame.ours => "stopping, Ctrl-C again to kill",
        _ => "stopping",
    };
    Some(format!("{ODD}{what}{ODD:#}"))
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
