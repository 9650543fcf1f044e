use super::*;

#[test]
fn what_a_terminal_obeys_is_written_out() {
    assert_eq!(visible("plain é\n\t"), "plain é\n\t");
    assert_eq!(visible("\u{1b}]52;c;x\u{7}"), "\\u{1b}]52;c;x\\u{7}");
    assert_eq!(visible("a\u{202e}b\u{9b}"), "a\\u{202e}b\\u{9b}");
}

#[test]
fn xml_content_cannot_close_its_element() {
    assert_eq!(escape_xml("</result> & \u{0}\r"), "&lt;/result&gt; &amp; \u{fffd}&#13;");
}
