use insta::assert_snapshot;

use crate::compile::testing::{Trial, check};
use crate::model::{Isolation, Merge, Settings};

#[test]
fn every_isolation_takes_the_merges_it_can_have() {
    for merge in ["none", "branch", "patch", "apply", "squash", "cherry_pick"] {
        let plan = format!("tasks:\n  a: {{ run: echo, isolation: worktree, merge: {merge} }}\n");
        let task = &Trial::of(&plan).plan().tasks[0];
        assert_eq!((task.isolation, task.merge.as_str()), (Isolation::Worktree, merge));
    }
    for merge in ["none", "patch", "apply"] {
        let plan = format!("tasks:\n  a: {{ run: echo, isolation: copy, merge: {merge} }}\n");
        assert_eq!(Trial::of(&plan).plan().tasks[0].merge.as_str(), merge);
    }
    assert_snapshot!(check("tasks:\n  a:\n    run: echo\n    isolation: copy\n    merge: squash\n    base: main\n"), @r"
    error[F0205]: `merge: squash` needs a branch, and `a` works in a copy
     --> plan.yaml:6:5
      |
    6 |     merge: squash
      |     ^^^^^
      |
      = help: write `patch` or `apply`, or `isolation: worktree`

    error[F0205]: `base` is a commit, and `a` starts from the tree as it is
     --> plan.yaml:7:5
      |
    7 |     base: main
      |     ^^^^
      |
      = help: take `base` away, or write `isolation: worktree`
    ");
    let shared =
        "defaults: { merge: squash }\ntasks:\n  a: { run: echo, isolation: copy }\n  b: { run: echo }\n";
    let merges: Vec<Merge> = Trial::of(shared).plan().tasks.iter().map(|task| task.merge).collect();
    assert_eq!(merges, [Merge::None, Merge::None]);
}

#[test]
fn what_prepares_a_tree_needs_one() {
    assert_snapshot!(check("tasks:\n  a:\n    run: echo\n    setup: npm ci\n    include: [.env]\n"), @r"
    error[F0205]: `setup` prepares a private tree, and `a` has none
     --> plan.yaml:5:5
      |
    5 |     setup: npm ci
      |     ^^^^^
      |
      = help: add `isolation: worktree` or `isolation: copy`

    error[F0205]: `include` prepares a private tree, and `a` has none
     --> plan.yaml:6:5
      |
    6 |     include: [.env]
      |     ^^^^^^^
      |
      = help: add `isolation: worktree` or `isolation: copy`
    ");
    let wrong = check(
        "tasks:\n  a:\n    run: echo\n    isolation: copy\n    setup: echo `${{ run.id }}`\n    include: '${{ run.id }}'\n",
    );
    assert!(wrong.contains("backquotes") && wrong.contains("`include` is taken as written"), "{wrong}");
}

#[test]
fn settings_come_before_the_task_and_only_where_a_tree_is_private() {
    let settings = Settings {
        worktrees_include: vec!["*.key".to_owned()],
        worktrees_setup: vec!["make deps".to_owned()],
        ..Settings::default()
    };
    let plan = "tasks:\n  a: { run: echo, isolation: worktree, include: .env, setup: [make, 'echo ${{ run.id }}'] }\n  \
                b: { run: echo }\n  c: { run: echo, isolation: copy }\n";
    let plan = Trial::of(plan).settings(settings).plan();
    let seen: Vec<_> = plan
        .tasks
        .iter()
        .map(|task| task.preparation.as_ref().map(|found| (found.include.join(" "), found.setup.len())))
        .collect();
    assert_eq!(seen, [Some(("*.key .env".to_owned(), 3)), None, Some(("*.key".to_owned(), 1))]);
}

#[test]
fn a_dir_that_leads_out_of_the_tasks_own_tree_is_seen_before_the_run() {
    let dir = |isolation: &str, dir: &str| {
        format!("tasks:\n  a: {{ run: x, isolation: {isolation}, dir: {dir} }}\n")
    };
    assert_snapshot!(check(&dir("worktree", "../..")), @r"
    error[F0203]: `dir: ../..` leads out of the tree that `a` has of its own
     --> plan.yaml:3:42
      |
    3 |   a: { run: x, isolation: worktree, dir: ../.. }
      |                                          ^^^^^
      |
      = help: write a path that stays in the repository, or take `isolation` away
    ");
    assert_snapshot!(check(&dir("copy", "/tmp")), @r"
    error[F0203]: `dir: /tmp` leads out of the tree that `a` has of its own
     --> plan.yaml:3:38
      |
    3 |   a: { run: x, isolation: copy, dir: /tmp }
      |                                      ^^^^
      |
      = help: write a path relative to the project root, which is looked for in the task's tree
    ");
    for inside in ["sub/..", "./x", "'${{ git.root }}'", "'${{ \"../..\" }}'"] {
        assert_eq!(check(&dir("worktree", inside)), "", "{inside}");
    }
    assert_eq!(check(&dir("none", "/tmp")), "");
    // A project below the top of its repository.
    assert_eq!(Trial::of(&dir("worktree", "./../../x")).depth(2).report(), "");
    assert_ne!(Trial::of(&dir("copy", "../../..")).depth(2).report(), "");
    // What `defaults` say is for the tasks without a tree too.
    let shared = "defaults: { dir: .. }\ntasks:\n  a: { run: x, isolation: copy }\n  b: { run: x }\n";
    assert_eq!(check(shared).matches("leads out").count(), 1);
}

#[test]
fn a_tree_knows_who_reads_its_folder() {
    let plan = Trial::of(
        "tasks:
  a: { isolation: worktree, run: x }
  b: { for_each: [1], isolation: copy, run: x }
  c: { run: 'ls ${{ tasks.a.dir }} ${{ tasks.a.dir }}' }
  d: { run: 'ls ${{ tasks.b.results | map(attribute=\"dir\") | list }}' }
  e: { run: 'ls ${{ tasks.b.results | map(attribute=\"branch\") | list }}' }
  f: { run: 'ls ${{ tasks.c.dir }}' }
  g: { run: 'ls directory ${{ tasks.b.results | map(attribute=\"stdout\") | list }}' }
  h: { run: 'ls ${{ tasks.b.results[0].dir }}' }
  i: { env: { X: '${% for one in tasks.b.results %}${{ one.dir }}${% endfor %}' }, run: x }
",
    )
    .plan();
    let readers: Vec<Vec<u32>> =
        plan.tasks.iter().map(|task| task.dir_readers.iter().map(|reader| reader.0).collect()).collect();
    assert_eq!(readers, [vec![2], vec![3, 7, 8], vec![], vec![], vec![], vec![], vec![], vec![], vec![]]);
}

#[test]
fn a_merge_may_say_what_its_commit_says() {
    let plan = |merge: &str| format!("tasks:\n  a: {{ run: echo, isolation: worktree, merge: {merge} }}\n");
    let compiled = Trial::of(&plan("{ how: squash, message: 'fix: ${{ run.id }}' }")).plan();
    let task = &compiled.tasks[0];
    assert_eq!(task.merge, Merge::Squash);
    assert_eq!(&*task.merge_message.as_ref().unwrap().source, "fix: ${{ run.id }}");
    // A task's own `merge` replaces that of `defaults` whole.
    let shared = "defaults: { isolation: worktree, merge: { how: squash, message: m } }\n\
                  tasks:\n  a: { run: echo }\n  b: { run: echo, merge: squash }\n";
    let compiled = Trial::of(shared).plan();
    let messages: Vec<bool> = compiled.tasks.iter().map(|task| task.merge_message.is_some()).collect();
    assert_eq!(messages, [true, false]);
    assert_snapshot!(check(&plan("{ how: apply, message: m }")), @r"
    error[F0205]: `message` is that of a commit, and `merge: apply` makes none
     --> plan.yaml:3:70
      |
    3 |   a: { run: echo, isolation: worktree, merge: { how: apply, message: m } }
      |                                                                      ^
      |
      = help: take it away, or write `how: squash`, `cherry_pick` or `branch`
    ");
    assert_snapshot!(check(&plan("{ message: m }")), @r"
    error[F0204]: `merge` does not say how
     --> plan.yaml:3:47
      |
    3 |   a: { run: echo, isolation: worktree, merge: { message: m } }
      |                                               ^^^^^^^^^^^^^^
      |
      = help: write `merge: { how: squash, message: … }`
    ");
    assert_snapshot!(check(&plan("{ how: squash, message: '${{ inputs.nope }}', mesage: x }")), @r"
    error[F0303]: this plan has no input `nope`
     --> plan.yaml:3:76
      |
    3 |   a: { run: echo, isolation: worktree, merge: { how: squash, message: '${{ inputs.nope }}', mesage: x } }
      |                                                                            ^^^^^^^^^^^
      |
      = help: declare it: `inputs: { nope: { type: string } }`

    error[F0201]: unknown key `mesage` in `merge`
     --> plan.yaml:3:93
      |
    3 |   a: { run: echo, isolation: worktree, merge: { how: squash, message: '${{ inputs.nope }}', mesage: x } }
      |                                                                                             ^^^^^^
      |
      = help: did you mean `message`?
    ");
}

#[test]
fn patterns_of_include_that_can_match_nothing_are_told() {
    let plan = "tasks:\n  a: { run: echo, isolation: worktree, include: [.env, ../outside.txt] }\n";
    assert_snapshot!(check(plan), @r"
    warning[W0202]: `../outside.txt` of `include` can match nothing: it leads out of the checkout, and a tree gets files of the checkout alone
     --> plan.yaml:3:56
      |
    3 |   a: { run: echo, isolation: worktree, include: [.env, ../outside.txt] }
      |                                                        ^^^^^^^^^^^^^^
      |
      = help: let `setup` copy what stands elsewhere
    ");
}
