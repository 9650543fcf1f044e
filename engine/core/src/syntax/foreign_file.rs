//! Whole files of other tools: what somebody gave in place of a plan is said once, not key by key.

use super::node::{Entry, Node};

/// A file of another tool, recognised.
pub(crate) struct ForeignFile {
    /// "a GitLab CI file".
    pub(crate) what: &'static str,
    /// The keys by which it is known.
    pub(crate) by: &'static str,
    /// What to do.
    pub(crate) help: &'static str,
}

/// What a text that begins with `---` is, when it is an agent: front matter, then a body.
pub(crate) fn agent_file(text: &str) -> Option<ForeignFile> {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let matter = &rest[..rest.find("\n---")?];
    let has =
        |key: &str| matter.lines().any(|line| line.starts_with(key) && line[key.len()..].starts_with(':'));
    (has("name") && has("description") && !has("flow")).then_some(ForeignFile {
        what: "an agent file",
        by: "`name`, `description` between `---`",
        help: "put it into `agents/`, and name it in a plan: `tasks: { a: { agent: NAME, prompt: … } }`",
    })
}

/// What a file without `flow` is, by the keys at its top.
pub(crate) fn foreign_file(entries: &[Entry]) -> Option<ForeignFile> {
    let find = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value);
    let has = |key: &str| find(key).is_some();
    let any_inside = |value: Option<&Node>, key: &str| {
        let holds = |node: &Node| node.entries().iter().any(|entry| entry.key == key);
        value.is_some_and(|value| value.entries().iter().any(|entry| holds(&entry.value)))
    };
    let top_holds =
        |key: &str| entries.iter().any(|entry| entry.value.entries().iter().any(|inner| inner.key == key));
    let file = |what, by, help| Some(ForeignFile { what, by, help });
    if has("apiVersion") && has("kind") {
        return file(
            "a Kubernetes manifest",
            "`apiVersion`, `kind`",
            "flow runs on this machine: write what each template runs as a task under `tasks`",
        );
    }
    if has("jobs") && (has("on") || any_inside(find("jobs"), "runs-on")) {
        return file(
            "a GitHub Actions workflow",
            "`on`, `jobs`",
            "flow calls jobs `tasks`, each with one `run`; steps become tasks with `needs`, `uses` becomes a command; begin with `flow: 1`",
        );
    }
    if has("services") && !has("tasks") {
        return file(
            "a compose file",
            "`services`",
            "flow runs tasks, not services: write `run: docker compose up …`",
        );
    }
    if has("tasks") && any_inside(find("tasks"), "cmds") {
        return file(
            "a Taskfile",
            "`tasks`, `cmds`",
            "flow calls `cmds` `run: |` and `deps` `needs`; begin with `flow: 1`",
        );
    }
    if !has("tasks") && (has("stages") || (top_holds("script") && top_holds("stage"))) {
        return file(
            "a GitLab CI file",
            "`stages`, `script`",
            "flow calls jobs `tasks`, `script` `run` and `stage` `needs`; begin with `flow: 1`",
        );
    }
    if has("steps") && !has("tasks") && !has("jobs") {
        return file(
            "a list of steps",
            "`steps`",
            "write each as a task under `tasks`, with `run` or `prompt`, and its order with `needs`; begin with `flow: 1`",
        );
    }
    None
}

#[cfg(test)]
#[path = "foreign_file_tests.rs"]
mod tests;
