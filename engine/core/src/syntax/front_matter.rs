//! A Markdown file with front matter, cut in two by offsets.
//!
//! `gray_matter` decides what the matter is. It is silent about a byte order mark, blank lines in front and a block that
//! is never closed, knows no offsets and drops the body's last newline, so it only sees a slice that is well-formed.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use gray_matter::engine::Engine;
use gray_matter::{Matter, Pod};

use crate::diagnostic::{Code, Diagnostic, SourceFile, Span};

/// A file with front matter.
#[derive(Debug)]
pub(crate) struct FrontMatter {
    /// The file without byte order mark and with LF line ends; all offsets are in it.
    pub(crate) file: Arc<SourceFile>,
    /// The language of the block.
    pub(crate) kind: MatterKind,
    /// Where the block is, from the start of its first line, without the lines that mark it.
    pub(crate) block: Range<usize>,
    /// Where the body is: everything after the line that closes the block.
    pub(crate) body: Range<usize>,
    /// What was odd about it.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// The language of a front matter block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatterKind {
    /// Between two `---`.
    Yaml,
    /// Between two `+++`.
    Toml,
}

/// How many lines of a file may hide its front matter.
const LOOKED_AT: usize = 40;

/// Finds the front matter of a file. `Ok(None)`: it has none. An opening line that nothing closes is an error.
pub(crate) fn split_front_matter(file: &Arc<SourceFile>) -> Result<Option<FrontMatter>, Diagnostic> {
    let file = normal(file);
    let text = file.text.as_str();
    let start = skip_blank_and_comments(text);
    let opening = line_at(text, start);
    let (kind, mark) = match text[opening.clone()].trim_end() {
        "---" => (MatterKind::Yaml, "---"),
        "+++" => (MatterKind::Toml, "+++"),
        _ => return Ok(None),
    };
    let block_start = next_line(text, &opening);
    let Some(closing) = lines_from(text, block_start).find(|line| text[line.clone()].trim_end() == mark)
    else {
        let span = Span::new(start, start + mark.len());
        let message = format!("front matter that begins with `{mark}` is never closed");
        return Err(Diagnostic::new(Code::FrontMatter, &file, span, message)
            .help(format!("put a line with `{mark}` between the keys and the prompt")));
    };
    let whole_block = block_start..closing.start;
    let block = matter(&text[start..closing.end], mark)
        .and_then(|matter| locate(text, &whole_block, &matter))
        .unwrap_or(whole_block);
    let body = next_line(text, &closing)..text.len();
    let mut warnings = Vec::new();
    if start > 0 {
        let message = "the front matter doesn't begin on the first line";
        let span = Span::new(start, start + mark.len());
        warnings.push(
            Diagnostic::new(Code::Recovered, &file, span, message)
                .help("take out what stands above it: other programs don't look further"),
        );
    }
    Ok(Some(FrontMatter { kind, block, body, warnings, file: Arc::clone(&file) }))
}

/// Where a file without front matter has one all the same that other lines hide: a fence or a title above it, or no opening
/// line. Nobody wrote keys of an agent by chance.
pub(crate) fn hidden_front_matter(file: &Arc<SourceFile>) -> Option<Diagnostic> {
    let file = normal(file);
    let text = file.text.as_str();
    let lines: Vec<Range<usize>> = lines_from(text, 0).take(LOOKED_AT).collect();
    let written = |at: usize| lines.get(at).map_or("", |line| text[line.clone()].trim_end());
    let after = |at: usize| (at..lines.len()).find(|at| !written(*at).is_empty()).unwrap_or(lines.len());
    let is_mark = |at: usize| matches!(written(at), "---" | "+++");
    // `name:` and `description:`, in any order, before the block ends.
    let has_keys = |from: usize| {
        let block = (from..lines.len()).take_while(|at| !is_mark(*at) && !written(*at).starts_with("```"));
        let block: Vec<&str> = block.map(written).collect();
        let has = |key: &str| block.iter().any(|line| line.starts_with(key));
        has("name:") && has("description:")
    };
    let first = after(0);
    let at = |line: usize, message: String, help: &str| {
        let line = lines.get(line).cloned().unwrap_or_default();
        let span = Span::new(line.start, line.end);
        Some(Diagnostic::new(Code::FrontMatter, &file, span, message).help(help))
    };
    for line in first..lines.len() {
        let next = after(line + 1);
        let keys = if is_mark(next) { next + 1 } else { next };
        if written(line).starts_with("```") && has_keys(keys) {
            let message = "the definition stands in a code fence, so it defines no agent".to_owned();
            let help = match is_mark(next) {
                true => "take this line and the closing fence away, and what stands above",
                false => "put the keys between two lines `---` at the top of the file, without the fence",
            };
            return at(line, message, help);
        }
        if is_mark(line) && line > first && has_keys(line + 1) {
            let message = "lines stand above the front matter, so it defines no agent".to_owned();
            return at(
                line,
                message,
                "begin the file with this line, and put what stands above behind the keys",
            );
        }
    }
    let is_key =
        ["name:", "description:", "tools:", "model:"].iter().any(|key| written(first).starts_with(key));
    if is_key && has_keys(first) {
        let message = "the opening `---` of the front matter is missing, so it defines no agent".to_owned();
        let help = match (first..lines.len()).any(is_mark) {
            true => "put a line `---` above this one",
            false => "put a line `---` above this one, and one behind the last key",
        };
        return at(first, message, help);
    }
    None
}

/// Without byte order mark, lines ended by LF. Lines and columns stay what a person sees.
fn normal(file: &Arc<SourceFile>) -> Arc<SourceFile> {
    let text = file.text.strip_prefix('\u{feff}').unwrap_or(&file.text);
    let text = match text.contains('\r') {
        true => Cow::Owned(text.replace("\r\n", "\n")),
        false => Cow::Borrowed(text),
    };
    if text.len() == file.text.len() {
        return Arc::clone(file);
    }
    Arc::new(SourceFile::new(file.name.clone(), text))
}

/// The offset of the first line that has a text outside HTML comments.
fn skip_blank_and_comments(text: &str) -> usize {
    let mut at = 0;
    loop {
        let line = line_at(text, at);
        let written = text[line.clone()].trim();
        let next = if written.is_empty() {
            next_line(text, &line)
        } else if written.starts_with("<!--")
            && let Some(close) = text[line.start..].find("-->")
        {
            let last = line_at(text, line.start + close);
            next_line(text, &last)
        } else {
            return at;
        };
        if next == at {
            return at;
        }
        at = next;
    }
}

/// What `gray_matter` takes for the matter: the block without the white space around it.
fn matter(slice: &str, mark: &str) -> Option<String> {
    let mut splitter = Matter::<RawText>::new();
    mark.clone_into(&mut splitter.delimiter);
    let parts = splitter.parse::<Pod>(slice).ok()?;
    Some(parts.matter)
}

/// The matter's place, from the start of its first line: its indentation counts.
fn locate(text: &str, block: &Range<usize>, matter: &str) -> Option<Range<usize>> {
    if matter.is_empty() {
        return None;
    }
    let start = block.start + text[block.clone()].find(matter)?;
    Some(line_at(text, start).start..block.end)
}

/// An engine that leaves the matter to us.
struct RawText;

impl Engine for RawText {
    fn parse(_: &str) -> gray_matter::Result<Pod> {
        Ok(Pod::Null)
    }
}

/// The line that an offset is on, without its newline.
fn line_at(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    start..end
}

fn next_line(text: &str, line: &Range<usize>) -> usize {
    (line.end + 1).min(text.len())
}

fn lines_from(text: &str, start: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = start;
    std::iter::from_fn(move || {
        if at >= text.len() {
            return None;
        }
        let line = line_at(text, at);
        at = line.end + 1;
        Some(line)
    })
}

#[cfg(test)]
#[path = "front_matter_tests.rs"]
mod tests;
