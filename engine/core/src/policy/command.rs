//! A shell command taken apart, for the rules only. Nothing here is ever run.
//!
//! 1. Whatever a shell would run of the text is part of some [`Part`], also inside substitutions; or the text is
//!    refused as unreadable.
//! 2. A word is [`Form::Literal`] only if the shell would see exactly its `text`.

/// How deep substitutions and subshells may nest.
const DEEPEST: u32 = 16;

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// The command and its arguments, quotes gone.
    pub(super) words: Vec<Word>,
    /// Variables are set in front of it.
    pub(super) assigns: bool,
    /// It reads from or writes to a file by redirection. `/dev/null` and descriptors don't count.
    pub(super) redirects: bool,
    /// Its standard input is a text of the command line: a here-document or a here-string.
    pub(super) fed: bool,
    /// It stands in a subshell or a substitution.
    pub(super) nested: bool,
    /// `&&` follows.
    pub(super) and_then: bool,
}

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text without quotes; what only the shell knows is missing.
    pub(super) text: String,
    /// How much the text says.
    pub(super) form: Form,
}

/// How much is known of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// All.
    Literal,
    /// It becomes the names of files that match it.
    Wildcard,
    /// Only the shell knows.
    Dynamic,
}

/// The text is not a command that can be taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

/// Takes a command apart; parts of substitutions come before the part that they stand in.
pub(super) fn parse(text: &str) -> Result<Vec<Part>, Unreadable> {
    parse_at(text, 0)
}

fn parse_at(text: &str, depth: u32) -> Result<Vec<Part>, Unreadable> {
    let chars: Vec<char> = text.chars().collect();
    if depth > DEEPEST || chars.contains(&'\0') {
        return Err(Unreadable);
    }
    let mut parser = Parser { chars: &chars, at: 0, depth, parts: Vec::new(), documents: Vec::new() };
    parser.list(None)?;
    if parser.documents.is_empty() { Ok(parser.parts) } else { Err(Unreadable) }
}

struct Parser<'a> {
    chars: &'a [char],
    at: usize,
    depth: u32,
    parts: Vec<Part>,
    documents: Vec<Document>,
}

/// A here-document whose body begins at the next line.
struct Document {
    end: String,
    strip_tabs: bool,
    literal: bool,
}

impl Parser<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Goes past a text if it comes next.
    fn take(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(ahead, c)| self.peek(ahead) == Some(c));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    /// Commands up to the end of the text, or up to and with `close`.
    fn list(&mut self, close: Option<char>) -> Result<(), Unreadable> {
        let mut part = self.fresh();
        // After `( ... )` only redirections and operators may follow.
        let mut after_group = false;
        loop {
            if self.take("\\\n") {
                continue;
            }
            let Some(c) = self.peek(0) else {
                self.end_part(&mut part);
                return if close.is_none() { Ok(()) } else { Err(Unreadable) };
            };
            match c {
                ' ' | '\t' => self.at += 1,
                '\n' => {
                    self.at += 1;
                    self.end_part(&mut part);
                    after_group = false;
                    self.read_documents()?;
                }
                ')' => {
                    self.at += 1;
                    self.end_part(&mut part);
                    return if close == Some(')') { Ok(()) } else { Err(Unreadable) };
                }
                '#' => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                ';' | '|' => {
                    self.operator(&mut part)?;
                    after_group = false;
                }
                '&' if self.peek(1) != Some('>') => {
                    self.operator(&mut part)?;
                    after_group = false;
                }
                '(' if part.words.is_empty()
                    && !part.assigns
                    && !part.redirects
                    && !part.fed
                    && !after_group =>
                {
                    self.at += 1;
                    self.group()?;
                    after_group = true;
                }
                '(' => return Err(Unreadable),
                '<' | '>' | '&' => self.redirect(&mut part)?,
                _ if after_group => return Err(Unreadable),
                _ => self.word_or_descriptor(&mut part)?,
            }
        }
    }

    fn fresh(&self) -> Part {
        Part { nested: self.depth > 0, ..Part::default() }
    }

    fn end_part(&mut self, part: &mut Part) {
        let part = std::mem::replace(part, self.fresh());
        if !part.words.is_empty() || part.assigns || part.redirects || part.fed {
            self.parts.push(part);
        }
    }

    fn operator(&mut self, part: &mut Part) -> Result<(), Unreadable> {
        if self.take(";;") || self.take(";&") {
            return Err(Unreadable);
        }
        part.and_then = self.take("&&");
        if !part.and_then && !self.take("||") && !self.take("|&") {
            self.at += 1;
        }
        self.end_part(part);
        Ok(())
    }

    /// The inside of `( )`, whose opening is behind us.
    fn group(&mut self) -> Result<(), Unreadable> {
        self.deeper()?;
        self.list(Some(')'))?;
        self.depth -= 1;
        if self.documents.is_empty() { Ok(()) } else { Err(Unreadable) }
    }

    /// Shells differ on where the body of a here-document begins when a substitution opens on its line.
    fn deeper(&mut self) -> Result<(), Unreadable> {
        self.depth += 1;
        if self.depth > DEEPEST || !self.documents.is_empty() { Err(Unreadable) } else { Ok(()) }
    }

    fn word_or_descriptor(&mut self, part: &mut Part) -> Result<(), Unreadable> {
        let start = self.at;
        let digits = self.chars[start..].iter().take_while(|c| c.is_ascii_digit()).count();
        if digits > 0 && matches!(self.peek(digits), Some('<' | '>')) {
            self.at += digits;
            return self.redirect(part);
        }
        let word = self.word()?;
        if part.words.is_empty() && is_assignment(&self.chars[start..self.at]) {
            part.assigns = true;
        } else {
            part.words.push(word);
        }
        Ok(())
    }

    fn redirect(&mut self, part: &mut Part) -> Result<(), Unreadable> {
        if self.peek(1) == Some('(') && matches!(self.peek(0), Some('<' | '>')) {
            self.at += 2;
            self.group()?;
            part.words.push(Word { text: String::new(), form: Form::Dynamic });
            return Ok(());
        }
        if self.take("<<<") {
            part.fed = true;
            self.blanks();
            return self.word().map(drop);
        }
        if self.take("<<") {
            part.fed = true;
            let strip_tabs = self.take("-");
            self.blanks();
            let start = self.at;
            let word = self.word()?;
            let literal = self.chars[start..self.at].iter().any(|c| matches!(c, '\'' | '"' | '\\'));
            if word.text.is_empty() || word.form == Form::Dynamic {
                return Err(Unreadable);
            }
            self.documents.push(Document { end: word.text, strip_tabs, literal });
            return Ok(());
        }
        let descriptor =
            ["&>>", "&>", "<&", ">&", "<>", ">>", ">|", "<", ">"].into_iter().find(|op| self.take(op));
        let Some(op) = descriptor else { return Err(Unreadable) };
        self.blanks();
        let target = self.word()?;
        if target.text.is_empty() && target.form == Form::Literal {
            return Err(Unreadable);
        }
        let number = matches!(op, "<&" | ">&") && target.text.chars().all(|c| c.is_ascii_digit() || c == '-');
        let harmless = target.form == Form::Literal && (number || target.text == "/dev/null");
        part.redirects |= !harmless;
        Ok(())
    }

    fn blanks(&mut self) {
        while self.take(" ") || self.take("\t") || self.take("\\\n") {}
    }

    /// The bodies of the here-documents of the line that has just ended.
    fn read_documents(&mut self) -> Result<(), Unreadable> {
        for document in std::mem::take(&mut self.documents) {
            let mut body = String::new();
            loop {
                if self.at >= self.chars.len() {
                    return Err(Unreadable);
                }
                let end = self.chars[self.at..].iter().position(|c| *c == '\n');
                let end = end.map_or(self.chars.len(), |length| self.at + length);
                let line: String = self.chars[self.at..end].iter().collect();
                self.at = (end + 1).min(self.chars.len());
                let bare = if document.strip_tabs { line.trim_start_matches('\t') } else { &line };
                if bare == document.end {
                    break;
                }
                body.push_str(&line);
                body.push('\n');
            }
            if !document.literal {
                let chars: Vec<char> = body.chars().collect();
                let mut inner =
                    Parser { chars: &chars, parts: Vec::new(), documents: Vec::new(), at: 0, ..*self };
                let mut word = Word { text: String::new(), form: Form::Literal };
                while inner.at < chars.len() {
                    inner.in_quotes(&mut word)?;
                }
                self.parts.append(&mut inner.parts);
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Result<Word, Unreadable> {
        let start = self.at;
        let mut word = Word { text: String::new(), form: Form::Literal };
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' | ')' => break,
                '(' => return Err(Unreadable),
                '\'' => {
                    self.at += 1;
                    self.single_quotes(&mut word.text)?;
                }
                '"' => {
                    self.at += 1;
                    self.double_quotes(&mut word)?;
                }
                '\\' => {
                    self.at += 1;
                    match self.peek(0) {
                        Some('\n') => {}
                        Some(c) => word.text.push(c),
                        None => return Err(Unreadable),
                    }
                    self.at += 1;
                }
                '$' => self.dollar(&mut word)?,
                '`' => self.backquotes(&mut word)?,
                '*' | '?' | '[' => {
                    word.form = word.form.max(Form::Wildcard);
                    word.text.push(c);
                    self.at += 1;
                }
                // `~` stands for a home, `{a,b}` for two words; `{}` and `{` alone for themselves.
                '~' | '{' => {
                    let certain = match c {
                        '~' => self.at != start && !matches!(self.chars[self.at - 1], '=' | ':'),
                        _ => self.peek(1) == Some('}') || (self.at == start && self.ends_word(1)),
                    };
                    if !certain {
                        word.form = Form::Dynamic;
                    }
                    word.text.push(c);
                    self.at += 1;
                }
                _ => {
                    word.text.push(c);
                    self.at += 1;
                }
            }
        }
        Ok(word)
    }

    fn ends_word(&self, ahead: usize) -> bool {
        self.peek(ahead).is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' | ')'))
    }

    fn single_quotes(&mut self, text: &mut String) -> Result<(), Unreadable> {
        loop {
            let c = self.peek(0).ok_or(Unreadable)?;
            self.at += 1;
            if c == '\'' {
                return Ok(());
            }
            text.push(c);
        }
    }

    fn double_quotes(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        loop {
            match self.peek(0) {
                None => return Err(Unreadable),
                Some('"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => self.in_quotes(word)?,
            }
        }
    }

    /// One character, escape or expansion where double quotes are open.
    fn in_quotes(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        match (self.peek(0), self.peek(1)) {
            (Some('$'), _) => self.dollar_in_quotes(word),
            (Some('`'), _) => self.backquotes(word),
            (Some('\\'), Some('\n')) => {
                self.at += 2;
                Ok(())
            }
            (Some('\\'), Some(c @ ('$' | '`' | '"' | '\\'))) => {
                word.text.push(c);
                self.at += 2;
                Ok(())
            }
            (Some(c), _) => {
                word.text.push(c);
                self.at += 1;
                Ok(())
            }
            (None, _) => Err(Unreadable),
        }
    }

    fn dollar(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        match self.peek(1) {
            Some('\'') => {
                self.at += 2;
                word.form = Form::Dynamic;
                loop {
                    match self.peek(0) {
                        None => return Err(Unreadable),
                        Some('\'') => break,
                        Some('\\') => self.at += 2,
                        Some(_) => self.at += 1,
                    }
                }
                self.at += 1;
                Ok(())
            }
            Some('"') => {
                self.at += 2;
                word.form = Form::Dynamic;
                self.double_quotes(word)
            }
            _ => self.dollar_in_quotes(word),
        }
    }

    /// An expansion, in quotes or not.
    fn dollar_in_quotes(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        self.at += 1;
        match self.peek(0) {
            // Arithmetic is read as a substitution of a subshell: its own substitutions are found all the same.
            Some('(') => {
                self.at += 1;
                word.form = Form::Dynamic;
                self.group()
            }
            Some('{') => {
                self.at += 1;
                word.form = Form::Dynamic;
                self.braces()
            }
            Some('[') => Err(Unreadable),
            Some(c) if c.is_alphanumeric() || matches!(c, '_' | '@' | '*' | '#' | '?' | '-' | '$' | '!') => {
                word.form = Form::Dynamic;
                self.at += 1;
                while self.peek(0).is_some_and(|next| {
                    (c.is_alphabetic() || c == '_') && (next.is_alphanumeric() || next == '_')
                }) {
                    self.at += 1;
                }
                Ok(())
            }
            _ => {
                word.text.push('$');
                Ok(())
            }
        }
    }

    /// The inside of `${ }`. Quotes in it follow rules of their own, so they are not read.
    fn braces(&mut self) -> Result<(), Unreadable> {
        self.deeper()?;
        let mut ignored = Word { text: String::new(), form: Form::Literal };
        loop {
            match self.peek(0) {
                None | Some('\'' | '"' | '\\' | '\n') => return Err(Unreadable),
                Some('}') => {
                    self.at += 1;
                    self.depth -= 1;
                    return Ok(());
                }
                Some('$') => self.dollar_in_quotes(&mut ignored)?,
                Some('`') => self.backquotes(&mut ignored)?,
                Some(_) => self.at += 1,
            }
        }
    }

    fn backquotes(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        self.at += 1;
        word.form = Form::Dynamic;
        let mut inner = String::new();
        loop {
            match (self.peek(0), self.peek(1)) {
                (None, _) => return Err(Unreadable),
                (Some('`'), _) => break,
                (Some('\\'), Some(c @ ('$' | '`' | '\\' | '"'))) => {
                    inner.push(c);
                    self.at += 2;
                }
                (Some(c), _) => {
                    inner.push(c);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        self.deeper()?;
        self.parts.append(&mut parse_at(&inner, self.depth)?);
        self.depth -= 1;
        Ok(())
    }
}

/// `NAME=`, `NAME+=` or `NAME[...]=` at the beginning of a word as it is written.
fn is_assignment(raw: &[char]) -> bool {
    let name = raw.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').count();
    if name == 0 || raw[0].is_ascii_digit() {
        return false;
    }
    match raw.get(name) {
        Some('=') => true,
        Some('+') => raw.get(name + 1) == Some(&'='),
        Some('[') => raw[name..].contains(&'='),
        _ => false,
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
