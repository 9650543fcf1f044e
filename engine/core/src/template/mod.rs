//! Templates, expressions and shell scripts with holes. Parsed and checked once, evaluated on values that are handed in.

mod script;
mod text;

pub use script::{Script, ScriptPart};
pub use text::{Reference, Segment, Template};
