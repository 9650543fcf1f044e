//! What templates can know of the process and the repository.

use std::path::Path;

use flow_core::values::GitFacts;
use indexmap::IndexMap;

/// The process environment; variables that are no text are left out, since no template could show them.
pub fn process_facts() -> IndexMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The repository around a folder; nothing where there is none.
pub fn git_facts(root: &Path) -> GitFacts {
    let Ok(repository) = git2::Repository::discover(root) else { return GitFacts::default() };
    let head = repository.head().ok();
    let commit = head.as_ref().and_then(|head| head.peel_to_commit().ok()).map(|commit| commit.id());
    let branch = head
        .as_ref()
        .filter(|head| head.is_branch())
        .and_then(|head| head.shorthand().ok().map(str::to_owned));
    let tag = commit.and_then(|commit| {
        let mut found = Vec::new();
        let _ = repository.tag_foreach(|id, name| {
            let points = repository.find_object(id, None).and_then(|object| object.peel_to_commit());
            if points.is_ok_and(|target| target.id() == commit)
                && let Some(name) =
                    std::str::from_utf8(name).ok().and_then(|name| name.strip_prefix("refs/tags/"))
            {
                found.push(name.to_owned());
            }
            true
        });
        found.sort();
        found.into_iter().next()
    });
    let mut options = git2::StatusOptions::new();
    options.include_untracked(false).include_ignored(false);
    let dirty = repository.statuses(Some(&mut options)).is_ok_and(|statuses| !statuses.is_empty());
    GitFacts {
        root: repository.workdir().map(|dir| dir.display().to_string().trim_end_matches('/').to_owned()),
        branch,
        commit: commit.map(|commit| commit.to_string()),
        tag,
        dirty,
    }
}
