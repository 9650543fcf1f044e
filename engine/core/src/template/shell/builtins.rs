//! What is known of builtins and of variables that shells evaluate. Each entry was seen to run a value as text in some
//! shell, or is documented to.

use super::family::ShellFamily;
use crate::text::base_name;

/// Builtins that run, evaluate or assign by what their arguments say, with what to write in their place.
pub(super) const EVALUATORS: &[(&str, &str)] = &[
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
    ("repeat", "write a loop with `for`"),
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
pub(super) const ASSIGNERS: &[&str] = &["export", "readonly", "local"];

/// Programs that run the argument after `-c` as shell text.
pub(super) const SHELLS: &[&str] = &[
    "ash", "bash", "dash", "fish", "ksh", "ksh93", "mksh", "oksh", "rbash", "runuser", "sh", "su", "tcsh",
    "csh", "zsh",
];

/// Commands that hand the rest on as a command.
pub(super) const PREFIXES: &[&str] = &["builtin", "command", "nocorrect", "noglob"];

/// Commands that take numbers, which ksh and zsh evaluate.
pub(super) const TAKES_INTEGERS: &[&str] = &["break", "continue", "exit", "return", "shift", "ulimit"];

/// Variables whose value every shell, or bash, runs or evaluates when it is set or used.
const EVALUATED: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "HISTCMD",
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

/// Variables that are integers in ksh or zsh from the start.
const EVALUATED_ELSEWHERE: &[&str] = &[
    "BASHPID",
    "COLUMNS",
    "EGID",
    "ERRNO",
    "EUID",
    "FUNCNEST",
    "GID",
    "HISTSIZE",
    "KEYTIMEOUT",
    "KSHEGID",
    "KSHEUID",
    "KSHGID",
    "KSHUID",
    "LINENO",
    "LINES",
    "LISTMAX",
    "MAILCHECK",
    "PGRP",
    "PPID",
    "SAVEHIST",
    "SHLVL",
    "TMOUT",
    "TRY_BLOCK_ERROR",
    "TRY_BLOCK_INTERRUPT",
    "UID",
    "USER_ID",
];

/// Whether a shell of the family runs or evaluates what a variable of its own is set to.
pub(super) fn evaluates_variable(family: ShellFamily, name: &str) -> bool {
    EVALUATED.contains(&name) || (family.evaluates_operands() && EVALUATED_ELSEWHERE.contains(&name))
}

/// Whether a value that names a command decides what becomes of its arguments.
pub(crate) fn runs_its_arguments(name: &str) -> bool {
    let base = base_name(name);
    SHELLS.contains(&base)
        || PREFIXES.contains(&name)
        || ASSIGNERS.contains(&name)
        || EVALUATORS.iter().any(|(evaluator, _)| *evaluator == name)
        || matches!(name, "printf" | "print" | "test" | "[" | "exec" | "env" | "time" | "coproc")
        || name.contains('=')
}
