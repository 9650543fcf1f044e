use super::*;

/// Parts as text: words joined by ` `, `?` behind wildcards, `$` for what only the shell knows, then marks.
fn show(parts: &[Part]) -> String {
    let word = |word: &Word| match word.form {
        Form::Literal if word.text.is_empty() || word.text.contains([' ', '\n']) => {
            format!("[{}]", word.text)
        }
        Form::Literal => word.text.clone(),
        Form::Wildcard => format!("{}?", word.text),
        Form::Dynamic => "$".to_owned(),
    };
    let part = |part: &Part| {
        let mut text: Vec<String> = part.words.iter().map(word).collect();
        for (mark, on) in [
            ("=", part.assigns),
            (">", part.redirects),
            ("<<", part.fed),
            ("()", part.nested),
            ("&&", part.and_then),
        ] {
            text.extend(on.then(|| mark.to_owned()));
        }
        text.join(" ")
    };
    parts.iter().map(part).collect::<Vec<_>>().join(" | ")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(parse(text).map(|parts| show(&parts)).as_deref(), Ok(expected), "{text}");
}

#[track_caller]
fn unreadable(text: &str) {
    let parts = parse(text);
    assert_eq!(parts, Err(Unreadable), "{text}");
}

#[test]
fn commands_are_split_at_every_operator() {
    check("a b;c&d|e||f|&g", "a b | c | d | e | f | g");
    check("a && b\nc", "a && | b | c");
    check("(a; b) && c", "a () | b () | c");
    check("a;(b)", "a | b ()");
    check("  \n ; \n", "");
    check("a # b; c\nd#e", "a | d#e");
    check("a \\\n b\\\nc", "a bc");
    check("if a; then b; fi", "if a | then b | fi");
    check("{ a; }", "{ a | }");
}

#[test]
fn quotes_and_escapes_are_taken_off() {
    check("r''m \"-r\"f 'a b' \\$x", "rm -rf [a b] $x");
    check("a '' \"\"", "a [] []");
    check(r#"a "b\"c\\d\n" 'e\'"#, "a b\"c\\d\\n e\\");
    check("a 'x;y' \"p|q\"", "a x;y p|q");
    check("a 5$ '$x' \"$\"", "a 5$ $x $");
}

#[test]
fn what_a_substitution_runs_is_a_part_of_its_own() {
    check("a $(b c) d", "b c () | a $ d");
    check("a \"x$(b; c)\"", "b () | c () | a $");
    check("a `b \\`c\\`` d", "c () | b $ () | a $ d");
    check("a <(b) >(c)", "b () | c () | a $ $");
    check("a ${x:-$(b)}", "b () | a $");
    check("a $((1 + $(b)))", "b () | 1 + $ () | a $");
    check("a \"$(b \"$(c)\")\"", "c () | b $ () | a $");
    check("X=$(b) a", "b () | a =");
    check("a <<E\n$(b)\nE\n", "a << | b ()");
    check("a <<'E'\n$(b)\nE\nc", "a << | c");
    check("a <<-E\nx\n\tE\nc", "a << | c");
    check("a <<< $(b)", "b () | a <<");
    check("a > $(b)", "b () | a >");
}

#[test]
fn words_that_only_the_shell_knows_are_marked() {
    check("a $x ${y} \"$z\" $'q' $\"r\" $1 $@", "a $ $ $ $ $ $ $");
    check("a ~ ~/x x~ b=~ {p,q} x{1..3} {} {", "a $ $ x~ $ $ $ {} {");
    check("a *.rs s? [ab] '*' \\*", "a *.rs? s?? [ab]? * *");
    check("$x y", "$ y");
}

#[test]
fn assignments_in_front_are_no_words() {
    check("A=1 B+=2 c D=3", "c D=3 =");
    check("A=1", "=");
    check("A[1]=x c", "c =");
    check("'A'=1 c", "A=1 c");
    check("1A=1 c", "1A=1 c");
}

#[test]
fn redirections_count_when_they_touch_files() {
    check("a 2>&1 >/dev/null </dev/null &>/dev/null 2>&-", "a");
    for redirect in [
        "> f",
        ">f",
        ">> f",
        ">| f",
        "< f",
        "<> f",
        "&> f",
        "&>> f",
        ">& f",
        "2> f",
        "> '/dev/null x'",
        "> $x",
        "> /dev/null/..",
        "> /dev/*",
    ] {
        check(&format!("a {redirect}"), "a >");
        check(&format!("a {redirect} b"), "a b >");
    }
    check("> f", ">");
    check("a 12>&1b", "a >");
}

#[test]
fn what_cannot_be_taken_apart_is_refused() {
    for text in [
        "a 'b",
        "a \"b",
        "a `b",
        "a $(b",
        "a ${b",
        "a $'b",
        "(a",
        "a)",
        "a (b)",
        "f() { rm x; }",
        "a=(1 2)",
        "a \\",
        "case x in y) z;; esac",
        "a ;; b",
        "a >",
        "a > ",
        "a <<E\nb",
        "a <<E",
        "a <<\nx",
        "a <<$x\n",
        "a ${x:-'}'}",
        "a $[1]",
        "(a) b",
        "a\0b",
        "a <<E $(b\n)\nx\nE",
        "a @(x|y)",
        "a > ''",
        "a $(case x in y) rm z; esac)",
    ] {
        unreadable(text);
    }
    unreadable(&format!("a {}b{}", "$(".repeat(40), ")".repeat(40)));
    unreadable(&format!("a {}b{}", "${x".repeat(40), "}".repeat(40)));
    unreadable(&"(".repeat(100_000));
}

#[test]
fn any_text_is_read_or_refused_without_harm() {
    const PIECES: &[&str] = &[
        "a", " ", "'", "\"", "`", "$(", "${", ")", "}", "\\", "\n", "<<E", ">", "&", ";", "|", "(", "#", "$",
        "é",
    ];
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let texts = proptest::collection::vec(proptest::sample::select(PIECES), 0..30);
    runner
        .run(&texts, |pieces| {
            let _ = parse(&pieces.concat());
            Ok(())
        })
        .unwrap();
}
