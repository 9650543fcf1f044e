//! Commits of a branch done again on top of another, in the object store alone: nothing of a checkout changes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use flow_core::model::ConflictKind;
use git2::{Commit, Oid, Signature};

use super::landing::Conflicts;

/// The last commit and all that were made; or what doesn't fit together.
pub(super) type Picked = Result<(Oid, Vec<Oid>), Conflicts>;

/// All that was done from a start to a tip as one commit on top of another. Its message is made of the subjects of what
/// it stands for.
pub(super) fn squash(
    repository: &git2::Repository,
    onto: Oid,
    (start, tip): (Oid, Oid),
    who: &Signature<'_>,
    message: &dyn Fn(&[String]) -> String,
) -> Result<Picked, git2::Error> {
    let (base, ours) = (repository.find_commit(start)?, repository.find_commit(onto)?);
    let merged = match merge(repository, Some(&base), &ours, &repository.find_commit(tip)?)? {
        Ok(merged) => merged,
        Err(conflicts) => return Ok(Err(conflicts)),
    };
    if merged == ours.tree_id() {
        return Ok(Ok((onto, Vec::new())));
    }
    let mut subjects = Vec::new();
    for commit in line(repository, start, tip)? {
        let commit = repository.find_commit(commit)?;
        subjects.push(String::from_utf8_lossy(commit.summary_bytes().unwrap_or_default()).into_owned());
    }
    let message = message(&subjects);
    let tree = repository.find_tree(merged)?;
    let made = repository.commit(None, who, who, &message, &tree, &[&ours])?;
    Ok(Ok((made, vec![made])))
}

/// Each commit of its own on top of another, with its author and message; those that change nothing are left out.
pub(super) fn pick(
    repository: &git2::Repository,
    onto: Oid,
    (start, tip): (Oid, Oid),
    who: &Signature<'_>,
) -> Result<Picked, git2::Error> {
    let (mut last, mut made) = (repository.find_commit(onto)?, Vec::new());
    for commit in line(repository, start, tip)? {
        let commit = repository.find_commit(commit)?;
        let merged = match merge(repository, commit.parent(0).ok().as_ref(), &last, &commit)? {
            Ok(merged) => merged,
            Err(conflicts) => return Ok(Err(conflicts)),
        };
        if merged == last.tree_id() {
            continue;
        }
        let message = String::from_utf8_lossy(commit.message_raw_bytes()).into_owned();
        let tree = repository.find_tree(merged)?;
        let new = repository.commit(None, &commit.author(), who, &message, &tree, &[&last])?;
        made.push(new);
        last = repository.find_commit(new)?;
    }
    Ok(Ok((last.id(), made)))
}

/// Commits from a start to a tip along first parents, oldest first: each change exactly once, merges included.
fn line(repository: &git2::Repository, start: Oid, tip: Oid) -> Result<Vec<Oid>, git2::Error> {
    let (mut commits, mut next) = (Vec::new(), Some(tip));
    while let Some(commit) = next {
        if commit == start || repository.graph_descendant_of(start, commit)? {
            break;
        }
        commits.push(commit);
        next = repository.find_commit(commit)?.parent_id(0).ok();
    }
    commits.reverse();
    Ok(commits)
}

/// The tree that results from doing to `ours` what was done from `base` to `theirs`.
fn merge(
    repository: &git2::Repository,
    base: Option<&Commit<'_>>,
    ours: &Commit<'_>,
    theirs: &Commit<'_>,
) -> Result<Result<Oid, Conflicts>, git2::Error> {
    let base = match base {
        Some(base) => base.tree()?,
        None => repository.find_tree(repository.treebuilder(None)?.write()?)?,
    };
    let mut index = repository.merge_trees(&base, &ours.tree()?, &theirs.tree()?, None)?;
    if !index.has_conflicts() {
        return Ok(Ok(index.write_tree_to(repository)?));
    }
    let mut paths = BTreeSet::new();
    for conflict in index.conflicts()? {
        let conflict = conflict?;
        let sides = [conflict.our, conflict.their, conflict.ancestor];
        paths.extend(sides.into_iter().flatten().next().map(|entry| entry.path));
    }
    let path = |bytes: &Vec<u8>| PathBuf::from(OsStr::from_bytes(bytes));
    Ok(Err(paths.iter().map(|bytes| (path(bytes), ConflictKind::Content)).collect()))
}
