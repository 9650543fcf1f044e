use super::retry::is_transient;
use crate::model::Reason;
use crate::testing::{LANGUAGE, tables};

#[test]
fn the_reference_says_which_reasons_are_tried_again() {
    for row in tables(LANGUAGE, "## Reasons").concat() {
        let reason = Reason::ALL.iter().find(|reason| format!("`{}`", reason.as_str()) == row[0]).unwrap();
        let again = if is_transient(*reason) { "yes" } else { "no" };
        assert_eq!(row[2], again, "{}", reason.as_str());
    }
}
