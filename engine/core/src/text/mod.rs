//! Small decisions about text that every layer shares.

mod chain;
mod clip;
mod count;
mod duration;
mod exec;
mod file_name;
mod json;
mod mermaid;
mod show;
mod size;
mod suggest;

pub use chain::{chain, chain_in_words};
pub use clip::{head_bytes, head_lines, middle, one_line, tail_lines};
pub use count::{format_count, format_tokens};
pub use duration::{format_duration, parse_duration};
pub use exec::{LARGEST_ENVIRONMENT, LONGEST_ARGUMENT};
pub use file_name::{base_name, branch_name, file_name, file_stem, last_name};
pub use json::{check_numbers, parse_json, without_mark};
pub use mermaid::{mermaid_label, mermaid_name};
pub use show::{escape_xml, shell_word, shell_words, shown_line, visible};
pub use size::format_size;
pub use suggest::{alike, did_you_mean, list_some};
