//! What an agent does at the moment, for people: its last whole line, or its last call.

use super::LogLine;
use crate::model::Usage;
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

/// What an agent that works has come to, as its log says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    /// The model turn that it is in.
    pub turn: u32,
    /// What its attempt has used so far.
    pub usage: Usage,
    /// What it did last: the last whole line of what it said, or a call.
    pub doing: Option<String>,
}

impl Activity {
    /// Takes a line of the log in.
    pub fn take(&mut self, line: &LogLine) {
        match line {
            LogLine::Began { .. } => *self = Activity::default(),
            LogLine::RequestBegan { turn } => self.turn = *turn,
            LogLine::RequestEnded { usage, error, .. } => {
                usage.iter().for_each(|usage| self.usage += usage);
                if let Some(error) = error {
                    self.doing = Some(one_line(&format!("the model: {error}"), WIDTH));
                }
            }
            LogLine::Text { text, .. } => {
                if let Some(line) = last_line(text) {
                    self.doing = Some(format!("writes: {line}"));
                }
            }
            LogLine::ToolCalled { tool, call, .. } => self.doing = Some(format!("{tool} {call}")),
            LogLine::ToolRefused { tool, call, .. } => self.doing = Some(format!("refused: {tool} {call}")),
            LogLine::Checked { message } => {
                self.doing = Some(message.clone().unwrap_or_else(|| "its work was checked".to_owned()));
            }
            LogLine::Prompt { .. } | LogLine::ToolEnded { .. } | LogLine::Ended { .. } => {}
        }
    }
}

#[cfg(test)]
#[path = "activity_tests.rs"]
mod tests;
