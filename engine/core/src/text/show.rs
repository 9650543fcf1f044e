//! Text from a task, made safe to show: a terminal obeys some characters, XML others.

use std::borrow::Cow;

/// The text with every character that a terminal or a reader's eye could obey written as an escape: control
/// characters but newline and tab, bidirectional overrides, zero-width characters.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A line of a program's output as a person is shown it, in at most `width` characters: without colours, of a progress bar
/// its last state, whatever else a terminal obeys written out, a cut as `…`.
pub fn shown_line(line: &str, width: usize) -> String {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or_default();
    let mut out = String::new();
    let mut count = 0;
    for piece in without_colours(line) {
        for c in piece.chars() {
            let shown = visible_char(c);
            count += shown.chars().count();
            if count > width {
                // Room for the sign of the cut.
                while out.chars().count() >= width && out.pop().is_some() {}
                out.push('…');
                return out;
            }
            out.push_str(&shown);
        }
    }
    out
}

/// The pieces between sequences that only choose colours (`ESC [ … m`).
fn without_colours(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        for (start, _) in text.match_indices("\u{1b}[") {
            let after = &text[start + 2..];
            let end =
                after.find(|c: char| !c.is_ascii_digit() && c != ';' && c != ':').unwrap_or(after.len());
            if after[end..].starts_with('m') {
                rest = Some(&after[end + 1..]);
                return Some(&text[..start]);
            }
        }
        Some(text)
    })
}

fn visible_char(c: char) -> Cow<'static, str> {
    match c {
        '\t' => Cow::Borrowed("    "),
        c if is_hidden(c) => Cow::Owned(c.escape_unicode().to_string()),
        c => Cow::Owned(c.to_string()),
    }
}

fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => true,
        _ => c.is_control(),
    }
}

/// The text as XML content. Characters that XML 1.0 can't carry become U+FFFD.
pub fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A bare carriage return would be read back as a newline.
            '\r' => out.push_str("&#13;"),
            '\n' | '\t' => out.push(c),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// A value as one word of a shell, quoted where it has to be, and where it begins as an option does: a reader shall see that
/// it is meant as none.
pub fn shell_word(value: &str) -> String {
    if value.starts_with('-') { quoted(value) } else { typed(value) }
}

/// A command as a person would type it. Its options are options.
pub fn shell_words<T: AsRef<str>>(words: &[T]) -> String {
    words.iter().map(|word| typed(word.as_ref())).collect::<Vec<_>>().join(" ")
}

fn typed(word: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "_-./:+=@%,".contains(c);
    if !word.is_empty() && word.chars().all(is_safe) { word.to_owned() } else { quoted(word) }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
#[path = "show_tests.rs"]
mod tests;
