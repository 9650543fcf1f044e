//! Simple commands: reading one, and judging what its name does with its arguments.

use super::builtins::{ASSIGNERS, EVALUATORS, PREFIXES, SHELLS, TAKES_INTEGERS, evaluates_variable};
use super::cond::ARITHMETIC_OPERATORS;
use super::family::ShellFamily;
use super::lexer::{Assigned, Attribute, Close, Lexer, Stop};
use super::program;
use super::units::{Rule, Unit};
use super::word::{First, Word, WordKind, is_name};
use crate::text::base_name;

impl Lexer<'_> {
    /// Reads one simple command, up to what separates commands, and judges it.
    pub(super) fn command(&mut self) -> Result<(), Stop> {
        let mut words: Vec<Word> = Vec::new();
        let start = self.at;
        loop {
            self.blanks();
            if self.is_redirection() {
                self.descriptor(&mut words);
                self.redirection()?;
                continue;
            }
            match self.byte(0) {
                _ if self.peek(0).is_none() => break,
                Some(b'\n' | b';' | b'&' | b'|' | b')') => break,
                Some(b'#') => {
                    self.comment();
                    break;
                }
                Some(b'(') if words.len() == 1 && self.is_definition() => break,
                Some(b'(') => {
                    if !words.is_empty() {
                        self.unsure("it follows a `(` that shells don't read alike");
                    }
                    self.at += 1;
                    self.list(Close::Paren)?;
                }
                _ => {
                    let word = self.word(WordKind::Command)?;
                    if word.end == word.start {
                        // `<(` where it is not known.
                        self.unsure("it follows a `(` that shells don't read alike");
                        self.at += 1;
                        continue;
                    }
                    words.push(word);
                }
            }
        }
        if self.at == start {
            self.at += 1;
        }
        self.judge(&words);
        Ok(())
    }

    /// Takes back a word that was the number of a redirection: `2` of `2> file`.
    fn descriptor(&self, words: &mut Vec<Word>) {
        let is_descriptor = |word: &Word| {
            let number = !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit());
            let named =
                word.text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).is_some_and(is_name);
            word.is_literal && !word.is_quoted && (number || named) && word.end == self.at
        };
        if self.byte(0) != Some(b'&') && words.last().is_some_and(is_descriptor) {
            words.pop();
        }
    }

    /// Takes the `()` of a function definition.
    fn is_definition(&mut self) -> bool {
        let mut ahead = 1;
        while matches!(self.byte(ahead), Some(b' ' | b'\t')) {
            ahead += 1;
        }
        let found = self.byte(ahead) == Some(b')');
        if found {
            self.at += ahead + 1;
        }
        found
    }

    fn judge(&mut self, words: &[Word]) {
        let assignments = words.iter().take_while(|word| word.assigns.is_some()).count();
        for word in &words[..assignments] {
            self.assigns(word, false);
        }
        let words = &words[assignments..];
        let Some(at) = self.past_prefixes(words) else { return };
        let words = &words[at..];
        let Some((name, args)) = words.split_first() else { return };
        self.shell_text(words);
        if !name.holes.is_empty() && !name.text.contains('/') {
            self.unknown_name(name, args);
        }
        let command = if name.is_literal { name.text.as_str() } else { "" };
        match command {
            "test" | "[" => self.test(command, args),
            "printf" => self.printf(args),
            "print" if self.family != ShellFamily::Bash => self.print(args),
            _ => self.spread(words),
        }
        if ASSIGNERS.contains(&command) {
            self.assigner(command, args);
        } else if let Some((_, help)) = EVALUATORS.iter().find(|(evaluator, _)| *evaluator == command) {
            self.declares(command, args);
            let message = format!("`{command}` evaluates what it is given");
            for arg in args {
                self.refuse_all(&arg.holes, &message, help);
            }
        }
        if self.family.evaluates_operands() && TAKES_INTEGERS.contains(&command) {
            for arg in args {
                self.demand_all(&arg.holes, Rule::Integer);
            }
        }
        for (hole, program) in program::warnings(command, args) {
            self.warn(hole, program);
        }
    }

    /// Where the command's own name stands, after `command` and the like. `None`: it only looks a name up.
    fn past_prefixes(&self, words: &[Word]) -> Option<usize> {
        let mut at = 0;
        while words.get(at).is_some_and(|word| PREFIXES.iter().any(|prefix| word.means(prefix))) {
            at += 1;
            while let Some(option) =
                words.get(at).filter(|word| word.is_literal && word.text.starts_with('-'))
            {
                if option.text.contains(['v', 'V']) {
                    return None;
                }
                at += 1;
            }
        }
        Some(at)
    }

    /// The name of the command comes from a value: known only when the value is.
    fn unknown_name(&mut self, name: &Word, args: &[Word]) {
        match name.whole_hole.or_else(|| only_hole(name)) {
            Some(hole) => self.demand(hole, Rule::CommandName),
            None => {
                let help = "write the name, or a path with `/`, around the hole";
                for arg in args {
                    self.refuse_all(&arg.holes, "the name of this command is known at run time only", help);
                }
            }
        }
    }

    /// `sh -c` and its kin, also behind `sudo`, `env`, `xargs`.
    fn shell_text(&mut self, words: &[Word]) {
        // `find` ends each of its commands with `;` or `+`.
        let ends = |word: &Word| word.is_literal && matches!(word.text.as_str(), ";" | "+");
        for words in words.split(ends) {
            self.shell_text_of_one(words);
        }
    }

    fn shell_text_of_one(&mut self, words: &[Word]) {
        let Some(shell) = words.iter().position(|word| self.is_shell(word)) else { return };
        let mut rest = words[shell + 1..].iter().enumerate();
        while let Some((position, word)) = rest.next() {
            let text = word.text.as_str();
            if word.first == First::Hole {
                self.demand_all(&word.holes, Rule::NoOption);
                return;
            }
            if word.is_literal
                && matches!(text, "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file" | "-l" | "-u")
            {
                rest.next();
                continue;
            }
            if !text.starts_with(['-', '+']) {
                // `su name -c` takes options after the name; shells take none after the script.
                if words[shell].text.ends_with('u') || words[shell].text.ends_with("user") {
                    continue;
                }
                return;
            }
            if text == "--command" || (!text.starts_with("--") && text.contains('c')) {
                let help = "use `env:` and read the variable there, in double quotes";
                for word in &words[shell + 1 + position..] {
                    self.refuse_all(&word.holes, "the shell after `-c` reads this as a script", help);
                    // What follows the script are its arguments, and no shell reads them.
                    let is_script = !word.text.starts_with(['-', '+']) || word.first == First::Hole;
                    if is_script && takes_arguments(&words[shell]) {
                        return;
                    }
                }
                return;
            }
        }
    }

    fn is_shell(&self, word: &Word) -> bool {
        let base = base_name(&word.text);
        if word.is_literal {
            return SHELLS.contains(&base);
        }
        let raw: Vec<u8> = self.units[word.start..word.end]
            .iter()
            .filter_map(|unit| match unit {
                Unit::Byte(byte) if !b"\"{}".contains(byte) => Some(*byte),
                Unit::Byte(_) | Unit::Hole(_) => None,
            })
            .collect();
        matches!(raw.as_slice(), b"$SHELL" | b"$BASH" | b"$0")
    }

    /// `[` and `test`: a value beside a value could be an operator, and `-v` evaluates.
    fn test(&mut self, command: &str, args: &[Word]) {
        for pair in args.windows(2) {
            let (first, second) = (&pair[0], &pair[1]);
            if first.means("-v") || first.means("-R") {
                let message = format!("`{command} -v` evaluates a name that it is given");
                self.refuse_all(&second.holes, &message, "write the name itself");
            }
            let could_be_operator =
                !first.holes.is_empty() && (first.first == First::Hole || first.text.starts_with('-'));
            if could_be_operator {
                let message = format!("`{command}` could read the value before this one as an operator");
                self.refuse_all(
                    &second.holes,
                    &message,
                    "put an operator between them: `[ ${{ … }} = ${{ … }} ]`",
                );
            }
            if self.family.evaluates_operands() {
                let evaluates =
                    |word: &Word| ARITHMETIC_OPERATORS.iter().any(|operator| word.means(operator));
                if evaluates(second) {
                    self.demand_all(&first.holes, Rule::Integer);
                }
                if evaluates(first) || first.means("-t") {
                    self.demand_all(&second.holes, Rule::Integer);
                }
            }
        }
    }

    /// `printf`: its first argument is an option or a format.
    fn printf(&mut self, args: &[Word]) {
        let Some(first) = args.first() else { return };
        if first.is_literal && first.text.starts_with("-v") {
            for arg in args {
                self.refuse_all(
                    &arg.holes,
                    "`printf -v` evaluates a name that it is given",
                    "write `name=${{ … }}`",
                );
            }
        }
        let option =
            |word: &Word| !word.holes.is_empty() && (word.first == First::Hole || word.text.starts_with('-'));
        if option(first) {
            let help = "write `printf '%s\\n' ${{ … }}`";
            self.refuse_all(&first.holes, "`printf` reads options and a format here", help);
        }
        if self.family.evaluates_operands() {
            let format = if first.means("--") { args.get(1) } else { Some(first) };
            let only_text = format.is_some_and(|word| word.is_literal && has_only_text(&word.text));
            if !only_text {
                let holes: Vec<usize> = args.iter().flat_map(|word| word.holes.clone()).collect();
                self.demand_all(&holes, Rule::Integer);
            }
        }
        self.spread(args);
    }

    /// `print` of ksh and zsh: `-v` of zsh evaluates a name.
    fn print(&mut self, args: &[Word]) {
        for arg in args {
            if !arg.holes.is_empty() && (arg.first == First::Hole || arg.text.starts_with('-')) {
                let help = "write `printf '%s\\n' ${{ … }}`, or `print -r -- ${{ … }}`";
                self.refuse_all(&arg.holes, "`print` reads options here", help);
            }
            if !arg.text.starts_with('-') || arg.means("--") || arg.means("-") {
                break;
            }
        }
        self.spread(args);
    }

    fn assigner(&mut self, command: &str, args: &[Word]) {
        self.declares(command, args);
        let options: String =
            args.iter().filter(|arg| arg.text.starts_with(['-', '+'])).map(|arg| arg.text.as_str()).collect();
        let plain = options.chars().all(|option| "-+rxgp".contains(option));
        for arg in args.iter().filter(|arg| !arg.holes.is_empty()) {
            match (&arg.assigns, plain) {
                (Some(_), true) => self.assigns(arg, true),
                (Some(_), false) => {
                    let message = format!("`{command} {options}` evaluates what it is given");
                    self.refuse_all(&arg.holes, &message, "assign the value first: `name=${{ … }}`");
                }
                (None, _) => {
                    let message = format!("`{command}` evaluates what it is given");
                    self.refuse_all(&arg.holes, &message, "name the variable itself: `export NAME=${{ … }}`");
                }
            }
        }
    }

    /// Notes what a declaration makes of its names.
    fn declares(&mut self, command: &str, args: &[Word]) {
        let mut attribute = match command {
            "integer" | "float" | "nameref" => Some(Attribute::Evaluated),
            _ => None,
        };
        for arg in args {
            if arg.text.starts_with('-') {
                if arg.text.contains(['i', 'n', 'E', 'F']) {
                    attribute = Some(Attribute::Evaluated);
                } else if arg.text.contains(['a', 'A']) {
                    attribute = attribute.or(Some(Attribute::Array));
                }
            } else if let Some(attribute) = attribute {
                let name = arg.assigns.clone().unwrap_or_else(|| arg.text.clone());
                self.attributes.push((name, attribute));
            }
        }
    }

    fn assigns(&mut self, word: &Word, by_builtin: bool) {
        let Some(name) = word.assigns.clone() else { return };
        if word.is_array {
            self.attributes.push((name.clone(), Attribute::Array));
        }
        if !word.holes.is_empty() {
            self.assigned.push(Assigned { name, holes: word.holes.clone(), by_builtin });
        }
    }

    /// Refuses assignments to names that evaluate their value, wherever in the script they are declared.
    pub(super) fn judge_assignments(&mut self) {
        for Assigned { name, holes, by_builtin } in std::mem::take(&mut self.assigned) {
            let is = |wanted| {
                self.attributes.iter().any(|(declared, found)| *declared == name && *found == wanted)
            };
            if evaluates_variable(self.family, &name) {
                let message = format!("the shell evaluates the value of `{name}`");
                self.refuse_all(&holes, &message, "use another name");
            } else if is(Attribute::Evaluated) {
                let message = format!("`{name}` is declared so that the shell evaluates its value");
                self.refuse_all(&holes, &message, "leave the declaration out, or use another name");
            } else if by_builtin && is(Attribute::Array) {
                let message = format!("`{name}` is an array, and the value could be read as its elements");
                self.refuse_all(&holes, &message, "assign to another name");
            }
        }
    }
}

/// Whether a shell takes the words behind its script as arguments of the script, whatever they are.
fn takes_arguments(shell: &Word) -> bool {
    let base = base_name(&shell.text);
    let known = ["ash", "bash", "dash", "ksh", "ksh93", "mksh", "oksh", "rbash", "sh", "zsh"];
    shell.is_literal && known.contains(&base)
}

/// The hole of a word that has nothing else but quotes around it.
fn only_hole(word: &Word) -> Option<usize> {
    match word.holes.as_slice() {
        [hole] if word.text.is_empty() && word.first == First::Hole => Some(*hole),
        _ => None,
    }
}

/// Whether a format of `printf` converts text only.
fn has_only_text(format: &str) -> bool {
    let mut rest = format.chars();
    while let Some(sign) = rest.next() {
        if sign == '%' {
            let conversion = rest.find(|sign| sign.is_ascii_alphabetic() || matches!(sign, '%' | '*'));
            if !matches!(conversion, Some('s' | 'b' | 'q' | '%') | None) {
                return false;
            }
        }
    }
    true
}
