//! Finding the plan that a person names: by path, or by the name of a workflow.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::diagnostic::{Code, Diagnostic, SourceFile};
use flow_core::syntax::{Entry, NodeKind, PLAN_LIMIT, parse_yaml, source_text};
use flow_core::text::{did_you_mean, file_stem, list_some};

use super::project::Project;
use super::read::{files_in, finding, read_source};
use super::shipped::{Shipped, WORKFLOWS};

/// A plan as it was found.
#[derive(Debug)]
pub struct PlanSource {
    /// Its text.
    pub file: Arc<SourceFile>,
    /// The folder that its paths are relative to, without symbolic links.
    pub dir: PathBuf,
}

/// Finds and reads a plan. A bare word is a file of the current folder, then `workflows/WORD.yaml` of the project, then a
/// workflow that flow ships; everything else is a path from the current folder.
pub fn find_plan(project: &Project, given: &str) -> Result<PlanSource, Diagnostic> {
    find_among(project, given, WORKFLOWS)
}

fn find_among(project: &Project, given: &str, shipped: &[Shipped]) -> Result<PlanSource, Diagnostic> {
    let path = project.here.join(given);
    let is_path =
        given.contains('/') || given.ends_with(".yaml") || given.ends_with(".yml") || path.is_file();
    if is_path || given.is_empty() {
        return read_plan(&path, given);
    }
    let folder = project.root.join("workflows");
    for extension in ["yaml", "yml"] {
        let path = folder.join(format!("{given}.{extension}"));
        if path.exists() {
            return read_plan(&path, &project.show(&path));
        }
    }
    if let Some(found) = shipped.iter().find(|workflow| workflow.name == given) {
        let file = source_text(format!("built-in/{given}.yaml"), found.text.into(), PLAN_LIMIT)?;
        return Ok(PlanSource { file, dir: project.root.clone() });
    }
    let mut names = own_plans(project);
    names.extend(shipped.iter().map(|workflow| workflow.name.to_owned()));
    let missing =
        finding(Code::Unreadable, format!("no plan `{given}`: neither a file nor a workflow of that name"));
    if let Some(file) = called(project, given) {
        return Err(missing.help(format!("`{given}` is what `{file}` calls itself; give its file")));
    }
    Err(missing.help(match did_you_mean(given, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => {
            format!("name a YAML file, or put the plan at `{}`", project.show(&folder.join(given)) + ".yaml")
        }
        None => format!("there are {}", list_some(names.iter().map(String::as_str), 8)),
    }))
}

/// The plans of the project as a person names them: those of the current folder, and of `workflows/` by name.
pub fn own_plans(project: &Project) -> Vec<String> {
    let mut names = plans_in(&project.here);
    for name in plans_in(&project.root.join("workflows")) {
        names.push(file_stem(&name).to_owned());
    }
    names
}

/// The names of the workflows that flow brings along.
pub fn shipped_plans() -> impl Iterator<Item = &'static str> {
    WORKFLOWS.iter().map(|workflow| workflow.name)
}

/// The plan of the current folder, or of `workflows/`, that has this `name`.
fn called(project: &Project, name: &str) -> Option<String> {
    let says_so = |entry: &Entry| {
        entry.key.as_str() == "name"
            && matches!(&entry.value.kind, NodeKind::Text { value, .. } if **value == *name)
    };
    [project.here.clone(), project.root.join("workflows")]
        .iter()
        .flat_map(|folder| plans_in(folder).into_iter().map(|file| folder.join(file)))
        .find(|path| entries(path).is_some_and(|entries| entries.iter().any(says_so)))
        .map(|path| project.show(&path))
}

/// The names of the plans in a folder, sorted.
pub(super) fn plans_in(folder: &Path) -> Vec<String> {
    let mut names = files_in(folder, &["yaml", "yml"]);
    names.retain(|name| is_plan(&folder.join(name)));
    names
}

/// Whether a YAML file says that it is a plan: repositories are full of others.
fn is_plan(path: &Path) -> bool {
    match entries(path) {
        Some(entries) => entries.iter().any(|entry| entry.key.as_str() == "flow"),
        // It may be one all the same, with a mistake that `flow check` explains.
        None => read_source(path, PLAN_LIMIT, "")
            .is_ok_and(|file| file.text.lines().any(|line| line.starts_with("flow:"))),
    }
}

/// The keys and values of a file that is a mapping.
fn entries(path: &Path) -> Option<Box<[Entry]>> {
    let node = parse_yaml(&read_source(path, PLAN_LIMIT, "").ok()?).ok()?;
    match node.kind {
        NodeKind::Map(entries) => Some(entries),
        _ => None,
    }
}

fn read_plan(path: &Path, name: &str) -> Result<PlanSource, Diagnostic> {
    let file = read_source(path, PLAN_LIMIT, name)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let dir = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    Ok(PlanSource { file, dir })
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
