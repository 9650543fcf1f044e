use crate::compile::testing::Trial;

#[track_caller]
fn starts(tasks: &str, expected: &str) {
    let plan = Trial::of(&format!("tasks:\n{tasks}")).plan();
    let names = plan.tasks.iter().zip(plan.starts_when_all_goes_well()).filter(|(_, starts)| *starts);
    assert_eq!(names.map(|(task, _)| task.address.as_str()).collect::<Vec<_>>().join(" "), expected);
}

#[test]
fn what_follows_success_or_any_end_starts() {
    starts(
        "  d: { needs: { c: done }, run: x }
  c: { needs: [b], run: x }
  b: { needs: { a: completed }, run: x }
  a: { run: x }
",
        "d c b a",
    );
}

#[test]
fn what_may_be_skipped_does_not_count_and_what_only_needs_it_does() {
    starts(
        "  a: { if: run.ci, run: x }
  b: { needs: [a], run: x }
  c: { needs: { a: completed }, run: x }
  d: { needs: [c], run: x }
",
        "b",
    );
}

#[test]
fn what_waits_for_a_failure_does_not_count_nor_what_needs_it() {
    starts(
        "  a: { run: x }
  b: { needs: { a: failure }, run: x }
  c: { needs: [b], run: x }
  d: { needs: { c: done }, run: x }
",
        "a d",
    );
}
