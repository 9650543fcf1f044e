//! Bad input: a clear error, exit 3, nothing run.

use crate::support::Flow;

/// Demands exit 3 with these texts, and that no run was made.
#[track_caller]
fn refused(flow: &Flow, plan: &str, says: &[&str]) {
    for command in ["check", "run"] {
        let ran = flow.run(&[command, plan]).exits(3).says(says);
        assert!(!ran.stderr.contains("panicked") && ran.stdout.is_empty(), "{ran:#?}");
    }
    assert!(!flow.exists("ran") && !flow.exists(".flow"), "something ran");
}

#[track_caller]
fn refused_text(text: &str, says: &[&str]) {
    refused(&Flow::new().file("plan.yaml", text), "plan.yaml", says);
}

#[test]
fn a_plan_without_tasks() {
    for empty in ["", "# only a comment\n", "null\n", "flow: 1\n", "flow: 1\ntasks: {}\n"] {
        refused_text(empty, &["plan.yaml", "tasks"]);
    }
}

#[test]
fn a_file_over_its_size() {
    let text = format!("flow: 1\ntasks:\n  a:\n    run: 'touch ran'\n# {}\n", "x".repeat(17 << 20));
    refused_text(&text, &["16 MiB"]);
}

#[test]
fn an_alias_bomb() {
    let mut text =
        "flow: 1\ntasks: { a: { run: touch ran } }\nx0: &x0 [a, a, a, a, a, a, a, a, a, a]\n".to_owned();
    for level in 1..12 {
        let previous = format!("*x{}, ", level - 1).repeat(10);
        text.push_str(&format!("x{level}: &x{level} [{}]\n", previous.trim_end_matches(", ")));
    }
    let flow = Flow::new().file("plan.yaml", &text);
    refused(&flow, "plan.yaml", &["alias"]);
    assert!(flow.run(&["check", "plan.yaml"]).took.as_secs() < 2);
}

#[test]
fn a_duplicate_key_shows_both_places() {
    refused_text(
        "flow: 1\ntasks:\n  a: { run: touch ran }\n  b: { run: touch ran }\n  a: { run: touch ran }\n",
        &["`a`", "plan.yaml:5:3", "3 |"],
    );
}

#[test]
fn a_cycle() {
    refused_text(
        "flow: 1\ntasks:\n  a: { run: touch ran, needs: [b] }\n  b: { run: touch ran, needs: [a] }\n",
        &["a -> b -> a"],
    );
}

#[test]
fn unknown_names() {
    refused_text(
        "flow: 1\ntasks:\n  build: { run: touch ran }\n  b: { run: touch ran, needs: [biuld] }\n",
        &["`biuld`", "did you mean `build`?"],
    );
    refused_text(
        "flow: 1\ntasks:\n  a: { agent: Explorer, prompt: p }\n",
        &["`Explorer`", "did you mean `Explore`?"],
    );
    refused_text("flow: 1\ntasks:\n  a: { prompt: p, tools: [Bahs] }\n", &["`Bahs`", "did you mean `Bash`?"]);
    refused_text("flow: 1\ntasks:\n  a: { run: \"touch ran ${{ inputs.x }}\" }\n", &["`x`", "plan.yaml:3"]);
}

#[test]
fn bytes_that_are_no_text() {
    let flow = Flow::new();
    std::fs::write(flow.path("plan.yaml"), b"flow: 1\ntasks: { a: { run: \"touch ran \xff\" } }\n").unwrap();
    refused(&flow, "plan.yaml", &["UTF-8", "plan.yaml"]);
    std::fs::write(flow.path("plan.yaml"), b"flow: 1\ntasks: { a: { run: \"touch ran \0\" } }\n").unwrap();
    refused(&flow, "plan.yaml", &["NUL"]);
}

#[test]
fn things_that_are_no_files() {
    let flow = Flow::new().file("folder/x.yaml", "flow: 1\n");
    refused(&flow, "folder", &["folder"]);
    refused(&flow, "/dev/zero", &["/dev/zero"]);
    refused(&flow, "missing.yaml", &["missing.yaml"]);
}

#[test]
fn yaml_traps_are_answered_with_what_to_write() {
    refused_text(
        "flow: 1\ntasks:\n  a: { run: touch ran }\n  b: { needs: [a], run: touch ran, if: !x }\n",
        &["not x"],
    );
    refused_text(
        "flow: 1\ntasks:\n  a:\n    run: touch ran\n    for_each: [${{ x }}]\n",
        &["plan.yaml:5", "\""],
    );
    refused_text("flow: 1\ntasks:\n  a:\n\trun: touch ran\n", &["plan.yaml:4", "tab"]);
    refused_text(
        "flow: 1\ntasks:\n  a:\n    if: ${{ true }}\n    run: touch ran\n",
        &["plan.yaml:4", "without `${{ }}`", "write `if: true`"],
    );
}

#[test]
fn a_worktree_where_none_can_be_made() {
    let plan = "flow: 1\ntasks:\n  a: { run: touch ran, isolation: worktree }\n";
    refused_text(plan, &["git", "plan.yaml:3"]);
    let flow = Flow::new().file("plan.yaml", plan);
    flow.shell("git init -q .").exits(0);
    refused(&flow, "plan.yaml", &["commit", "plan.yaml:3"]);
}

#[test]
fn a_run_id_that_leads_elsewhere() {
    let flow = Flow::new().plan("tasks:\n  a: { run: 'true' }\n");
    flow.run(&["run", "plan.yaml"]).exits(0);
    for id in ["../x", "/etc", "nothing", ""] {
        flow.run(&["report", id]).exits(3);
    }
}
