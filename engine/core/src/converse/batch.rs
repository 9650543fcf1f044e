//! The calls of one turn that are made: who may run now, and whether all have come back.

use super::{Call, CallResult};
use crate::model::ToolClass;

/// The most bytes of one result.
const MOST: usize = 100 * 1024;

/// The calls of a turn in the order in which the model made them.
#[derive(Debug)]
pub(super) struct Batch {
    slots: Vec<Slot>,
    readers_at_once: usize,
}

#[derive(Debug)]
struct Slot {
    id: String,
    state: State,
}

#[derive(Debug)]
enum State {
    Waiting(Call, ToolClass),
    Running(ToolClass),
    Done,
}

impl Batch {
    pub(super) fn new(readers_at_once: u32) -> Self {
        Batch { slots: Vec::new(), readers_at_once: (readers_at_once as usize).max(1) }
    }

    /// Adds a call that is to be made.
    pub(super) fn add(&mut self, call: Call, class: ToolClass) {
        self.slots.push(Slot { id: call.id.clone(), state: State::Waiting(call, class) });
    }

    /// Takes out the calls that may run now.
    pub(super) fn start(&mut self) -> Vec<Call> {
        let mut started = Vec::new();
        let running = |slot: &&Slot| matches!(slot.state, State::Running(_));
        let mut open = self.slots.iter().filter(running).count();
        for slot in &mut self.slots {
            match &slot.state {
                State::Done | State::Running(ToolClass::Reader) => continue,
                State::Running(ToolClass::Writer) => break,
                State::Waiting(_, class) => {
                    let class = *class;
                    let room = match class {
                        ToolClass::Reader => self.readers_at_once,
                        ToolClass::Writer => 1,
                    };
                    if open >= room {
                        break;
                    }
                    open += 1;
                    if let State::Waiting(call, _) = std::mem::replace(&mut slot.state, State::Running(class))
                    {
                        started.push(call);
                    }
                    if class == ToolClass::Writer {
                        break;
                    }
                }
            }
        }
        started
    }

    /// Notes that a call has come back; whether it is one that was running.
    pub(super) fn returned(&mut self, id: &str) -> bool {
        let running = |slot: &&mut Slot| slot.id == id && matches!(slot.state, State::Running(_));
        let found = self.slots.iter_mut().find(running).map(|slot| slot.state = State::Done);
        found.is_some()
    }

    /// Whether all have come back.
    pub(super) fn is_done(&self) -> bool {
        self.slots.iter().all(|slot| matches!(slot.state, State::Done))
    }
}

/// The result with at most [`MOST`] bytes; a cut says how much there was.
pub(super) fn bounded(mut result: CallResult) -> CallResult {
    const ROOM: usize = 80;
    let length = result.content.len();
    if length > MOST {
        let boundary = |at: &usize| result.content.is_char_boundary(*at);
        let kept = (0..=MOST - ROOM).rfind(boundary).unwrap_or(0);
        result.content.truncate(kept);
        result.content.push_str(&format!("\n[cut: the first {kept} of {length} bytes]"));
    }
    result
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
