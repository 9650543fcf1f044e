//! The values of a task that others can read, and which paths lead into them.

use super::schema::dead_end;
use super::shape::Shape;
use crate::model::{Isolation, Merge};
use crate::plan::Kind;
use crate::template::Segment;

pub(super) const SHELL: &[&str] = &[
    "output",
    "text",
    "stdout",
    "stderr",
    "exit_code",
    "status",
    "reason",
    "attempts",
    "duration",
    "notification",
    "artifacts",
    "dir",
];
pub(super) const AGENT: &[&str] = &[
    "output",
    "text",
    "status",
    "reason",
    "attempts",
    "duration",
    "usage",
    "notification",
    "artifacts",
    "dir",
];
pub(super) const EXPANDED: &[&str] =
    &["output", "results", "status", "reason", "attempts", "duration", "notification"];
pub(super) const USAGE: &[&str] = &[
    "turns",
    "tool_uses",
    "total_tokens",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "model",
];
/// What an instance has beside the values of its kind.
pub(super) const OF_INSTANCE: &[&str] = &["key", "item"];
/// What `task` has everywhere, and in `expect.that` and `retry.if` beside the values of its kind. What is known first stands
/// first.
pub(super) const OF_SELF: &[&str] = &["id", "address", "key", "attempt"];

/// Why a path leads nowhere.
pub(super) struct Wrong {
    /// The good part of the path, in segments.
    pub good: usize,
    /// What is wrong, after the name of what the good part leads to: "has no `stdot`".
    pub why: String,
    /// What to write instead; the names that could have followed.
    pub names: Vec<String>,
    /// What to do, where that is more than choosing another name.
    pub help: Option<&'static str>,
}

impl Wrong {
    fn new(good: usize, why: impl Into<String>, names: impl IntoIterator<Item = &'static str>) -> Self {
        let names = names.into_iter().map(str::to_owned).collect();
        Wrong { good, why: why.into(), names, help: None }
    }

    fn help(mut self, help: &'static str) -> Self {
        self.help = Some(help);
        self
    }
}

/// Whether an attempt has such a value once it has ended.
pub(super) fn is_value(name: &str) -> bool {
    [SHELL, AGENT].iter().any(|names| names.contains(&name))
}

/// Checks the path behind `tasks.x`.
pub(super) fn check(shape: &Shape<'_>, path: &[Segment]) -> Result<(), Wrong> {
    match shape.is_expanded() {
        true => expanded(shape, path),
        false => single(shape, path, &[]),
    }
}

/// Checks the path behind `task`, where a task speaks of its own attempt.
pub(super) fn check_own(shape: &Shape<'_>, path: &[Segment]) -> Result<(), Wrong> {
    single(shape, path, OF_SELF)
}

fn expanded(shape: &Shape<'_>, path: &[Segment]) -> Result<(), Wrong> {
    let Some(field) = known_field(path, EXPANDED.iter().copied())? else { return Ok(()) };
    let deeper = &path[1..];
    let in_list = |element: fn(&Shape<'_>, &[Segment]) -> Result<(), Wrong>| match deeper {
        [] => Ok(()),
        [Segment::Index(_), rest @ ..] => rest_of(2, element(shape, rest)),
        [Segment::Name(_), ..] => {
            Err(Wrong::new(1, "is a list, one element an instance, and has no fields", [])
                .help("loop over it, or pick one with `[0]`, `| first`, `| map(attribute=\"...\")`"))
        }
    };
    match field {
        "output" => in_list(|shape, rest| if rest.is_empty() { Ok(()) } else { output(shape, rest) }),
        "results" => {
            in_list(|shape, rest| if rest.is_empty() { Ok(()) } else { single(shape, rest, OF_INSTANCE) })
        }
        "notification" => in_list(|_, rest| plain(rest)),
        _ => rest_of(1, plain(deeper)),
    }
}

fn single(shape: &Shape<'_>, path: &[Segment], more: &'static [&'static str]) -> Result<(), Wrong> {
    let names = match shape.kind {
        Some(Kind::Shell) => SHELL,
        Some(Kind::Agent) => AGENT,
        None => return Ok(()),
    };
    // What a private tree leaves behind.
    let tree: &[&str] = match (shape.isolation, shape.merge) {
        (Isolation::None | Isolation::Fork, _) => &[],
        (Isolation::Worktree, Merge::Patch) => &["branch", "patch"],
        (
            Isolation::Worktree,
            Merge::None | Merge::Branch | Merge::Apply | Merge::Squash | Merge::CherryPick,
        ) => &["branch"],
        (Isolation::Copy, Merge::Patch) => &["patch"],
        (Isolation::Copy, Merge::None | Merge::Branch | Merge::Apply | Merge::Squash | Merge::CherryPick) => {
            &[]
        }
    };
    if let Some(Segment::Name(name)) = path.first() {
        match (name.as_str(), shape.isolation) {
            ("branch" | "patch", Isolation::None | Isolation::Fork) => {
                let wrong = Wrong::new(0, format!("works in the shared tree and has no `{name}`"), []);
                return Err(wrong.help("give it `isolation: worktree`"));
            }
            ("branch", Isolation::Copy) => {
                let wrong = Wrong::new(0, "works in a copy and has no `branch`", []);
                return Err(wrong.help("give it `isolation: worktree`"));
            }
            ("patch", Isolation::Worktree | Isolation::Copy) if shape.merge != Merge::Patch => {
                return Err(Wrong::new(0, "makes no `patch`", []).help("give it `merge: patch`"));
            }
            _ => {}
        }
    }
    let names = names.iter().chain(tree).chain(more).copied();
    let Some(field) = known_field(path, names)? else { return Ok(()) };
    let deeper = &path[1..];
    match (field, deeper) {
        (_, []) | ("item", _) => Ok(()),
        ("output", _) => rest_of(1, output(shape, deeper)),
        ("artifacts", [Segment::Index(_), rest @ ..]) => rest_of(2, plain(rest)),
        ("artifacts", _) => Err(Wrong::new(1, "is a list of paths and has no fields", [])),
        ("usage", [Segment::Name(name)]) if USAGE.contains(&name.as_str()) => Ok(()),
        ("usage", [segment, ..]) => {
            Err(Wrong::new(1, format!("has no `{}`", shown(segment)), USAGE.iter().copied()))
        }
        _ => rest_of(1, plain(deeper)),
    }
}

/// The field that a path begins with; `None` for an empty path.
fn known_field(
    path: &[Segment],
    names: impl Iterator<Item = &'static str> + Clone,
) -> Result<Option<&str>, Wrong> {
    match path.first() {
        None => Ok(None),
        Some(Segment::Name(name)) if names.clone().any(|known| known == name) => Ok(Some(name)),
        Some(segment) => Err(Wrong::new(0, format!("has no `{}`", shown(segment)), names)),
    }
}

fn output(shape: &Shape<'_>, path: &[Segment]) -> Result<(), Wrong> {
    match dead_end(&shape.output, path) {
        None => Ok(()),
        Some(end) => {
            let names = end.names.iter().map(|name| (*name).to_owned()).collect();
            let why = match path.get(end.good) {
                Some(segment) if !end.names.is_empty() => format!("has no `{}`", shown(segment)),
                _ => end.why.to_owned(),
            };
            let help = (shape.output == crate::plan::Output::Text)
                .then_some("give the task `output: json`, or a JSON Schema");
            Err(Wrong { good: end.good, why, names, help })
        }
    }
}

/// A value without parts.
fn plain(path: &[Segment]) -> Result<(), Wrong> {
    match path {
        [] => Ok(()),
        [..] => Err(Wrong::new(0, "is a plain value and has no fields", [])),
    }
}

/// Counts the segments that were read already.
fn rest_of(before: usize, checked: Result<(), Wrong>) -> Result<(), Wrong> {
    checked.map_err(|wrong| Wrong { good: wrong.good + before, ..wrong })
}

/// A segment as in `has no ...`.
fn shown(segment: &Segment) -> String {
    match segment {
        Segment::Name(name) => name.clone(),
        Segment::Index(index) => format!("[{index}]"),
    }
}

/// A path as a person would write it: `tasks.a.output[0]`.
pub(super) fn path_text(path: &[Segment]) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Name(name) if text.is_empty() => text.push_str(name),
            Segment::Name(name) => text.extend([".", name]),
            Segment::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}
