//! Text for mermaid, which draws graphs on GitHub.

use std::fmt::Write as _;

/// Words of mermaid's flowcharts; as the name of a node they end or begin something else, in any case of letters.
const RESERVED: &[&str] = &[
    "accdescr",
    "acctitle",
    "call",
    "class",
    "classdef",
    "click",
    "default",
    "direction",
    "end",
    "flowchart",
    "graph",
    "href",
    "interpolate",
    "linkstyle",
    "style",
    "subgraph",
];

/// The name of a node for something that is called by an identifier.
pub fn mermaid_name(name: &str) -> String {
    // With a `_` behind it `end` could be another one's name; every name that such a one could be gets one more.
    let bare = name.trim_end_matches('_').to_ascii_lowercase();
    if RESERVED.contains(&bare.as_str()) { format!("{name}_") } else { name.to_owned() }
}

/// Text inside the quotes of a label: what could end it, or what mermaid reads as Markdown, HTML or a code, as numbers.
pub fn mermaid_label(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // Inside of a word it is no emphasis, and names are full of it.
        let within = before.is_alphanumeric() && chars.peek().is_some_and(|next| next.is_alphanumeric());
        match c {
            '_' if within => out.push(c),
            '"' | '#' | '<' | '>' | '&' | '`' | '\\' | '*' | '_' => {
                // Writing to a string can't fail.
                let _ = write!(out, "#{};", u32::from(c));
            }
            c if c.is_control() => out.push(' '),
            _ => out.push(c),
        }
        before = c;
    }
    out
}

#[cfg(test)]
#[path = "mermaid_tests.rs"]
mod tests;
