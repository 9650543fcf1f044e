//! Finding the layers of `flow.toml`.

use std::path::{Path, PathBuf};

use flow_core::compile::SettingsText;
use flow_core::diagnostic::Diagnostic;
use flow_core::model::SettingsLayer;
use flow_core::syntax::AGENT_LIMIT;

use super::dirs::Dirs;
use super::project::Project;
use super::read::read_source;

/// Reads the layers that are there, weakest first: the person's, the project's from the root down to the plan's folder,
/// the machine's policy. Files that can't be read are findings.
pub fn find_settings(
    project: &Project,
    plan_dir: &Path,
    dirs: &Dirs,
) -> (Vec<SettingsText>, Vec<Diagnostic>) {
    let mut places: Vec<(SettingsLayer, PathBuf)> = Vec::new();
    places.extend(dirs.user_settings().map(|path| (SettingsLayer::User, path)));
    let levels = project.levels(plan_dir).into_iter();
    places.extend(levels.map(|folder| (SettingsLayer::Repository, folder.join("flow.toml"))));
    places.extend(dirs.policy.iter().map(|folder| (SettingsLayer::Policy, folder.join("flow.toml"))));

    let (mut texts, mut findings, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for (layer, path) in places {
        // A link to nowhere is read, so that it is reported and not silently absent.
        if path.symlink_metadata().is_err() {
            continue;
        }
        // A project in the person's own configuration folder must not turn their settings into a repository's.
        if let Ok(whole) = path.canonicalize() {
            if layer == SettingsLayer::Repository && seen.contains(&whole) {
                continue;
            }
            seen.push(whole);
        }
        match read_source(&path, AGENT_LIMIT, &project.show(&path)) {
            Ok(file) => {
                let dir = path.parent().unwrap_or(Path::new(".")).display().to_string();
                texts.push(SettingsText { layer, dir, file });
            }
            Err(finding) => findings.push(finding),
        }
    }
    (texts, findings)
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
