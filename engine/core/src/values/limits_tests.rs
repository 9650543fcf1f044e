use super::super::testing::Middle;
use crate::model::Outcome;
use crate::report::testing::{What, exit};

/// What becomes of a task with these variables behind one that printed so much.
fn start(bytes: usize, keys: &str) -> String {
    let mut run = Middle::of(&format!("tasks:\n  a: {{ run: x }}\n  b: {{ {keys} }}\n"));
    let stdout = Some(run.journal.text("out", &"x".repeat(bytes)));
    run.journal.run("a", 1, What::Shell, Outcome { stdout, ..exit(0) });
    match run.work("b") {
        Ok(_) => "starts".to_owned(),
        Err(outcome) => outcome.message.unwrap_or_default(),
    }
}

#[test]
fn a_variable_that_no_environment_can_hold_is_named_with_its_size() {
    for kind in ["run: x", "prompt: p"] {
        let keys = format!("{kind}, env: {{ BIG: \"${{{{ tasks.a.output }}}}\" }}");
        assert_eq!(start(120 << 10, &keys), "starts");
        assert_eq!(
            start(300_000, &keys),
            "`env.BIG`: the value has 300000 bytes, more than a variable can hold (122880); write `| file` to get a path"
        );
    }
    assert_eq!(start(300_000, "run: x, env: { BIG: \"${{ tasks.a.output | file }}\" }"), "starts");
}

#[test]
fn variables_that_are_too_much_together_name_the_largest() {
    let many: String = (0..10).map(|number| format!("V{number}: \"${{{{ tasks.a.output }}}}\", ")).collect();
    let keys = format!("run: x, env: {{ {many} W: \"y${{{{ tasks.a.output }}}}\" }}");
    assert_eq!(start(90_000, &keys), "starts");
    let said = start(100_000, &keys);
    assert!(said.starts_with("`env`: the variables have 11000"), "{said}");
    assert!(said.contains("more than 1048576; the largest is `W` with 100001; write `| file`"), "{said}");
}
