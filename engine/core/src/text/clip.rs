//! Keeping a part of a long text.

/// The first `count` lines, line ends kept between them.
pub fn head_lines(text: &str, count: usize) -> &str {
    match text.match_indices('\n').nth(count.saturating_sub(1)) {
        _ if count == 0 => "",
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The last `count` lines; a final newline makes no line of its own.
pub fn tail_lines(text: &str, count: usize) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    match text.rmatch_indices('\n').nth(count.saturating_sub(1)) {
        _ if count == 0 => "",
        Some((start, _)) => &text[start + 1..],
        None => text,
    }
}

/// The first `most` bytes, cut between characters.
pub fn head_bytes(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// The text on one line of at most `width` characters: runs of white space become one blank, a cut shows as `…`.
pub fn one_line(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        let blank = usize::from(!out.is_empty());
        if count + blank + word.chars().count() > width {
            let room = width.saturating_sub(count + blank + 1);
            if blank == 1 && room > 0 {
                out.push(' ');
            }
            out.extend(word.chars().take(room));
            // Where the words before fill the line, the sign of the cut takes their last character.
            while out.chars().count() >= width && out.pop().is_some() {}
            out.push('…');
            return out;
        }
        if blank == 1 {
            out.push(' ');
        }
        out.push_str(word);
        count += blank + word.chars().count();
    }
    out
}

/// The text in at most `width` characters; a longer one loses its middle, since paths differ at their ends.
pub fn middle(text: &str, width: usize) -> String {
    let all = text.chars().count();
    if all <= width {
        return text.to_owned();
    }
    // The end says more than the beginning.
    let head = width.saturating_sub(1) / 3;
    let tail = width.saturating_sub(1) - head;
    text.chars().take(head).chain(['…']).chain(text.chars().skip(all - tail)).take(width).collect()
}

#[cfg(test)]
#[path = "clip_tests.rs"]
mod tests;
