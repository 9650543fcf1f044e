use std::collections::HashSet;

use super::*;

#[test]
fn no_two_kinds_share_a_code_and_the_letter_says_the_severity() {
    let mut seen = HashSet::new();
    for code in Code::ALL {
        assert!(seen.insert(code.as_str()), "{code} is taken twice");
        let letter = match code.severity() {
            Severity::Error => 'F',
            Severity::Warning => 'W',
        };
        assert!(code.as_str().starts_with(letter), "{code}");
    }
}
