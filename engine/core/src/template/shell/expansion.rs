//! What begins with `$`: parameters, substitutions, arithmetic.

use super::family::ShellFamily;
use super::lexer::{Lexer, Stop};
use super::units::{Quoting, Rule, Unit};
use super::word::Word;

impl Lexer<'_> {
    /// Reads the expansion that begins here. `quoted`: inside `"…"` or a here-document, where quotes are text.
    pub(super) fn dollar(&mut self, quoted: bool, word: Option<&mut Word>) -> Result<(), Stop> {
        match self.peek(1) {
            Some(Unit::Hole(hole)) => {
                self.refuse(hole, "a `$` stands just before a hole", "leave it out, or write `\\$`");
                self.at += 1;
                Ok(())
            }
            Some(Unit::Byte(b'(')) if self.byte(2) == Some(b'(') => {
                let is_arithmetic = self.is_arithmetic(3);
                if !is_arithmetic && self.family == ShellFamily::Sh {
                    self.unsure("it follows `$((`, which shells don't read alike here; write `$( (`");
                }
                if is_arithmetic {
                    self.at += 3;
                    self.nested(|lexer| lexer.arithmetic(b')'))
                } else {
                    self.at += 2;
                    self.substitution()
                }
            }
            Some(Unit::Byte(b'(')) => {
                self.at += 2;
                self.substitution()
            }
            Some(Unit::Byte(b'{')) => self.nested(|lexer| lexer.parameter(quoted)),
            Some(Unit::Byte(b'[')) => match self.family {
                ShellFamily::Bash | ShellFamily::Zsh => {
                    self.at += 2;
                    self.nested(|lexer| lexer.arithmetic(b']'))
                }
                ShellFamily::Sh | ShellFamily::Ksh => {
                    self.unsure("it follows `$[`, which shells don't read alike; write `$(( … ))`");
                    self.at += 2;
                    Ok(())
                }
            },
            Some(Unit::Byte(b'\'')) if !quoted => {
                if self.family == ShellFamily::Sh {
                    self.unsure("it follows `$'`, which not every `sh` knows; use `shell: bash`");
                    self.at += 1;
                    return Ok(());
                }
                self.ansi(word)
            }
            // The quote itself is read next.
            Some(Unit::Byte(b'"')) | None => {
                self.at += 1;
                Ok(())
            }
            Some(Unit::Byte(byte)) => self.name(byte),
        }
    }

    /// `$name`, `$1`, `$$` and the like.
    fn name(&mut self, first: u8) -> Result<(), Stop> {
        self.at += 1;
        if first.is_ascii_alphabetic() || first == b'_' {
            while self.byte(0).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                self.at += 1;
            }
            if self.family == ShellFamily::Zsh && self.byte(0) == Some(b'[') {
                self.subscript()?;
            }
        } else if first.is_ascii_digit() || b"$#?!@*-".contains(&first) {
            self.at += 1;
        }
        Ok(())
    }

    /// `[…]` just after `$name`, which zsh evaluates.
    fn subscript(&mut self) -> Result<(), Stop> {
        let start = self.at;
        while let Some(unit) = self.peek(0) {
            match unit {
                Unit::Byte(b']') => return Ok(()),
                Unit::Byte(b'\n' | b' ') => break,
                Unit::Byte(_) => self.at += 1,
                Unit::Hole(hole) => {
                    self.refuse(
                        hole,
                        "a hole can't stand in a subscript",
                        "put `\"\"` before the `[`, or use a variable",
                    );
                    self.hole(hole, Quoting::Double, Rule::Any);
                }
            }
        }
        self.at = start + 1;
        Ok(())
    }

    /// `${…}`. No hole may stand in it: what it is read as depends on the operator.
    fn parameter(&mut self, quoted: bool) -> Result<(), Stop> {
        let start = self.at;
        self.at += 2;
        if matches!(self.byte(0), Some(b' ' | b'\t' | b'\n' | b'|')) {
            self.unsure("it follows `${ `, which shells don't read alike");
        }
        self.in_parameter += 1;
        let is_trim = self.is_trim();
        loop {
            match self.peek(0) {
                None => return Err(self.stop(start, "a `${` is never closed", "close it with `}`")),
                Some(Unit::Byte(b'}')) => break,
                Some(Unit::Hole(hole)) => self.hole(hole, Quoting::Double, Rule::Any),
                Some(Unit::Byte(b'\\')) => self.escape(None),
                Some(Unit::Byte(b'`')) => self.backquotes()?,
                Some(Unit::Byte(b'"')) => self.nested(|lexer| lexer.double(Rule::Any, None))?,
                Some(Unit::Byte(b'$')) => self.dollar(quoted, None)?,
                Some(Unit::Byte(b'\'')) if !quoted || is_trim => self.single(None)?,
                Some(Unit::Byte(b'\'')) => {
                    self.unsure("it follows a `'` inside `\"${…}\"`, which shells don't read alike");
                    self.at += 1;
                }
                Some(Unit::Byte(_)) => self.at += 1,
            }
        }
        self.at += 1;
        self.in_parameter -= 1;
        Ok(())
    }

    /// Skips the parameter of `${…}`; whether `#` or `%` follows, and so a pattern, in which quotes are quotes even
    /// inside double quotes.
    fn is_trim(&mut self) -> bool {
        if matches!(self.byte(0), Some(b'#' | b'!')) && self.byte(1) != Some(b'}') {
            self.at += 1;
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        match self.byte(0) {
            Some(byte) if is_name(byte) => {
                while self.byte(0).is_some_and(is_name) {
                    self.at += 1;
                }
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => self.at += 1,
            _ => {}
        }
        matches!(self.byte(0), Some(b'#' | b'%'))
    }
}
