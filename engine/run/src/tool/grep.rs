//! `Grep`: files by what is in them.

use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Answer, Failure, MAX_ANSWER, Run, Tool, arguments};
use super::context::ToolContext;
use super::judge::{Named, may_show};
use super::lines::clip;
use super::path;
use super::walk::walk;

const MAX_ENTRIES: usize = 250;
const MAX_WIDTH: usize = 500;
/// What a search may hold of a file at once.
const MAX_HEAP: usize = 64 * 1024 * 1024;

pub(super) const TOOL: Tool = Tool {
    name: "Grep",
    description: "Searches files for a regular expression (Rust syntax, as ripgrep). `output_mode` says what comes \
                  back: `files_with_matches` (paths; the default), `content` (matching lines) or `count` (matches \
                  a file). Results are in the order of paths, at most `head_limit` (250) lines. Binary files and \
                  what `.gitignore` leaves out are not searched.",
    schema: || {
        json!({
            "type": "object",
            "properties": {
                "pattern": { "type": "string", "description": "The regular expression" },
                "path": { "type": "string", "description": "A file or folder; the working folder unless set" },
                "glob": { "type": "string", "description": "Only files whose names match, such as `*.rs` or `!*.lock`" },
                "type": { "type": "string", "description": "Only files of a kind that ripgrep knows, such as `rust`, `py`" },
                "output_mode": { "type": "string", "enum": ["content", "files_with_matches", "count"] },
                "-A": { "type": "integer", "minimum": 0, "description": "Lines after each match, for `content`" },
                "-B": { "type": "integer", "minimum": 0, "description": "Lines before each match, for `content`" },
                "-C": { "type": "integer", "minimum": 0, "description": "Lines around each match, for `content`" },
                "-n": { "type": "boolean", "description": "Line numbers, for `content`; true unless set" },
                "-i": { "type": "boolean", "description": "Ignore case" },
                "head_limit": { "type": "integer", "minimum": 0, "description": "The most lines returned; 250 unless set, 0 for no limit" },
                "multiline": { "type": "boolean", "description": "Let a match span lines; `.` matches a line end too" }
            },
            "required": ["pattern"],
            "additionalProperties": false
        })
    },
    run: Run::Blocking(grep),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    r#type: Option<String>,
    #[serde(default)]
    output_mode: Mode,
    #[serde(rename = "-A", default)]
    after: usize,
    #[serde(rename = "-B", default)]
    before: usize,
    #[serde(rename = "-C", default)]
    around: usize,
    #[serde(rename = "-n", default = "yes")]
    numbers: bool,
    #[serde(rename = "-i", default)]
    ignore_case: bool,
    head_limit: Option<usize>,
    #[serde(default)]
    multiline: bool,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

fn grep(input: Value, context: &ToolContext) -> Answer {
    let arguments: Arguments = arguments(input)?;
    let given = arguments.path.as_deref().unwrap_or(".");
    let root = path::find(context, &Named { tool: TOOL.name, parameter: "path", path: given })?;
    if !root.exists() {
        return Err(Failure::of(format!("`{given}` does not exist")));
    }
    let matcher = matcher(&arguments)?;
    let mut searcher = searcher(&arguments);
    let mut found = Found {
        mode: arguments.output_mode,
        numbers: arguments.numbers,
        prefix: String::new(),
        context_set: arguments.after + arguments.before + arguments.around > 0,
        lines: Vec::new(),
        bytes: 0,
        matches: 0,
        limit: match arguments.head_limit {
            Some(0) => usize::MAX,
            limit => limit.unwrap_or(MAX_ENTRIES),
        },
        more: false,
    };
    for entry in files(&root, &arguments)?.build() {
        if context.stop.order().is_some() {
            return Err("stopped".into());
        }
        let Ok(entry) = entry else { continue };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        if !may_show(context, TOOL.name, entry.path()) {
            continue;
        }
        found.begin(&path::shown(context, entry.path()));
        // A file that can't be read, or is too large for a search across lines, has nothing to show.
        let _ = searcher.search_path(&matcher, entry.path(), &mut found);
        found.end();
        if found.more {
            break;
        }
    }
    Ok(found.answer())
}

fn matcher(arguments: &Arguments) -> Result<RegexMatcher, Failure> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(arguments.ignore_case).multi_line(true);
    if arguments.multiline {
        builder.dot_matches_new_line(true);
    } else {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(&arguments.pattern).map_err(|error| Failure::of(format!("the pattern is wrong: {error}")))
}

fn searcher(arguments: &Arguments) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .multi_line(arguments.multiline)
        .after_context(arguments.after.max(arguments.around).min(1_000))
        .before_context(arguments.before.max(arguments.around).min(1_000))
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MAX_HEAP))
        .build()
}

fn files(root: &Path, arguments: &Arguments) -> Result<ignore::WalkBuilder, Failure> {
    let mut files = walk(root);
    if let Some(glob) = &arguments.glob {
        let wrong = |error: ignore::Error| Failure::of(format!("`glob` is wrong: {error}"));
        let folder = if root.is_dir() { root } else { root.parent().unwrap_or(root) };
        let mut builder = OverrideBuilder::new(folder);
        builder.add(glob).map_err(wrong)?;
        files.overrides(builder.build().map_err(wrong)?);
    }
    if let Some(kind) = &arguments.r#type {
        let wrong = |error: ignore::Error| Failure::of(format!("`type` is wrong: {error}"));
        let mut builder = TypesBuilder::new();
        builder.add_defaults().select(kind);
        files.types(builder.build().map_err(wrong)?);
    }
    Ok(files)
}

/// Gathers what is found, up to the limits.
struct Found {
    mode: Mode,
    numbers: bool,
    /// The file, as it is shown.
    prefix: String,
    context_set: bool,
    lines: Vec<String>,
    bytes: usize,
    /// In the file that is being searched.
    matches: u64,
    limit: usize,
    more: bool,
}

impl Found {
    fn begin(&mut self, file: &str) {
        self.prefix = file.to_owned();
        self.matches = 0;
    }

    fn end(&mut self) {
        if self.matches == 0 {
            return;
        }
        match self.mode {
            Mode::Content => {}
            Mode::FilesWithMatches => self.add(self.prefix.clone()),
            Mode::Count => self.add(format!("{}:{}", self.prefix, self.matches)),
        }
    }

    fn add(&mut self, line: String) {
        if self.lines.len() >= self.limit || self.bytes + line.len() > MAX_ANSWER - 1_024 {
            self.more = true;
            return;
        }
        self.bytes += line.len() + 1;
        self.lines.push(line);
    }

    /// Adds lines of a file: `:` marks what matched, `-` what stands around it.
    fn add_lines(&mut self, bytes: &[u8], number: Option<u64>, mark: char) {
        let text = String::from_utf8_lossy(bytes);
        for (line, offset) in text.lines().zip(0..) {
            let line = clip(line, MAX_WIDTH, 0);
            match number.filter(|_| self.numbers) {
                Some(number) => self.add(format!("{}{mark}{}{mark}{line}", self.prefix, number + offset)),
                None => self.add(format!("{}{mark}{line}", self.prefix)),
            }
        }
    }

    fn answer(mut self) -> String {
        if self.lines.is_empty() {
            return "(no match)".to_owned();
        }
        if self.more {
            self.lines.push("(there is more; use a narrower pattern, `path` or `glob`)".to_owned());
        }
        self.lines.join("\n")
    }
}

impl Sink for Found {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.matches += 1;
        match self.mode {
            Mode::Content => {
                self.add_lines(found.bytes(), found.line_number(), ':');
                Ok(!self.more)
            }
            Mode::FilesWithMatches => Ok(false),
            Mode::Count => Ok(true),
        }
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, Self::Error> {
        if self.mode == Mode::Content {
            self.add_lines(around.bytes(), around.line_number(), '-');
        }
        Ok(!self.more)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, Self::Error> {
        if self.mode == Mode::Content && self.context_set {
            self.add("--".to_owned());
        }
        Ok(!self.more)
    }
}

#[cfg(test)]
#[path = "grep_tests.rs"]
mod tests;
