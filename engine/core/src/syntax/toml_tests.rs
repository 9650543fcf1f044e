use super::*;
use crate::diagnostic::testing::short;

fn source(text: &str) -> Arc<SourceFile> {
    Arc::new(SourceFile::new("flow.toml", text))
}

/// Every key with the text that its value was written as, in order.
fn outline(file: &SourceFile, node: &Node) -> String {
    match &node.kind {
        NodeKind::Map(entries) => {
            let entry = |entry: &Entry| {
                assert_eq!(file.slice(entry.key_span).trim_matches('"'), &*entry.key);
                format!("{}: {}", entry.key, outline(file, &entry.value))
            };
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        NodeKind::List(items) => {
            format!("[{}]", items.iter().map(|item| outline(file, item)).collect::<Vec<_>>().join(", "))
        }
        _ => file.slice(node.span).to_owned(),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let file = source(text);
    match parse_toml(&file) {
        Ok(node) => assert_eq!(outline(&file, &node), expected, "{text}"),
        Err(problems) => panic!("{}", short(&problems)),
    }
}

macro_rules! refused {
    ($text:expr, @$expected:literal) => {
        insta::assert_snapshot!(short(&parse_toml(&source($text)).unwrap_err()), @$expected)
    };
}

#[test]
fn a_document_becomes_a_tree_in_its_own_order_with_places() {
    check(
        "b = 1\na = 'é'\n[c]\nz = [1.5, true]\ny = { x = \"q\" }\n",
        "{b: 1, a: 'é', c: {z: [1.5, true], y: {x: \"q\"}}}",
    );
    check("\u{feff}a = 1\r\n", "{a: 1}");
    check("", "{}");
}

#[test]
fn values_have_their_types() {
    let kind = |text: &str| match parse_toml(&source(text)).unwrap().kind {
        NodeKind::Map(entries) => entries[0].value.kind.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind("a = 0x1_0"), NodeKind::Int(16));
    assert_eq!(kind("a = 1_000"), NodeKind::Int(1000));
    assert_eq!(kind("a = -1e3"), NodeKind::Float(-1000.0));
    assert_eq!(kind("a = 2026-11-30"), NodeKind::Text { value: "2026-11-30".into(), plain: true });
    assert_eq!(kind("a = \"x\\ty\""), NodeKind::Text { value: "x\ty".into(), plain: false });
}

#[test]
fn errors_have_their_place_and_all_are_told() {
    refused!("a = \nb = 1\nb = 2\n", @r"
    1:5 [] F0104 this isn't TOML: string values must be quoted, expected literal string
    3:1 [b] F0107 `b` is written twice
    ");
    refused!("[a\n", @"1:3 [] F0104 this isn't TOML: unclosed table, expected `]`");
    refused!("a = yes\n", @"1:5 [yes] F0104 this isn't TOML: string values must be quoted, expected literal string");
    refused!(&format!("a = {}", "[".repeat(1000)), @"1:85 [[] F0104 this isn't TOML: cannot recurse further; max recursion depth met");
}
