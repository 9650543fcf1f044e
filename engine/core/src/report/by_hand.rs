//! What a person does about work that could not be brought home.

use crate::model::{ConflictKind, Merge, WorktreeOutcome};
use crate::text::shell_word;

/// The most files that a command names.
const NAMED: usize = 3;

/// The command that takes work by hand which `merge: apply` refused: a three-way merge, which marks what both changed. It
/// wants the person's own change in the index. `path` is that of the patch.
pub fn by_hand(tree: &WorktreeOutcome, path: &str) -> Option<String> {
    let merged = tree.merged.as_ref().filter(|merged| merged.how == Merge::Apply)?;
    let (conflicts, patch) = (&merged.conflicts, tree.patch.as_ref());
    let changed = conflicts.iter().all(|conflict| match conflict.kind {
        ConflictKind::Changed | ConflictKind::Content => true,
        ConflictKind::Protected => false,
    });
    if patch.is_none() || conflicts.is_empty() || !changed {
        return None;
    }
    let files: Vec<_> = match conflicts.len() {
        0..=NAMED => conflicts.iter().map(|conflict| shell_word(&conflict.path)).collect(),
        _ => vec!["-A".into()],
    };
    Some(format!("git add {} && git apply -3 {}", files.join(" "), shell_word(path)))
}

#[cfg(test)]
#[path = "by_hand_tests.rs"]
mod tests;
