//! References to values of a run, as far as they are written out.

use std::fmt;
use std::ops::Range;

use minijinja::machinery::ast::Expr;

/// A reference to a value of the run, such as `tasks.plan.output.areas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The path as far as it is written out; a computed subscript ends it.
    pub path: Vec<Segment>,
    /// The bytes of the source that it stands in.
    pub at: Range<usize>,
    /// Whether the text at hand copes with its absence: it is piped into `default`, tested for being none or defined, a
    /// condition by itself, or read where a condition has asked about the same task.
    pub defaulted: bool,
}

impl Reference {
    /// The first name: `tasks` of `tasks.plan.output`.
    pub fn root(&self) -> &str {
        match self.path.first() {
            Some(Segment::Name(name)) => name,
            Some(Segment::Index(_)) | None => "",
        }
    }

    /// The task that it leads to.
    pub fn task(&self) -> Option<&str> {
        match self.path.as_slice() {
            [Segment::Name(root), Segment::Name(task), ..] if root == "tasks" => Some(task),
            _ => None,
        }
    }
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// `.name` or `["name"]`.
    Name(String),
    /// `[0]`; from the end when negative.
    Index(i64),
}

impl Segment {
    /// The step that a subscript makes, when it is written out.
    pub(super) fn constant(item: &Expr<'_>) -> Option<Segment> {
        let value = item.as_const()?;
        match value.as_str() {
            Some(name) => Some(Segment::Name(name.to_owned())),
            None if value.is_integer() => value.as_i64().map(Segment::Index),
            None => None,
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.path.iter().enumerate() {
            match segment {
                Segment::Name(name) if position == 0 => f.write_str(name)?,
                Segment::Name(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
