//! What an agent was refused: told in every mode, and a failure where the plan or the person says so.

use serde_json::json;

use super::support::{Flow, Ran};

/// Twice a Write that nobody can allow, and a tool that the agent never had.
const MODEL: &str = "\
default:
  - call: Write
    with: { file_path: foo.md, content: x }
  - call: Write
    with: { file_path: foo.md, content: y }
  - call: WebFetch
    with: { url: 'http://localhost/' }
  - say: done
";

const WRITE: &str = "denied: Write foo.md; grant `permissions: { allow: [Write] }` (task `w`, 2 times)";

fn flow(keys: &str) -> Flow {
    Flow::new().plan(&format!("tasks:\n  w:\n    prompt: p\n{keys}")).model(MODEL)
}

fn run(flow: &Flow, more: &[&str]) -> Ran {
    flow.run(&[&["run", "plan.yaml", "--model-script", "model.yaml"], more].concat())
}

#[test]
fn refused_calls_are_told_after_a_success_in_every_mode() {
    for mode in [&[][..], &["-q"], &["-v"], &["-o", "json"], &["-o", "github"]] {
        let ran = run(&flow(""), mode).exits(0);
        let told: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("denied: ")).collect();
        let fetch = "denied: WebFetch {\"url\":\"http://localhost/\"}; flow has no such tool (task `w`)";
        assert_eq!(told, [WRITE, fetch], "{mode:?}");
    }
    run(&flow("").env("CI", "true"), &[]).exits(0).says(&[WRITE]);
}

#[test]
fn what_grants_it_is_what_the_line_says() {
    let flow = flow("    permissions: { allow: [Write] }\n");
    let ran = run(&flow, &[]).exits(0);
    assert!(!ran.stderr.contains("denied: Write"), "{}", ran.stderr);
    assert_eq!(flow.read("foo.md"), "y");
}

#[test]
fn a_refusal_is_a_failure_where_the_plan_or_the_person_says_so() {
    let failed = json!(["failed", "permission_denied"]);
    let state = |flow: &Flow| json!([flow.task("w")["state"], flow.task("w")["reason"]]);
    for (keys, more) in [("    expect: { denied: false }\n", &[][..]), ("", &["--strict"])] {
        let flow = flow(keys);
        run(&flow, more).exits(1).says(&["permission_denied  refused: Write foo.md, and 2 more", WRITE]);
        assert_eq!(state(&flow), failed);
    }
    let shared = flow("");
    let text = shared.read("plan.yaml").replace("tasks:", "defaults: { expect: { denied: false } }\ntasks:");
    shared.write("plan.yaml", &text);
    run(&shared, &[]).exits(1);
    assert_eq!(state(&shared), failed);
}

#[test]
fn a_resumed_run_stays_strict() {
    let flow = flow("    needs: [s]\n  s: { run: test -f go }\n");
    run(&flow, &["--strict"]).exits(1);
    flow.write("go", "");
    flow.run(&["resume", "latest"]).exits(1);
    assert_eq!(flow.task("w")["reason"], "permission_denied");
}

#[test]
fn denied_is_about_agents_and_says_only_no() {
    let flow = Flow::new().plan(
        "tasks:\n  s: { run: ls, expect: { denied: false } }\n  w: { prompt: p, expect: { denied: true } }\n",
    );
    flow.run(&["check", "plan.yaml"]).exits(3).says(&[
        "`expect.denied` is about the calls of an agent, and `s` is a shell task",
        "`expect.denied` can only be `false`",
    ]);
}
