//! A template or a bare expression.

/// Text with `${{ }}` holes, or a bare expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The text as written.
    pub source: Box<str>,
    /// Every reference to a value, in order.
    pub references: Vec<Reference>,
}

impl Template {
    /// Whether `failure()`, `always()` or `cancelled()` stands in it.
    pub fn asks_status(&self) -> bool {
        false
    }
}

/// A reference to a value of the run, such as `tasks.plan.output.areas`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The path as far as it is written out.
    pub path: Vec<Segment>,
    /// The bytes of the template's source that it stands in.
    pub at: std::ops::Range<usize>,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    /// `.name` or `["name"]`.
    Name(String),
    /// `[0]`.
    Index(i64),
}
