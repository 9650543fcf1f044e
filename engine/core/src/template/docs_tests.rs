use super::names::{FILTERS, FUNCTIONS, STATUS, TESTS};
use crate::testing::{LANGUAGE, listed, same};

#[test]
fn every_filter_test_and_function_is_listed() {
    same(listed(LANGUAGE, "Filters:"), FILTERS.iter().copied());
    same(listed(LANGUAGE, "Tests:"), TESTS.iter().copied());
    same(listed(LANGUAGE, "Functions:"), FUNCTIONS.iter().copied());
    let paragraph = LANGUAGE.lines().find(|line| line.contains("stand in `if` only")).unwrap();
    assert!(STATUS.iter().all(|name| paragraph.contains(&format!("`{name}()`"))), "{paragraph}");
}
