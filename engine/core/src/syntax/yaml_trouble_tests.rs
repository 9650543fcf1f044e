use crate::diagnostic::SourceFile;
use crate::diagnostic::testing::short;
use crate::syntax::parse_yaml;

macro_rules! check {
    ($text:expr, @$expected:literal) => {{
        let file = std::sync::Arc::new(SourceFile::new("p.yaml", $text));
        insta::assert_snapshot!(short(&parse_yaml(&file).unwrap_err()), @$expected)
    }};
}

#[test]
fn holes_in_brackets_need_quotes() {
    check!("t:\n  env: {A: ${{ x }}}\n", @r#"2:12 [${{ x }}] F0104 a `${{ … }}` inside `[ ]` or `{ }` needs quotes; write `"${{ x }}"`"#);
    check!("t:\n  needs: [${{ x }}]\n", @r#"2:11 [${{ x }}] F0104 a `${{ … }}` inside `[ ]` or `{ }` needs quotes; write `"${{ x }}"`"#);
    check!("t:\n  needs: [a,\n    ${{ x[\"b\"] }}]\n", @r#"3:5 [${{ x[\"b\"] }}] F0104 a `${{ … }}` inside `[ ]` or `{ }` needs quotes; write `"${{ x['b'] }}"`"#);
}

#[test]
fn a_value_that_begins_with_a_sign_of_yaml_needs_quotes() {
    check!("run: [ -f x ] && make\n", @"1:6 [[ -f x ] && make] F0104 a value that begins with `[` is a YAML collection, and this isn't one; quote it: `run: '[ -f x ] && make'`, or write `run: |` and the text on the next line, indented");
    check!("run: [[ -f x ]] && make\n", @"1:6 [[[ -f x ]] && make] F0104 a value that begins with `[` is a YAML collection, and this isn't one; quote it: `run: '[[ -f x ]] && make'`, or write `run: |` and the text on the next line, indented");
    check!("run: [ \"$x\" = y ] && make\n", @r#"1:6 [[ \"$x\" = y ] && make] F0104 a value that begins with `[` is a YAML collection, and this isn't one; quote it: `run: '[ "$x" = y ] && make'`, or write `run: |` and the text on the next line, indented"#);
    check!("run: {a} b\n", @"1:6 [{a} b] F0104 a value that begins with `{` is a YAML collection, and this isn't one; quote it: `run: '{a} b'`, or write `run: |` and the text on the next line, indented");
    check!("run: { a; b; } > c\n", @"1:6 [{ a; b; } > c] F0104 a value that begins with `{` is a YAML collection, and this isn't one; quote it: `run: '{ a; b; } > c'`, or write `run: |` and the text on the next line, indented");
    check!("prompt: *bold* text\n", @"1:9 [*bold* text] F0104 a value can't begin with `*` without quotes; quote it: `prompt: '*bold* text'`, or write `prompt: |` and the text on the next line, indented");
    check!("prompt: & more\n", @"1:9 [& more] F0104 a value can't begin with `&` without quotes; quote it: `prompt: '& more'`, or write `prompt: |` and the text on the next line, indented");
    check!("if: !(a)b{\n", @"1:5 [!(a)b{] F0106 a value can't begin with `!` without quotes; write `not (a)b{`: `!` has another meaning in YAML");
    check!("run: | make\n", @"1:6 [| make] F0104 a value can't begin with `|` without quotes; quote it: `run: '| make'`, or write `run: |` and the text on the next line, indented");
    check!("run: > out\n", @"1:6 [> out] F0104 a value can't begin with `>` without quotes; quote it: `run: '> out'`, or write `run: |` and the text on the next line, indented");
    check!("prompt: @file it's\n", @r#"1:9 [@file it\'s] F0104 a value can't begin with `@` without quotes; quote it: `prompt: "@file it's"`, or write `prompt: |` and the text on the next line, indented"#);
    check!("run: %d\n", @"1:6 [%d] F0104 a value can't begin with `%` without quotes; quote it: `run: '%d'`, or write `run: |` and the text on the next line, indented");
    check!("prompt: `code` is here\n", @"1:9 [`code` is here] F0104 a value can't begin with a backtick without quotes; quote it: `prompt: '`code` is here'`, or write `prompt: |` and the text on the next line, indented");
    check!("prompt: \"Hello\", she said\n", @r#"1:9 [\"Hello\", she said] F0104 a value that begins with `"` ends at the next `"`, and more follows; quote it: `prompt: '"Hello", she said'`, or write `prompt: |` and the text on the next line, indented"#);
    check!("run: 'a' b\n", @r#"1:6 [\'a\' b] F0104 a value that begins with `'` ends at the next `'`, and more follows; quote it: `run: "'a' b"`, or write `run: |` and the text on the next line, indented"#);
    check!("run: - b\n", @"1:6 [- b] F0104 a value can't begin with `-` without quotes; quote it: `run: '- b'`, or write `run: |` and the text on the next line, indented");
    check!("run: ? b\n", @"1:6 [? b] F0104 a value can't begin with `?` without quotes; quote it: `run: '? b'`, or write `run: |` and the text on the next line, indented");
    check!("run: , b\n", @"1:6 [, b] F0104 a value can't begin with `,` without quotes; quote it: `run: ', b'`, or write `run: |` and the text on the next line, indented");
    check!("a:\n  - run: *x y\n", @"2:10 [*x y] F0104 a value can't begin with `*` without quotes; quote it: `run: '*x y'`, or write `run: |` and the text on the next line, indented");
}

#[test]
fn a_colon_and_blank_inside_a_value_needs_quotes() {
    check!("run: echo a: b\n", @"1:12 [:] F0104 `: ` inside a value without quotes; quote it: `run: 'echo a: b'`, or write `run: |` and the text on the next line, indented");
    check!("prompt: Fix this: now, don't \"wait\"\n", @"1:17 [:] F0104 `: ` inside a value without quotes; write `prompt: |` and put the text on the next line, indented");
    check!("prompt: one two three four five six seven eight nine ten eleven twelve: x\n", @"1:71 [:] F0104 `: ` inside a value without quotes; write `prompt: |` and put the text on the next line, indented");
    check!("prompt: a\n  b: c\n", @r"2:3 [b: c] F0104 this line is indented deeper than `prompt` above, so it continues its text (1:1 `prompt` is here); begin it where `prompt` begins");
    check!("a:\n  b\n c: d\n", @"3:3 [:] F0104 `: ` where no key can stand; indent this line like its neighbours, or quote the text above that it continues");
    check!("prompt: é: ü\n", @"1:10 [:] F0104 `: ` inside a value without quotes; quote it: `prompt: 'é: ü'`, or write `prompt: |` and the text on the next line, indented");
}

#[test]
fn tabs_are_shown_where_they_are() {
    check!("a:\n\tb: c\n", @r"2:1 [\t] F0104 a tab can't indent YAML; use spaces");
    check!("a:\n  b: 1\n\tc: 1\n", @r"3:1 [\t] F0104 a tab can't indent YAML; use spaces");
    check!("a:\n  - b\n \t- c\n", @r"3:2 [\t] F0104 a tab can't indent YAML; use spaces");
}

#[test]
fn what_is_open_is_named() {
    check!("a: \"b\nc: d\n", @r#"1:4 [\"] F0104 a quote that is never closed; close it, or use `|` and indented lines"#);
    check!("a: [b, c\nd: e\n", @"2:2 [:] F0104 `: ` where no key can stand; indent this line like its neighbours, or quote the text above that it continues");
    check!("a: {b: c\n", @"1:4 [{] F0104 a `{` that is never closed; close it before the next key");
    check!("a: [b}\n", @"1:4 [[] F0104 a `[` that is closed by `}`");
    check!("a: ]\n", @"1:4 []] F0104 a value can't begin with `]` without quotes; quote it: `a: ']'`, or write `a: |` and the text on the next line, indented");
    check!("a: \"\\d+\"\n", @r"1:5 [\\d] F0104 a `\` escape that YAML doesn't know; use single quotes, in which `\` is an ordinary character");
}

#[test]
fn wrong_indentation_is_said_in_plain_words() {
    check!("- a\nb: c\n", @"2:1 [b] F0104 a `- ` is expected here; a list goes on with `- `; a key must be indented otherwise");
    check!("a: b\n- c\n", @"2:3 [c] F0104 a key is expected here; write `key: value`, indented like the keys above");
    check!("a:\n  b: c\n d: e\n", @r"3:2 [d: e] F0104 this line is indented less than `b` above, and like no other key (2:3 `b` is here); indent it like `b` (2 blanks)");
    check!("a: |\n    x\n  y\n", @"3:3 [y] F0104 a key is expected here; write `key: value`, indented like the keys above");
    check!("a b\nc: d\n", @"2:2 [:] F0104 `: ` where no key can stand; indent this line like its neighbours, or quote the text above that it continues");
    check!("a: b\nc\n", @"2:1 [c] F0104 a line without a key; write `key: value`, or indent the line to go on with the text above");
    check!("%YAML\n", @"1:1 [%] F0104 a line can't begin with `%`");
}
