//! What a run may not waste: seen from outside, without a clock.

use crate::support::Flow;

#[test]
fn the_report_that_a_run_leaves_is_the_one_that_its_journal_gives() {
    let flow = Flow::new().plan(
        "defaults: { shell: sh }
tasks:
  a: { run: 'echo \"{\\\"x\\\": 1.50}\"', output: json }
  b: { run: 'echo no >&2; exit 3', needs: [a], continue_on_error: true, retry: { max: 1, delay: 0s } }
  c: { for_each: [1, two, { k: v }], run: 'echo ${{ key }}', needs: { b: done } }
  d: { run: 'true', if: 'false' }
  e: { run: 'exit 1' }
  f: { run: 'true', needs: [e] }
outputs: { x: '${{ tasks.a.output.x }}' }
",
    );
    flow.run(&["run", "plan.yaml"]).exits(1);
    let run = flow.newest_run();
    for name in ["json", "md"] {
        let left = std::fs::read_to_string(run.join(format!("report.{name}"))).unwrap();
        assert_eq!(flow.run(&["report", "latest", "--format", name]).exits(0).stdout, left, "report.{name}");
    }
}

#[test]
fn a_task_is_one_vfork_and_one_program() {
    let flow = Flow::new().plan(
        "defaults: { shell: sh }\ntasks: { a: { run: ':' }, b: { run: ':', needs: [a] }, c: { run: ':' } }\n",
    );
    let traced = "strace -f -e trace=fork,vfork,clone,clone3,execve -o trace flow run plan.yaml -o quiet";
    let traced = flow.shell(traced);
    if traced.code == Some(127) {
        return;
    }
    traced.exits(0);
    let trace = flow.read("trace");
    let begun = |line: &&str| ["clone(", "clone3(", "fork("].iter().any(|call| line.contains(call));
    let processes: Vec<&str> = trace
        .lines()
        .filter(begun)
        .filter(|line| !line.contains("CLONE_THREAD") && !line.contains("resumed>"))
        .collect();
    assert_eq!(processes.len(), 3, "{trace}");
    assert!(processes.iter().all(|line| line.contains("CLONE_VFORK") || line.contains("vfork(")), "{trace}");
    let programs = trace.lines().filter(|line| line.contains("execve(") && !line.contains("ENOENT")).count();
    assert_eq!(programs, 1 + 3, "{trace}");
}
