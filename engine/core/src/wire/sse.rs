//! Server-sent events: bytes in whatever pieces they arrive, events out.
//!
//! 1. How the bytes are cut into pieces changes nothing, also inside a line end or a character.
//! 2. An event without its blank line at the end of the stream never existed.
//! 3. No stream makes the decoder hold more than [`MOST`] bytes.

use super::{ModelError, ModelErrorKind};

/// The most bytes of one event, its line in the making included.
const MOST: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The field `event`.
    pub event: Option<String>,
    /// The lines of `data`, joined by newlines.
    pub data: String,
}

/// A decoder in the middle of a stream.
#[derive(Debug, Default)]
pub struct SseDecoder {
    line: Vec<u8>,
    event: Option<String>,
    data: Option<String>,
    after_cr: bool,
    begun: bool,
}

impl SseDecoder {
    /// Takes the next bytes and gives the events that they complete. An event past the limit breaks the stream.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, ModelError> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_cr) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            match rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
                Some(end) => {
                    self.grow(&rest[..end])?;
                    self.after_cr = rest[end] == b'\r';
                    rest = &rest[end + 1..];
                    events.extend(self.end_line());
                }
                None => {
                    self.grow(rest)?;
                    rest = &[];
                }
            }
        }
        Ok(events)
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held + bytes.len() > MOST {
            let message = format!("an event of the stream is larger than {} MiB", MOST >> 20);
            return Err(ModelError {
                kind: ModelErrorKind::Broken,
                status: None,
                message,
                retry_after: None,
            });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let mut line: &str = &text;
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            let event = self.event.take();
            return self.data.take().map(|data| SseEvent { event, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.event = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // A comment (no field name), `id`, `retry` and what the standard may still add.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
