//! The closed table of commands that only look, with the options that they may have. What is not in it asks.
//!
//! An option is left out when it writes, runs a program, follows links out of the tree, or reads a file whose path
//! this table would not see. Long options count only when written out.

use super::command::{Form, Part, Word};
use super::path::before_wildcards;

/// Where a command stands, and what may be read there.
pub(super) struct Place<'a> {
    /// Whether a path as it is written may be read.
    pub(super) may_read: &'a dyn Fn(&str) -> bool,
    /// Whether some files may not be read, so that nothing may go through the contents of a whole folder.
    pub(super) guarded: bool,
    /// Whether another folder was entered first. A repository that lies there could bring its own configuration.
    pub(super) moved: bool,
}

/// What the arguments of a command are that are no options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arguments {
    /// Text.
    Text,
    /// Paths.
    Paths,
    /// At most one path: a second one would be written.
    OnePath,
    /// A pattern, then paths.
    Pattern,
    /// Revisions and paths of the repository.
    Revisions,
}

/// The options of a command.
pub(super) struct Options {
    /// Letters without a value.
    flags: &'static str,
    /// Letters with a value.
    valued: &'static str,
    /// Words that take no further word; `--name=value` counts as well.
    long: &'static str,
    /// Words whose value may be the next word.
    long_valued: &'static str,
    /// Whether `-20` is one.
    number: bool,
    arguments: Arguments,
}

const NONE: Options =
    Options { flags: "", valued: "", long: "", long_valued: "", number: false, arguments: Arguments::Paths };

pub(super) const COMMANDS: &[(&str, Options)] = &[
    ("echo", Options { flags: "neE", arguments: Arguments::Text, ..NONE }),
    ("pwd", Options { flags: "LP", arguments: Arguments::Text, ..NONE }),
    (
        "ls",
        Options {
            flags: "1aAlhrRtSFdpisGgonUXBbqNxmCckuv",
            valued: "wIT",
            long: "all almost-all human-readable recursive reverse directory color classify size sort \
                time time-style full-time inode group-directories-first",
            ..NONE
        },
    ),
    ("cat", Options { flags: "nbsAETvetu", long: "number number-nonblank show-all", ..NONE }),
    (
        "head",
        Options {
            flags: "qvz",
            valued: "nc",
            long: "quiet verbose",
            long_valued: "lines bytes",
            number: true,
            ..NONE
        },
    ),
    (
        "tail",
        Options {
            flags: "qvz",
            valued: "nc",
            long: "quiet verbose",
            long_valued: "lines bytes",
            number: true,
            ..NONE
        },
    ),
    ("wc", Options { flags: "lwcmL", long: "lines words bytes chars max-line-length", ..NONE }),
    (
        "sort",
        Options {
            flags: "bdfgiMhnRrVcCmsuz",
            valued: "kt",
            long: "numeric-sort reverse unique human-numeric-sort version-sort ignore-case check",
            long_valued: "key field-separator",
            ..NONE
        },
    ),
    (
        "uniq",
        Options {
            flags: "cdDiuz",
            valued: "fsw",
            long: "count repeated unique ignore-case",
            arguments: Arguments::OnePath,
            ..NONE
        },
    ),
    (
        "cut",
        Options {
            flags: "snz",
            valued: "bcdf",
            long: "complement only-delimited",
            long_valued: "bytes characters delimiter fields output-delimiter",
            ..NONE
        },
    ),
    (
        "tr",
        Options {
            flags: "cCdst",
            long: "complement delete squeeze-repeats truncate-set1",
            arguments: Arguments::Text,
            ..NONE
        },
    ),
    (
        "grep",
        Options {
            flags: "EFGPivwxcLlqsnHhobrazIUZTy",
            valued: "emABC",
            long: "ignore-case invert-match word-regexp line-regexp count color files-without-match \
                files-with-matches only-matching quiet silent no-messages byte-offset with-filename \
                no-filename line-number null text recursive extended-regexp fixed-strings \
                basic-regexp perl-regexp binary-files null-data include exclude exclude-dir",
            long_valued: "regexp max-count after-context before-context context",
            number: true,
            arguments: Arguments::Pattern,
        },
    ),
    (
        "rg",
        Options {
            flags: "iSswxvcloNnHIFPUu.0a",
            valued: "egtTmABCjMrd",
            long: "ignore-case smart-case case-sensitive word-regexp line-regexp invert-match count \
                count-matches files-with-matches files-without-match only-matching no-line-number \
                line-number with-filename no-filename fixed-strings pcre2 multiline multiline-dotall \
                hidden no-ignore no-ignore-vcs heading no-heading column trim json stats vimgrep \
                null text files type-list color sort no-config passthru unrestricted",
            long_valued: "regexp glob iglob type type-not max-count after-context before-context context \
                threads max-columns replace max-depth max-filesize",
            arguments: Arguments::Pattern,
            ..NONE
        },
    ),
];

/// The options that the commands of git below may have.
const GIT: Options = Options {
    flags: "pswbziuMCRacdomtvr",
    valued: "nULSG",
    long: "stat numstat shortstat dirstat name-only name-status oneline graph all decorate \
                no-decorate patch no-patch cached staged ignore-all-space ignore-space-change \
                ignore-blank-lines word-diff color no-color abbrev-commit no-abbrev-commit abbrev \
                pretty format date follow first-parent merges no-merges reverse porcelain short long \
                branch show-stash untracked-files ignored diff-filter summary raw find-renames \
                find-copies no-renames unified relative no-ext-diff no-textconv exclude-standard \
                others modified deleted stage full-index minimal patience histogram branches tags \
                remotes topo-order date-order author-date-order left-right cherry-pick merge-base \
                line-porcelain root show-name show-number incremental full-name error-unmatch check \
                exit-code quiet text compact-summary no-prefix cc ahead-behind no-ahead-behind \
                simplify-by-decoration no-notes show-signature invert-grep all-match \
                regexp-ignore-case extended-regexp fixed-strings perl-regexp pickaxe-regex \
                pickaxe-all eol directory no-empty-directory unmerged killed deduplicate source \
                clear-decorations",
    long_valued: "max-count skip since until after before author committer grep",
    number: true,
    arguments: Arguments::Revisions,
};

pub(super) const GIT_COMMANDS: &[&str] = &["log", "diff", "show", "status", "blame", "ls-files"];

/// Tests and actions of `find` without a value.
const FIND_PLAIN: &str = "-print -print0 -ls -empty -prune -quit -depth -xdev -mount -o -or -a -and -not ! ( ) , -true \
    -false -readable -executable -writable";

/// Tests and actions of `find` with a value.
const FIND_VALUED: &str = "-name -iname -path -ipath -wholename -regex -iregex -regextype -type -maxdepth -mindepth -size \
    -mtime -mmin -atime -amin -ctime -cmin -user -group -perm -links -printf";

/// Whether what a command reads from its standard input is data to it, whatever it says.
pub(super) fn reads_data(command: &str) -> bool {
    COMMANDS.iter().any(|(known, _)| *known == command)
}

/// Whether a command only looks, and only at what may be read.
pub(super) fn is_read_only(part: &Part, place: &Place<'_>) -> bool {
    if part.assigns || part.redirects {
        return false;
    }
    let Some((command, arguments)) = part.words.split_first() else { return false };
    if command.form != Form::Literal {
        return false;
    }
    match command.text.as_str() {
        "find" => find(arguments, place),
        "git" => git(arguments, place),
        name => match COMMANDS.iter().find(|(known, _)| *known == name) {
            Some((_, options)) => listed(name, options, arguments, place),
            None => false,
        },
    }
}

fn listed(name: &str, options: &Options, arguments: &[Word], place: &Place<'_>) -> bool {
    let Some(read) = read_options(options, arguments) else { return false };
    let walks = name == "rg" || (name == "grep" && read.has(&["-r", "--recursive"]));
    if walks && place.guarded {
        return false;
    }
    let mut rest = read.rest.as_slice();
    match options.arguments {
        Arguments::Text => {
            return rest.iter().all(|word| word.form == Form::Literal || readable(word, place));
        }
        Arguments::Paths | Arguments::Revisions => {}
        Arguments::OnePath if rest.len() > 1 => return false,
        Arguments::OnePath => {}
        // The first word is the pattern, unless an option has given one or there is none.
        Arguments::Pattern if read.has(&["-e", "--regexp", "--files", "--type-list"]) => {}
        Arguments::Pattern => match rest.split_first() {
            Some((pattern, paths)) if pattern.form == Form::Literal => rest = paths,
            _ => return false,
        },
    }
    let here = rest.is_empty() && (walks || name == "ls");
    (!here || (place.may_read)(".")) && rest.iter().all(|word| readable(word, place))
}

/// Whether a word is one of a list.
fn holds(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split(' ').any(|listed| listed == word)
}

/// Options as they were found, and the words that are none.
struct Read<'a> {
    seen: Vec<String>,
    rest: Vec<&'a Word>,
}

impl Read<'_> {
    fn has(&self, names: &[&str]) -> bool {
        self.seen.iter().any(|seen| names.contains(&seen.as_str()))
    }
}

/// Sorts the words of a command; `None` when an option is not in the table.
fn read_options<'a>(options: &Options, words: &'a [Word]) -> Option<Read<'a>> {
    let mut read = Read { seen: Vec::new(), rest: Vec::new() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.text.starts_with('-') || word.text == "-" {
            read.rest.push(word);
            continue;
        }
        if word.form != Form::Literal {
            return None;
        }
        if word.text == "--" {
            read.rest.extend(words);
            break;
        }
        let wants_value = match word.text.strip_prefix("--") {
            Some(long) => {
                let (name, inline) = match long.split_once('=') {
                    Some((name, _)) => (name, true),
                    None => (long, false),
                };
                read.seen.push(format!("--{name}"));
                match (holds(options.long, name), holds(options.long_valued, name)) {
                    (true, _) => false,
                    (false, true) => !inline,
                    (false, false) => return None,
                }
            }
            None => short_options(options, &word.text[1..], &mut read.seen)?,
        };
        if wants_value && words.next()?.form != Form::Literal {
            return None;
        }
    }
    Some(read)
}

/// Reads letters behind one dash; says whether the last one takes the next word.
fn short_options(options: &Options, letters: &str, seen: &mut Vec<String>) -> Option<bool> {
    if options.number && letters.chars().all(|c| c.is_ascii_digit()) {
        return Some(false);
    }
    for (at, letter) in letters.char_indices() {
        seen.push(format!("-{letter}"));
        if options.valued.contains(letter) {
            return Some(at + letter.len_utf8() == letters.len());
        }
        if !options.flags.contains(letter) {
            return None;
        }
    }
    Some(false)
}

/// Whether what a word names may be read, all that a wildcard may become included.
fn readable(word: &Word, place: &Place<'_>) -> bool {
    match word.form {
        Form::Literal => word.text == "-" || (place.may_read)(&word.text),
        Form::Wildcard => {
            // A file's name could be an option.
            let option = word.text.starts_with(['*', '?', '[', '-']);
            !option
                && !place.guarded
                && before_wildcards(&word.text).is_some_and(|path| (place.may_read)(&path))
        }
        Form::Dynamic => false,
    }
}

fn find(words: &[Word], place: &Place<'_>) -> bool {
    let is_path =
        |word: &&Word| !word.text.starts_with('-') && !matches!(word.text.as_str(), "(" | "!" | ",");
    let paths: Vec<&Word> = words.iter().take_while(is_path).collect();
    let mut tests = words[paths.len()..].iter();
    while let Some(test) = tests.next() {
        let valued = holds(FIND_VALUED, &test.text);
        if test.form != Form::Literal || !(valued || holds(FIND_PLAIN, &test.text)) {
            return false;
        }
        if valued && tests.next().is_none_or(|value| value.form != Form::Literal) {
            return false;
        }
    }
    (!paths.is_empty() || (place.may_read)(".")) && paths.into_iter().all(|path| readable(path, place))
}

fn git(words: &[Word], place: &Place<'_>) -> bool {
    let words = match words.split_first() {
        Some((first, rest)) if first.text == "--no-pager" => rest,
        _ => words,
    };
    let Some((command, arguments)) = words.split_first() else { return false };
    if command.form != Form::Literal || !GIT_COMMANDS.contains(&command.text.as_str()) || place.moved {
        return false;
    }
    let shows_contents = !matches!(command.text.as_str(), "status" | "ls-files");
    if shows_contents && place.guarded {
        return false;
    }
    let Some(read) = read_options(&GIT, arguments) else { return false };
    read.rest.iter().all(|word| match word.form {
        // Two paths of which one lies outside are compared as plain files.
        Form::Literal if word.text.starts_with('/') || word.text.split('/').any(|part| part == "..") => {
            (place.may_read)(&word.text)
        }
        Form::Literal => true,
        Form::Wildcard => readable(word, place),
        Form::Dynamic => false,
    })
}

#[cfg(test)]
#[path = "read_only_tests.rs"]
mod tests;
