//! Quotes: `'…'`, `"…"`, `$'…'`, backslashes and backquotes.

use super::lexer::{Lexer, Stop};
use super::units::{Quoting, Rule, Unit};
use super::word::Word;

const BACKSLASH: &str = "a backslash stands just before a hole";
const BACKSLASH_HELP: &str = "leave it out, or write `\\\\` for a backslash";

impl Lexer<'_> {
    /// Reads what begins here with a quote, a backslash, a `$` or a backquote, as a part of a word.
    pub(super) fn quoted_part(&mut self, word: &mut Word) -> Result<(), Stop> {
        match self.byte(0) {
            Some(b'\\') => self.escape(Some(word)),
            Some(b'\'') => self.single(Some(word))?,
            Some(b'"') => self.nested(|lexer| lexer.double(Rule::Any, Some(word)))?,
            Some(b'`') => {
                word.expands();
                self.backquotes()?;
            }
            _ => {
                let opens_quote = matches!(self.byte(1), Some(b'\'' | b'"'));
                if !opens_quote {
                    word.expands();
                }
                self.dollar(false, Some(word))?;
            }
        }
        Ok(())
    }

    /// A backslash and what it quotes.
    pub(super) fn escape(&mut self, word: Option<&mut Word>) {
        match self.peek(1) {
            Some(Unit::Hole(hole)) => {
                self.refuse(hole, BACKSLASH, BACKSLASH_HELP);
                self.at += 1;
            }
            Some(Unit::Byte(byte)) => {
                if let Some(word) = word
                    && byte != b'\n'
                {
                    word.push(byte);
                }
                self.at += 2;
            }
            None => self.at += 1,
        }
    }

    /// `'…'`
    pub(super) fn single(&mut self, mut word: Option<&mut Word>) -> Result<(), Stop> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0) {
                None => return Err(self.stop(start, "a `'` is never closed", "close the quote")),
                Some(Unit::Byte(b'\'')) => {
                    self.at += 1;
                    return Ok(());
                }
                Some(Unit::Hole(hole)) => {
                    self.hole(hole, Quoting::Single, Rule::Any);
                    if let Some(word) = &mut word {
                        word.holds();
                    }
                }
                Some(Unit::Byte(byte)) => {
                    if let Some(word) = &mut word {
                        word.push(byte);
                    }
                    self.at += 1;
                }
            }
        }
    }

    /// `$'…'`, from the `$` on.
    pub(super) fn ansi(&mut self, mut word: Option<&mut Word>) -> Result<(), Stop> {
        let start = self.at;
        self.at += 2;
        loop {
            match self.peek(0) {
                None => return Err(self.stop(start, "a `$'` is never closed", "close the quote")),
                Some(Unit::Byte(b'\'')) => {
                    self.at += 1;
                    return Ok(());
                }
                Some(Unit::Byte(b'\\')) => {
                    // What the escape stands for is not read: such a word is not known.
                    if let Some(word) = &mut word {
                        word.expands();
                    }
                    self.escape(None);
                }
                Some(Unit::Hole(hole)) => {
                    self.hole(hole, Quoting::Ansi, Rule::Any);
                    if let Some(word) = &mut word {
                        word.holds();
                    }
                }
                Some(Unit::Byte(byte)) => {
                    if let Some(word) = &mut word {
                        word.push(byte);
                    }
                    self.at += 1;
                }
            }
        }
    }

    /// `"…"`. In arithmetic, `rule` asks for integers here too.
    pub(super) fn double(&mut self, rule: Rule, mut word: Option<&mut Word>) -> Result<(), Stop> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0) {
                None => return Err(self.stop(start, "a `\"` is never closed", "close the quote")),
                Some(Unit::Byte(b'"')) => {
                    self.at += 1;
                    return Ok(());
                }
                Some(Unit::Byte(b'\\')) => self.escape(word.as_deref_mut()),
                Some(Unit::Byte(b'`')) => {
                    if let Some(word) = &mut word {
                        word.expands();
                    }
                    self.backquotes()?;
                }
                Some(Unit::Byte(b'$')) => {
                    if let Some(word) = &mut word {
                        word.expands();
                    }
                    self.dollar(true, None)?;
                }
                Some(Unit::Hole(hole)) => {
                    self.hole(hole, Quoting::Double, rule);
                    if let Some(word) = &mut word {
                        word.holds();
                    }
                }
                Some(Unit::Byte(byte)) => {
                    if let Some(word) = &mut word {
                        word.push(byte);
                    }
                    self.at += 1;
                }
            }
        }
    }

    /// `` `…` ``: what stands in it is read twice, so no hole may.
    pub(super) fn backquotes(&mut self) -> Result<(), Stop> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0) {
                None => {
                    return Err(self.stop(
                        start,
                        "a backquote is never closed",
                        "close it, or write `$( … )`",
                    ));
                }
                Some(Unit::Byte(b'`')) => {
                    self.at += 1;
                    return Ok(());
                }
                Some(Unit::Byte(b'\\')) => {
                    self.at += if matches!(self.peek(1), Some(Unit::Byte(_))) { 2 } else { 1 }
                }
                Some(Unit::Byte(_)) => self.at += 1,
                Some(Unit::Hole(hole)) => {
                    self.refuse(hole, "a hole can't stand inside backquotes", "write `$( … )`");
                    self.hole(hole, Quoting::Double, Rule::Any);
                }
            }
        }
    }
}
