use super::*;

#[test]
fn words_of_dot_and_signs_in_labels_stand_in_quotes() {
    assert_eq!(dot_name("build"), "build");
    assert_eq!(dot_name("Graph"), "\"Graph\"");
    assert_eq!(quoted("a \"b\" c\\n\nd\u{1b}"), "\"a \\\"b\\\" c\\\\n\\nd \"");
}
