use std::sync::Arc;

use super::*;
use crate::syntax::{Node, NodeKind, parse_yaml};

/// Every scalar of a text with its value.
fn scalars(text: &str) -> (Arc<SourceFile>, Vec<(Span, String)>) {
    let file = Arc::new(SourceFile::new("p.yaml", text));
    let mut found = Vec::new();
    let mut todo: Vec<Node> = vec![parse_yaml(&file).unwrap()];
    while let Some(node) = todo.pop() {
        match node.kind {
            NodeKind::Text { value, .. } => found.push((node.span, value.into())),
            NodeKind::List(items) => todo.extend(items),
            NodeKind::Map(entries) => todo.extend(entries.into_iter().map(|entry| entry.value)),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) => {}
        }
    }
    (file, found)
}

/// `part` occurs once in the value of the text's one scalar and is found as `raw` at a line and column.
#[track_caller]
fn check(text: &str, part: &str, raw: &str, at: (usize, usize)) {
    let (file, found) = scalars(text);
    let (span, value) = &found[0];
    let start = value.find(part).unwrap_or_else(|| panic!("{part:?} is not in {value:?}"));
    let place = place_in(&file, *span, value, start..start + part.len());
    assert_eq!((file.slice(place), file.line_column(place.start)), (raw, at), "{text}");
}

#[test]
fn plain_and_quoted_values_map_back() {
    check("a: x ${{ y }}", "${{ y }}", "${{ y }}", (1, 6));
    check("a: 'it''s ${{ y }}'", "${{ y }}", "${{ y }}", (1, 11));
    check("a: 'it''s ${{ y }}'", "'s", "''s", (1, 7));
    check("a: \"é\\t\\u00e9\\x41 ${{ y }}\"", "${{ y }}", "${{ y }}", (1, 19));
    check("a: \"\\U0001F600\\uD83D\\uDE00 b\"", "b", "b", (1, 28));
    check("a: \"q \\\"b\\\" c\"", "\"b\"", "\\\"b\\\"", (1, 7));
    check("a: \"\\\"b\"", "b", "b", (1, 7));
}

#[test]
fn folded_lines_map_back() {
    check("a: one\n  two\n\n  three", "two", "two", (2, 3));
    check("a: one\n  two\n\n  three", "three", "three", (4, 3));
    check("a: 'one\n  two\n\n\n  three'", "three", "three", (5, 3));
    check("a: \"one\n  two \\\n  three\"", "three", "three", (3, 3));
    check("a: one  \r\n  two", "two", "two", (2, 3));
    check("a: one\n  two", "one two", "one\n  two", (1, 4));
}

#[test]
fn blocks_map_back_through_their_indentation() {
    check("a: |\n  one\n    two\n\n  three ${{ y }}\n", "two", "two", (3, 5));
    check("a: |\n  one\n    two\n\n  three ${{ y }}\n", "${{ y }}", "${{ y }}", (5, 9));
    check("a: >\n  one\n  two\n\n  three\n", "two", "two", (3, 3));
    check("a: >\n  one\n  two\n\n  three\n", "three", "three", (5, 3));
    check("a: >\n  one\n\n    more\n  three\n", "more", "more", (4, 5));
    check("a: |2\n     one\n   two\n", "one", "one", (2, 6));
    check("a: |2\n     one\n   two\n", "two", "two", (3, 4));
    check("a: |\n\n  \n  one\n", "one", "one", (4, 3));
    check("b:\n  a: |-\n    \"x\" y\n    'z'\n", "'z'", "'z'", (4, 5));
    check("a: |\r\n  one\r\n  two\r\n", "two", "two", (3, 3));
}

#[test]
fn an_empty_part_and_one_past_the_end_have_a_place() {
    let (file, found) = scalars("a: 'it''s'");
    let (span, value) = &found[0];
    assert_eq!(file.line_column(place_in(&file, *span, value, 3..3).start), (1, 9));
    assert_eq!(place_in(&file, *span, value, 4..4), Span::new(9, 9));
    assert_eq!(place_in(&file, *span, value, 99..120), Span::new(9, 9));
}

#[test]
fn a_value_that_is_not_what_stands_there_is_marked_whole() {
    let file = SourceFile::new("p.yaml", "a: 'b'");
    assert_eq!(place_in(&file, Span::new(3, 6), "other", 0..2), Span::new(3, 6));
}
