//! The lexer's state, and the grammar of commands: lists, keywords, loops, `case`.

use std::ops::Range;

use super::super::error::{TemplateError, TemplateErrorKind};
use super::arith::Arithmetic;
use super::family::ShellFamily;
use super::heredoc::Heredoc;
use super::units::{Hole, Quoting, Rule, Unit, Units, Use};
use super::word::{Word, WordKind};

/// Constructs inside each other, beyond which the lexer gives up.
const MOST_NESTED: usize = 64;

/// What the lexer found out about a script.
#[derive(Debug)]
pub(crate) struct Findings {
    /// One for each hole; `None` only beside an error.
    pub(crate) uses: Vec<Option<Use>>,
    pub(crate) errors: Vec<TemplateError>,
    pub(crate) warnings: Vec<TemplateError>,
}

/// Reads a script. Every hole has a use, or there is an error.
pub(crate) fn lex(units: &Units, family: ShellFamily) -> Findings {
    let mut lexer = Lexer::new(units, family);
    // A stop has left its error behind.
    let _ = lexer.list(Close::End);
    lexer.judge_assignments();
    lexer.judge_blocks(&units.blocks);
    Findings { uses: lexer.uses, errors: lexer.errors, warnings: lexer.warnings }
}

/// The rest of the script can't be read; the error is recorded.
#[derive(Debug)]
pub(super) struct Stop;

/// What ends a list of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Close {
    End,
    Paren,
    CaseItem,
}

/// How a list of commands ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Closed,
    Esac,
}

/// What a keyword leads to.
enum Next {
    Command,
    Esac,
}

/// What a name has been declared to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attribute {
    /// An integer or a reference: what is assigned is evaluated.
    Evaluated,
    /// An array: `declare` and its kin evaluate `(…)` in a value.
    Array,
}

/// An assignment whose value has holes.
#[derive(Debug)]
pub(super) struct Assigned {
    pub(super) name: String,
    pub(super) holes: Vec<usize>,
    /// By `export`, `readonly` or `local`.
    pub(super) by_builtin: bool,
}

pub(super) struct Lexer<'a> {
    pub(super) units: &'a [Unit],
    starts: &'a [usize],
    holes: &'a [Hole],
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) family: ShellFamily,
    pub(super) uses: Vec<Option<Use>>,
    pub(super) errors: Vec<TemplateError>,
    pub(super) warnings: Vec<TemplateError>,
    pub(super) heredocs: Vec<Heredoc>,
    /// Here-documents that began outside the innermost `$( )`.
    pub(super) outer_heredocs: usize,
    pub(super) attributes: Vec<(String, Attribute)>,
    pub(super) assigned: Vec<Assigned>,
    /// Inside `${…}`, where no hole may stand.
    pub(super) in_parameter: usize,
    comments: Vec<Range<usize>>,
    unsure: Option<&'static str>,
    depth: usize,
}

impl<'a> Lexer<'a> {
    fn new(units: &'a Units, family: ShellFamily) -> Self {
        Lexer {
            units: &units.units,
            starts: &units.starts,
            holes: &units.holes,
            at: 0,
            end: units.units.len(),
            family,
            uses: vec![None; units.holes.len()],
            errors: Vec::new(),
            warnings: Vec::new(),
            heredocs: Vec::new(),
            outer_heredocs: 0,
            attributes: Vec::new(),
            assigned: Vec::new(),
            in_parameter: 0,
            comments: Vec::new(),
            unsure: None,
            depth: 0,
        }
    }

    /// The unit `ahead` places further on, within the present limit.
    pub(super) fn peek(&self, ahead: usize) -> Option<Unit> {
        let at = self.at + ahead;
        if at < self.end { self.units.get(at).copied() } else { None }
    }

    /// The byte `ahead` places further on, if it is one.
    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        match self.peek(ahead) {
            Some(Unit::Byte(byte)) => Some(byte),
            Some(Unit::Hole(_)) | None => None,
        }
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        text.bytes().enumerate().all(|(ahead, byte)| self.byte(ahead) == Some(byte))
    }

    /// The bytes of the source from one unit up to another.
    pub(super) fn range(&self, from: usize, to: usize) -> Range<usize> {
        let last = self.starts.len() - 1;
        self.starts[from.min(last)]..self.starts[to.min(last)]
    }

    /// The holes from one unit up to another.
    pub(super) fn holes_between(&self, from: usize, to: usize) -> Vec<usize> {
        let holes = self.units[from..to].iter().filter_map(|unit| match unit {
            Unit::Hole(hole) => Some(*hole),
            Unit::Byte(_) => None,
        });
        holes.collect()
    }

    /// Says that no value can stand in a hole.
    pub(super) fn refuse(&mut self, hole: usize, message: impl Into<String>, help: impl Into<String>) {
        let at = self.holes[hole].at.clone();
        if self.errors.iter().all(|error| error.at != at) {
            let error = TemplateError::new(TemplateErrorKind::UnsafeHole, at, message);
            self.errors.push(error.help(help));
        }
    }

    pub(super) fn refuse_all(&mut self, holes: &[usize], message: &str, help: &str) {
        for hole in holes {
            self.refuse(*hole, message, help);
        }
    }

    /// Warns that a value becomes program text of another language.
    pub(super) fn warn(&mut self, hole: usize, program: &str) {
        let at = self.holes[hole].at.clone();
        let message = format!("the value becomes program text of `{program}`");
        let warning = TemplateError::new(TemplateErrorKind::ProgramText, at, message);
        self.warnings.push(warning.help("use `env:` and read the variable in the program"));
    }

    /// Says that the script can't be read on from here.
    pub(super) fn stop(&mut self, from: usize, message: &str, help: &str) -> Stop {
        let at = self.range(from, from + 1);
        let error = TemplateError::new(TemplateErrorKind::Syntax, at, message);
        self.errors.push(error.help(help));
        Stop
    }

    /// Says that shells may read what follows in another way, so that no hole after this place is safe.
    pub(super) fn unsure(&mut self, why: &'static str) {
        self.unsure.get_or_insert(why);
    }

    /// Takes a hole at the present place.
    pub(super) fn hole(&mut self, hole: usize, quoting: Quoting, rule: Rule) {
        self.at += 1;
        if quoting != Quoting::Comment {
            if let Some(why) = self.unsure {
                self.refuse(hole, why, "use `env:` and read the variable");
            }
            if self.in_parameter > 0 {
                let help = "put it in a variable first: `v=${{ … }}`, then `${v…}`";
                self.refuse(hole, "a hole can't stand inside `${…}`", help);
            }
        }
        self.uses[hole] = Some(Use { quoting, rule, spreads: false });
    }

    /// Puts a stricter rule on a hole.
    pub(super) fn demand(&mut self, hole: usize, rule: Rule) {
        if let Some(Some(found)) = self.uses.get_mut(hole)
            && found.rule == Rule::Any
        {
            found.rule = rule;
        }
    }

    pub(super) fn demand_all(&mut self, holes: &[usize], rule: Rule) {
        for hole in holes {
            self.demand(*hole, rule);
        }
    }

    /// Lets a list become one word an element, where a hole is a whole word.
    pub(super) fn spread(&mut self, words: &[Word]) {
        for hole in words.iter().filter_map(|word| word.whole_hole) {
            if let Some(Some(found)) = self.uses.get_mut(hole) {
                found.spreads = true;
            }
        }
    }

    /// Runs a part of the grammar one level deeper.
    pub(super) fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Result<T, Stop> {
        if self.depth == MOST_NESTED {
            let at = self.at;
            return Err(self.stop(
                at,
                "the script nests too deep to be read",
                "use `env:` and read the variables",
            ));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    /// Skips blanks and continued lines.
    pub(super) fn blanks(&mut self) {
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b' ' | b'\t'), _) => self.at += 1,
                (Some(b'\\'), Some(b'\n')) => self.at += 2,
                _ => return,
            }
        }
    }

    /// Skips a comment, which begins here, up to the end of its line. Its holes stay as they are.
    pub(super) fn comment(&mut self) {
        let start = self.at;
        while let Some(unit) = self.peek(0) {
            match unit {
                Unit::Byte(b'\n') => break,
                Unit::Byte(_) => self.at += 1,
                Unit::Hole(hole) => self.hole(hole, Quoting::Comment, Rule::Any),
            }
        }
        self.comments.push(start..self.at);
    }

    fn judge_blocks(&mut self, blocks: &[usize]) {
        for block in blocks {
            if !self.comments.iter().any(|comment| comment.contains(block)) {
                let at = self.range(*block, block + 3);
                let error =
                    TemplateError::new(TemplateErrorKind::Place, at, "a block can't stand in a script");
                self.errors.push(error.help("put it in `env: { TEXT: … }` and use `\"$TEXT\"`"));
            }
        }
    }

    /// Skips blanks, comments and line ends, and reads the here-documents that begin at a line end.
    pub(super) fn lines(&mut self) -> Result<(), Stop> {
        loop {
            self.blanks();
            match self.byte(0) {
                Some(b'#') => self.comment(),
                Some(b'\n') => {
                    self.at += 1;
                    self.here_documents()?;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Reads commands up to what closes the list.
    pub(super) fn list(&mut self, close: Close) -> Result<Ended, Stop> {
        let start = self.at;
        loop {
            self.lines()?;
            match (self.byte(0), self.byte(1)) {
                _ if self.peek(0).is_none() => {
                    return match close {
                        Close::End => Ok(Ended::Closed),
                        Close::Paren => {
                            Err(self.stop(start.saturating_sub(1), "a `(` is never closed", "close it"))
                        }
                        Close::CaseItem => Err(self.stop(
                            start.saturating_sub(1),
                            "a `case` is never ended",
                            "end it with `esac`",
                        )),
                    };
                }
                (Some(b')'), _) => {
                    self.at += 1;
                    match close {
                        Close::Paren => return Ok(Ended::Closed),
                        Close::End | Close::CaseItem => self.unsure("it follows a `)` that closes nothing"),
                    }
                }
                (Some(b';'), Some(b';' | b'&')) if close == Close::CaseItem => {
                    self.at += 2;
                    if self.byte(0) == Some(b'&') {
                        self.at += 1;
                    }
                    return Ok(Ended::Closed);
                }
                (Some(b'&'), Some(b'>')) => self.command()?,
                (Some(b';' | b'&' | b'|'), _) => self.at += 1,
                (Some(b'('), Some(b'(')) if self.is_arithmetic(2) => {
                    if self.family == ShellFamily::Sh {
                        self.unsure(
                            "it follows `((`, which not every `sh` reads as arithmetic; write `$(( … ))`",
                        );
                    }
                    self.at += 2;
                    self.nested(|lexer| lexer.arithmetic(Arithmetic::Parens))?;
                }
                (Some(b'('), next) => {
                    if next == Some(b'(') {
                        self.unsure("it follows `((`, which shells don't read alike here; write `( (`");
                    }
                    self.at += 1;
                    self.nested(|lexer| lexer.list(Close::Paren))?;
                }
                _ => {
                    if let Next::Esac = self.command_or_keyword(close)? {
                        return Ok(Ended::Esac);
                    }
                }
            }
        }
    }

    fn command_or_keyword(&mut self, close: Close) -> Result<Next, Stop> {
        let start = self.at;
        let keyword = self.keyword();
        match keyword {
            Some("esac") if close == Close::CaseItem => return Ok(Next::Esac),
            Some("case") => self.nested(Self::case)?,
            Some("for" | "select") => self.for_loop()?,
            Some("[[") => self.nested(Self::condition)?,
            Some("function") => {
                self.blanks();
                self.word(WordKind::Command)?;
                self.blanks();
                if self.starts_with("()") {
                    self.at += 2;
                }
            }
            Some("time") => {
                self.blanks();
                while self.starts_with("-p") || self.starts_with("--") {
                    self.at += 2;
                    self.blanks();
                }
            }
            Some("coproc") => self.unsure("it follows `coproc`"),
            Some(_) => {}
            None => {
                self.at = start;
                self.nested(Self::command)?;
            }
        }
        Ok(Next::Command)
    }

    /// Takes a reserved word that stands here by itself.
    fn keyword(&mut self) -> Option<&'static str> {
        const KEYWORDS: &[&str] = &[
            "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
            "select", "then", "time", "until", "while", "{", "}",
        ];
        let ends = |byte: u8| b" \t\n;&|()<>".contains(&byte);
        let length = (0..9).find(|ahead| match self.peek(*ahead) {
            Some(Unit::Byte(byte)) => ends(byte),
            Some(Unit::Hole(_)) => false,
            None => true,
        })?;
        let keyword = KEYWORDS.iter().find(|word| word.len() == length && self.starts_with(word))?;
        // `f=(`, `!(` and the like are longer words; only parentheses that stand for themselves end these.
        self.at += length;
        Some(keyword)
    }

    fn for_loop(&mut self) -> Result<(), Stop> {
        self.blanks();
        if self.starts_with("((") {
            self.at += 2;
            return self.nested(|lexer| lexer.arithmetic(Arithmetic::LoopHead));
        }
        let name = self.word(WordKind::Command)?;
        self.refuse_all(&name.holes, "a hole can't name a loop's variable", "write the name itself");
        self.lines()?;
        let before = self.at;
        let word = self.word(WordKind::Command)?;
        if !word.is("in") {
            self.at = before;
            return Ok(());
        }
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.byte(0) {
                Some(b'\n' | b';' | b'&' | b'|' | b')' | b'(' | b'<' | b'>' | b'#') => break,
                _ if self.peek(0).is_none() => break,
                _ => words.push(self.word(WordKind::Command)?),
            }
        }
        self.spread(&words);
        let holes: Vec<usize> = words.iter().flat_map(|word| word.holes.clone()).collect();
        self.assigned.push(Assigned { name: name.text, holes, by_builtin: false });
        Ok(())
    }

    fn case(&mut self) -> Result<(), Stop> {
        self.lines()?;
        self.word(WordKind::Command)?;
        self.lines()?;
        if !self.word(WordKind::Command)?.is("in") {
            self.unsure("it follows a `case` without `in`");
            return Ok(());
        }
        loop {
            self.lines()?;
            let has_paren = self.byte(0) == Some(b'(');
            if has_paren {
                self.at += 1;
                self.blanks();
            }
            let start = self.at;
            let first = self.word(WordKind::Command)?;
            if first.is("esac") && !has_paren {
                return Ok(());
            }
            loop {
                self.blanks();
                match self.byte(0) {
                    Some(b'|') => {
                        self.at += 1;
                        self.blanks();
                        self.word(WordKind::Command)?;
                    }
                    Some(b')') => break,
                    _ => {
                        return Err(self.stop(
                            start,
                            "a pattern of `case` has no `)`",
                            "end the pattern with `)`",
                        ));
                    }
                }
            }
            self.at += 1;
            if self.list(Close::CaseItem)? == Ended::Esac {
                return Ok(());
            }
        }
    }
}
