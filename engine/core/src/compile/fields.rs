//! The values of a task that others can read, and which paths lead into them.

use super::schema::dead_end;
use super::shape::Shape;
use crate::model::{Isolation, Merge};
use crate::plan::{FACTS, Fact, FactInfo, FactOf, FactType, OfMany, USAGE};
use crate::template::Segment;

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
    FactInfo::of_name(name).is_some_and(|row| row.of_attempt)
}

/// Checks the path behind `tasks.x`.
pub(super) fn check(shape: &Shape<'_>, path: &[Segment]) -> Result<(), Wrong> {
    match shape.is_expanded() {
        true => expanded(shape, path),
        false => single(shape, path, |_| true, &[]),
    }
}

/// Checks the path behind `task`, where a task speaks of its own attempt.
pub(super) fn check_own(shape: &Shape<'_>, path: &[Segment]) -> Result<(), Wrong> {
    single(shape, path, |row| row.of_attempt, OF_SELF)
}

fn expanded(shape: &Shape<'_>, path: &[Segment]) -> Result<(), Wrong> {
    let rows = FACTS.iter().filter(|row| row.of_many != OfMany::Nothing);
    let Some(field) = known_field(path, rows.map(|row| row.name))? else { return Ok(()) };
    let deeper = &path[1..];
    let Some(row) = FactInfo::of_name(field).filter(|row| row.of_many == OfMany::List) else {
        return rest_of(1, plain(deeper));
    };
    match deeper {
        [] | [Segment::Index(_)] => Ok(()),
        [Segment::Index(_), rest @ ..] => rest_of(2, of_one(shape, row.is, rest)),
        [Segment::Name(_), ..] => {
            Err(Wrong::new(1, "is a list, one element an instance, and has no fields", [])
                .help("loop over it, or pick one with `[0]`, `| first`, `| map(attribute=\"...\")`"))
        }
    }
}

/// Checks a path into those facts of one task that are at hand where it stands, and `more` beside them.
fn single(
    shape: &Shape<'_>,
    path: &[Segment],
    at_hand: fn(&FactInfo) -> bool,
    more: &'static [&'static str],
) -> Result<(), Wrong> {
    let Some(kind) = shape.kind else { return Ok(()) };
    // What a private tree leaves behind.
    let tree: &[Fact] = match (shape.isolation, shape.merge) {
        (Isolation::None | Isolation::Fork, _) => &[],
        (Isolation::Worktree, Merge::Patch) => &[Fact::Branch, Fact::Patch],
        (
            Isolation::Worktree,
            Merge::None | Merge::Branch | Merge::Apply | Merge::Squash | Merge::CherryPick,
        ) => &[Fact::Branch],
        (Isolation::Copy, Merge::Patch) => &[Fact::Patch],
        (Isolation::Copy, Merge::None | Merge::Branch | Merge::Apply | Merge::Squash | Merge::CherryPick) => {
            &[]
        }
    };
    if let Some(Segment::Name(name)) = path.first()
        && let Some(row @ FactInfo { fact, of: FactOf::PrivateTree, .. }) = FactInfo::of_name(name)
        && !tree.contains(fact)
        && at_hand(row)
    {
        let (why, help) = match shape.isolation {
            Isolation::None | Isolation::Fork => {
                (format!("works in the shared tree and has no `{name}`"), "give it `isolation: worktree`")
            }
            Isolation::Copy if *fact == Fact::Branch => {
                (format!("works in a copy and has no `{name}`"), "give it `isolation: worktree`")
            }
            Isolation::Worktree | Isolation::Copy => (format!("makes no `{name}`"), "give it `merge: patch`"),
        };
        return Err(Wrong::new(0, why, []).help(help));
    }
    let of_kind = FACTS.iter().filter(|row| row.is_of(kind));
    let of_tree = FACTS.iter().filter(|row| tree.contains(&row.fact));
    let names =
        of_kind.chain(of_tree).filter(|row| at_hand(row)).map(|row| row.name).chain(more.iter().copied());
    let Some(field) = known_field(path, names)? else { return Ok(()) };
    match (FactInfo::of_name(field), &path[1..]) {
        (_, []) => Ok(()),
        // An item can be anything.
        (None, _) if field == "item" => Ok(()),
        (row, deeper) => rest_of(1, of_one(shape, row.map_or(FactType::Text, |row| row.is), deeper)),
    }
}

/// Checks the path into a fact of one task, or of one instance.
fn of_one(shape: &Shape<'_>, is: FactType, path: &[Segment]) -> Result<(), Wrong> {
    let usage = || USAGE.iter().map(|(name, _)| *name);
    match (is, path) {
        (FactType::Output, _) => output(shape, path),
        (FactType::Results, _) => single(shape, path, |row| row.in_results, OF_INSTANCE),
        (FactType::Paths, [Segment::Index(_), rest @ ..]) => rest_of(1, plain(rest)),
        (FactType::Paths, _) => Err(Wrong::new(0, "is a list of paths and has no fields", [])),
        (FactType::Usage, [Segment::Name(name)]) if usage().any(|known| known == name) => Ok(()),
        (FactType::Usage, [segment, ..]) => {
            Err(Wrong::new(0, format!("has no `{}`", shown(segment)), usage()))
        }
        (FactType::Usage, []) => Ok(()),
        (FactType::Text | FactType::Number | FactType::State | FactType::Reason, _) => plain(path),
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
