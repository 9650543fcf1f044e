//! What is redrawn in place at the bottom of a terminal, below what scrolls: as text with the sequences that move the
//! cursor.
//!
//! 1. The cursor rests on an empty line below what was drawn, so that what a terminal echoes (`^C`) does no harm.
//! 2. What was drawn is found again after the terminal became narrower and broke its lines.

use std::fmt::Write;

/// A terminal that knows these shows what stands between them at once; others pass them over.
const TOGETHER: &str = "\x1b[?2026h";
const SHOWN: &str = "\x1b[?2026l";

/// What stands on the screen now.
#[derive(Debug, Default)]
pub(super) struct Redraw {
    /// How wide each of its lines is.
    drawn: Vec<usize>,
}

impl Redraw {
    /// Draws `area` in place of what was drawn before, with lines above it that stay. No line of `area` may be as wide as
    /// the terminal.
    pub(super) fn frame(&mut self, above: &[String], area: &[String], columns: usize) -> String {
        let mut text = format!("{TOGETHER}\r");
        let rows: usize = self.drawn.iter().map(|width| width.div_ceil(columns.max(1)).max(1)).sum();
        if rows > 0 {
            let _ = write!(text, "\x1b[{rows}A");
        }
        let moved = !above.is_empty() || rows > self.drawn.len();
        if moved {
            text.push_str("\x1b[J");
        }
        for line in above {
            text.push_str(line);
            text.push('\n');
        }
        for line in area {
            // What is left of the line before goes last, so that no line is ever empty in between.
            text.push_str(line);
            text.push_str("\x1b[K\n");
        }
        text.push_str("\x1b[J");
        text.push_str(SHOWN);
        self.drawn = area.iter().map(|line| console::measure_text_width(line)).collect();
        text
    }
}

#[cfg(test)]
#[path = "redraw_tests.rs"]
mod tests;
