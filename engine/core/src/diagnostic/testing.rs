//! Diagnostics in a form that tests compare.

use super::Diagnostic;

/// One line a diagnostic: `2:3 F0201 message; help`, the marked text between message and place when it's short.
pub(crate) fn short(found: &[Diagnostic]) -> String {
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(diagnostic: &Diagnostic) -> String {
    let mut line = String::new();
    if let Some(label) = diagnostic.labels.first() {
        let (row, column) = label.file.line_column(label.span.start);
        line = format!("{row}:{column} [{}] ", label.file.slice(label.span).escape_debug());
    }
    line += &format!("{} {}", diagnostic.code, diagnostic.message);
    for label in diagnostic.labels.iter().skip(1) {
        let (row, column) = label.file.line_column(label.span.start);
        line += &format!(" ({row}:{column} {})", label.text);
    }
    if let Some(help) = &diagnostic.help {
        line += "; ";
        line += help;
    }
    line
}
