use super::*;

#[test]
fn same_text_is_stored_once() {
    let mut table = KeyTable::default();
    let (first, other, second) = (table.key("run"), table.key("needs"), table.key("run"));
    assert!(Arc::ptr_eq(&first.0, &second.0));
    assert_eq!((&*first, &*other), ("run", "needs"));
}

#[test]
fn full_table_still_gives_keys() {
    let mut table = KeyTable::default();
    for number in 0..2 * KeyTable::MOST {
        assert_eq!(*table.key(&number.to_string()), *number.to_string());
    }
    assert_eq!(table.shared.len(), KeyTable::MOST);
    assert!(Arc::ptr_eq(&table.key("0").0, &table.key("0").0));
}
