//! Finding agent files, in the order in which later ones replace earlier ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::compile::AgentText;
use flow_core::diagnostic::{Diagnostic, SourceFile, Span};
use flow_core::model::AgentSource;
use flow_core::syntax::AGENT_LIMIT;

use super::agents_flag::from_flag;
use super::dirs::Dirs;
use super::project::Project;
use super::read::{files_in, read_source};
use super::shipped::AGENTS;

/// What was found.
#[derive(Debug, Default)]
pub struct FoundAgents {
    /// The files, weakest first.
    pub texts: Vec<AgentText>,
    /// The folders that were looked in, as a person would write them.
    pub searched: Vec<String>,
    /// What ends the command: a policy or a flag that can't be read.
    pub findings: Vec<Diagnostic>,
}

/// The folders of a project level, weakest first.
const PROJECT_FOLDERS: &[&str] = &[".claude/agents", ".flow/agents", "agents"];

/// How deep a folder of agents is searched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Its own files.
    Flat,
    /// Files of its subfolders too, as Claude Code does.
    Deep,
}

/// The most levels of subfolders.
const DEEPEST: usize = 8;

/// Finds every agent file that a plan of the folder `plan_dir` can use: built in, the person's, the project's, those of
/// `--agents` (files, folders or JSON), the machine's policy.
pub fn find_agents(project: &Project, plan_dir: &Path, dirs: &Dirs, flags: &[String]) -> FoundAgents {
    let mut search = Search { project, seen: Vec::new(), found: FoundAgents::default() };
    for agent in AGENTS {
        let file = Arc::new(SourceFile::new(format!("built-in/{}", agent.name), agent.text));
        search.found.texts.push(AgentText::new(AgentSource::BuiltIn, "built-in", file));
    }
    for folder in dirs.user_agents() {
        search.folder(AgentSource::User, &folder);
    }
    for level in project.agent_levels(plan_dir) {
        for name in PROJECT_FOLDERS {
            let folder = level.join(name);
            if level == project.root && !folder.is_dir() {
                // Where the person could have put one, even when there is no such folder yet.
                search.found.searched.push(project.show(&folder));
            }
            search.folder(AgentSource::Project, &folder);
        }
    }
    for flag in flags {
        match from_flag(project, flag) {
            Ok(texts) => search.found.texts.extend(texts),
            Err(findings) => search.found.findings.extend(findings),
        }
    }
    if let Some(policy) = &dirs.policy {
        search.folder(AgentSource::Policy, &policy.join("agents"));
    }
    search.found
}

struct Search<'a> {
    project: &'a Project,
    seen: Vec<PathBuf>,
    found: FoundAgents,
}

impl Search<'_> {
    fn folder(&mut self, source: AgentSource, folder: &Path) {
        let Ok(whole) = folder.canonicalize() else {
            return;
        };
        if !whole.is_dir() {
            return;
        }
        // The project may be the person's home: its agents stay theirs. A policy is read whatever else it is.
        if self.seen.contains(&whole) && source != AgentSource::Policy {
            return;
        }
        self.seen.push(whole);
        let depth = if folder.ends_with(".claude/agents") { Depth::Deep } else { Depth::Flat };
        self.found.searched.push(self.project.show(folder));
        let texts = read_folder(self.project, source, folder, depth);
        if source == AgentSource::Policy {
            // Which agents it should have ruled over can't be known, so none may run.
            self.found.findings.extend(texts.iter().filter_map(|text| text.unreadable.clone()));
        }
        self.found.texts.extend(texts);
    }
}

/// Reads the agent files of a folder that `--agents` names.
pub(super) fn read_flag_folder(project: &Project, folder: &Path) -> Vec<AgentText> {
    read_folder(project, AgentSource::Flag, folder, Depth::Flat)
}

/// Reads the agent files of a folder and of its subfolders.
pub(super) fn read_deep(project: &Project, folder: &Path) -> Vec<AgentText> {
    read_folder(project, AgentSource::Flag, folder, Depth::Deep)
}

impl Project {
    /// The folders of its root that hold agents.
    pub fn agent_folders(&self) -> impl Iterator<Item = PathBuf> {
        PROJECT_FOLDERS.iter().map(|name| self.root.join(name)).filter(|folder| folder.is_dir())
    }
}

fn read_folder(project: &Project, source: AgentSource, folder: &Path, depth: Depth) -> Vec<AgentText> {
    let mut paths = Vec::new();
    collect(folder, if depth == Depth::Deep { DEEPEST } else { 0 }, &mut paths);
    let shown = project.show(folder);
    let read = |path: PathBuf| {
        let name = project.show(&path);
        let (file, unreadable) = match read_source(&path, AGENT_LIMIT, &name) {
            Ok(file) => (file, None),
            Err(finding) => {
                let file = Arc::new(SourceFile::new(name, ""));
                let at_file = |finding: Diagnostic| match finding.labels.is_empty() {
                    true => finding.label(&file, Span::default(), ""),
                    false => finding,
                };
                (Arc::clone(&file), Some(at_file(finding)))
            }
        };
        AgentText { unreadable, ..AgentText::new(source, &*shown, file) }
    };
    paths.into_iter().map(read).collect()
}

/// The Markdown files of a folder by name, then those of its subfolders. Links to folders are not followed, since they can
/// lead in circles.
fn collect(folder: &Path, deeper: usize, paths: &mut Vec<PathBuf>) {
    let is_folder = |path: &PathBuf| path.is_dir();
    paths.extend(
        files_in(folder, &["md"]).into_iter().map(|name| folder.join(name)).filter(|path| !is_folder(path)),
    );
    if deeper == 0 {
        return;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    for folder in folders {
        collect(&folder, deeper - 1, paths);
    }
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
