//! The names of things: small types that can't be mixed up.

use std::fmt;
use std::ops::{Index, IndexMut, Range};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A task of a plan, by its place in manifest order. What it names never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

impl TaskId {
    /// The position in a table of tasks.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The id of a position in a table of tasks.
    pub fn at(index: usize) -> Self {
        TaskId(dense(index))
    }
}

/// A node of a run: a task of its plan, an instance of one, or what an agent started. It is a place in `Nodes` and in no other table, so that
/// it can't be taken for a [`TaskId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The node of a task of the plan: a run begins with one for each task, in their order.
    pub(crate) fn of_plan(task: TaskId) -> Self {
        NodeId(task.0)
    }

    /// All from the first up to the one before the last.
    pub(crate) fn each(range: Range<NodeId>) -> impl Iterator<Item = NodeId> {
        (range.start.0..range.end.0).map(NodeId)
    }
}

/// What is known of each node of a run. Nodes are added and never taken away.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Nodes<T>(Vec<T>);

impl<T> Nodes<T> {
    pub(crate) fn push(&mut self, node: T) -> NodeId {
        let id = self.end();
        self.0.push(node);
        id
    }

    /// The id that the next node gets.
    pub(crate) fn end(&self) -> NodeId {
        NodeId(dense(self.0.len()))
    }

    pub(crate) fn get(&self, id: NodeId) -> Option<&T> {
        self.0.get(id.0 as usize)
    }

    /// Every id, in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = NodeId> + use<T> {
        NodeId::each(NodeId(0)..self.end())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }
}

impl<T> FromIterator<T> for Nodes<T> {
    fn from_iter<I: IntoIterator<Item = T>>(nodes: I) -> Self {
        Nodes(nodes.into_iter().collect())
    }
}

impl<T> Index<NodeId> for Nodes<T> {
    type Output = T;

    fn index(&self, id: NodeId) -> &T {
        &self.0[id.0 as usize]
    }
}

impl<T> IndexMut<NodeId> for Nodes<T> {
    fn index_mut(&mut self, id: NodeId) -> &mut T {
        &mut self.0[id.0 as usize]
    }
}

fn dense(index: usize) -> u32 {
    // A plan has at most 2M nodes and an expansion 100,000 instances, so the cut can't happen.
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// How a person, the journal and a model script name a task: `review[auth]`. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(Arc<str>);

impl Address {
    /// The address of a task of the plan.
    pub fn task(id: &str) -> Self {
        Address(id.into())
    }

    /// The address of an instance: `self[key]`.
    #[must_use]
    pub fn instance(&self, key: &str) -> Self {
        Address(format!("{}[{key}]", self.0).into())
    }

    /// The address of what a node started: `self/@a0123456789abcdef`.
    #[must_use]
    pub fn child(&self, id: &ChildId) -> Self {
        Address(format!("{}/@{id}", self.0).into())
    }

    /// Who started it and under which id, if this is a child's address. The key of an instance can hold anything, but
    /// the address of one ends with its bracket.
    pub fn starter(&self) -> Option<(Address, ChildId)> {
        let (by, id) = self.0.rsplit_once("/@")?;
        Some((by.into(), ChildId::parse(id)?))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address without any `[key]`: `review[auth]/change` -> `review/change`.
    pub fn without_keys(&self) -> String {
        let mut out = String::with_capacity(self.0.len());
        let mut depth = 0usize;
        for c in self.0.chars() {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ if depth == 0 => out.push(c),
                _ => {}
            }
        }
        out
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Arc<str>> for Address {
    fn from(text: Arc<str>) -> Self {
        Address(text)
    }
}

impl From<&str> for Address {
    fn from(text: &str) -> Self {
        Address(text.into())
    }
}

/// A child of a node: a letter for its kind and 16 hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChildId(Arc<str>);

impl ChildId {
    /// Reads an id.
    pub fn parse(text: &str) -> Option<Self> {
        let (letter, digits) = text.split_at_checked(1)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let whole = digits.len() == 16 && digits.bytes().all(is_digit);
        (whole && letter.bytes().all(|byte| byte.is_ascii_lowercase())).then(|| ChildId(text.into()))
    }

    /// The letter of its kind.
    pub fn letter(&self) -> Option<char> {
        self.0.chars().next()
    }
}

impl fmt::Display for ChildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A call of a tool, as the model named it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(Arc<str>);

impl From<&str> for CallId {
    fn from(text: &str) -> Self {
        CallId(text.into())
    }
}

/// The number of a try, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Attempt(pub u32);

impl Attempt {
    /// The first try.
    pub const FIRST: Attempt = Attempt(1);

    /// The try after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Attempt(self.0 + 1)
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A run: `20261130-075412-k3f9q2`, UTC and six base-32 characters, so that order by name is order by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// Reads an id or a prefix of one. Anything that could lead out of the runs folder is refused.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        (!text.is_empty() && text.len() <= 64 && text.chars().all(plain)).then(|| RunId(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A point in a run's time in milliseconds since the Unix epoch. The engine reads its clock once and hands this in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// This moment plus a length of time.
    #[must_use]
    pub fn after(self, length: std::time::Duration) -> Self {
        Millis(self.0.saturating_add(u64::try_from(length.as_millis()).unwrap_or(u64::MAX)))
    }

    /// How long ago `earlier` was; zero when it lies ahead.
    pub fn since(self, earlier: Millis) -> std::time::Duration {
        std::time::Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;
