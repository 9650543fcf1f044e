//! Templates, expressions and shell scripts with holes. Parsed and checked once, evaluated on values that are handed in.
//!
//! 1. Text without a `${{` or `${%` is itself: nothing parses it.
//! 2. Everything that can be known without values is known before a run: the syntax, every filter, test and function,
//!    every reference with its place.
//! 3. A value is never read as a template, and in a script never as shell text.
//! 4. Evaluation ends: work, nesting and the size of what is built are bounded.
//!
//! minijinja parses and runs the language. `walk` stands between the two: it checks the tree, collects references,
//! and rewrites it so that values come from [`Context`] and turn into text by flow's own rules.

mod arithmetic;
mod claims;
mod context;
#[cfg(test)]
mod docs_tests;
mod error;
mod eval;
mod files;
mod filters;
mod hyphen;
mod lookup;
mod names;
mod parse;
mod reference;
mod scan;
mod script;
mod shell;
mod text;
mod values;
mod walk;
mod walk_block;

pub use claims::{Claims, Comparison, Operand, Relation};
pub use context::{Context, Status};
pub use error::{EvalError, TemplateError, TemplateErrorKind};
pub use files::ValueFiles;
pub use reference::{Reference, Segment};
pub use scan::in_our_words;
pub use script::{RenderedScript, Script, ScriptHole, ScriptPart};
pub use shell::ShellFamily;
pub use text::Template;
pub(crate) use values::json_text;
pub use walk::StatusCall;
