//! Which language the words of `shell:` stand for.

use crate::text::base_name;

/// A family of shells that read quotes and expansions alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShellFamily {
    /// `sh`, `dash`, `ash`: whatever POSIX leaves open is refused, since `sh` can be any of them.
    Sh,
    /// `bash`.
    Bash,
    /// `zsh`.
    Zsh,
    /// `ksh`, `mksh`.
    Ksh,
}

impl ShellFamily {
    /// The family of a shell given as words, the program first. `None`: not a shell, so that no hole can be made safe.
    pub fn of(words: &[String]) -> Option<ShellFamily> {
        let mut words = words.iter().map(String::as_str);
        let mut program = base_name(words.next()?);
        if program == "env" {
            // `env`, perhaps with `-S` or assignments, names the program later.
            program = base_name(words.find(|word| !word.starts_with('-') && !word.contains('='))?);
        }
        if program == "busybox" {
            program = base_name(words.next()?);
        }
        match program {
            "sh" | "dash" | "ash" => Some(ShellFamily::Sh),
            "bash" | "rbash" => Some(ShellFamily::Bash),
            "zsh" => Some(ShellFamily::Zsh),
            "ksh" | "ksh93" | "mksh" | "oksh" => Some(ShellFamily::Ksh),
            _ => None,
        }
    }

    /// Whether `[ a -eq b ]`, `exit n` and the like may evaluate their operands as arithmetic. `sh` can be a ksh.
    pub(super) fn evaluates_operands(self) -> bool {
        match self {
            ShellFamily::Sh | ShellFamily::Zsh | ShellFamily::Ksh => true,
            ShellFamily::Bash => false,
        }
    }
}

#[cfg(test)]
#[path = "family_tests.rs"]
mod tests;
