//! Redirections, and here-documents with their text further down.

use super::lexer::{Lexer, Stop};
use super::units::{Quoting, Rule, Unit};
use super::word::WordKind;

/// A here-document whose text is still to come.
#[derive(Debug)]
pub(super) struct Heredoc {
    delimiter: Vec<u8>,
    is_quoted: bool,
    strips_tabs: bool,
}

impl Lexer<'_> {
    /// Whether a redirection begins here.
    pub(super) fn is_redirection(&self) -> bool {
        match (self.byte(0), self.byte(1)) {
            (Some(b'<' | b'>'), Some(b'(')) => self.family == super::ShellFamily::Sh,
            (Some(b'<' | b'>'), _) | (Some(b'&'), Some(b'>')) => true,
            _ => false,
        }
    }

    /// Reads a redirection and what it leads to.
    pub(super) fn redirection(&mut self) -> Result<(), Stop> {
        let is_document = self.starts_with("<<") && !self.starts_with("<<<");
        let sign = ["<<<", "<<-", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">&", ">|", ">!", ">"];
        let sign = sign.into_iter().find(|sign| self.starts_with(sign)).unwrap_or(">");
        self.at += sign.len();
        self.blanks();
        if is_document {
            self.delimiter(sign == "<<-");
            return Ok(());
        }
        self.nested(|lexer| lexer.word(WordKind::Command)).map(|_| ())
    }

    fn delimiter(&mut self, strips_tabs: bool) {
        let mut document = Heredoc { delimiter: Vec::new(), is_quoted: false, strips_tabs };
        let mut quote = None;
        while let Some(unit) = self.peek(0) {
            let byte = match unit {
                Unit::Hole(hole) => {
                    self.refuse(hole, "a hole can't end a here-document", "write the delimiter itself");
                    self.hole(hole, Quoting::Double, Rule::Any);
                    continue;
                }
                Unit::Byte(byte) => byte,
            };
            match (quote, byte) {
                (None, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')') => break,
                (None, b'\'' | b'"') => {
                    quote = Some(byte);
                    document.is_quoted = true;
                }
                (Some(open), _) if byte == open => quote = None,
                (None, b'\\') => {
                    document.is_quoted = true;
                    self.at += 1;
                    if let Some(byte) = self.byte(0) {
                        document.delimiter.push(byte);
                    }
                }
                (None, b'$' | b'`') => {
                    self.unsure("it follows a here-document whose delimiter shells don't read alike");
                    document.delimiter.push(byte);
                }
                (None | Some(_), _) => document.delimiter.push(byte),
            }
            self.at += 1;
        }
        self.heredocs.push(document);
    }

    /// Reads the texts that begin on this line, if there are any.
    pub(super) fn here_documents(&mut self) -> Result<(), Stop> {
        if self.outer_heredocs > 0 {
            self.unsure("it follows a here-document that began outside this `$( )`");
        }
        for document in self.heredocs.split_off(self.outer_heredocs) {
            self.nested(|lexer| lexer.text(&document))?;
        }
        Ok(())
    }

    fn text(&mut self, document: &Heredoc) -> Result<(), Stop> {
        let start = self.at;
        let (text_end, next) = self.text_end(document);
        if document.is_quoted {
            for hole in self.holes_between(start, text_end) {
                let help = "leave the quotes of its delimiter out, and escape every other `$`";
                self.refuse(hole, "a hole can't stand in a quoted here-document", help);
            }
            self.at = next;
            return Ok(());
        }
        let limit = std::mem::replace(&mut self.end, text_end);
        let result = self.expanded_text();
        self.end = limit;
        result?;
        self.at = next;
        Ok(())
    }

    fn expanded_text(&mut self) -> Result<(), Stop> {
        while let Some(unit) = self.peek(0) {
            match unit {
                Unit::Hole(hole) => self.hole(hole, Quoting::Double, Rule::Any),
                Unit::Byte(b'\\') => self.escape(None),
                Unit::Byte(b'$') => self.dollar(true, None)?,
                Unit::Byte(b'`') => self.backquotes()?,
                Unit::Byte(_) => self.at += 1,
            }
        }
        Ok(())
    }

    /// Where the text ends, and where the line after the delimiter begins.
    fn text_end(&self, document: &Heredoc) -> (usize, usize) {
        let mut line = self.at;
        let mut continued = false;
        while line < self.end {
            let newline = self.units[line..self.end].iter().position(|unit| *unit == Unit::Byte(b'\n'));
            let line_end = newline.map_or(self.end, |offset| line + offset);
            let units = &self.units[line..line_end];
            let indent = if document.strips_tabs {
                units.iter().take_while(|unit| **unit == Unit::Byte(b'\t')).count()
            } else {
                0
            };
            let found =
                units[indent..].iter().copied().eq(document.delimiter.iter().map(|byte| Unit::Byte(*byte)));
            if found && !continued {
                return (line, (line_end + 1).min(self.end));
            }
            let backslashes = units.iter().rev().take_while(|unit| **unit == Unit::Byte(b'\\')).count();
            continued = !document.is_quoted && backslashes % 2 == 1;
            line = line_end + 1;
        }
        (self.end, self.end)
    }
}
