//! Arithmetic: `$(( ))`, `(( ))`, `$[ ]`. A shell runs what text holds here, so values must be integers.

use super::lexer::{Lexer, Stop};
use super::units::{Quoting, Rule, Unit};

impl Lexer<'_> {
    /// Whether the parentheses that begin before `ahead` hold arithmetic: they close with `))`. Shells decide likewise.
    pub(super) fn is_arithmetic(&self, ahead: usize) -> bool {
        let mut depth = 1usize;
        let mut ahead = ahead;
        while let Some(unit) = self.peek(ahead) {
            match unit {
                Unit::Byte(b'\\') => ahead += 1,
                Unit::Byte(quote @ (b'"' | b'\'')) => {
                    ahead += 1;
                    while let Some(unit) = self.peek(ahead) {
                        match unit {
                            Unit::Byte(byte) if byte == quote => break,
                            Unit::Byte(b'\\') if quote == b'"' => ahead += 1,
                            Unit::Byte(_) | Unit::Hole(_) => {}
                        }
                        ahead += 1;
                    }
                }
                Unit::Byte(b'(') => depth += 1,
                Unit::Byte(b')') => {
                    depth -= 1;
                    if depth == 0 {
                        return self.byte(ahead + 1) == Some(b')');
                    }
                }
                Unit::Byte(_) | Unit::Hole(_) => {}
            }
            ahead += 1;
        }
        false
    }

    /// Reads arithmetic up to `))` or `]`.
    pub(super) fn arithmetic(&mut self, close: u8) -> Result<(), Stop> {
        let start = self.at.saturating_sub(2);
        let open = if close == b']' { b'[' } else { b'(' };
        let mut depth = 0usize;
        loop {
            match self.peek(0) {
                None => return Err(self.stop(start, "arithmetic is never closed", "close it")),
                Some(Unit::Hole(hole)) => self.hole(hole, Quoting::Double, Rule::Integer),
                Some(Unit::Byte(b'\\')) => self.escape(None),
                Some(Unit::Byte(b'`')) => self.backquotes()?,
                Some(Unit::Byte(b'"')) => self.nested(|lexer| lexer.double(Rule::Integer, None))?,
                Some(Unit::Byte(b'\'')) => {
                    self.unsure("it follows a `'` inside arithmetic");
                    self.at += 1;
                }
                Some(Unit::Byte(b'$')) => self.dollar(true, None)?,
                Some(Unit::Byte(byte)) => {
                    self.at += 1;
                    if byte == open {
                        depth += 1;
                    } else if byte == close && depth > 0 {
                        depth -= 1;
                    } else if byte == close {
                        if close == b')' && self.byte(0) == Some(b')') {
                            self.at += 1;
                        }
                        return Ok(());
                    }
                }
            }
        }
    }
}
