//! What runs after what: conditions, skipped tasks, empty fan-outs, a resume before an expansion.

use super::{codes, play};

fn state(flow: &crate::support::Flow, address: &str) -> (String, String) {
    let task = flow.task(address);
    let text = |key: &str| task[key].as_str().unwrap_or_default().to_owned();
    (text("state"), text("reason"))
}

#[test]
fn n03_a_resume_before_the_expansion_runs_every_instance() {
    let (flow, ran) = play("N03");
    assert_eq!(codes(&ran), [1, 0], "{ran:#?}");
    ran.says(&["blocked work", "blocked join"]);
    assert_eq!(flow.read("work.log").lines().count(), 2);
    let joined = flow.read("join.txt");
    assert!(["[\"done-x\",\"done-y\"]", "done-x done-y"].contains(&joined.trim()), "{joined}");
    for address in ["gen", "work[x]", "work[y]", "join"] {
        assert_eq!(state(&flow, address).0, "completed", "{address}");
    }
}

#[test]
fn n50_a_text_is_no_condition_and_no_number_without_a_word() {
    let (flow, ran) = play("N50");
    // Comparisons of a text with a number can come out one way only.
    assert_eq!(codes(&ran)[0], 3, "{ran:#?}");
    ran.says(&[
        "plan.yaml:10:12",
        "plan.yaml:11:12",
        "plan.yaml:12:12",
        "plan.yaml:13:13",
        "plan.yaml:14:12",
    ]);
    let plan = flow.read("plan.yaml");
    let without = |names: [&str; 2]| {
        let kept = plan
            .lines()
            .filter(|line| !names.iter().any(|name| line.starts_with(&format!("  {name}: {{ if"))));
        kept.collect::<Vec<_>>().join("\n")
    };
    flow.write("plan.yaml", &without(["e", "h"]));
    // A text that says no is no condition when the run comes to it either.
    flow.run(&["run", "plan.yaml", "-i", "deploy=false"]).exits(1).says(&["plan.yaml:10:12", "text here"]);
    let there = ["a", "b", "c", "d", "f", "g"].map(|name| flow.exists(&format!("ran-{name}")));
    assert_eq!(there, [false, false, true, false, false, false]);
    for address in ["d", "f", "g"] {
        assert_eq!(state(&flow, address), ("failed".to_owned(), "expression".to_owned()), "{address}");
    }
}

#[test]
fn n51_conditions_see_failures_two_levels_up_and_skipped_needs_are_no_failure() {
    let (flow, ran) = play("N51");
    assert_eq!(codes(&ran), [1], "{ran:#?}");
    let of = |wanted: &str| {
        let names = ["a", "b", "c", "d", "s", "t", "u", "v", "w", "x", "y", "z"];
        let found: String = names.into_iter().filter(|name| state(&flow, name).0 == wanted).collect();
        found
    };
    assert_eq!((of("failed"), of("completed")), ("a".to_owned(), "cdtuwz".to_owned()));
    assert_eq!((of("skipped"), of("blocked")), ("sv".to_owned(), "bxy".to_owned()));
    assert_eq!((flow.read("d").trim(), flow.read("z").trim()), ("failed blocked", "blocked"));
}

#[test]
fn n53_nothing_to_expand_over_is_an_end_and_no_list_is_a_failure() {
    let (flow, ran) = play("N53");
    assert_eq!(codes(&ran)[1], 1, "{ran:#?}");
    for address in ["work", "e1", "e2"] {
        assert_eq!(state(&flow, address).0, "completed", "{address}");
    }
    let report = flow.report();
    let addresses: Vec<_> =
        report["tasks"].as_array().unwrap().iter().map(|task| task["address"].clone()).collect();
    assert!(!addresses.iter().any(|address| address.as_str().unwrap().contains('[')), "{addresses:?}");
    let (raw, _) = state(&flow, "raw");
    let message = flow.task("raw")["message"].as_str().unwrap_or_default().to_owned();
    assert!(raw == "completed" || raw == "skipped" || message.contains("gen"), "{raw}: {message}");
    for address in ["overtext", "overobj"] {
        assert_eq!(state(&flow, address), ("failed".to_owned(), "expression".to_owned()));
        let message = flow.task(address)["message"].as_str().unwrap().to_owned();
        assert!(message.contains("must be a list"), "{message}");
    }
    // The resume, with the file that `after` waits for.
    assert_eq!(state(&flow, "after").0, "completed");
    assert_eq!(flow.task("after")["attempts"].as_array().unwrap().len(), 2, "{:#}", flow.task("after"));
}
