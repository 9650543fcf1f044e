//! What commands print while they run, read from their output files.

use std::collections::HashMap;
use std::ops::Range;

use flow_core::event::{Entry, Event};
use flow_core::ids::Address;
use flow_core::model::OutputSlice;
use flow_core::report::Fold;
use serde::{Deserialize, Serialize};

use super::channel::Update;
use crate::store::{RunFolder, Unended, read_slice, unended};

/// The most that one look takes of one output; who looks too seldom misses what stands before it.
const MOST: u64 = 64 * 1024;

/// The two streams of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The outputs of a run, read as they grow.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    run: Fold,
    /// Of each output that begins at a place of a file: how much was read.
    read: HashMap<(String, u64), u64>,
    /// What commands had printed when they ended.
    ended: Vec<(Address, Stream, OutputSlice)>,
}

impl Outputs {
    /// Takes an event in; `looked`: whether anybody has looked, so that what ended since then is news.
    pub(super) fn take(&mut self, entry: &Entry, looked: bool) {
        self.run.take(entry);
        if let Event::AttemptEnded { task, outcome, .. } = &entry.event
            && looked
        {
            let of = |stream, slice: &Option<OutputSlice>| Some((task.clone(), stream, slice.clone()?));
            self.ended.extend(of(Stream::Stdout, &outcome.stdout));
            self.ended.extend(of(Stream::Stderr, &outcome.stderr));
        }
    }

    /// What was printed since the last look. An output that can't be read says nothing.
    pub(super) fn more(&mut self, folder: &RunFolder) -> Vec<Update> {
        let ended = std::mem::take(&mut self.ended);
        let live = unended(folder, &self.run).into_iter().flat_map(|Unended { task, stdout, stderr }| {
            [(task.clone(), Stream::Stdout, stdout), (task, Stream::Stderr, stderr)]
        });
        let live: Vec<_> = live.collect();
        let mut updates = Vec::new();
        for (task, stream, slice) in ended {
            updates.extend(self.rest(folder, &slice, true).map(|rest| rest.of(task, stream)));
        }
        for (task, stream, slice) in live {
            updates.extend(self.rest(folder, &slice, false).map(|rest| rest.of(task, stream)));
        }
        updates
    }

    /// What of an output was not read yet; `all`: no more will come.
    fn rest(&mut self, folder: &RunFolder, slice: &OutputSlice, all: bool) -> Option<Rest> {
        let read = self.read.entry((slice.file.clone(), slice.start)).or_default();
        let start = slice.len.saturating_sub(MOST).max(*read);
        let missed = start - *read;
        let bytes = read_slice(folder, slice, Range { start, end: slice.len }).ok()?;
        // A character of which a part has come is left for the next look.
        let whole = match std::str::from_utf8(&bytes) {
            Err(error) if error.error_len().is_none() && !all => error.valid_up_to(),
            Ok(_) | Err(_) => bytes.len(),
        };
        if whole == 0 {
            return None;
        }
        *read = start + whole as u64;
        let text = String::from_utf8_lossy(&bytes[..whole]).into_owned();
        Some(Rest { text, missed })
    }
}

/// What of an output was not read yet.
struct Rest {
    text: String,
    missed: u64,
}

impl Rest {
    fn of(self, task: Address, stream: Stream) -> Update {
        Update::Output { task, stream, text: self.text, missed: self.missed }
    }
}

#[cfg(test)]
#[path = "outputs_tests.rs"]
mod tests;
