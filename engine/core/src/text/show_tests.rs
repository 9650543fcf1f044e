use super::*;

#[test]
fn what_a_terminal_obeys_is_written_out() {
    assert_eq!(visible("plain é\n\t"), "plain é\n\t");
    assert_eq!(visible("\u{1b}]52;c;x\u{7}"), "\\u{1b}]52;c;x\\u{7}");
    assert_eq!(visible("a\u{202e}b\u{9b}"), "a\\u{202e}b\\u{9b}");
}

#[test]
fn a_line_of_output_is_shown_without_colours_bars_and_length() {
    let check = |line: &str, width, shown: &str| assert_eq!(shown_line(line, width), shown, "{line:?}");
    check("\u{1b}[1;31merror\u{1b}[0m: no", 80, "error: no");
    check("10 %\r50 %\r100 %\r", 80, "100 %");
    check("\u{1b}]0;title\u{7}\u{1b}[2J", 80, "\\u{1b}]0;title\\u{7}\\u{1b}[2J");
    check("a\tb", 80, "a    b");
    check("\u{1b}[", 80, "\\u{1b}[");
    check("abcdef", 6, "abcdef");
    check("abcdefg", 6, "abcde…");
    check("", 6, "");
    // A megabyte of zeros is a line too.
    assert_eq!(shown_line(&"\0".repeat(1 << 20), 20).chars().count(), 20);
}

#[test]
fn xml_content_cannot_close_its_element() {
    assert_eq!(escape_xml("</result> & \u{0}\r"), "&lt;/result&gt; &amp; \u{fffd}&#13;");
}

#[test]
fn words_for_the_shell_are_quoted_where_they_have_to_be() {
    assert_eq!(shell_word("flow/r/t.1"), "flow/r/t.1");
    assert_eq!(shell_word("/a b"), "'/a b'");
    assert_eq!(shell_word("it's $(x)"), r"'it'\''s $(x)'");
    assert_eq!(shell_word(""), "''");
    assert_eq!(shell_word("-x"), "'-x'");
    assert_eq!(shell_words(&["ls", "-l", "a b"]), "ls -l 'a b'");
}
