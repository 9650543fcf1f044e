//! A lexer for shell scripts with holes: it decides how each hole is referred to, or why none can stand there.
//!
//! 1. Holes are cut out first; quotes inside a hole are not the shell's.
//! 2. What a shell could read differently from this lexer is not guessed at: [`Lexer::unsure`] refuses every hole after it.
//! 3. No value is ever part of the script: a misjudged hole can be split or matched, not run.

mod arith;
mod command;
mod cond;
mod expansion;
mod family;
mod heredoc;
mod lexer;
mod program;
mod quote;
mod units;
mod word;

pub(super) use command::runs_its_arguments;
pub use family::ShellFamily;
pub(super) use lexer::lex;
pub(super) use units::{Piece, Quoting, Rule, Units, Use};
