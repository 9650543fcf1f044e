//! What of the environment of flow no command may inherit.

/// Variables that lead git to another repository, index or object store than the one of the folder that it is called in.
/// Git sets them for its hooks, and hooks start runs.
const ELSEWHERE: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Settings that lead elsewhere as well, when they come by `GIT_CONFIG_KEY_…`.
const SETTINGS: &[&str] = &["core.worktree", "core.bare", "include.", "includeif.", "extensions."];

/// The names of those variables that redirect git. Who the person is and where their configuration stands are none.
pub fn redirecting<'v>(variables: impl Iterator<Item = (&'v str, &'v str)> + Clone) -> Vec<String> {
    let is_numbered = |name: &str| {
        let number = name.strip_prefix("GIT_CONFIG_KEY_").or_else(|| name.strip_prefix("GIT_CONFIG_VALUE_"));
        name == "GIT_CONFIG_COUNT" || number.is_some()
    };
    let redirects = |key: &str| {
        let key = key.to_ascii_lowercase();
        SETTINGS.iter().any(|setting| key == *setting || setting.ends_with('.') && key.starts_with(setting))
    };
    // They are counted, so that one alone can't be taken out.
    let by_number =
        variables.clone().any(|(name, value)| name.starts_with("GIT_CONFIG_KEY_") && redirects(value));
    variables
        .map(|(name, _)| name)
        .filter(|name| ELSEWHERE.contains(name) || by_number && is_numbered(name))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
#[path = "surroundings_tests.rs"]
mod tests;
