use super::super::testing::Bench;
use super::*;

fn check(content: &str, arguments: Value, answer: &str) {
    let bench = Bench::new(&[("f", content)]);
    let mut input = json!({ "file_path": "f" });
    input.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
    assert_eq!(bench.ok("Read", input), answer);
}

#[test]
fn lines_are_numbered() {
    check("a\n\tb\r\nc", json!({}), "     1\ta\n     2\t\tb\n     3\tc\n");
}

#[test]
fn a_part_is_read_and_the_answer_says_how_to_go_on() {
    let go_on = "     2\tb\n     3\tc\n(the file goes on; for more, set `offset` to 4)\n";
    check("a\nb\nc\nd\n", json!({ "offset": 2, "limit": 2 }), go_on);
}

#[test]
fn an_empty_file_and_an_offset_past_the_end_are_said() {
    check("", json!({}), "(the file is empty)");
    check("a\nb\n", json!({ "offset": 5 }), "(the file has only 2 lines)");
}

#[test]
fn two_thousand_lines_are_the_most() {
    let bench = Bench::new(&[("f", &"x\n".repeat(3_000))]);
    let answer = bench.ok("Read", json!({ "file_path": "f", "limit": 2_500 }));
    assert!(answer.ends_with("  2000\tx\n(the file goes on; for more, set `offset` to 2001)\n"));
}

#[test]
fn a_wide_file_stops_before_the_answer_is_too_long() {
    let bench = Bench::new(&[("f", &("x".repeat(1_900) + "\n").repeat(500))]);
    let answer = bench.ok("Read", json!({ "file_path": "f" }));
    assert!(answer.len() <= MAX_ANSWER, "{}", answer.len());
    assert!(answer.contains("the file goes on"));
}

#[test]
fn a_long_line_is_cut() {
    let bench = Bench::new(&[("f", &"x".repeat(100_000))]);
    let answer = bench.ok("Read", json!({ "file_path": "f" }));
    assert_eq!(answer, format!("     1\t{}… (98000 more bytes)\n", "x".repeat(2_000)));
}

#[test]
fn a_binary_file_is_refused() {
    let answer = Bench::new(&[("f", "a\0b")]).err("Read", json!({ "file_path": "f" }));
    assert_eq!(answer, "`f` is binary (3 bytes)");
}
