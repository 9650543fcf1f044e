//! What the engine has to say, in words.

use flow_core::ids::Address;
use flow_core::text::list_some;
use flow_run::engine::{Notice, TreeLeft};

use super::{diagnostics, in_brief, note, program, warning};

/// Says a notice.
pub fn notice(notice: &Notice) {
    match notice {
        Notice::Plan { plan, findings } | Notice::Models { plan, findings } => in_brief(findings, plan),
        Notice::Settings { findings } => diagnostics(findings),
        Notice::Reconciled { run, ended, trees, torn } => {
            let ended = ended.then(|| "what it left running was ended".to_owned());
            let torn =
                torn.map(|bytes| format!("the journal's last line ({bytes} bytes) was torn and is cut off"));
            let said: Vec<String> = ended.into_iter().chain(trees.iter().map(tree)).chain(torn).collect();
            let said = if said.is_empty() { "nothing of it was left".to_owned() } else { said.join("; ") };
            let flow = program();
            note(&format!("the engine of run {run} died: {said}; go on with `{flow} resume {run}`"));
        }
        Notice::NotReconciled { run, why } => {
            warning(&format!("what run {run} left behind can't be looked at: {why}"));
        }
        Notice::TornJournal { bytes } => {
            warning(&format!("the journal's last line ({bytes} bytes) was torn and is cut off"));
        }
        Notice::Complete { run } => note(&format!("run {run} is complete; nothing is left to do")),
        Notice::OutputLost { why, runs_again: true, .. } => warning(&format!("{why}; it runs again")),
        Notice::OutputLost { run, task, why, runs_again: false } => {
            let retry = format!("{} retry {run} {task}", program());
            warning(&format!("{why}; it does not run twice by itself, `{retry}` runs it again"));
        }
        Notice::Resuming { run, epoch, lost, given_up, reset } => {
            let mut said = format!("resuming {run} (epoch {epoch})");
            said.push_str(&named("lost with the last engine", lost));
            said.push_str(&named("lost and not run twice", given_up));
            said.push_str(&named("to run", reset));
            note(&said);
        }
        // A person who has mended the plan expects that to count.
        Notice::Changed { files } => {
            let names = list_some(files.iter().map(String::as_str), 4);
            warning(&format!(
                "changed since the run began: {names}; this run goes on with what it began with, `flow run` takes the change"
            ));
        }
        Notice::MergeUndone { what } => {
            note(&format!("what the last engine had half merged was undone: {what}"));
        }
        Notice::CantFollow { why } => {
            warning(&format!("processes that leave their group can't be followed: {why}"));
        }
    }
}

fn tree(left: &TreeLeft) -> String {
    match left {
        TreeLeft::OnBranch { task, branch } => format!("what `{task}` had done is on branch {branch}"),
        TreeLeft::Removed { task } => format!("the tree of `{task}` was removed"),
        TreeLeft::Stays { task, path, why } => format!("the tree of `{task}` stays in {path}: {why}"),
    }
}

/// `; what: a, b`, where there are some.
fn named(what: &str, tasks: &[Address]) -> String {
    match tasks {
        [] => String::new(),
        tasks => format!("; {what}: {}", list_some(tasks.iter().map(Address::as_str), 8)),
    }
}
