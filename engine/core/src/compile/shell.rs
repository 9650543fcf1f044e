//! A `run` task: its shell and script, or its words, and its bounds.

use std::sync::Arc;

use super::findings::Findings;
use super::scope::Scope;
use super::shape::Keys;
use super::templates;
use super::words::{literal, positive_length, size};
use crate::diagnostic::{Code, Spanned};
use crate::plan::{AgentCheck, AgentChecks, Command, Output, ShellTask};
use crate::syntax::{CheckFile, RunText, Text};
use crate::template::Template;
use crate::text::one_line;

/// The shell of a task that names none. Options, not the profile of whoever runs the plan, decide how it behaves.
const BASH: &[&str] = &["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"];

/// What a program needs to take its script as an argument, when it is named alone.
const SCRIPT_OPTIONS: &[(&str, &[&str])] = &[
    ("sh", &["-e", "-c"]),
    ("dash", &["-e", "-c"]),
    ("ash", &["-e", "-c"]),
    ("ksh", &["-e", "-c"]),
    ("zsh", &["-e", "-c"]),
    ("fish", &["-c"]),
    ("python", &["-c"]),
    ("python3", &["-c"]),
    ("node", &["-e"]),
    ("ruby", &["-e"]),
    ("perl", &["-e"]),
    ("lua", &["-e"]),
    ("php", &["-r"]),
    ("pwsh", &["-Command"]),
    ("powershell", &["-Command"]),
];

/// The words that a script is appended to.
pub(super) fn words(findings: &mut Findings, shell: Option<&Spanned<Vec<Text>>>) -> Arc<[String]> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Arc<[_]>>();
    let Some(shell) = shell else { return owned(BASH) };
    for word in &shell.value {
        literal(findings, "shell", word);
    }
    let given: Vec<&str> = shell.value.iter().map(|word| word.value.as_str()).collect();
    match given.as_slice() {
        [] => {
            let finding = findings.at(Code::BadValue, shell.span, "`shell` names no program");
            findings.push(finding.help("write for example `shell: sh`, or leave it out for bash"));
            owned(BASH)
        }
        ["bash"] => owned(BASH),
        [program] => {
            let options = SCRIPT_OPTIONS.iter().find(|(name, _)| name == program);
            let options = options.map(|(_, options)| *options).unwrap_or_default();
            owned(&[&[*program], options].concat())
        }
        _ => owned(&given),
    }
}

/// Builds a shell task.
pub(super) fn task<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    keys: Keys<'a>,
) -> Option<ShellTask> {
    let shell = match &keys.own.shell {
        Some(shell) => words(findings, Some(shell)),
        None => Arc::clone(&scope.world.shell),
    };
    let max_output = keys.get(|keys| &keys.max_output);
    let max_output = max_output.and_then(|node| size(findings, "max_output", node));
    let command = match keys.own.run.as_ref()? {
        RunText::Script(text) => {
            if text.value.trim().is_empty() {
                findings.push(findings.at(Code::BadValue, text.span, "`run` is empty"));
            }
            if scope.task.is_some_and(|task| task.output == Output::Pairs) {
                warn_of_fixed_ends(findings, text);
            }
            let script = templates::script(findings, scope, &shell, text)?;
            Command::Script { shell, script }
        }
        RunText::Words(words) => Command::Words(argv(findings, scope, words)?),
    };
    Some(ShellTask { command, max_output })
}

/// `name<<EOF` in a script that writes pairs: a text that has the line `EOF` ends the block early, and the rest of it is read
/// as further pairs. Told once a script.
fn warn_of_fixed_ends(findings: &mut Findings, text: &Text) {
    let script = text.value.as_str();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    for (at, sign) in script.match_indices("<<") {
        let (before, after) = (&script[..at], &script[at + sign.len()..]);
        let end = &after[..after.find(|c: char| !is_word(c)).unwrap_or(after.len())];
        let start = before.trim_end_matches(is_word).len();
        // A word of a text in quotes: of `printf 'a=1\nb<<EOF'` the `n` belongs to the sign before it.
        let (name, is_text) = match before[..start].chars().next_back() {
            Some('"' | '\'') => (&before[start..], true),
            Some('\\') => (before[start..].strip_prefix('n').unwrap_or_default(), true),
            Some(_) | None => ("", false),
        };
        let fixed = end.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !is_text || name.is_empty() || !fixed {
            continue;
        }
        let mark = findings.mark(text.into(), at - name.len()..at + sign.len() + end.len());
        let message = format!(
            "a value that holds the line `{end}` ends `{name}` early, and its rest is read as more pairs"
        );
        let help = format!(
            "take an end that nobody can guess, as in `end=$(uuidgen)`, or write JSON: `output: json`, \
             `jq -n --arg {name} \"$TEXT\" '{{${name}}}'`"
        );
        findings.push(findings.at_mark(Code::Suspicious, mark, message).help(help));
        return;
    }
}

/// Reads the `checks` of an agent; they run in the shell of tasks that name none.
pub(super) fn checks<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    written: &'a Spanned<Vec<CheckFile>>,
) -> Option<Box<AgentChecks>> {
    let shell = Arc::clone(&scope.world.shell);
    let mut checks = Vec::with_capacity(written.value.len());
    for CheckFile { run: text, timeout } in &written.value {
        if text.value.trim().is_empty() {
            findings.push(findings.at(Code::BadValue, text.span, "a check is empty"));
        }
        let timeout = timeout.as_ref();
        let timeout = timeout.and_then(|text| positive_length(findings, "checks.timeout", text));
        let script = templates::script(findings, scope, &shell, text);
        checks.extend(script.map(|script| AgentCheck { script, timeout }));
    }
    (!checks.is_empty()).then(|| Box::new(AgentChecks { shell, checks }))
}

/// Reads a `run` that is a list.
fn argv<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    words: &'a Spanned<Vec<Text>>,
) -> Option<Vec<Template>> {
    let program = words.value.first();
    if program.is_none_or(|program| program.value.trim().is_empty()) {
        let span = program.map_or(words.span, |program| program.span);
        let finding = findings.at(Code::BadValue, span, "`run` names no program");
        findings.push(finding.help("write for example `run: [git, status]`"));
    }
    if let Some(program) = program.filter(|program| program.value.trim().contains(' ')) {
        let arguments = words.value[1..].iter().map(|word| format!("`{}`", one_line(&word.value, 30)));
        let arguments = match arguments.collect::<Vec<_>>() {
            none if none.is_empty() => String::new(),
            one if one.len() == 1 => format!(" with the argument {}", one[0]),
            many => format!(" with the arguments {}", many.join(", ")),
        };
        let program = one_line(&program.value, 30);
        let message = format!("a list is one command: the program `{program}`{arguments}");
        let finding = findings.at(Code::Suspicious, words.span, message);
        findings.push(finding.help("for commands write one a line under `run: |`"));
    }
    let read: Vec<Option<Template>> =
        words.value.iter().map(|word| templates::word(findings, scope, word)).collect();
    read.into_iter().collect()
}
