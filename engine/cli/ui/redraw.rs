//! What is redrawn in place at the bottom of a terminal, below what scrolls: as text with the sequences that move the
//! cursor.
//!
//! 1. The cursor rests on an empty line below what was drawn, so that what a terminal echoes (`^C`) does no harm.
//! 2. What was drawn is found again after the terminal became narrower and broke its lines.

use std::fmt::Write;

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
        let mut text = String::from("\r");
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
            // Each line is cleared just before it is written, so that nothing flickers.
            text.push_str("\x1b[K");
            text.push_str(line);
            text.push('\n');
        }
        text.push_str("\x1b[J");
        self.drawn = area.iter().map(|line| console::measure_text_width(line)).collect();
        text
    }
}

#[cfg(test)]
#[path = "redraw_tests.rs"]
mod tests;
