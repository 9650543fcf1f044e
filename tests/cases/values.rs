//! Values on their way from one task to the next: numbers, texts, lists, big ones.

use serde_json::json;

use super::{codes, play, set_up};

#[test]
fn n01_a_fan_in_gets_every_item_byte_for_byte_in_item_order() {
    let (flow, ran) = play("N01");
    let items = json!(["a: b", "say \"hi\"", "two\nlines", "", "it's", "{}", "C:\\dir\\x"]);
    assert_eq!(codes(&ran), [0], "{ran:#?}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&flow.read("all.json")).unwrap(), items);
    assert_eq!(flow.report()["outputs"]["all"], items);
    let tasks = flow.report()["tasks"].as_array().unwrap().clone();
    let instances = tasks.iter().filter(|task| task["address"].as_str().unwrap().starts_with("m["));
    assert_eq!(instances.count(), 7);
}

#[test]
fn n06_a_number_that_loses_its_last_digit_is_warned_of_and_env_keeps_its_letters() {
    let (flow, ran) = play("N06");
    assert_eq!(codes(&ran), [0, 0], "{ran:#?}");
    let got = &flow.report()["outputs"]["got"];
    if *got != json!(["3.9", "3.10", "3.11"]) {
        ran.says(&["plan.yaml:4:29", "`\"3.10\"`"]);
    }
    assert_eq!(flow.report()["outputs"]["v"], "3.10 010 yes 12345678901234567890 12:30");
}

#[test]
fn n16_colours_around_json_fail_readably_and_byte_order_marks_and_carriage_returns_are_no_fault() {
    let (flow, ran) = play("N16");
    assert_eq!(codes(&ran), [1], "{ran:#?}");
    assert_eq!(flow.task("t")["reason"], "invalid_output");
    let message = flow.task("t")["message"].as_str().unwrap().to_owned();
    assert!(message.contains(r#"\u{1b}[1m{"#) && !message.contains('\u{1b}'), "{message}");
    assert!(!ran.stdout.contains("^[["), "{}", ran.stdout);
    let outputs = &flow.report()["outputs"];
    assert_eq!((&outputs["crlf"], &outputs["lines"]), (&json!({"a": 1}), &json!(["one", "", "two"])));
}

#[test]
fn n17_no_number_becomes_another_number() {
    let (flow, ran) = play("N17");
    let exits = codes(&ran);
    assert_eq!(exits[0], 1, "1e400 is no number that can be kept: {ran:#?}");
    let whole = "356686000032329832 18446744073709551615 123456789012345678901234567890 00501 0.1 \
                 356686000032329832 9007199254740993";
    match exits[1] {
        0 => assert_eq!(flow.report()["outputs"]["u"], whole),
        _ => assert!(ran.stderr.contains("`123456789012345678901234567890` in line 1 can't be kept exactly")),
    }
    // Without the number that no type holds, all the others come through as they were written.
    let plan =
        flow.read("plan.yaml").replace("\"huge\": 123456789012345678901234567890", "\"huge\": \"text\"");
    flow.write("plan.yaml", &plan);
    let args = ["run", "plan.yaml", "-i", "id=356686000032329832", "-i", r#"any:={"n": 9007199254740993}"#];
    flow.run(&args).exits(0);
    assert_eq!(flow.report()["outputs"]["u"], whole.replace("123456789012345678901234567890", "text"));
}

#[test]
fn n21_every_input_arrives_as_it_was_written_and_one_without_a_sign_shows_the_form() {
    let (flow, ran) = play("N21");
    assert_eq!(codes(&ran), [0, 0, 0, 2], "{ran:#?}");
    let first = "Something \"here\" $(touch leak) `x` a=b\n-n --help\na b\n-e\n*\n";
    assert!(ran.stdout.contains(first), "{}", ran.stdout);
    assert!(ran.stdout.contains("from file\n"), "{}", ran.stdout);
    assert!(!flow.exists("leak"));
    ran.says(&["`-i msg` has no `=`", "`-i name=text`"]);
}

#[test]
fn n23_a_value_too_big_for_the_environment_is_named_with_its_size_before_the_task_starts() {
    let (flow, ran) = play("N23");
    assert_eq!(codes(&ran), [1], "{ran:#?}");
    assert_eq!(flow.report()["outputs"]["n"], "300000");
    for (address, name) in [("use", "BIG"), ("many[0]", "A")] {
        let message = flow.task(address)["message"].as_str().unwrap().to_owned();
        for part in [&format!("`env.{name}`"), "300000 bytes", "122880", "`| file`"] {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert!(!message.contains("E2BIG") && !message.contains("os error 7"), "{message}");
    }
}

#[test]
fn n63_a_boolean_input_is_what_it_says_or_refused() {
    let (flow, ran) = play("N63");
    let of = |from: &str| super::between(&ran.stdout, &format!("# {from}\n"), "\n# ").to_owned();
    assert!(of("deploy=false -i n=4").contains(r#""t": "false 5 none""#), "{}", ran.stdout);
    for spelling in ["False", "no", "0", "", ":=\"false\""] {
        let name = if spelling.starts_with(':') { "deploy" } else { "deploy=" };
        let said = of(&format!("{name}{spelling}"));
        let refused = said.contains("input `deploy` must be `true` or `false`");
        assert!(refused || said.contains("\"t\""), "{spelling}: {said}");
        assert!(refused, "taken as `true`, or not told how to write it: {said}");
    }
    assert!(of("n=9").contains("must be 5 or less, not 9"), "{}", of("n=9"));
    assert!(of("n=abc").contains("must be an integer, not `abc`"));
    assert!(of("e=c").contains("must be one of `a`, `b`, not `c`"));
    assert!(of("x=1").contains("this plan has no input `x`"));
    // Refused before anything runs: no run of theirs is there.
    let runs = std::fs::read_dir(flow.path(".flow/runs")).unwrap().count();
    assert_eq!(runs, ran.stdout.matches("\"t\": ").count());
}

#[test]
fn n67_a_prompt_of_several_hundred_kilobytes_reaches_the_model_whole() {
    // The written model refuses to answer without the marks.
    let (flow, ran) = play("N67");
    assert_eq!(codes(&ran), [0], "{ran:#?}");
    assert_eq!(flow.report()["outputs"]["s"], "ok");
    let prompt = std::fs::read_to_string(flow.newest_run().join("tasks/t/prompt.md")).unwrap();
    assert!(prompt.contains("BEGIN-MARK") && prompt.contains("END-MARK\nLAST-LINE"));
    for file in ["events.jsonl", "report.md", "report.json"] {
        let size = std::fs::metadata(flow.newest_run().join(file)).unwrap().len();
        assert!(size < 50_000, "{file}: {size}");
    }
    let (flow, _) = set_up("N67");
    flow.write("model.yaml", &flow.read("model.yaml").replace("END-MARK\\nLAST-LINE", "not in it"));
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(1);
}
