//! Attempts on this machine: the steps that all kinds have in common, and what is special to each.
//!
//! | file | what |
//! |---|---|
//! | `frame` | the steps: tree, folder, setup, work, what is expected at the end |
//! | `host`, `site` | what attempts of a run share here; where one of them works |
//! | `command`, `setup`, `judge`, `artifacts` | the steps one by one |
//! | `kind` | the kinds, and the table of them |

mod artifacts;
mod command;
mod frame;
mod host;
mod judge;
mod kind;
mod setup;
mod site;

pub use host::Host;
