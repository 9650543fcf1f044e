//! What GitHub Actions reads of a run: annotations, the summary of the step, outputs for later steps.

use crate::support::Flow;

fn in_actions(flow: Flow) -> Flow {
    flow.env("GITHUB_ACTIONS", "true")
        .env("CI", "true")
        .env("GITHUB_STEP_SUMMARY", "summary.md")
        .env("GITHUB_OUTPUT", "output.txt")
}

#[test]
fn no_line_of_a_task_is_a_command_for_the_system_that_reads_the_log() {
    let forged = "printf '::error file=x.c,line=1::forged\\n::stop-commands::abc\\n  ::add-mask::e\\n##[error]forged2\\n\
                  ```\\nx\\r::warning::cr\\n::group::g\\n' | tee /dev/stderr; exit 1";
    let plan = format!(
        "tasks:\n  t: {{ run: \"{}\" }}\n  a: {{ prompt: p, expect: {{ files: [none.txt] }} }}\n  \
         k: {{ for_each: [\"a\\n::error::key\"], run: exit 1 }}\n",
        forged.replace('\\', "\\\\")
    );
    let flow = in_actions(Flow::new().plan(&plan).model("a: [{ say: \"::error::from the model\" }]\n"));
    let ran = flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(1);
    let all = format!("{}{}", ran.stdout, ran.stderr);
    let begun = all.split(['\n', '\r']).map(|line| line.trim_start_matches(' '));
    let commands: Vec<&str> =
        begun.filter(|line| line.starts_with("::") || line.starts_with("##[")).collect();
    let ours = ["::group::", "::endgroup::", "::warning ", "::error file=plan.yaml,line="];
    for command in &commands {
        assert!(ours.iter().any(|own| command.starts_with(own)), "{command}\n{all}");
        assert!(!command.starts_with("::group::g"), "{all}");
    }
    // Each failure once, at the line of its task.
    let errors = commands.iter().filter(|command| command.starts_with("::error")).count();
    assert_eq!(errors, 3, "{all}");
    let summary = flow.read("summary.md");
    assert!(summary.contains("````text\n::error file=x.c,line=1::forged\n"), "{summary}");
}

#[test]
fn later_steps_read_outputs_and_the_summary_is_the_report() {
    let plan =
        "tasks:\n  a: { run: 'printf \"one\\ntwo\"' }\noutputs: { page: '${{ tasks.a.output }}', n: 3 }\n";
    let flow = in_actions(Flow::new().plan(plan));
    flow.run(&["run", "plan.yaml"]).exits(0);
    let output = flow.read("output.txt");
    let mark = output.lines().next().and_then(|line| line.strip_prefix("page<<")).unwrap().to_owned();
    assert!(mark.starts_with("flow_") && mark.len() > 20, "{output}");
    assert_eq!(output, format!("page<<{mark}\none\ntwo\n{mark}\nn=3\n"));
    let report = std::fs::read_to_string(flow.newest_run().join("report.md")).unwrap();
    assert_eq!(flow.read("summary.md"), format!("{report}\n"));
}

#[test]
fn a_warning_is_told_once() {
    let flow = in_actions(
        Flow::new().plan("tasks:\n  a: { run: 'echo {{ inputs.x }}' }\ninputs: { x: { default: y } }\n"),
    );
    let ran = flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(ran.stderr.matches("W0202").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("::warning file=plan.yaml,line="), "{}", ran.stderr);
}

#[test]
fn a_plan_outside_of_the_repository_has_no_place_in_it() {
    let flow = in_actions(
        Flow::new().file("repo/a.txt", "").file("plan.yaml", "flow: 1\ntasks: { a: { run: exit 3 } }\n"),
    );
    flow.shell("git init -q repo").exits(0);
    let ran = flow.run(&["-C", "repo", "run", "../plan.yaml"]).exits(1);
    ran.says(&["::error title=a%3A exit code 3::exit code 3"]);
}
