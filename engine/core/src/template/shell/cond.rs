//! `[[ … ]]`: words are not split there, but some operators evaluate them.

use super::lexer::{Lexer, Stop};
use super::units::Rule;
use super::word::{Word, WordKind};

/// Operators that evaluate both sides as arithmetic.
pub(super) const ARITHMETIC_OPERATORS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Lexer<'_> {
    /// Reads a condition, from after `[[` on.
    pub(super) fn condition(&mut self) -> Result<(), Stop> {
        let start = self.at.saturating_sub(2);
        let mut last: Option<Word> = None;
        loop {
            self.lines()?;
            match self.byte(0) {
                _ if self.peek(0).is_none() => {
                    return Err(self.stop(start, "a `[[` is never closed", "close it with `]]`"));
                }
                Some(b'(' | b')' | b'&' | b'|' | b';') => {
                    self.at += 1;
                    last = None;
                    continue;
                }
                Some(b'<' | b'>') if self.byte(1) != Some(b'(') => {
                    self.at += 1;
                    last = None;
                    continue;
                }
                _ => {}
            }
            let regex = last.as_ref().is_some_and(|word| word.is("=~"));
            let kind = if regex { WordKind::Regex } else { WordKind::Command };
            let word = self.nested(|lexer| lexer.word(kind))?;
            if word.is("]]") {
                return Ok(());
            }
            if word.start == word.end {
                // A unit that begins no word can't be passed over in silence.
                self.unsure("it follows a condition that can't be read");
                self.at += 1;
            }
            let evaluates = |word: &Word| ARITHMETIC_OPERATORS.iter().any(|operator| word.is(operator));
            if evaluates(&word)
                && let Some(before) = &last
            {
                self.demand_all(&before.holes.clone(), Rule::Integer);
            }
            if let Some(before) = &last {
                if evaluates(before) || before.is("-t") {
                    self.demand_all(&word.holes, Rule::Integer);
                }
                if before.is("-v") || before.is("-R") {
                    self.refuse_all(
                        &word.holes,
                        "`[[ -v` evaluates a name that it is given",
                        "write the name itself",
                    );
                }
            }
            last = Some(word);
        }
    }
}
