//! From bytes to a text that the parsers may see: right size, UTF-8, no NUL.

use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic, SourceFile, Span};
use crate::text::format_size;

/// The most bytes that a plan may have.
pub const PLAN_LIMIT: usize = 16 << 20;

/// The most bytes that an agent file or a `flow.toml` may have.
pub const AGENT_LIMIT: usize = 1 << 20;

/// Takes the content of a file as text. Nothing of a refused file is parsed.
pub fn source_text(
    name: impl Into<String>,
    bytes: Vec<u8>,
    limit: usize,
) -> Result<Arc<SourceFile>, Diagnostic> {
    let name = name.into();
    if bytes.len() > limit {
        let message = format!(
            "`{name}` has {}, more than the {} it may have",
            format_size(bytes.len()),
            format_size(limit)
        );
        let file = Arc::new(SourceFile::new(name, ""));
        return Err(Diagnostic::new(Code::TooLarge, &file, Span::default(), message));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return Err(not_utf8(name, error.as_bytes(), error.utf8_error().valid_up_to())),
    };
    match text.find('\0') {
        None => Ok(Arc::new(SourceFile::new(name, text))),
        Some(at) => {
            let message = format!("`{name}` holds a NUL at byte {at}");
            let file = Arc::new(SourceFile::new(name, &text[..at]));
            Err(Diagnostic::new(Code::NotText, &file, Span::new(at, at), message)
                .help("save the file as plain UTF-8 text"))
        }
    }
}

fn not_utf8(name: String, bytes: &[u8], at: usize) -> Diagnostic {
    let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let message = match bytes.get(at) {
        Some(byte) => format!("`{name}` isn't UTF-8: byte {at} is 0x{byte:02X}"),
        None => format!("`{name}` isn't UTF-8 at byte {at}"),
    };
    // What stands before the bad byte shows the person where it is.
    let before = String::from_utf8_lossy(&bytes[..at]).into_owned();
    let place = Span::new(before.len(), before.len());
    let file = Arc::new(SourceFile::new(name, before));
    let help = if utf16 { "it looks like UTF-16: save it as UTF-8" } else { "save the file as UTF-8" };
    Diagnostic::new(Code::NotText, &file, place, message).help(help)
}

#[cfg(test)]
#[path = "source_text_tests.rs"]
mod tests;
