//! Diagnostics as a person reads them: `error[F0201]: …`, the place with a caret, `help: …`.

use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Element, Level, Renderer, Snippet};

use super::{Diagnostic, Label, Severity, Span};
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
        elements.push(Level::HELP.message(visible(help)).into());
    }
    let group = level.primary_title(message.as_ref()).id(diagnostic.code.as_str()).elements(elements);
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group]).to_string()
}

fn snippet<'a>(diagnostic: &'a Diagnostic, of: &'a Label) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let text = of.file.text.as_str();
    let labels = diagnostic.labels.iter().enumerate().filter(|(_, label)| Arc::ptr_eq(&label.file, &of.file));
    let places: Vec<(usize, &Label, Range<usize>)> =
        labels.map(|(index, label)| (index, label, mark(text, label.span))).collect();
    let window = window(text, places.iter().map(|(_, _, place)| place));
    // The renderer looks at every line it is given, and a plan may have a hundred thousand.
    let first_line = text[..window.start].matches('\n').count() + 1;
    let mut snippet =
        Snippet::source(&text[window.clone()]).line_start(first_line).path(visible(&of.file.name)).fold(true);
    for (index, label, place) in places {
        let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let shown = Some(visible(&label.text)).filter(|text| !text.is_empty());
        let place = place.start - window.start..place.end - window.start;
        snippet = snippet.annotation(kind.span(place).label(shown));
    }
    snippet
}

/// The bytes to mark: inside the text, whole characters, the end of the text at its last line.
fn mark(text: &str, span: Span) -> Range<usize> {
    let mut end = (span.end as usize).min(text.len());
    let mut start = (span.start as usize).min(end);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    if start == text.len() {
        start = text.trim_end_matches(['\n', '\r']).len();
        end = start;
    }
    start..end
}

/// The lines that hold all places.
fn window<'a>(text: &str, places: impl Iterator<Item = &'a Range<usize>> + Clone) -> Range<usize> {
    let start = places.clone().map(|place| place.start).min().unwrap_or(0);
    let end = places.map(|place| place.end).max().unwrap_or(start);
    let start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
    start..end
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
