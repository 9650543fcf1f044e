use super::*;
use crate::diagnostic::testing::short;

/// The block, the body and the warnings of a file, or why it has none.
fn split(text: &str) -> String {
    match split_front_matter(&Arc::new(SourceFile::new("a.md", text))) {
        Ok(None) => "none".to_owned(),
        Ok(Some(found)) => {
            let (block, body) = (&found.file.text[found.block], &found.file.text[found.body]);
            format!("{:?} {block:?} {body:?} {}", found.kind, short(&found.warnings))
        }
        Err(problem) => short(&[problem]),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(split(text).trim_end(), expected, "{text:?}");
}

#[test]
fn the_body_is_kept_byte_for_byte() {
    check("---\na: 1\n---\nB\n\n---\n\nmore  \n\n", r#"Yaml "a: 1\n" "B\n\n---\n\nmore  \n\n""#);
    check("---\na: 1\n---\n\n\n B", r#"Yaml "a: 1\n" "\n\n B""#);
    check("---\na: 1\n---", r#"Yaml "a: 1\n" """#);
    check("+++\na = 1\n+++\nB", r#"Toml "a = 1\n" "B""#);
}

#[test]
fn blanks_after_the_marks_and_line_ends_do_not_matter() {
    check("--- \t\r\na: 1\r\n---  \r\nB\r\n", r#"Yaml "a: 1\n" "B\n""#);
    check("\u{feff}---\na: 1\n---\nB\n", r#"Yaml "a: 1\n" "B\n""#);
}

#[test]
fn what_stands_in_front_is_warned_of() {
    let warned = "3:1 [---] W0501 the front matter doesn't begin on the first line; \
        take out what stands above it: other programs don't look further";
    check("\n  \n---\na: 1\n---\nB\n", &format!(r#"Yaml "a: 1\n" "B\n" {warned}"#));
    check("<!-- x\n-->\n---\na: 1\n---\n", &format!(r#"Yaml "a: 1\n" "" {warned}"#));
}

#[test]
fn files_without_front_matter_have_none() {
    for text in [
        "",
        "# Title\nB\n",
        "\n\n",
        "---a\nb\n---\n",
        "text\n---\na: 1\n---\n",
        "<!-- open\n---\na: 1\n---\n",
        " ---\na: 1\n---\n",
    ] {
        check(text, "none");
    }
}

#[test]
fn a_block_that_is_never_closed_is_an_error() {
    check(
        "---\na: 1\nB\n",
        "1:1 [---] F0109 front matter that begins with `---` is never closed; put a line with `---` between the keys and the prompt",
    );
    check(
        "---",
        "1:1 [---] F0109 front matter that begins with `---` is never closed; put a line with `---` between the keys and the prompt",
    );
    check(
        "+++\na = 1\n---\n",
        "1:1 [+++] F0109 front matter that begins with `+++` is never closed; put a line with `+++` between the keys and the prompt",
    );
}

#[test]
fn the_block_begins_with_a_whole_line() {
    check("---\n\n  a: 1\n  b: 2\n\n---\nB", r#"Yaml "  a: 1\n  b: 2\n\n" "B""#);
    check("---\n---\nB", r#"Yaml "" "B""#);
    check("---\n \n---\nB", r#"Yaml " \n" "B""#);
}
