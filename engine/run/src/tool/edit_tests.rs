use super::super::testing::Bench;
use super::*;

/// Reads the file, edits it, and gives what it holds then, or what the tool said.
fn check(content: &str, old: &str, new: &str) -> Result<String, String> {
    let bench = Bench::new(&[("f", content)]);
    bench.ok("Read", json!({ "file_path": "f" }));
    let result = bench.call("Edit", json!({ "file_path": "f", "old_string": old, "new_string": new }));
    if result.is_error {
        assert_eq!(bench.text("f"), content);
        return Err(result.content);
    }
    Ok(bench.text("f"))
}

fn said(content: &str, old: &str) -> String {
    check(content, old, "something else").unwrap_err()
}

#[test]
fn a_text_that_stands_once_is_replaced() {
    assert_eq!(check("a\nb\nc\n", "b\n", "x\ny\n").unwrap(), "a\nx\ny\nc\n");
    assert_eq!(check("a b", " b", "").unwrap(), "a");
}

#[test]
fn the_answer_shows_the_changed_lines_and_those_around() {
    let bench = Bench::new(&[("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")]);
    bench.ok("Read", json!({ "file_path": "f" }));
    let answer = bench.ok("Edit", json!({ "file_path": "f", "old_string": "5", "new_string": "five\nV" }));
    let shown = "     2\t2\n     3\t3\n     4\t4\n     5\tfive\n     6\tV\n     7\t6\n     8\t7\n     9\t8\n";
    assert_eq!(answer, format!("changed `f`; it now reads:\n{shown}"));
}

#[test]
fn a_text_that_stands_twice_needs_replace_all() {
    assert!(said("a a a", "a").contains("stands 3 times"));
    let bench = Bench::new(&[("f", "a a a")]);
    bench.ok("Read", json!({ "file_path": "f" }));
    let all = json!({ "file_path": "f", "old_string": "a", "new_string": "b", "replace_all": true });
    assert_eq!(bench.ok("Edit", all), "changed `f` in 3 places");
    assert_eq!(bench.text("f"), "b b b");
}

#[test]
fn a_text_that_is_not_there_gets_a_hint() {
    assert!(
        said("if x {\n    y();\n}\n", "if x {\n\ty();\n}")
            .contains("from 1 on differ from it in white space")
    );
    assert!(said("a\nlet total = 1;\n", "z\nlet total = 1;").contains("is line 2"));
    assert!(said("a\n", "     1\ta").contains("line numbers"));
    assert!(said("a\n", "zzz").contains("Read the file again"));
}

#[test]
fn an_unread_file_is_not_edited() {
    let bench = Bench::new(&[("f", "a")]);
    let answer = bench.err("Edit", json!({ "file_path": "f", "old_string": "a", "new_string": "b" }));
    assert!(answer.contains("was not read yet"), "{answer}");
}

#[test]
fn line_ends_of_the_file_stay() {
    assert_eq!(check("a\r\nb\r\n", "a\nb", "x\ny").unwrap(), "x\r\ny\r\n");
    assert_eq!(check("a\r\nb\r\n", "b", "x\ny").unwrap(), "a\r\nx\r\ny\r\n");
    assert_eq!(check("a\r\nb\nc\n", "b\nc", "x\ny").unwrap(), "a\r\nx\ny\n");
}

#[test]
fn nothing_is_done_for_nothing() {
    assert!(check("a", "a", "a").unwrap_err().contains("the same"));
    assert!(check("a", "", "b").unwrap_err().contains("empty"));
}

#[test]
fn bytes_that_are_no_text_are_not_damaged() {
    let bench = Bench::new(&[]);
    std::fs::write(bench.path("f"), b"a\xffb").unwrap();
    bench.ok("Read", json!({ "file_path": "f" }));
    let answer = bench.err("Edit", json!({ "file_path": "f", "old_string": "a", "new_string": "b" }));
    assert!(answer.contains("not UTF-8"), "{answer}");
    assert_eq!(std::fs::read(bench.path("f")).unwrap(), b"a\xffb");
}
