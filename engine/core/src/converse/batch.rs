//! The calls of one turn: who may run now, and what came of each.

use super::{Call, CallResult};
use crate::model::{ToolClass, tool};
use crate::wire::Block;

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
    Waiting(Call),
    Running(ToolClass),
    Done(CallResult),
}

impl Batch {
    pub(super) fn new(readers_at_once: u32) -> Self {
        Batch { slots: Vec::new(), readers_at_once: (readers_at_once as usize).max(1) }
    }

    /// Adds a call that is to be made.
    pub(super) fn add(&mut self, call: Call) {
        self.slots.push(Slot { id: call.id.clone(), state: State::Waiting(call) });
    }

    /// Adds a call whose result is known without making it.
    pub(super) fn add_done(&mut self, id: &str, result: CallResult) {
        self.slots.push(Slot { id: id.to_owned(), state: State::Done(bounded(result)) });
    }

    /// Takes out the calls that may run now.
    pub(super) fn start(&mut self) -> Vec<Call> {
        let mut started = Vec::new();
        let running = |slot: &&Slot| matches!(slot.state, State::Running(_));
        let mut open = self.slots.iter().filter(running).count();
        for slot in &mut self.slots {
            match &slot.state {
                State::Done(_) | State::Running(ToolClass::Reader) => continue,
                State::Running(ToolClass::Writer) => break,
                State::Waiting(call) => {
                    let class = class_of(&call.tool);
                    let room = match class {
                        ToolClass::Reader => self.readers_at_once,
                        ToolClass::Writer => 1,
                    };
                    if open >= room {
                        break;
                    }
                    open += 1;
                    if let State::Waiting(call) = std::mem::replace(&mut slot.state, State::Running(class)) {
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

    /// Takes the result of a running call; one of any other call is dropped.
    pub(super) fn returned(&mut self, id: &str, result: CallResult) {
        let running = |slot: &&mut Slot| slot.id == id && matches!(slot.state, State::Running(_));
        if let Some(slot) = self.slots.iter_mut().find(running) {
            slot.state = State::Done(bounded(result));
        }
    }

    /// All results in the order of the calls, once there are all.
    pub(super) fn results(&mut self) -> Option<Vec<Block>> {
        if self.slots.iter().any(|slot| !matches!(slot.state, State::Done(_))) {
            return None;
        }
        let blocks = std::mem::take(&mut self.slots).into_iter().filter_map(|slot| match slot.state {
            State::Done(CallResult { content, is_error }) => {
                Some(Block::ToolResult { tool_use_id: slot.id, content, is_error })
            }
            State::Waiting(_) | State::Running(_) => None,
        });
        Some(blocks.collect())
    }
}

/// What is not known to only look may change something.
fn class_of(name: &str) -> ToolClass {
    tool(name).map_or(ToolClass::Writer, |tool| tool.class)
}

/// The result with at most [`MOST`] bytes; a cut says how much there was.
fn bounded(mut result: CallResult) -> CallResult {
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
