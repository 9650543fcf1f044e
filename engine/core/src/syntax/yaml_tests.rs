use super::*;
use crate::diagnostic::testing::short;

fn source(text: &str) -> Arc<SourceFile> {
    Arc::new(SourceFile::new("p.yaml", text))
}

/// A tree on one line: texts in quotes, everything else as JSON would have it.
fn outline(node: &Node) -> String {
    match &node.kind {
        NodeKind::Null => "null".to_owned(),
        NodeKind::Bool(value) => value.to_string(),
        NodeKind::Int(value) => value.to_string(),
        NodeKind::Float(value) => format!("{value:?}"),
        NodeKind::Text { value, .. } => format!("{value:?}"),
        NodeKind::List(items) => {
            format!("[{}]", items.iter().map(outline).collect::<Vec<_>>().join(", "))
        }
        NodeKind::Map(entries) => {
            let pair = |entry: &Entry| format!("{}: {}", entry.key, outline(&entry.value));
            format!("{{{}}}", entries.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    match parse_yaml(&source(text)) {
        Ok(node) => assert_eq!(outline(&node), expected, "{text}"),
        Err(problems) => panic!("{text}\n{}", short(&problems)),
    }
}

macro_rules! refused {
    ($text:expr, @$expected:literal) => {
        insta::assert_snapshot!(short(&parse_yaml(&source($text)).unwrap_err()), @$expected)
    };
}

#[test]
fn collections_and_scalars_become_a_tree() {
    check("", "null");
    check(
        "a: 1\nb: [x, 'y', \"z\\n\"]\nc:\n  - {d: yes, e: }\n",
        r#"{a: 1, b: ["x", "y", "z\n"], c: [{d: "yes", e: null}]}"#,
    );
    check("a: |\n  x\n   y\n\nb: >-\n  f\n  g\n", r#"{a: "x\n y\n", b: "f g"}"#);
    check("1: a\ntrue: b\n1.10: c\n", r#"{1: "a", true: "b", 1.10: "c"}"#);
    check("{\"a\": [1, 2.5, null, \"\\u00e9\"]}", r#"{a: [1, 2.5, null, "é"]}"#);
}

#[test]
fn a_byte_order_mark_and_crlf_are_accepted() {
    check("\u{feff}a: 1\r\nb: |\r\n  x\r\n  y\r\n", r#"{a: 1, b: "x\ny\n"}"#);
}

#[test]
fn spans_are_bytes_of_the_file() {
    let file = source("\u{feff}é: [ü, 'ö']\nb: |\n  x\n  y\n\nc:\n  d: ñ  # z\n");
    let node = parse_yaml(&file).unwrap();
    let mut seen = Vec::new();
    let mut todo = vec![&node];
    while let Some(node) = todo.pop() {
        seen.push(file.slice(node.span));
        match &node.kind {
            NodeKind::List(items) => todo.extend(items),
            NodeKind::Map(entries) => {
                seen.extend(entries.iter().map(|entry| file.slice(entry.key_span)));
                todo.extend(entries.iter().map(|entry| &entry.value));
            }
            _ => {}
        }
    }
    let whole = "é: [ü, 'ö']\nb: |\n  x\n  y\n\nc:\n  d: ñ";
    assert_eq!(seen, [whole, "é", "b", "c", "d: ñ", "d", "ñ", "x\n  y", "[ü, 'ö']", "'ö'", "ü"]);
}

#[test]
fn merges_fold_in_and_own_keys_win() {
    check("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\n", "{a: {x: 1, y: 2}, b: {x: 1, y: 3}}");
    check(
        "a: &a {x: 1}\nb: &b {x: 2, z: 4}\nc:\n  <<: [*a, *b]\n  w: 0\n",
        "{a: {x: 1}, b: {x: 2, z: 4}, c: {x: 1, z: 4, w: 0}}",
    );
    check("a: {\"b<<\": 1}\n", "{a: {b<<: 1}}");
    refused!("a: {<<: 3}\n", @"1:5 [<<] F0202 `<<` takes a mapping or a list of mappings; name one with an alias: `<<: *name`");
}

#[test]
fn what_an_alias_copies_keeps_its_place() {
    let file = source("a: &n one\nb: *n\n");
    let NodeKind::Map(entries) = parse_yaml(&file).unwrap().kind else { panic!("no mapping") };
    assert_eq!(file.slice(entries[1].value.span), "one");
}

#[test]
fn second_keys_are_reported_with_the_first() {
    refused!("a: 1\nb: 2\na: 3\nb: 4\na: 5\n", @r"
    3:1 [a] F0107 `a` is written twice (1:1 first here); take one of them out
    4:1 [b] F0107 `b` is written twice (2:1 first here); take one of them out
    5:1 [a] F0107 `a` is written twice (1:1 first here); take one of them out
    ");
    let many: String = (0..50).map(|n| format!("k{n}: 1\n")).collect();
    refused!(&format!("{many}k7: 2\n"), @"51:1 [k7] F0107 `k7` is written twice (8:1 first here); take one of them out");
}

#[test]
fn tags_are_refused() {
    refused!("a: !!python/object/apply:os.system ['x']\n", @"1:4 [!!python/object/apply:os.system] F0106 `!!python/object/apply:os.system` is a YAML tag, and flow has no tags; take the tag out");
    refused!("if: !x\n", @"1:5 [!x] F0106 `!x` is a YAML tag, and flow has no tags; write `not x`: `!` has another meaning in YAML");
    refused!("if: ! x\n", @"1:5 [!] F0106 `!` is a YAML tag, and flow has no tags; write `not x`: `!` has another meaning in YAML");
    refused!("until: !(a or b)\n", @"1:8 [!(a] F0106 `!(a` is a YAML tag, and flow has no tags; write `not (a or b)`: `!` has another meaning in YAML");
    refused!("a: !!str 5\nb: !custom {x: 1}\n", @r"
    1:4 [!!str] F0106 `!!str` is a YAML tag, and flow has no tags; take the tag out; quote the value where it should be text
    2:4 [!custom] F0106 `!custom` is a YAML tag, and flow has no tags; take the tag out
    ");
}

#[test]
fn only_scalars_are_keys() {
    refused!("a: {{ x }}\n", @r#"1:5 [{ x }] F0104 a mapping can't be a key; text that begins with `{` or `[` needs quotes; a value is filled in with `"${{ … }}"`"#);
    refused!("[a]: b\n", @r#"1:1 [[a]] F0104 a list can't be a key; text that begins with `{` or `[` needs quotes; a value is filled in with `"${{ … }}"`"#);
    refused!(": b\n", @"1:1 [] F0104 a value without a key");
    refused!("~: b\n", @"1:1 [~] F0104 null can't be a key; quote it");
}

#[test]
fn one_file_is_one_document() {
    refused!("a: b\n---\nc: d\n", @"2:1 [---] F0104 a second document begins here; one file is one document: take out the `---`");
    check("---\na: b\n...\n", r#"{a: "b"}"#);
}

#[test]
fn depth_is_limited() {
    refused!(&"[".repeat(100_000), @"1:65 [] F0105 values nested more than 64 deep; a plan never needs that depth; check the brackets");
    refused!(&(0..80).map(|n| format!("{}k:\n", " ".repeat(n))).collect::<String>(), @"65:65 [] F0105 values nested more than 64 deep; a plan never needs that depth; check the brackets");
    let blocks: String = (0..40).map(|n| format!("{}k:\n", " ".repeat(n))).collect();
    let mixed = format!("{blocks}{}{}{}", " ".repeat(40), "[".repeat(40), "]".repeat(40));
    refused!(&mixed, @"41:65 [[] F0105 values nested more than 64 deep; a plan never needs that depth; check the brackets");
}

#[test]
fn aliases_cannot_blow_a_file_up() {
    let laughs = |levels: usize, each: usize| {
        let mut text = "a0: &a0 ha\n".to_owned();
        for level in 1..=levels {
            let refs = vec![format!("*a{}", level - 1); each].join(", ");
            text += &format!("a{level}: &a{level} [{refs}]\n");
        }
        text
    };
    refused!(&laughs(9, 9), @"6:30 [*a4] F0105 aliases that copy more than 50000 values; write the repeated part out, or use `defaults:`");
    refused!(&laughs(3, 40), @"4:110 [*a2] F0105 more than 100 aliases in one file; write the repeated part out, or use `defaults:`");
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 90].join(", "));
    refused!(&long, @"2:13 [*a] F0105 aliases that copy more than 50000 values; write the repeated part out, or use `defaults:`");
    refused!("a: &a [*a]\n", @"1:8 [*a] F0104 an alias inside the very thing that it stands for; write the part out");
    refused!("a: &a {b: {c: *a}}\n", @"1:15 [*a] F0104 an alias inside the very thing that it stands for; write the part out");
    refused!(&format!("a: &a {}1{}\nb: {}*a{}\n", "[".repeat(40), "]".repeat(40), "[".repeat(40), "]".repeat(40)), @"2:44 [*a] F0105 values nested more than 64 deep; a plan never needs that depth; check the brackets");
    refused!("a: *b\n", @"1:4 [*b] F0104 a value can't begin with `*` without quotes; quote it: `a: '*b'`, or write `a: |` and the text on the next line, indented");
}

#[test]
fn a_hundred_aliases_of_a_small_thing_are_fine() {
    let text = format!("a: &a {{x: 1}}\nb: [{}]\n", vec!["*a"; 100].join(", "));
    assert!(parse_yaml(&source(&text)).is_ok());
    let text = text.replace("[*a", "[*a, *a");
    refused!(&text, @"2:405 [*a] F0105 more than 100 aliases in one file; write the repeated part out, or use `defaults:`");
}
