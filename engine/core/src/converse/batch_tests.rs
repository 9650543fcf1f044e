use serde_json::json;

use super::*;
use crate::model::known_tool;

fn batch(tools: &[&str], readers: u32) -> Batch {
    let mut batch = Batch::new(readers);
    for (at, tool) in tools.iter().enumerate() {
        let call = Call { id: at.to_string(), tool: (*tool).to_owned(), input: json!({}) };
        batch.add(call, known_tool(tool).unwrap().class());
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
        assert!(batch.returned(id));
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
fn only_what_runs_comes_back_and_once() {
    let mut batch = batch(&["Read", "Edit"], 3);
    assert!(!batch.returned("0"));
    batch.start();
    assert!(
        batch.returned("0") && !batch.returned("0") && !batch.returned("1") && !batch.returned("elsewhere")
    );
    assert!(!batch.is_done());
    batch.start();
    assert!(batch.returned("1") && batch.is_done());
}

#[test]
fn a_result_is_cut_at_its_limit() {
    let long = bounded(ok(&"é".repeat(MOST)));
    assert!(long.content.len() <= MOST);
    assert!(long.content.ends_with(&format!("é\n[cut: the first {} of {} bytes]", MOST - 80, 2 * MOST)));
    let fits = "x".repeat(MOST);
    assert_eq!(bounded(ok(&fits)).content, fits);
}
