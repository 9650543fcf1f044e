//! Diagnostics as a person reads them: `error[F0201]: …`, the place with a caret, `help: …`.

use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Element, Level, Renderer, Snippet};

use super::{Diagnostic, Label, Severity};
use crate::text::visible;

/// Renders one diagnostic, without a final newline. `styled` adds terminal colours.
pub fn render(diagnostic: &Diagnostic, styled: bool) -> String {
    let level = match diagnostic.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let message = visible(&diagnostic.message);
    let mut elements: Vec<Element<'_>> = Vec::new();
    for (index, label) in diagnostic.labels.iter().enumerate() {
        // One snippet a file; the first label of a file brings the file's others along.
        if diagnostic.labels[..index].iter().all(|earlier| !Arc::ptr_eq(&earlier.file, &label.file)) {
            elements.push(snippet(diagnostic, label).into());
        }
    }
    if let Some(help) = &diagnostic.help {
        elements.push(Level::HELP.message(help).into());
    }
    let group = level.primary_title(message.as_ref()).id(diagnostic.code.as_str()).elements(elements);
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group]).to_string()
}

fn snippet<'a>(diagnostic: &'a Diagnostic, of: &'a Label) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let mut snippet = Snippet::source(of.file.text.as_str()).path(of.file.name.as_str()).fold(true);
    for (index, label) in diagnostic.labels.iter().enumerate() {
        if Arc::ptr_eq(&label.file, &of.file) {
            let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let mut range = label.span.range();
            range.end = range.end.min(of.file.text.len());
            range.start = range.start.min(range.end);
            let annotation = kind.span(range);
            let text = Some(label.text.as_str()).filter(|text| !text.is_empty());
            snippet = snippet.annotation(annotation.label(text));
        }
    }
    snippet
}
