//! Lines of a file with bounded memory, whatever the file is, and cutting what is too long.

use std::io::{self, BufRead};

/// A line as far as it is kept.
pub(super) struct Line {
    /// Its text without the line end; bytes that are no UTF-8 are shown as `�`.
    pub(super) text: String,
    /// Bytes left out at its end.
    pub(super) cut: u64,
}

/// Reads the next line and keeps at most `keep` bytes of it; `None` at the end.
pub(super) fn next_line(reader: &mut impl BufRead, keep: usize) -> io::Result<Option<Line>> {
    let mut kept = Vec::new();
    let mut cut = 0u64;
    let mut any = false;
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        any = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        let room = keep.saturating_sub(kept.len()).min(part.len());
        kept.extend_from_slice(&part[..room]);
        cut += (part.len() - room) as u64;
        let used = end.map_or(chunk.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            break;
        }
    }
    if !any {
        return Ok(None);
    }
    if kept.last() == Some(&b'\r') && cut == 0 {
        kept.pop();
    }
    Ok(Some(Line { text: String::from_utf8_lossy(&kept).into_owned(), cut }))
}

/// At most `width` characters of a line; a cut says how much is missing.
pub(super) fn clip(text: &str, width: usize, cut: u64) -> String {
    match text.char_indices().nth(width) {
        None if cut == 0 => text.to_owned(),
        None => format!("{text}… ({cut} more bytes)"),
        Some((at, _)) => format!("{}… ({} more bytes)", &text[..at], (text.len() - at) as u64 + cut),
    }
}

/// The beginning and the end of a stream; the middle is dropped once both are full.
pub(super) struct Ends {
    each: usize,
    head: Vec<u8>,
    tail: std::collections::VecDeque<u8>,
    dropped: u64,
}

impl Ends {
    /// Keeps `each` bytes of either end.
    pub(super) fn new(each: usize) -> Self {
        Ends { each, head: Vec::new(), tail: std::collections::VecDeque::new(), dropped: 0 }
    }

    /// Takes the next piece.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = (self.each - self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        let skipped = rest.len().saturating_sub(self.each);
        let over = (self.tail.len() + rest.len() - skipped).saturating_sub(self.each);
        self.tail.drain(..over);
        self.tail.extend(&rest[skipped..]);
        self.dropped += (over + skipped) as u64;
    }

    /// The text, with a line in the place of what was dropped.
    pub(super) fn text(self) -> String {
        let tail: Vec<u8> = self.tail.into();
        if self.dropped == 0 {
            let mut whole = self.head;
            whole.extend(tail);
            return String::from_utf8_lossy(&whole).into_owned();
        }
        format!(
            "{}\n… {} bytes left out …\n{}",
            String::from_utf8_lossy(&self.head),
            self.dropped,
            String::from_utf8_lossy(&tail)
        )
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
