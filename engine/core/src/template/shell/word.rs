//! Words: from a blank to a blank, with every kind of quote in them.

use super::family::ShellFamily;
use super::lexer::{Close, Lexer, Stop};
use super::units::{Quoting, Rule, Unit};

/// Where a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordKind {
    /// In a command, a pattern of `case`, a list of `for`.
    Command,
    /// An element of `name=( … )`.
    Element,
    /// The right side of `=~`, where parentheses and bars belong to the word.
    Regex,
}

/// What a word begins with, once quotes are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// Nothing: the word is empty.
    Nothing,
    /// A character as written.
    Literal,
    /// A hole.
    Hole,
    /// An expansion of the shell.
    Expansion,
}

/// A word as far as the lexer knows it.
#[derive(Debug)]
pub(super) struct Word {
    /// Its literal characters, quotes removed, holes and expansions left out.
    pub(super) text: String,
    /// Whether the text is the whole word.
    pub(super) is_literal: bool,
    /// Whether some of it was quoted.
    pub(super) is_quoted: bool,
    pub(super) first: First,
    /// Every hole in it, also inside `$( )`.
    pub(super) holes: Vec<usize>,
    /// The hole that the word consists of.
    pub(super) whole_hole: Option<usize>,
    /// The name before `=`, where it is one.
    pub(super) assigns: Option<String>,
    /// Whether the value is `( … )`.
    pub(super) is_array: bool,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Word {
    fn new(start: usize) -> Self {
        Word {
            text: String::new(),
            is_literal: true,
            is_quoted: false,
            first: First::Nothing,
            holes: Vec::new(),
            whole_hole: None,
            assigns: None,
            is_array: false,
            start,
            end: start,
        }
    }

    /// Whether it is this keyword or operator: plain and unquoted.
    pub(super) fn is(&self, text: &str) -> bool {
        self.is_literal && !self.is_quoted && self.text == text
    }

    /// Whether it is certainly this argument, quoted or not.
    pub(super) fn means(&self, text: &str) -> bool {
        self.is_literal && self.text == text
    }

    fn begins(&mut self, first: First) {
        if self.first == First::Nothing {
            self.first = first;
        }
    }

    pub(super) fn push(&mut self, byte: u8) {
        self.begins(First::Literal);
        // Names and keywords are ASCII; what is not can't be one.
        self.text.push(if byte.is_ascii() { char::from(byte) } else { '\u{fffd}' });
    }

    pub(super) fn holds(&mut self) {
        self.begins(First::Hole);
        self.is_literal = false;
    }

    pub(super) fn expands(&mut self) {
        self.begins(First::Expansion);
        self.is_literal = false;
    }
}

impl Lexer<'_> {
    /// Reads the word that begins here. There is one: the caller has seen a unit that belongs to a word, or accepts an
    /// empty word.
    pub(super) fn word(&mut self, kind: WordKind) -> Result<Word, Stop> {
        let mut word = Word::new(self.at);
        // Whether everything so far is unquoted text: the beginning of an assignment must be.
        let mut plain = true;
        let mut subscript = 0usize;
        let mut parens = 0usize;
        while let Some(unit) = self.peek(0) {
            let byte = match unit {
                Unit::Hole(hole) => {
                    if subscript > 0 {
                        let help = "put it in a variable first; where no array is meant, quote the brackets";
                        self.refuse(hole, "a hole can't stand in a subscript", help);
                    }
                    self.hole(hole, Quoting::Bare, Rule::Any);
                    word.holds();
                    plain = false;
                    continue;
                }
                Unit::Byte(byte) => byte,
            };
            match byte {
                b' ' | b'\t' | b'\n' if parens == 0 => break,
                b'(' | b')' | b'|' | b'<' | b'>' | b'&' | b';' if kind == WordKind::Regex => match byte {
                    b')' if parens == 0 => break,
                    b'&' | b'|' if parens == 0 && self.byte(1) == Some(byte) => break,
                    _ => {
                        parens = if byte == b'(' {
                            parens + 1
                        } else if byte == b')' {
                            parens - 1
                        } else {
                            parens
                        };
                        word.push(byte);
                        self.at += 1;
                    }
                },
                b'<' | b'>' if self.byte(1) == Some(b'(') => {
                    if self.family == ShellFamily::Sh {
                        break;
                    }
                    word.expands();
                    self.at += 2;
                    self.substitution()?;
                }
                b'(' if word.assigns.is_some() && plain && word.text.ends_with('=') => {
                    word.is_array = true;
                    word.is_literal = false;
                    self.array()?;
                }
                b'(' if self.is_pattern_group(&word) => {
                    word.expands();
                    self.pattern_group()?;
                }
                b'(' | b')' | b'|' | b'<' | b'>' | b'&' | b';' => break,
                b'\'' | b'"' | b'\\' | b'$' | b'`' => {
                    let had_quote = matches!(byte, b'\'' | b'"') || (byte == b'$' && self.opens_quote());
                    word.is_quoted |= had_quote || byte == b'\\';
                    plain = false;
                    self.quoted_part(&mut word)?;
                }
                _ => {
                    match byte {
                        b'[' if plain && (is_name(&word.text) || subscript > 0) => subscript += 1,
                        b'[' if plain && word.text.is_empty() && kind == WordKind::Element => subscript += 1,
                        b']' => subscript = subscript.saturating_sub(1),
                        b'=' if plain && word.assigns.is_none() => word.assigns = assigned_name(&word.text),
                        _ => {}
                    }
                    word.push(byte);
                    self.at += 1;
                }
            }
        }
        word.end = self.at;
        word.holes = self.holes_between(word.start, word.end);
        if let ([hole], true) = (word.holes.as_slice(), word.end == word.start + 1) {
            word.whole_hole = Some(*hole);
        }
        Ok(word)
    }

    /// Whether the `$` here begins `$'` or `$"`.
    fn opens_quote(&self) -> bool {
        matches!(self.byte(1), Some(b'\'' | b'"'))
    }

    /// The elements of `name=( … )`, from the parenthesis on.
    fn array(&mut self) -> Result<(), Stop> {
        let start = self.at;
        self.at += 1;
        let mut words = Vec::new();
        loop {
            self.lines()?;
            match self.byte(0) {
                Some(b')') => break,
                _ if self.peek(0).is_none() => {
                    return Err(self.stop(start, "a `(` is never closed", "close it"));
                }
                Some(b'(' | b';' | b'&' | b'|') => {
                    self.unsure("it follows an array that shells don't read alike");
                    self.at += 1;
                }
                _ if self.is_redirection() => {
                    self.unsure("it follows an array that shells don't read alike");
                    self.at += 1;
                }
                _ => {
                    let word = self.nested(|lexer| lexer.word(WordKind::Element))?;
                    words.push(word);
                }
            }
        }
        self.at += 1;
        self.spread(&words);
        Ok(())
    }

    /// Whether the parenthesis here belongs to a pattern such as `@(a|b)`.
    fn is_pattern_group(&self, word: &Word) -> bool {
        let after_sign = self.at > word.start
            && matches!(self.units[self.at - 1], Unit::Byte(b'?' | b'*' | b'+' | b'@' | b'!'));
        after_sign && self.family != ShellFamily::Sh
    }

    /// A pattern in parentheses; holes in it are literal text.
    fn pattern_group(&mut self) -> Result<(), Stop> {
        let start = self.at;
        let mut depth = 0usize;
        let mut ignored = Word::new(start);
        loop {
            match self.peek(0) {
                None => return Err(self.stop(start, "a `(` is never closed", "close it")),
                Some(Unit::Hole(hole)) => self.hole(hole, Quoting::Bare, Rule::Any),
                Some(Unit::Byte(b'\'' | b'"' | b'\\' | b'$' | b'`')) => self.quoted_part(&mut ignored)?,
                Some(Unit::Byte(byte)) => {
                    self.at += 1;
                    match byte {
                        b'(' => depth += 1,
                        b')' if depth == 1 => return Ok(()),
                        b')' => depth -= 1,
                        _ => {}
                    }
                }
            }
        }
    }

    /// Commands in `$( )`, `<( )` or `>( )`, from after the parenthesis on.
    pub(super) fn substitution(&mut self) -> Result<(), Stop> {
        let outer = std::mem::replace(&mut self.outer_heredocs, self.heredocs.len());
        self.nested(|lexer| lexer.list(Close::Paren))?;
        if self.heredocs.len() > self.outer_heredocs {
            self.unsure("it follows a here-document whose text lies outside its `$( )`");
            self.heredocs.truncate(self.outer_heredocs);
        }
        self.outer_heredocs = outer;
        Ok(())
    }
}

pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The name that `text=` assigns to.
fn assigned_name(text: &str) -> Option<String> {
    let name = text.strip_suffix('+').unwrap_or(text);
    let name = match name.strip_suffix(']') {
        Some(open) => open.split_once('[').map_or(name, |(name, _)| name),
        None => name,
    };
    is_name(name).then(|| name.to_owned())
}
