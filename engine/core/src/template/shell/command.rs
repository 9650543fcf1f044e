//! Simple commands: reading one, and judging what its name does with its arguments.

use super::cond::ARITHMETIC_OPERATORS;
use super::lexer::{Assigned, Attribute, Close, Lexer, Stop};
use super::program;
use super::units::{Rule, Unit};
use super::word::{First, Word, WordKind, is_name};

/// Builtins that run, evaluate or assign by what their arguments say, with what to write in their place.
const EVALUATORS: &[(&str, &str)] = &[
    (".", "name the file itself, or pass the value as an argument of a script"),
    ("alias", "write a function that reads a variable"),
    ("bind", "read a variable that holds the value"),
    ("compgen", "write `printf '%s\\n' ${{ … }}`"),
    ("complete", "read a variable that holds the value"),
    ("compopt", "read a variable that holds the value"),
    ("declare", "write `name=${{ … }}`"),
    ("enable", "name the builtin itself"),
    ("eval", "write the command itself, without `eval`"),
    ("fc", "write the command itself"),
    ("float", "write `name=${{ … }}`"),
    ("getopts", "name the variable itself"),
    ("integer", "write `name=${{ … }}`"),
    ("let", "write `name=$(( … ))`"),
    ("mapfile", "name the array itself; put the value in with `<<< ${{ … }}`"),
    ("nameref", "name the variable itself"),
    ("read", "name the variable itself; put the value in with `<<< ${{ … }}`"),
    ("readarray", "name the array itself; put the value in with `<<< ${{ … }}`"),
    ("source", "name the file itself, or pass the value as an argument of a script"),
    ("trap", "put it in a variable first: `v=${{ … }}`, and read `\"$v\"` in the trap"),
    ("typeset", "write `name=${{ … }}`"),
    ("unset", "name the variable itself"),
    ("vared", "name the variable itself"),
    ("wait", "put it in a variable first: `v=${{ … }}`, then `wait \"$v\"`"),
    ("zle", "name the widget itself"),
    ("zmodload", "name the module itself"),
];

/// Builtins that assign what stands behind `name=`.
const ASSIGNERS: &[&str] = &["export", "readonly", "local"];

/// Programs that run the argument after `-c` as shell text.
const SHELLS: &[&str] = &[
    "ash", "bash", "dash", "fish", "ksh", "ksh93", "mksh", "oksh", "rbash", "runuser", "sh", "su", "tcsh",
    "csh", "zsh",
];

/// Commands that hand the rest on as a command.
const PREFIXES: &[&str] = &["builtin", "command", "nocorrect", "noglob"];

/// Variables whose value every shell of the family runs or evaluates when it is set or used.
const EVALUATED_VARIABLES: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "HISTCMD",
    "LINENO",
    "OPTIND",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "RANDOM",
    "SECONDS",
    "SRANDOM",
];

/// Whether a value that names a command decides what becomes of its arguments.
pub(crate) fn runs_its_arguments(name: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name);
    SHELLS.contains(&base)
        || PREFIXES.contains(&name)
        || ASSIGNERS.contains(&name)
        || EVALUATORS.iter().any(|(evaluator, _)| *evaluator == name)
        || matches!(name, "printf" | "test" | "[" | "exec" | "env" | "time" | "coproc")
        || name.contains('=')
}

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
        if self.family.evaluates_operands()
            && matches!(command, "exit" | "return" | "break" | "continue" | "shift")
        {
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
                }
                return;
            }
        }
    }

    fn is_shell(&self, word: &Word) -> bool {
        let base = word.text.rsplit('/').next().unwrap_or_default();
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
                if evaluates(first) {
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
            if EVALUATED_VARIABLES.contains(&name.as_str()) {
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
