//! Small decisions about text that every layer shares.

mod clip;
mod count;
mod duration;
mod file_name;
mod json;
mod mermaid;
mod show;
mod size;
mod suggest;

pub use clip::{head_bytes, head_lines, middle, one_line, tail_lines};
pub use count::{format_count, format_tokens};
pub use duration::{format_duration, parse_duration};
pub use file_name::{branch_name, file_name};
pub use json::{check_numbers, parse_json, without_mark};
pub use mermaid::{mermaid_label, mermaid_name};
pub use show::{escape_xml, shell_word, shown_line, visible};
pub use size::format_size;
pub use suggest::{alike, did_you_mean, list_some};
