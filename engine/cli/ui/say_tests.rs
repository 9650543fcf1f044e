use super::*;

#[test]
fn no_line_of_a_message_is_a_command() {
    assert_eq!(guarded("::a\n  ::error::b\n##[c\nd :: e\r"), "::a\n|   ::error::b\n| ##[c\nd :: e\\u{d}");
}
