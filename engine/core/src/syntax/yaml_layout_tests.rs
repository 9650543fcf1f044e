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
fn a_line_that_is_indented_deeper_is_said_to_continue_the_text_above() {
    check!("a:\n    run: echo\n      needs: [b]\n", @r"3:7 [needs: [b]] F0104 this line is indented deeper than `run` above, so it continues its text (2:5 `run` is here); indent it like `run` (4 blanks)");
    check!("a:\n    run: echo\n      env: {X: y}\n", @r"3:7 [env: {X: y}] F0104 this line is indented deeper than `run` above, so it continues its text (2:5 `run` is here); indent it like `run` (4 blanks)");
    check!("a:\n  run: echo\n\n   # why\n   timeout: 5m\n", @r"5:4 [timeout: 5m] F0104 this line is indented deeper than `run` above, so it continues its text (2:3 `run` is here); indent it like `run` (2 blanks)");
    check!("a:\n  needs: [b]\n    run: echo\n", @r"3:5 [run: echo] F0104 this line is indented deeper than `needs` above, which has its value already (2:3 `needs` is here); indent it like `needs` (2 blanks)");
    check!("a:\n  - run: echo\n     needs: [b]\n", @r"3:6 [needs: [b]] F0104 this line is indented deeper than `run` above, so it continues its text (2:5 `run` is here); indent it like `run` (4 blanks)");
}

#[test]
fn a_line_between_two_levels_is_said_to_fit_none() {
    check!("t:\n  a:\n    run: echo\n   needs: [b]\n", @r"4:4 [needs: [b]] F0104 this line is indented less than `run` above, and like no other key (3:5 `run` is here); indent it like `run` (4 blanks)");
    check!("a:\n  b: c\n d: e\n", @r"3:2 [d: e] F0104 this line is indented less than `b` above, and like no other key (2:3 `b` is here); indent it like `b` (2 blanks)");
}

#[test]
fn quotes_in_quotes_are_shown_with_the_other_kind() {
    check!("a: { run: \"echo \"hi\"\" }\n", @r#"1:11 [\"echo \"] F0104 the quote that opens at 11 ends at 17; `hi` follows; write `run: 'echo "hi"'`"#);
    check!("run: 'don't do it'\n", @r#"1:6 [\'don\'] F0104 the quote that opens at 6 ends at 10; `t` follows; write `run: "don't do it"`"#);
    check!("run: 'echo ${{ inputs['x'] }}'\n", @r#"1:6 [\'echo ${{ inputs[\'] F0104 the quote that opens at 6 ends at 23; `x` follows; write `run: "echo ${{ inputs['x'] }}"`"#);
    check!("run: \"say \"it's\" now\"\n", @r#"1:6 [\"say \"] F0104 the quote that opens at 6 ends at 11; `it's` follows; write `run: |` and put the text on the next line, indented"#);
}

#[test]
fn what_is_missing_between_entries_is_named() {
    check!("a: { run: x, needs: [b] env: {c: d} }\n", @r"1:25 [env:] F0104 a `,` is missing between `[b]` and `env:`; write `[b], env: …`");
    check!("a: {run:x, needs:[b]}\n", @r"1:5 [run:] F0104 a blank is missing after `run:`; write `run: …`");
    check!("a: [{b: c} {d: e}]\n", @r"1:12 [{] F0104 a `,` or `]` is missing here (1:4 opened here); put a comma between the elements, or quote the text");
}

#[test]
fn a_pattern_that_begins_with_a_star_needs_quotes() {
    check!("a:\n  - *.xml\n", @r"2:5 [*.xml] F0104 `*.xml` is an alias to YAML, and nothing above is called `&.xml`; quote a pattern: `'*.xml'`");
    check!("a: [*.xml, b]\n", @r"1:5 [*.xml] F0104 `*.xml` is an alias to YAML, and nothing above is called `&.xml`; quote a pattern: `'*.xml'`");
}

#[test]
fn letters_of_several_bytes_are_no_trouble() {
    for text in [
        "a: { max: 2, o🔍n: [x] y }\n",
        "a: {é:x, ü:[b]}\n",
        "é: 'don't'\n",
        "🔍k: \"a \"b\" c\"\n",
        "é:\n  ü: x\n   ö: [y]\n",
    ] {
        let file = std::sync::Arc::new(SourceFile::new("p.yaml", text));
        let found = parse_yaml(&file).expect_err(text);
        assert!(!short(&found).is_empty());
    }
}
