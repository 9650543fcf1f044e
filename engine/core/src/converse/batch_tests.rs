use serde_json::json;

use super::*;

fn batch(tools: &[&str], readers: u32) -> Batch {
    let mut batch = Batch::new(readers);
    for (at, tool) in tools.iter().enumerate() {
        batch.add(Call { id: at.to_string(), tool: (*tool).to_owned(), input: json!({}) });
    }
    batch
}

fn ok(text: &str) -> CallResult {
    CallResult { content: text.to_owned(), is_error: false }
}

/// Plays `start`, then a result for each id of `returns` and `start` again; gives what started each time.
#[track_caller]
fn check(tools: &[&str], readers: u32, returns: &[&str], expected: &[&str]) {
    let mut batch = batch(tools, readers);
    let started =
        |batch: &mut Batch| batch.start().into_iter().map(|call| call.id).collect::<Vec<_>>().join(" ");
    let mut seen = vec![started(&mut batch)];
    for id in returns {
        batch.returned(id, ok(id));
        seen.push(started(&mut batch));
    }
    assert_eq!(seen, expected);
}

#[test]
fn readers_run_at_once_up_to_the_limit() {
    check(&["Read", "Grep", "Read", "Glob", "Read"], 3, &["1", "0", "3"], &["0 1 2", "3", "4", ""]);
    check(&["Read", "Read"], 0, &["0"], &["0", "1"]);
}

#[test]
fn a_writer_waits_for_all_before_it_and_holds_up_all_behind_it() {
    check(
        &["Read", "Read", "Edit", "Read", "Bash", "Write"],
        3,
        &["1", "0", "2", "3", "4"],
        &["0 1", "", "2", "3", "4", "5"],
    );
}

#[test]
fn a_tool_that_nobody_knows_counts_as_a_writer() {
    check(&["Read", "mcp__x__y", "Read"], 3, &["0", "1"], &["0", "1", "2"]);
}

#[test]
fn results_keep_the_order_of_the_calls() {
    let mut batch = batch(&["Read", "Read"], 3);
    batch.add_done("known", CallResult { content: "no".to_owned(), is_error: true });
    batch.start();
    batch.returned("1", ok("b"));
    batch.returned("elsewhere", ok("x"));
    assert_eq!(batch.results(), None);
    batch.returned("0", ok("a"));
    batch.returned("0", ok("again"));
    let result = |id: &str, content: &str, is_error| Block::ToolResult {
        tool_use_id: id.to_owned(),
        content: content.to_owned(),
        is_error,
    };
    assert_eq!(
        batch.results(),
        Some(vec![result("0", "a", false), result("1", "b", false), result("known", "no", true)])
    );
}

#[test]
fn a_result_is_cut_at_its_limit() {
    let long = bounded(ok(&"é".repeat(MOST)));
    assert!(long.content.len() <= MOST);
    assert!(long.content.ends_with(&format!("é\n[cut: the first {} of {} bytes]", MOST - 80, 2 * MOST)));
    let fits = "x".repeat(MOST);
    assert_eq!(bounded(ok(&fits)).content, fits);
}
