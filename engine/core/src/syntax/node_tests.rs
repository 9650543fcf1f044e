use super::*;

/// A plan of 100,000 tasks is a million of these at once, and nothing of it takes more memory.
#[test]
fn nodes_and_entries_are_small() {
    assert_eq!(size_of::<Node>(), 32);
    assert_eq!(size_of::<Entry>(), 56);
}
