//! One rule against one call.

use regex::Regex;

use super::command::{self, Form, Part, Word};
use super::path::{Roots, pattern_matches};
use super::read_only::reads_data;
use super::subject::{Subject, is_domain, lists};
use crate::model::{ToolRule, known_tool};
use crate::text::base_name;

/// To which end a rule is read. Where something is unclear, the two read it differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To allow.
    Grant,
    /// To deny or to ask.
    Restrict,
}

/// Options by which programs run other programs. A rule with a specifier covers them only if it names them.
const RUNS_PROGRAMS: &[(&str, &[&str])] = &[
    ("find", &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("sort", &["--compress-program"]),
    (
        "tar",
        &[
            "--to-command",
            "--checkpoint-action",
            "-I",
            "--use-compress-program",
            "-F",
            "--info-script",
            "--rsh-command",
        ],
    ),
    (
        "git",
        &[
            "--upload-pack",
            "--receive-pack",
            "--exec",
            "-x",
            "--extcmd",
            "--open-files-in-pager",
            "--ext-diff",
        ],
    ),
    ("ssh", &["-o"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("go", &["-exec", "-toolexec"]),
    ("cargo", &["--config"]),
];

/// Options of git itself, before its command, that neither run programs nor lead to a configuration that could.
const GIT_PLAIN: &[&str] = &[
    "--no-pager",
    "-P",
    "--no-optional-locks",
    "--no-replace-objects",
    "--literal-pathspecs",
    "--version",
    "--help",
];

/// Options of git itself whose value is the next word.
const GIT_VALUED: &[&str] = &[
    "-c",
    "-C",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--config-env",
    "--super-prefix",
    "--attr-source",
];

/// Commands whose arguments hold another command.
const WRAPPERS: &[&str] = &[
    "sudo", "doas", "env", "nohup", "nice", "ionice", "timeout", "command", "builtin", "exec", "time",
    "stdbuf", "setsid", "xargs", "parallel", "find", "busybox", "watch", "chroot", "unshare", "strace",
    "flock", "su",
];

/// Commands that read a command from one argument.
const SHELLS: &[&str] =
    &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "eval", "trap", "su", "watch", "flock"];

/// Words of the shell's grammar that can stand in front of a command.
const RESERVED: &[&str] = &["if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "coproc"];

/// Whether a specifier leaves nothing out.
pub(super) fn is_bare(rule: &ToolRule) -> bool {
    rule.spec.as_deref().is_none_or(|spec| matches!(spec.trim(), "*" | ":*"))
}

/// Whether a rule of a person speaks of this call. `Read(...)` speaks of Glob and Grep as well, `Edit(...)` of Write.
pub(super) fn speaks_of(
    rule: &ToolRule,
    tool: &str,
    subject: Subject<'_>,
    purpose: Purpose,
    roots: Roots<'_>,
) -> bool {
    let kin = !is_bare(rule)
        && known_tool(tool).and_then(|tool| tool.ruled_by).is_some_and(|ruler| ruler == rule.tool);
    (kin || rule.names(tool)) && covers(rule, subject, purpose, roots)
}

/// Whether the specifier of a rule covers the call.
pub(super) fn covers(rule: &ToolRule, subject: Subject<'_>, purpose: Purpose, roots: Roots<'_>) -> bool {
    let Some(spec) = rule.spec.as_deref().filter(|_| !is_bare(rule)) else { return true };
    let unclear = purpose == Purpose::Restrict;
    match subject {
        // `Bash()` says nothing; nobody can have meant it to allow.
        _ if spec.trim().is_empty() => unclear,
        Subject::Path(path) => pattern_matches(spec.trim(), path, roots).unwrap_or(unclear),
        Subject::Part(part) => match purpose {
            Purpose::Grant => grants(spec, part),
            Purpose::Restrict => restricts(spec, part, 0),
        },
        Subject::Name(name) => lists(spec, name),
        Subject::Host(host) => is_domain(spec, host).unwrap_or(unclear),
        Subject::Unclear | Subject::Plain => unclear,
    }
}

/// A specifier over commands: words, `*` for anything, and at its end ` *` or `:*` for any further arguments or none.
struct CommandPattern {
    regex: Regex,
    words: Vec<String>,
}

impl CommandPattern {
    fn read(spec: &str) -> Option<Self> {
        let spec = spec.trim();
        let (prefix, open) = match spec.strip_suffix(":*").or_else(|| spec.strip_suffix(" *")) {
            Some(prefix) => (prefix, true),
            None => (spec, false),
        };
        let words: Vec<String> = prefix.split_whitespace().map(str::to_owned).collect();
        let text: Vec<String> = words.iter().map(|word| regex::escape(word).replace("\\*", ".*")).collect();
        let tail = if open { "(?: .*)?" } else { "" };
        let regex = Regex::new(&format!("(?s)^{}{tail}$", text.join(" "))).ok()?;
        Some(CommandPattern { regex, words })
    }

    fn matches(&self, words: &[Word]) -> bool {
        self.regex.is_match(&as_text(words))
    }

    /// Whether words that only the shell knows could make the command one that the pattern covers.
    fn could_match(&self, words: &[Word]) -> bool {
        for (at, wanted) in self.words.iter().enumerate() {
            match words.get(at) {
                None => return false,
                Some(Word { form: Form::Dynamic | Form::Wildcard, .. }) => return true,
                Some(_) if wanted.contains('*') => {
                    return words[at..].iter().any(|word| word.form != Form::Literal);
                }
                Some(word) if word.text != *wanted => return false,
                Some(_) => {}
            }
        }
        false
    }
}

/// Words on one line. One that holds white space or is empty is quoted, so that it can't pass for two or none.
fn as_text(words: &[Word]) -> String {
    let mut out = String::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        if word.text.is_empty() || word.text.contains(char::is_whitespace) {
            out.push('\'');
            out.push_str(&word.text);
            out.push('\'');
        } else {
            out.push_str(&word.text);
        }
    }
    out
}

fn grants(spec: &str, part: &Part) -> bool {
    let Some(first) = part.words.first() else { return false };
    let certain = !part.assigns
        && !part.redirects
        // To others, as to a shell or an interpreter, it can be a program.
        && (!part.fed || reads_data(&first.text))
        && first.form == Form::Literal
        && part.words.iter().all(|word| word.form != Form::Dynamic);
    certain
        && !runs_programs(&part.words, spec)
        && CommandPattern::read(spec).is_some_and(|pattern| pattern.matches(&part.words))
}

/// Whether the command uses an option that runs another program, and the rule doesn't name that option.
fn runs_programs(words: &[Word], spec: &str) -> bool {
    let Some((first, arguments)) = words.split_first() else { return false };
    let program = base_name(&first.text);
    let named = |option: &str| spec.split_whitespace().any(|word| word == option);
    if program == "git" {
        for word in arguments {
            // What a wildcard becomes could be an option.
            if word.form != Form::Literal {
                return true;
            }
            if !word.text.starts_with('-') {
                break;
            }
            if !GIT_PLAIN.contains(&word.text.as_str()) && !named(&word.text) {
                return true;
            }
        }
    }
    let options =
        RUNS_PROGRAMS.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, options)| options);
    arguments.iter().any(|word| {
        let could_be_option = word.form == Form::Wildcard && word.text.starts_with(['*', '?', '[']);
        options.iter().any(|option| (could_be_option || is_option(&word.text, option)) && !named(option))
    })
}

/// Whether a word is this option: long ones alone or with `=` (also cut short, as many programs allow), short ones
/// also with their value at once or behind other letters.
fn is_option(word: &str, option: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    match (option.strip_prefix("--"), option.strip_prefix('-')) {
        (Some(_), _) => name.len() > 2 && option.starts_with(name),
        (None, Some(letter)) if letter.chars().count() == 1 => {
            word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
        }
        (None, _) => name == option,
    }
}

/// Whether a rule that denies or asks speaks of a command, of one that is wrapped in it, or could.
fn restricts(spec: &str, part: &Part, depth: u32) -> bool {
    /// The most arguments that are looked through for a command.
    const MOST: usize = 200;
    let Some(pattern) = CommandPattern::read(spec) else { return true };
    // Behind a word of the grammar, variables can be set in front of the command.
    let before = |word: &&Word| {
        word.form == Form::Literal && (RESERVED.contains(&word.text.as_str()) || sets_variable(&word.text))
    };
    let words = &part.words[part.words.iter().take_while(before).count()..];
    let Some(first) = words.first() else { return false };
    if first.form != Form::Literal || begins(spec, &pattern, words, depth) {
        return true;
    }
    if !WRAPPERS.contains(&base_name(&first.text)) {
        return false;
    }
    let arguments = &words[1..];
    // `sudo -n $X`: the wrapped command itself is unknown.
    let wrapped = arguments.iter().find(|word| word.form != Form::Literal || !word.text.starts_with('-'));
    arguments.len() > MOST
        || wrapped.is_some_and(|word| word.form != Form::Literal)
        || (0..arguments.len()).any(|at| begins(spec, &pattern, &arguments[at..], depth))
}

fn sets_variable(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '+'))
}

/// Whether the rule speaks of the command that these words are, if its first word names one.
fn begins(spec: &str, pattern: &CommandPattern, words: &[Word], depth: u32) -> bool {
    let Some(first) = words.first().filter(|word| word.form == Form::Literal) else { return false };
    let program = base_name(&first.text);
    let mut plain = words.to_vec();
    plain[0].text = program.to_owned();
    if program == "git" {
        plain.drain(1..1 + git_options(&words[1..]));
    }
    [words, &plain].into_iter().any(|words| pattern.matches(words) || pattern.could_match(words))
        || SHELLS.contains(&program) && words[1..].iter().any(|word| holds(spec, word, depth))
}

/// How many words are options of git itself and their values.
fn git_options(words: &[Word]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
        at += if GIT_VALUED.contains(&word.text.as_str()) { 2 } else { 1 };
    }
    at.min(words.len())
}

/// Whether an argument that a shell reads as a command holds one that the rule speaks of.
fn holds(spec: &str, word: &Word, depth: u32) -> bool {
    if word.form == Form::Literal && word.text.starts_with('-') {
        return false;
    }
    if word.form == Form::Dynamic || depth > 2 {
        return true;
    }
    match command::parse(&word.text) {
        Ok(parts) => parts.iter().any(|part| restricts(spec, part, depth + 1)),
        Err(command::Unreadable) => true,
    }
}

#[cfg(test)]
#[path = "rule_tests.rs"]
mod tests;
