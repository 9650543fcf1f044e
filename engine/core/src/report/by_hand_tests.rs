use super::*;
use crate::model::{MergeConflict, MergeOutcome};

fn check(how: Merge, kind: ConflictKind, files: &[&str], patch: Option<&str>) -> Option<String> {
    let conflict = |path: &&str| MergeConflict { path: (*path).to_owned(), kind, other: None };
    let tree = WorktreeOutcome {
        files_changed: 1,
        patch: patch.map(str::to_owned),
        merged: Some(MergeOutcome {
            how,
            files: Vec::new(),
            commits: Vec::new(),
            conflicts: files.iter().map(conflict).collect(),
            moved: None,
        }),
        ..WorktreeOutcome::default()
    };
    by_hand(&tree, "/runs/r/1.patch")
}

#[test]
fn a_refused_apply_is_taken_by_hand_where_there_is_a_patch() {
    use ConflictKind::{Changed, Protected};
    let patch = Some("1.patch");
    assert_eq!(
        check(Merge::Apply, Changed, &["a.txt", "b c"], patch).as_deref(),
        Some("git add a.txt 'b c' && git apply -3 /runs/r/1.patch")
    );
    assert_eq!(
        check(Merge::Apply, Changed, &["a", "b", "c", "d"], patch).as_deref(),
        Some("git add -A && git apply -3 /runs/r/1.patch")
    );
    assert_eq!(check(Merge::Apply, Changed, &[], patch), None);
    assert_eq!(check(Merge::Apply, Changed, &["a"], None), None);
    assert_eq!(check(Merge::Apply, Protected, &[".flow/x"], patch), None);
    assert_eq!(check(Merge::Squash, Changed, &["a"], patch), None);
}
