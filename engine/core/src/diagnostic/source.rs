//! A text with its name, and places in it.

use std::fmt;
use std::ops::Range;

/// A file as read, with the name under which messages speak of it (relative where possible).
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as the person knows it.
    pub name: String,
    /// The content. At most 16 MiB, so offsets fit in `u32`.
    pub text: String,
}

impl SourceFile {
    /// A file as read.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        SourceFile { name: name.into(), text: text.into() }
    }

    /// Line and column of a byte offset, both from 1; the column counts characters.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }

    /// `name:line:column` of a byte offset.
    pub fn at(&self, offset: u32) -> String {
        let (line, column) = self.line_column(offset);
        format!("{}:{line}:{column}", self.name)
    }

    /// The text of a place.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }
}

/// A place in a file: byte offsets, end exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// A place from offsets.
    pub fn new(start: usize, end: usize) -> Self {
        let cut = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: cut(start), end: cut(end) }
    }

    /// As a range for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A value and where it was written.
#[derive(Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Puts a value at a place.
    pub fn new(value: T, span: Span) -> Self {
        Spanned { value, span }
    }

    /// Changes the value, keeps the place.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), span: self.span }
    }
}

impl<T: fmt::Debug> fmt::Debug for Spanned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}@{}..{}", self.value, self.span.start, self.span.end)
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
