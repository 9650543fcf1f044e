use super::*;

#[test]
fn plain_text_stays_text() {
    let cases = [
        ("a\n\n# b", "a # b"),
        ("# b > c", r"\# b > c"),
        ("<img src=x onerror=y>", r"\<img src=x onerror=y>"),
        ("&lt; @you me@x", r"\&lt; &#64;you me@x"),
        // A link takes a backslash in.
        ("http://a<b> www.a<b> c<d>", r"http://a&lt;b> www.a&lt;b> c\<d>"),
        ("a < b && c >&2; d", "a < b && c >&2; d"),
        ("snake_case _x_ HEAD~6 ~y~", r"snake_case \_x\_ HEAD\~6 \~y\~"),
        ("HEAD~6 for $5", "HEAD~6 for $5"),
        ("$x$ C:\\dir \\*", r"\$x\$ C:\dir \\\*"),
        ("[a](b) *c* `d` | ~e~", r"\[a](b) \*c\* \`d\` \| \~e\~"),
        ("- item", r"\- item"),
        ("+ item", r"\+ item"),
        ("12. item", r"12\. item"),
        ("---", r"\---"),
        ("1.5 of 2.5", "1.5 of 2.5"),
        ("x\u{202e}y\u{1b}[0m", r"x\u{202e}y\u{1b}\[0m"),
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
