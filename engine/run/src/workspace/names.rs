//! What the trees of a run are called.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use flow_core::ids::{Address, Attempt};
use flow_core::text::branch_name;

use super::WorkspaceError;

/// How many tasks of a run may be called alike.
const MOST: u32 = 1000;

/// The names that tasks of a run have. One that can be read can't be told apart from all others by itself.
#[derive(Debug, Default)]
pub(super) struct Names(Mutex<HashMap<String, Address>>);

impl Names {
    /// Makes a tree under the name of a task: the first one that no other task of the run has. What is there already is
    /// never taken over: where the name is but one like the address, the next is tried.
    pub(super) fn under<T>(
        &self,
        address: &Address,
        attempt: Attempt,
        mut make: impl FnMut(&str) -> Result<T, WorkspaceError>,
    ) -> Result<T, WorkspaceError> {
        let plain = branch_name(address.as_str());
        let is_own = plain == address.as_str();
        let mut number = 1;
        loop {
            let name = if number == 1 { plain.clone() } else { format!("{plain}-{number}") };
            if self.claim(&name, address) {
                match make(&format!("{name}.{attempt}")) {
                    Err(WorkspaceError::Exists { .. }) if !is_own && number < MOST => {}
                    made => return made,
                }
            }
            number += 1;
        }
    }

    fn claim(&self, name: &str, address: &Address) -> bool {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.entry(name.to_owned()).or_insert_with(|| address.clone()) == address
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
