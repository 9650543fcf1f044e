//! What an agent does at the moment, for people: its last whole line, or its last call.

use crate::text::one_line;

/// How much of a line is shown.
const WIDTH: usize = 200;

/// A text that arrives in pieces, given on in whole lines.
#[derive(Debug, Default)]
pub struct Lines {
    open: String,
}

impl Lines {
    /// Takes a piece; gives what is whole by now, with its newlines.
    pub fn take(&mut self, piece: &str) -> Option<String> {
        let Some(end) = piece.rfind('\n') else {
            self.open.push_str(piece);
            return None;
        };
        let (whole, open) = piece.split_at(end + 1);
        let mut whole = std::mem::take(&mut self.open) + whole;
        self.open.push_str(open);
        whole.shrink_to_fit();
        Some(whole)
    }

    /// The rest, now that no more of its line comes.
    pub fn end(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.open)).filter(|rest| !rest.is_empty())
    }
}

/// The last line of a text that says something.
pub fn last_line(text: &str) -> Option<String> {
    let said = |line: &&str| line.contains(char::is_alphanumeric);
    text.lines().rev().find(said).map(|line| one_line(line, WIDTH))
}

#[cfg(test)]
#[path = "activity_tests.rs"]
mod tests;
