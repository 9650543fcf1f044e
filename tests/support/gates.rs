//! Places at which requests stop: until a test lets them go, or until enough of them stand there.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex};

/// All places of one server, by name; one that nobody has spoken of yet is closed.
#[derive(Default)]
pub struct Gates {
    gates: Mutex<HashMap<String, Gate>>,
    moved: Condvar,
}

#[derive(Default)]
struct Gate {
    /// How many have come, those who went on included.
    came: usize,
    waiting: usize,
    end: Option<End>,
}

#[derive(Clone, Copy)]
enum End {
    Opened,
    GivenUp,
}

impl Gates {
    /// Stops at a place until it is open; with a number it opens itself once so many have come. Says whether it was opened,
    /// and not given up.
    pub fn pass(&self, name: &str, opens_with: Option<usize>) -> bool {
        let mut gates = self.gates.lock().unwrap();
        let gate = gates.entry(name.to_owned()).or_default();
        gate.came += 1;
        gate.waiting += 1;
        if gate.end.is_none() && opens_with.is_some_and(|enough| gate.came >= enough) {
            gate.end = Some(End::Opened);
        }
        self.moved.notify_all();
        let mut gates = self.moved.wait_while(gates, |gates| gates[name].end.is_none()).unwrap();
        let gate = gates.get_mut(name).unwrap();
        gate.waiting -= 1;
        matches!(gate.end, Some(End::Opened))
    }

    /// How many stand there.
    pub fn waiting(&self, name: &str) -> usize {
        self.gates.lock().unwrap().get(name).map_or(0, |gate| gate.waiting)
    }

    /// Opens a place for good.
    pub fn open(&self, name: &str) {
        self.end(name, End::Opened);
    }

    /// Sends away all who stand there or come later. Gives how many stood there.
    pub fn give_up(&self, name: &str) -> usize {
        self.end(name, End::GivenUp)
    }

    fn end(&self, name: &str, end: End) -> usize {
        let mut gates = self.gates.lock().unwrap();
        let gate = gates.entry(name.to_owned()).or_default();
        gate.end = Some(end);
        self.moved.notify_all();
        gate.waiting
    }
}
