use serde_json::json;

use super::super::testing::Middle;
use crate::model::{Outcome, TaskState};
use crate::report::testing::{What, exit};

fn check(task: &str, instances: Result<&[&str], &str>) {
    let run = Middle::of(&format!("tasks:\n  t: {{ run: 'true', {task} }}\n"));
    match (run.expand("t"), instances) {
        (Ok(found), Ok(wanted)) => assert_eq!(found, wanted, "{task}"),
        (Err(error), Err(wanted)) => assert!(error.contains(wanted), "{task}: {error}"),
        (found, wanted) => panic!("{task}: {found:?}, not {wanted:?}"),
    }
}

#[test]
fn items_keep_their_type_and_scalars_are_their_own_keys() {
    check("for_each: [a, 2, true]", Ok(&["a=\"a\"", "2=2", "true=true"]));
    check("for_each: [{ id: x }, [1]]", Ok(&["0={\"id\":\"x\"}", "1=[1]"]));
    check("for_each: []", Ok(&[]));
    check("for_each: [\"${{ run.ci }}\", \"v${{ 1 + 1 }}\"]", Ok(&["false=false", "v2=\"v2\""]));
}

#[test]
fn keys_are_rendered_for_each_item_and_must_differ() {
    check(
        "for_each: [{ id: x }, { id: y }], key: \"${{ item.id }}!\"",
        Ok(&["x!={\"id\":\"x\"}", "y!={\"id\":\"y\"}"]),
    );
    // Of a list that is written out the compiler says so.
    let computed =
        |list: &str, key: &str| format!("for_each: \"${{{{ {list} }}}}\", key: \"${{{{ {key} }}}}\"");
    check(&computed("[{ 'id': 'x' }, { 'id': 'x' }]", "item.id"), Err("same key `x`"));
    check(&computed("[{ 'id': '' }]", "item.id"), Err("`key` is empty for item 0"));
    check(&computed("[{ 'id': 1 }]", "item.nope"), Err("nope"));
}

#[test]
fn a_key_that_nobody_could_read_is_the_index() {
    let long = "x".repeat(300);
    check(&format!("for_each: [{long}]"), Ok(&[&format!("0=\"{long}\"")]));
    check("for_each: [\"a\\nb\", '']", Ok(&["0=\"a\\nb\"", "1=\"\""]));
}

#[test]
fn a_matrix_is_every_combination_less_excluded_plus_included() {
    check(
        "matrix: { a: [1, 2], b: [x, y], exclude: [{ a: 2, b: y }], include: [{ a: 3, b: z }] }",
        Ok(&[
            "1,x={\"a\":1,\"b\":\"x\"}",
            "1,y={\"a\":1,\"b\":\"y\"}",
            "2,x={\"a\":2,\"b\":\"x\"}",
            "3,z={\"a\":3,\"b\":\"z\"}",
        ]),
    );
}

#[test]
fn a_list_known_at_run_time_must_be_one() {
    let expand = |output| {
        let mut run = Middle::of(
            "tasks:\n  a: { run: x, output: json }\n  t: { run: 'true', for_each: \"${{ tasks.a.output }}\" }\n",
        );
        run.journal.run("a", 1, What::Shell, Outcome { output: Some(output), ..exit(0) });
        run.expand("t")
    };
    assert_eq!(expand(json!(["p", "q"])).unwrap(), ["p=\"p\"", "q=\"q\""]);
    assert_eq!(expand(json!([])).unwrap(), Vec::<String>::new());
    assert_eq!(expand(json!({})).unwrap_err(), "`for_each` must be a list, and is an object");
    let many: Vec<u32> = (0..100_001).collect();
    assert!(expand(json!(many)).unwrap_err().contains("100001"));
    assert!(expand(json!(["same", "same"])).unwrap_err().contains("same"));
}

#[test]
fn what_a_skipped_task_did_not_say_is_an_empty_list_and_what_another_did_not_say_is_an_error() {
    let expand = |state: TaskState, over: &str| {
        let mut run = Middle::of(&format!(
            "tasks:\n  g: {{ if: run.ci, output: json, run: x }}\n  m: {{ needs: {{ g: done }}, {over}, run: x }}\n"
        ));
        run.journal.ended("g", state, None);
        run.expand("m")
    };
    let list = "for_each: \"${{ tasks.g.output }}\"";
    for over in [
        list,
        "for_each: \"${{ tasks.g.output.items }}\"",
        "matrix: { a: \"${{ tasks.g.output }}\", b: [1] }",
    ] {
        assert_eq!(expand(TaskState::Skipped, over), Ok(Vec::new()), "{over}");
    }
    assert_eq!(
        expand(TaskState::Blocked, list).unwrap_err(),
        "`for_each` must be a list, and is null: `g` was blocked"
    );
    assert_eq!(
        expand(TaskState::Failed, list).unwrap_err(),
        "`for_each` must be a list, and is null: `g` failed"
    );
}

#[test]
fn a_text_is_no_list_of_letters() {
    let mut run =
        Middle::of("tasks:\n  t: { run: x }\n  m: { for_each: \"${{ tasks.t.output }}\", run: x }\n");
    let stdout = Some(run.journal.text("out", "hello\n"));
    run.journal.run("t", 1, What::Shell, Outcome { stdout, ..exit(0) });
    let said = run.expand("m").unwrap_err();
    assert_eq!(
        said,
        "`for_each` must be a list, and is text; `output: lines` or `output: json` makes one of what a task prints"
    );
}
