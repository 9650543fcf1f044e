//! The diagnostics of one manifest while it is compiled.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic, SourceFile, Span};
use crate::syntax::{Text, place_in};
use crate::text::{did_you_mean, list_some};

/// How many findings look for a near name: with thousands of both the search would take longer than all the rest.
const SUGGESTIONS: usize = 100;
/// How many findings one plan has before the rest is dropped.
const MOST: usize = 1000;
/// How many names of what there is are listed.
const LISTED: usize = 12;

/// A text of the manifest with its place.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    /// The value, as YAML reads it.
    pub text: &'a str,
    /// The scalar's place.
    pub span: Span,
    /// The file that it is, when it is a whole one beside the manifest.
    pub file: Option<&'a Arc<SourceFile>>,
}

/// A place in the manifest or in a file beside it.
pub(super) struct Mark {
    pub file: Arc<SourceFile>,
    pub span: Span,
}

impl<'a> From<&'a Text> for Written<'a> {
    fn from(text: &'a Text) -> Self {
        Written { text: &text.value, span: text.span, file: None }
    }
}

impl<'a> From<&'a Arc<SourceFile>> for Written<'a> {
    fn from(file: &'a Arc<SourceFile>) -> Self {
        Written { text: &file.text, span: Span::new(0, file.text.len()), file: Some(file) }
    }
}

/// Collects diagnostics.
pub(super) struct Findings {
    file: Arc<SourceFile>,
    list: Vec<Diagnostic>,
    suggestions: usize,
}

impl Findings {
    pub(super) fn new(file: &Arc<SourceFile>, list: Vec<Diagnostic>) -> Self {
        Findings { file: Arc::clone(file), list, suggestions: 0 }
    }

    /// Begins a diagnostic at a place of the manifest.
    pub(super) fn at(&self, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, &self.file, span, message)
    }

    /// What stands at a place of the manifest.
    pub(super) fn written(&self, span: Span) -> &str {
        self.file.slice(span)
    }

    /// Adds a related place of the manifest to a diagnostic.
    pub(super) fn related(&self, finding: Diagnostic, span: Span, text: impl Into<String>) -> Diagnostic {
        finding.label(&self.file, span, text)
    }

    /// Begins a diagnostic about bytes of a text.
    pub(super) fn at_mark(&self, code: Code, mark: Mark, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, &mark.file, mark.span, message)
    }

    /// Where bytes of a text stand.
    pub(super) fn mark(&self, written: Written<'_>, at: Range<usize>) -> Mark {
        let file = written.file.unwrap_or(&self.file);
        Mark { file: Arc::clone(file), span: place_in(file, written.span, written.text, at) }
    }

    /// A place of the manifest.
    pub(super) fn mark_span(&self, span: Span) -> Mark {
        Mark { file: Arc::clone(&self.file), span }
    }

    /// Adds a finding. Past `MOST` of them warnings are dropped, past twice that errors too: a plan with thousands of
    /// faults has one, thousands of times.
    pub(super) fn push(&mut self, finding: Diagnostic) {
        let most = if finding.is_error() { 2 * MOST } else { MOST };
        if self.list.len() < most {
            self.list.push(finding);
        }
    }

    pub(super) fn extend(&mut self, findings: impl IntoIterator<Item = Diagnostic>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    /// The name that was probably meant.
    pub(super) fn near<'c>(
        &mut self,
        given: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        self.suggestions += 1;
        if self.suggestions > SUGGESTIONS { None } else { did_you_mean(given, candidates) }
    }

    /// What to do about an unknown name: the near one, and what there is.
    pub(super) fn instead<'c>(
        &mut self,
        given: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<String> {
        let candidates: Vec<&str> = candidates.into_iter().collect();
        let near = self.near(given, candidates.iter().copied());
        let all = list_some(candidates.iter().copied(), LISTED);
        match (near, candidates.len()) {
            (_, 0) => None,
            (Some(near), 1) => Some(format!("did you mean `{near}`?")),
            (Some(near), _) => Some(format!("did you mean `{near}`? available: {all}")),
            (None, _) => Some(format!("available: {all}")),
        }
    }

    /// Whether an error is among them.
    pub(super) fn has_error(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }

    /// Everything found, sorted by place, each once: what is wrong with `defaults` is found at every task.
    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let Findings { file, mut list, .. } = self;
        let place = |finding: &Diagnostic| {
            let label = finding.labels.first();
            let foreign = label.is_some_and(|label| !Arc::ptr_eq(&label.file, &file));
            let name = label.filter(|_| foreign).map(|label| label.file.name.clone());
            (foreign, name, label.map(|label| label.span), finding.code)
        };
        list.sort_by_cached_key(place);
        let mut seen = HashSet::new();
        list.retain(|finding| {
            let label = finding.labels.first().map(|label| (Arc::as_ptr(&label.file), label.span));
            seen.insert((finding.code, finding.message.clone(), label))
        });
        list
    }
}
