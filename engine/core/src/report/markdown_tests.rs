use super::*;

#[test]
fn plain_text_stays_text() {
    let cases = [
        ("a\n\n# b", r"a \# b"),
        ("<img src=x onerror=y>", r"&lt;img src=x onerror=y\>"),
        ("&lt; @you", "&amp;lt; &#64;you"),
        ("[a](b) *c* `d` | ~e~", r"\[a\](b) \*c\* \`d\` \| \~e\~"),
        ("- item", r"\- item"),
        ("+ item", r"\+ item"),
        ("12. item", r"12\. item"),
        ("---", r"\---"),
        ("1.5 of 2.5", r"1\.5 of 2.5"),
        ("x\u{202e}y\u{1b}[0m", r"x\\u{202e}y\\u{1b}\[0m"),
    ];
    for (text, expected) in cases {
        assert_eq!(plain(text), expected);
    }
}

#[test]
fn code_can_not_be_ended_from_inside() {
    assert_eq!(code("a"), "`a`");
    assert_eq!(code("a `b` c"), "``a `b` c``");
    assert_eq!(code("`"), "`` ` ``");
    assert_eq!(code("a ```` b\nc"), "`````a ```` b c`````");
    assert_eq!(fenced("a\n```\n# b\n````\n", "text"), "`````text\na\n```\n# b\n````\n`````");
}
