//! What the person sees: messages, diagnostics, progress.

mod ci;
mod findings;
mod layout;
mod live;
mod notices;
mod out;
mod plain;
mod redraw;
mod say;
mod summary;
mod watcher;
mod words;

pub use findings::{diagnostics, finding_line, finding_lines, in_brief};
pub use notices::notice;
pub use out::{print, print_json, print_line, width};
pub use say::{
    can_redraw, denied, error, guarded, in_github_actions, many, note, path_in_repository, place, program,
    set_color, set_program, warning,
};
pub use summary::{Ended, summary};
pub use watcher::{How, Watched, Watcher};
