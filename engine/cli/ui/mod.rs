//! What the person sees: messages, diagnostics, progress.

mod live;
mod out;
mod plain;
mod say;
mod summary;
mod watcher;
mod words;

pub use out::{print, print_json};
pub use say::{diagnostics, error, note, set_color, warning};
pub use summary::summary;
pub use watcher::{How, Watcher};
