use super::super::testing::Bench;
use super::*;
use serde_json::json;

#[test]
fn every_tool_that_a_definition_may_name_is_here_and_no_other() {
    let ours: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    let named: Vec<&str> = flow_core::model::offered_tools().map(|tool| tool.name).collect();
    assert_eq!(ours, named);
}

#[test]
fn every_file_of_a_tool_is_in_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tool");
    let tools = std::fs::read_dir(folder).unwrap().filter(|entry| {
        let text = std::fs::read_to_string(entry.as_ref().unwrap().path()).unwrap();
        text.contains("pub(super) const TOOL: Tool")
    });
    // This file holds the words as well.
    assert_eq!(tools.count() - 1, TOOLS.len());
}

#[test]
fn specs_keep_the_order_of_the_table_whatever_order_is_asked() {
    let names: Vec<String> = specs(&["Bash", "Read", "Nothing"]).into_iter().map(|spec| spec.name).collect();
    assert_eq!(names, ["Read", "Bash"]);
}

#[test]
fn every_schema_takes_its_required_arguments_and_refuses_others() {
    for spec in specs(&flow_core::model::offered_tools().map(|tool| tool.name).collect::<Vec<_>>()) {
        assert_eq!(spec.input_schema["additionalProperties"], json!(false), "{}", spec.name);
        for name in spec.input_schema["required"].as_array().unwrap() {
            assert!(spec.input_schema["properties"].get(name.as_str().unwrap()).is_some(), "{}", spec.name);
        }
    }
}

#[test]
fn an_unknown_tool_is_an_answer_that_names_the_nearest() {
    let answer = Bench::new(&[]).err("Raed", json!({}));
    assert_eq!(answer, "there is no tool `Raed`; did you mean `Read`?");
}

#[test]
fn arguments_that_do_not_fit_are_an_answer() {
    let answer = Bench::new(&[]).err("Read", json!({ "path": "a" }));
    assert!(answer.contains("unknown field `path`"), "{answer}");
}

#[test]
fn nothing_begins_after_a_stop() {
    let bench = Bench::new(&[]);
    bench.stop(false);
    bench.err("Write", json!({ "file_path": "a", "content": "" }));
    assert!(!bench.path("a").exists());
}

#[tokio::test]
async fn a_tool_that_panics_is_an_answer() {
    let bench = Bench::new(&[]);
    let kinds = [
        Run::Blocking(|_, _| panic!("in a thread")),
        Run::Waiting(|_, _| Box::pin(async { panic!("waiting") })),
    ];
    for run in kinds {
        let tool = Tool { name: "Broken", description: "", schema: || json!({}), run };
        let result = made(&tool, json!({}), &bench.context).await.result;
        assert_eq!(
            (result.is_error, result.content.starts_with("bug: the tool `Broken` panicked")),
            (true, true)
        );
    }
}
