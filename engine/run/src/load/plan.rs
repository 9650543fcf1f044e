//! Finding the plan that a person names: by path, or by the name of a workflow.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::diagnostic::{Code, Diagnostic, SourceFile};
use flow_core::syntax::{PLAN_LIMIT, source_text};
use flow_core::text::{did_you_mean, list_some};

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
    let mut names = files_in(&folder, &["yaml", "yml"]);
    names.iter_mut().for_each(|name| name.truncate(name.rfind('.').unwrap_or(name.len())));
    names.extend(shipped.iter().map(|workflow| workflow.name.to_owned()));
    names.extend(files_in(&project.here, &["yaml", "yml"]));
    Err(finding(Code::Unreadable, format!("no plan `{given}`: neither a file nor a workflow of that name"))
        .help(match did_you_mean(given, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => {
                format!(
                    "name a YAML file, or put the plan at `{}`",
                    project.show(&folder.join(given)) + ".yaml"
                )
            }
            None => format!("there are {}", list_some(names.iter().map(String::as_str), 8)),
        }))
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
