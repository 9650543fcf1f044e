//! Arguments that are programs of other languages: a value there becomes program text, which no quoting of the shell can help.

use super::word::{First, Word};
use crate::text::base_name;

/// The holes that become program text, with the program.
pub(super) fn warnings(command: &str, args: &[Word]) -> Vec<(usize, &'static str)> {
    let base = base_name(command);
    let (program, text): (&'static str, Vec<&Word>) = match base {
        "python" | "python2" | "python3" => ("python -c", after_option(args, &["-c"])),
        "node" | "nodejs" | "bun" => ("node -e", after_option(args, &["-e", "-p", "--eval", "--print"])),
        "perl" => ("perl -e", after_option(args, &["-e", "-E", "-ne", "-pe", "-nE", "-pE"])),
        "ruby" => ("ruby -e", after_option(args, &["-e", "-ne", "-pe"])),
        "php" => ("php -r", after_option(args, &["-r"])),
        "awk" | "gawk" | "mawk" | "nawk" => {
            ("awk", program_text(args, &["-F", "-v"], &["-f", "--file"], &[]))
        }
        "sed" => ("sed", program_text(args, &["-l"], &["-f", "--file"], &["-e", "--expression"])),
        "jq" => ("jq", program_text(args, &["--indent", "-L"], &["-f", "--from-file"], &[])),
        "ssh" => ("ssh", after_host(args)),
        _ => return Vec::new(),
    };
    text.iter().flat_map(|word| word.holes.iter().map(move |hole| (*hole, program))).collect()
}

/// The words just after one of the options.
fn after_option<'a>(args: &'a [Word], options: &[&str]) -> Vec<&'a Word> {
    let pairs = args.windows(2).filter(|pair| options.iter().any(|option| pair[0].means(option)));
    pairs.map(|pair| &pair[1]).collect()
}

/// The word that is the program: the first that is no option, or what follows an option that gives it.
fn program_text<'a>(
    args: &'a [Word],
    with_value: &[&str],
    with_file: &[&str],
    with_text: &[&str],
) -> Vec<&'a Word> {
    let given = after_option(args, with_text);
    if !given.is_empty() {
        return given;
    }
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let is = |options: &[&str]| options.iter().any(|option| arg.means(option));
        if is(with_file) {
            return Vec::new();
        }
        if is(with_value) {
            rest.next();
        } else if arg.means("--arg")
            || arg.means("--argjson")
            || arg.means("--slurpfile")
            || arg.means("--rawfile")
        {
            rest.next();
            rest.next();
        } else if arg.first != First::Literal || !arg.text.starts_with('-') {
            return vec![arg];
        }
    }
    Vec::new()
}

/// What `ssh` hands to the shell of the other side.
fn after_host(args: &[Word]) -> Vec<&Word> {
    const WITH_VALUE: &str = "BbcDEeFIiJLlmOopQRSWw";
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg.first != First::Literal || !arg.text.starts_with('-') {
            break;
        }
        if arg.is_literal && arg.text.len() == 2 && arg.text.ends_with(|option| WITH_VALUE.contains(option)) {
            rest.next();
        }
    }
    rest.collect()
}
