//! Lists that people write in one line: `Read, Bash(git diff:*, git log:*), mcp__x__y`.

use std::ops::Range;

/// The words of a text, split at commas and white space outside parentheses; a group that stands apart belongs to the
/// word before it.
pub(crate) fn split_words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut depth = 0usize;
    let mut start = None;
    let mut after_comma = true;
    for (at, c) in text.char_indices() {
        let apart = depth == 0 && (c == ',' || c.is_whitespace());
        if apart {
            if let Some(start) = start.take() {
                words.push(start..at);
            }
            after_comma |= c == ',';
            continue;
        }
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if start.is_none() {
            start = Some(match words.pop_if(|_| c == '(' && !after_comma) {
                Some(before) => before.start,
                None => at,
            });
            after_comma = false;
        }
    }
    words.extend(start.map(|start| start..text.trim_end().len()));
    words
}

#[cfg(test)]
#[path = "tool_list_tests.rs"]
mod tests;
