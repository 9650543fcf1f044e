use std::sync::Arc;

use crate::diagnostic::SourceFile;
use crate::diagnostic::testing::short;
use crate::syntax::workflow;

fn check(text: &str, said: &str) {
    let (_, found) = workflow(&Arc::new(SourceFile::new("plan.yaml", text)));
    assert_eq!(found.len(), 1, "{}", short(&found));
    assert!(found[0].message.contains(said), "{}", found[0].message);
    assert!(found[0].help.is_some());
}

#[test]
fn a_file_of_another_tool_is_said_in_one_finding() {
    check(
        "name: ci\non: push\njobs:\n  build:\n    runs-on: ubuntu-latest\n    steps: [{ uses: actions/checkout@v4 }, { run: make }]\n",
        "this is a GitHub Actions workflow (`on`, `jobs`), not a plan",
    );
    check("stages: [build]\nbuild: { stage: build, script: [make] }\n", "this is a GitLab CI file");
    check("build: { stage: build, script: [make] }\n", "this is a GitLab CI file");
    check("version: '3'\nservices: { web: { image: x } }\n", "this is a compose file");
    check("version: '3'\ntasks: { default: { cmds: [make], deps: [a] } }\n", "this is a Taskfile");
    check("apiVersion: argoproj.io/v1\nkind: Workflow\nspec: {}\n", "this is a Kubernetes manifest");
    check("steps:\n  - name: a\n    command: make\n", "this is a list of steps");
    check("---\nname: reviewer\ndescription: Reviews\n---\nYou review: code.\n", "this is an agent file");
}

#[test]
fn a_plan_with_a_foreign_key_is_still_read_as_a_plan() {
    let (read, found) = workflow(&Arc::new(SourceFile::new(
        "plan.yaml",
        "flow: 1\nstages: [a]\ntasks: { a: { run: x, cmds: [y] } }\n",
    )));
    assert!(read.is_some());
    assert_eq!(found.len(), 2, "{}", short(&found));
}
