//! What makes a private tree: which keys it takes, how it comes home, what prepares it.

use std::sync::Arc;

use super::findings::Findings;
use super::include;
use super::scope::{Scope, Spot};
use super::shape::Shape;
use super::templates;
use super::words::{MERGES, literal};
use crate::diagnostic::{Code, Span};
use crate::model::{Isolation, Merge};
use crate::plan::{Preparation, SetupCommand};
use crate::template::{Script, Template};

/// How a tree of that kind comes home; what `defaults` say is for the tasks that can.
pub(super) fn merge_of(isolation: Isolation, merge: Merge) -> Merge {
    match isolation {
        Isolation::None | Isolation::Fork => Merge::None,
        Isolation::Worktree => merge,
        Isolation::Copy if needs_branch(merge) => Merge::None,
        Isolation::Copy => merge,
    }
}

fn needs_branch(merge: Merge) -> bool {
    match merge {
        Merge::None | Merge::Patch | Merge::Apply => false,
        Merge::Branch | Merge::Squash | Merge::CherryPick => true,
    }
}

/// Reports keys that the task's tree doesn't take.
pub(super) fn check_keys(
    shape: &Shape<'_>,
    conflict: &mut impl FnMut(&str, String, Option<(Span, &str)>, &str),
) {
    let (own, id) = (shape.keys.own, &shape.id.value);
    if shape.faulty {
        return;
    }
    let merge = own.merge.as_ref().filter(|merge| merge.value != "none");
    match shape.isolation {
        Isolation::Worktree => {}
        Isolation::None | Isolation::Fork => {
            if own.base.is_some() {
                let message = format!("`base` is where a private tree starts, and `{id}` has none");
                conflict("base", message, None, "add `isolation: worktree`");
            }
            if merge.is_some() {
                let message = format!("`merge` brings a private tree home, and `{id}` has none");
                conflict("merge", message, None, "add `isolation: worktree`");
            }
            for key in ["setup", "include"] {
                if shape.keys.written(key).is_some() {
                    let message = format!("`{key}` prepares a private tree, and `{id}` has none");
                    conflict(key, message, None, "add `isolation: worktree` or `isolation: copy`");
                }
            }
        }
        Isolation::Copy => {
            if own.base.is_some() {
                let message = format!("`base` is a commit, and `{id}` starts from the tree as it is");
                conflict("base", message, None, "take `base` away, or write `isolation: worktree`");
            }
            let by_branch =
                |word: &str| MERGES.iter().any(|(name, merge)| *name == word && needs_branch(*merge));
            if let Some(merge) = merge.filter(|merge| by_branch(&merge.value)) {
                let message = format!("`merge: {}` needs a branch, and `{id}` works in a copy", merge.value);
                conflict("merge", message, None, "write `patch` or `apply`, or `isolation: worktree`");
            }
        }
    }
}

/// Reports a `dir` that is seen to lead out of the task's own tree; one with holes, or behind a link, is refused when it is
/// known.
pub(super) fn check_dir(findings: &mut Findings, shape: &Shape<'_>, depth: impl FnOnce() -> usize) {
    let dir = shape.keys.get(|keys| &keys.dir).filter(|dir| !dir.value.contains("${"));
    let Some(dir) = dir.filter(|_| shape.isolation.is_private()) else { return };
    let steps = dir.value.split('/').filter(|part| !matches!(*part, "" | "."));
    let up = steps.take_while(|part| *part == "..").count();
    let absolute = dir.value.starts_with('/');
    if !absolute && (up == 0 || up <= depth()) {
        return;
    }
    let message =
        format!("`dir: {}` leads out of the tree that `{}` has of its own", dir.value, shape.id.value);
    let help = match absolute {
        true => "write a path relative to the project root, which is looked for in the task's tree",
        false => "write a path that stays in the repository, or take `isolation` away",
    };
    findings.push(findings.at(Code::BadValue, dir.span, message).help(help));
}

/// Reads `merge.message`. One from `defaults` belongs to the `merge` of `defaults`, which a task's own replaces whole.
pub(super) fn message<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    shape: &Shape<'a>,
) -> Option<Option<Template>> {
    let keys = if shape.keys.own.merge.is_some() { shape.keys.own } else { shape.keys.defaults };
    let written = keys.merge_message.as_ref()?;
    if let Merge::Apply | Merge::Patch = shape.merge {
        let message =
            format!("`message` is that of a commit, and `merge: {}` makes none", shape.merge.as_str());
        let finding = findings.at(Code::KeyConflict, written.span, message);
        findings.push(finding.help("take it away, or write `how: squash`, `cherry_pick` or `branch`"));
    }
    if written.value.trim().is_empty() {
        let finding = findings.at(Code::BadValue, written.span, "`merge.message` is empty");
        findings.push(finding.help("say what the commit does, or take the key away"));
    }
    let read = templates::text(findings, scope, Spot::Attempt, written);
    shape.isolation.is_private().then_some(read)
}

/// Reads `include` and `setup`, those of flow.toml before the task's. `None`: there is nothing to prepare.
pub(super) fn preparation<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    shape: &Shape<'a>,
) -> Option<Option<Preparation>> {
    let (keys, settings) = (shape.keys, scope.world.settings);
    let shell = Arc::clone(&scope.world.shell);
    let command = |script: Script| SetupCommand { shell: Arc::clone(&shell), script };
    let mut setup: Vec<Option<SetupCommand>> =
        settings.worktrees_setup.iter().map(|text| Some(command(Script::plain(text)))).collect();
    for text in keys.get(|keys| &keys.setup).map(Vec::as_slice).unwrap_or_default() {
        setup.push(templates::script(findings, scope, &shell, text).map(command));
    }
    let written = keys.get(|keys| &keys.include).map(Vec::as_slice).unwrap_or_default();
    let mut include = settings.worktrees_include.clone();
    let mut before = !include.is_empty();
    for pattern in written {
        if !literal(findings, "include", pattern) {
            continue;
        }
        if let Some((message, help)) =
            include::in_vain(&pattern.value, before, |path| scope.world.place.exists(path))
        {
            findings.push(findings.at(Code::Suspicious, pattern.span, message).help(help));
        }
        before = true;
        include.push(pattern.value.clone());
    }
    let nothing = setup.is_empty() && include.is_empty();
    if nothing || !shape.isolation.is_private() {
        return None;
    }
    Some(setup.into_iter().collect::<Option<Vec<_>>>().map(|setup| Preparation { include, setup }))
}

#[cfg(test)]
#[path = "private_tree_tests.rs"]
mod tests;
