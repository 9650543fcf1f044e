//! Attempts on this machine: the steps that all kinds have in common, and what is special to each.
//!
//! | file | what |
//! |---|---|
//! | `frame` | the steps: tree, folder, setup, work, what is expected at the end |
//! | `host`, `site` | what attempts of a run share here; where one of them works |
//! | `command`, `setup`, `judge`, `artifacts` | the steps one by one |
//! | `shell`, `agent`; `executors` | the kinds, and the table of them |

mod agent;
mod artifacts;
mod command;
mod executors;
mod frame;
mod host;
mod judge;
mod setup;
mod shell;
mod site;

pub use host::Host;
