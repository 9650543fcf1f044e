//! The run report and the notifications: folds over the journal, and the formats they are written in.
//!
//! 1. A report is a function of the journal's entries: the same for a live run, a finished one and one read back later.
//! 2. Every launch of a started task has exactly one notification, once it has ended. Retries belong to one launch; what
//!    a resume runs again is another.
//! 3. No text of a task can end the element, the cell or the fence that it stands in.

mod brief;
mod by_hand;
mod cause;
mod denied;
#[cfg(test)]
mod docs_tests;
mod fold;
mod format;
mod github;
mod json;
mod junit;
mod markdown;
mod markdown_quote;
mod md;
mod md_failures;
mod md_graph;
mod md_left_out;
mod md_tasks;
mod md_values;
mod md_work;
mod next;
mod notifications;
mod run_report;
mod status;
#[cfg(test)]
pub(crate) mod testing;

pub use by_hand::by_hand;
pub use cause::EndedBy;
pub use denied::denied_lines;
pub use fold::Fold;
pub use format::{Format, Manifest, Texts};
pub use github::{data as github_data, outputs as github_outputs, property as github_property};
pub use md::page_within;
pub use next::next_steps;
pub use notifications::notification;
pub use run_report::{AttemptReport, BranchStart, LaunchReport, MadeTree, Need, RunReport, TaskReport};
pub use status::{Screen, elapsed, status_page, task_elapsed};

/// Every format.
pub const FORMATS: &[Format] =
    &[json::FORMAT, md::FORMAT, notifications::FORMAT, junit::FORMAT, github::FORMAT];
