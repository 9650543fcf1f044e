//! What the report for people says of work that is in no tree, and of what trees held that no merge brings home.

use std::fmt::Write as _;

use super::markdown::code;
use super::run_report::RunReport;
use crate::model::WorktreeOutcome;

// Writing to a string can't fail, so the results of `write!` are dropped in this file.

/// What was in no tree, and what trees had that came home by no merge; what is the same for several tasks stands once.
pub(super) fn left_out(out: &mut String, report: &RunReport) {
    let tasks = report.rows();
    // Of what an earlier attempt left nobody asks any more.
    let all: Vec<(String, &WorktreeOutcome)> = tasks
        .filter_map(|task| Some((code(task.address.as_str()), task.attempts.last()?.worktree.as_ref()?)))
        .collect();
    let mut lacked: Vec<(&[String], u32, Vec<&str>)> = Vec::new();
    for (name, tree) in all.iter().filter(|(_, tree)| !tree.lacked.is_empty()) {
        match lacked.iter_mut().find(|(names, ..)| *names == tree.lacked) {
            Some((.., tasks)) => tasks.push(name),
            None => lacked.push((&tree.lacked, tree.uncommitted, vec![name])),
        }
    }
    let ignored: Vec<String> = all
        .iter()
        .filter(|(_, tree)| tree.ignored > 0)
        .map(|(name, tree)| format!("{} by {name}", tree.ignored))
        .collect();
    let undelivered: Vec<_> = all.iter().filter(|(_, tree)| !tree.undelivered.is_empty()).collect();
    if lacked.is_empty() && ignored.is_empty() && undelivered.is_empty() {
        return;
    }
    out.push('\n');
    for (names, uncommitted, tasks) in lacked {
        let count = if uncommitted > 0 { format!("{uncommitted} ") } else { String::new() };
        let names: Vec<String> = names.iter().map(|path| code(path)).collect();
        let whose = match tasks.len() {
            0..=4 => tasks.join(", "),
            many => format!("{many} tasks"),
        };
        let _ = writeln!(
            out,
            "- uncommitted: {count}of the checkout, not in the tree of {whose}: {}",
            names.join(", ")
        );
    }
    if !ignored.is_empty() {
        let _ = writeln!(out, "- ignored: files that git ignores, left behind: {}", ignored.join(", "));
    }
    for (name, tree) in undelivered {
        let names: Vec<String> = tree.undelivered.iter().map(|path| code(path)).collect();
        let path = code(tree.path.as_deref().unwrap_or_default());
        let _ = writeln!(
            out,
            "- not delivered: {} of {name}, a repository of its own, which no commit can hold; it is in {path}",
            names.join(", ")
        );
    }
}
