use super::super::testing::{Journal, What, ends, exit, said, usage};
use crate::event::Event;
use crate::graph::EdgeKind;
use crate::model::{
    AttemptEnd, ConflictKind, Denial, DenialReason, Merge, MergeConflict, MergeOutcome, Moved, Outcome,
    Reason, RunStatus, TaskState, Usage, WorktreeOutcome,
};

#[test]
fn a_small_run_at_a_glance() {
    let mut journal = Journal::of(&["build", "test"]);
    journal.run("build", 1, What::Shell, exit(0)).run("test", 1, What::Shell, exit(0));
    journal.finish(RunStatus::Completed, 0);
    insta::assert_snapshot!(journal.render("md"), @r"
    # audit: completed

    2 completed · 9.0s · exit code 0

    ## Tasks

    | task | state | time | what |
    |---|---|---:|---|
    | `build` | completed | 1.2s | do build |
    | `test` | completed | 1.2s | do test |

    ## Run

    - run `20261130-075412-k3f9q2`, flow 0.1.0
    - plan `plan.yaml` in `/repo`
    - folder `/runs/r`
    - input `target`: `src`
    ");
}

#[test]
fn a_run_with_everything_in_it() {
    let mut journal = Journal::of(&["lint", "review", "fix", "after"]);
    let (out, err) =
        (journal.text("out/0.out", "checking\n"), journal.text("out/0.err", "a\nerror: ``` no\x1b[2J\n"));
    let bad = Outcome { stdout: Some(out), stderr: Some(err), leaky: true, ..exit(3) };
    journal.start("lint", 1, What::Shell).attempt_ended("lint", 1, ends(AttemptEnd::Failed, Reason::Timeout));
    journal.run("lint", 2, What::Shell, bad);
    journal.expand("review", &["a|b"]);
    let text = journal.text("tasks/r/output.md", "Fine.");
    let denial = Denial {
        tool: "Bash".into(),
        call: "rm -rf / | `x`".into(),
        reason: DenialReason::NobodyToAsk,
        why: Some("`Bash(rm *)` asks".into()),
    };
    let tree = WorktreeOutcome {
        path: Some("/trees/my tree".into()),
        branch: Some("flow/20261130-075412-k3f9q2/review.5Ba.5D.1".into()),
        commit: Some("c0ffee".into()),
        base: Some("beef".into()),
        patch: Some("tasks/r/changes.patch".into()),
        merged: None,
        files_changed: 1,
        lacked: vec!["notes.txt".into()],
        uncommitted: 1,
        ..WorktreeOutcome::default()
    };
    let reviewed = Outcome { denials: vec![denial], worktree: Some(tree), ..said(text) };
    journal.run("review[a|b]", 1, What::Agent, reviewed).ended("review", TaskState::Completed, None);
    journal.run(
        "fix",
        1,
        What::Agent,
        Outcome::failed(Reason::MaxTurns, "200 turns; split into smaller *tasks*"),
    );
    journal.ended("after", TaskState::Blocked, Some(Reason::Upstream));
    journal.add(Event::RunEnded {
        status: RunStatus::Failed,
        exit: 1,
        outputs: Some(serde_json::json!({ "verdict": "```" })),
        message: Some("could not write `x`".into()),
    });
    insta::assert_snapshot!(journal.render("md"), @r"
    # audit: failed

    1 completed, 2 failed, 1 blocked · 19.0s · 1.0k tokens · exit code 1

    > could not write \`x\`

    [Failures](#failures) · [Blocked](#blocked) · [Refused calls](#refused-calls) · [Kept trees](#kept-trees) · [Left out](#left-out) · [Answers](#answers)

    ## Outputs

    **verdict**: \`\`\`

    ## Tasks

    | task | state | agent | model | tokens | time | what |
    |---|---|---|---|---:|---:|---|
    | `lint` | **failed**: exit code 3, 2 attempts |  |  |  | 1.7s | do lint |
    | `review` | 1 completed | coder | m-1 | 1.0k | 2.5s |  |
    | `fix` | **failed**: max_turns | coder | m-1 |  | 0ms | do fix |
    | `after` | blocked |  |  |  |  |  |

    <details><summary><code>review</code>: 1 instance</summary>

    | task | state | agent | model | tokens | time | what |
    |---|---|---|---|---:|---:|---|
    | `review[a\|b]` | completed | coder | m-1 | 1.0k | 2.5s | do review\[a\|b] |

    </details>

    ## Failures

    ### `lint`: exit code 3

    - attempt 1: timeout after 500ms
    - attempt 2: exit code 3 after 1.2s

    End of standard output:

    ```text
    checking
    ```

    End of standard error:

    ````text
    a
    error: ``` no\u{1b}[2J
    ````

    Processes had left their group and were ended.

    ### `fix`: max_turns

    200 turns; split into smaller \*tasks\*

    ## Blocked

    - `after`

    ## Refused calls

    - `review[a|b]`: `Bash` `` rm -rf / | `x` `` (\`Bash(rm \*)\` asks)

    ## Kept trees

    `review[a|b]`, attempt 1: 1 file changed, commit `c0ffee`

    ```sh
    git diff beef...flow/20261130-075412-k3f9q2/review.5Ba.5D.1
    git merge flow/20261130-075412-k3f9q2/review.5Ba.5D.1
    git -C '/trees/my tree' status
    git apply /runs/r/tasks/r/changes.patch
    ```

    ## Left out

    - uncommitted: 1 of the checkout, not in the tree of `review[a|b]`: `notes.txt`

    ## Answers

    <details><summary><code>review[a|b]</code></summary>

    Fine.

    </details>

    ## Run

    - run `20261130-075412-k3f9q2`, flow 0.1.0
    - plan `plan.yaml` in `/repo`
    - folder `/runs/r`
    - input `target`: `src`

    | agent | model | source | definition | BLAKE3 |
    |---|---|---|---|---|
    | `coder` | `m-1` | project | `.flow/agents/coder.md` | `9f86d081` |
    ");
}

#[test]
fn a_run_as_its_reviewer_reads_it() {
    let mut journal = Journal::of(&["list", "lint", "types", "package", "audit", "verdict"]);
    journal.edges(&[(0, 4, EdgeKind::Success), (2, 3, EdgeKind::Success), (4, 5, EdgeKind::Done)]);
    journal.run("list", 1, What::Shell, exit(0));
    let error = journal.text("out/0.err", "found 1 error\n");
    journal.start("lint", 1, What::Shell).attempt_ended(
        "lint",
        1,
        Outcome { stderr: Some(error), ..exit(1) },
    );
    journal.add(Event::TaskEnded {
        task: "lint".into(),
        state: TaskState::Failed,
        reason: Some(Reason::ExitCode),
        message: Some("exit code 1".into()),
        allowed: true,
    });
    let error = journal.text("out/1.err", "src/a.py:3: error: Incompatible types <None> & *x* >&2\n");
    journal.run("types", 1, What::Shell, Outcome { stderr: Some(error), ..exit(2) });
    journal.add(Event::TaskEnded {
        task: "package".into(),
        state: TaskState::Blocked,
        reason: Some(Reason::Upstream),
        message: Some("blocked by types (exit code 2)".into()),
        allowed: false,
    });
    journal.expand("audit", &["auth", "cookies", "hooks"]);
    let cached = Usage { cache_read_tokens: 120_000, ..usage(3, 1000) };
    for key in ["audit[auth]", "audit[cookies]"] {
        let text = journal.text("tasks/r/output.md", "**Fine.**\nReally.");
        journal.run(key, 1, What::Agent, Outcome { usage: Some(cached.clone()), ..said(text) });
    }
    journal.run("audit[hooks]", 1, What::Agent, Outcome::failed(Reason::MaxTurns, "200 turns"));
    journal.add(Event::TaskEnded {
        task: "audit".into(),
        state: TaskState::Failed,
        reason: Some(Reason::Upstream),
        message: Some("1 of 3 failed".into()),
        allowed: false,
    });
    let text = journal.text("tasks/v/output.md", "BLOCK");
    journal.run("verdict", 1, What::Agent, said(text)).finish(RunStatus::Failed, 1);
    insta::assert_snapshot!(journal.render("md"), @r#"
    # audit: failed

    4 completed, 2 failed, 1 allowed failure, 1 blocked · 32.0s · 3.1k tokens + 240k cached · exit code 1

    [Failures](#failures) · [Allowed failures](#allowed-failures) · [Blocked](#blocked) · [Answers](#answers) · [Graph](#graph)

    ## Results

    **verdict**

    BLOCK

    ## Tasks

    | task | state | agent | model | tokens | cached | time | what |
    |---|---|---|---|---:|---:|---:|---|
    | `list` | completed |  |  |  |  | 1.2s | do list |
    | `lint` | failed, allowed: exit code 1 |  |  |  |  | 1.2s | do lint |
    | `types` | **failed**: exit code 2 |  |  |  |  | 1.2s | do types |
    | `package` | blocked by types (exit code 2) |  |  |  |  |  |  |
    | `audit` | **failed**: 2 completed, 1 failed | coder | m-1 | 2.0k | 240k | 5.0s |  |
    | `verdict` | completed | coder | m-1 | 1.0k | 0 | 2.5s | do verdict |

    <details><summary><code>audit</code>: 3 instances</summary>

    | task | state | agent | model | tokens | cached | time | what |
    |---|---|---|---|---:|---:|---:|---|
    | `audit[auth]` | completed | coder | m-1 | 1.0k | 120k | 2.5s | do audit\[auth] |
    | `audit[cookies]` | completed | coder | m-1 | 1.0k | 120k | 2.5s | do audit\[cookies] |
    | `audit[hooks]` | **failed**: max_turns | coder | m-1 |  |  | 0ms | do audit\[hooks] |

    </details>

    ## Failures

    ### `types`: exit code 2

    End of standard error:

    ```text
    src/a.py:3: error: Incompatible types <None> & *x* >&2
    ```

    ### `audit[hooks]`: max_turns

    200 turns

    ## Allowed failures

    ### `lint`: exit code 1

    End of standard error:

    ```text
    found 1 error
    ```

    ## Blocked

    - `package`: by types (exit code 2)

    ## Answers

    <details><summary><code>audit[auth]</code></summary>

    > **Fine.**  
    > Really.

    </details>

    <details><summary><code>audit[cookies]</code></summary>

    > **Fine.**  
    > Really.

    </details>

    ## Graph

    ```mermaid
    flowchart TD
      t0["list"]:::completed
      t1["lint"]:::odd
      t2["types"]:::failed
      t3["package"]:::idle
      t4["audit ×3"]:::failed
      t5["verdict"]:::completed
      t2 --> t3
      t0 --> t4
      t4 -. done .-> t5
      classDef completed fill:#dafbe1,stroke:#1a7f37,color:#1f2328
      classDef failed fill:#ffebe9,stroke:#cf222e,color:#1f2328
      classDef odd fill:#fff8c5,stroke:#9a6700,color:#1f2328
      classDef idle fill:#f6f8fa,stroke:#818b98,color:#59636e,stroke-dasharray:4 3
    ```

    ## Run

    - run `20261130-075412-k3f9q2`, flow 0.1.0
    - plan `plan.yaml` in `/repo`
    - folder `/runs/r`
    - input `target`: `src`

    | agent | model | source | definition | BLAKE3 |
    |---|---|---|---|---|
    | `coder` | `m-1` | project | `.flow/agents/coder.md` | `9f86d081` |
    "#);
}

#[test]
fn a_page_with_a_limit_leaves_whole_sections_out() {
    let mut journal = Journal::of(&["a"]);
    let error = journal.text("out/0.err", &format!("```{}\n", "x".repeat(200)).repeat(50));
    journal.run("a", 1, What::Shell, Outcome { stderr: Some(error), ..exit(1) }).finish(RunStatus::Failed, 1);
    let page = super::page_within(&journal.report(), &journal, 2000);
    assert!(page.len() <= 2000 && page.ends_with("Too long for this page: Failures.\n"), "{page}");
    assert!(page.contains("## Run") && !page.contains("```"), "{page}");
}

#[test]
fn an_empty_plan_has_no_table() {
    let mut journal = Journal::of(&[]);
    journal.finish(RunStatus::Completed, 0);
    insta::assert_snapshot!(journal.render("md"), @r"
    # audit: completed

    no tasks · 1.0s · exit code 0

    ## Run

    - run `20261130-075412-k3f9q2`, flow 0.1.0
    - plan `plan.yaml` in `/repo`
    - folder `/runs/r`
    - input `target`: `src`
    ");
}

#[test]
fn merges_say_what_was_written_and_which_sides_did_not_fit() {
    let merged = |files: &[&str], commits: &[&str], conflicts| MergeOutcome {
        how: Merge::Squash,
        files: files.iter().map(|&file| file.to_owned()).collect(),
        commits: commits.iter().map(|&commit| commit.to_owned()).collect(),
        conflicts,
        moved: None,
    };
    let conflict = |path: &str, kind, other: Option<&str>| MergeConflict {
        path: path.to_owned(),
        kind,
        other: other.map(Into::into),
    };
    let conflicts = vec![
        conflict("a.txt", ConflictKind::Changed, Some("one")),
        conflict("b.txt", ConflictKind::Content, None),
    ];
    let mut journal = Journal::of(&["one", "two"]);
    for (task, merged) in
        [("one", merged(&["a.txt"], &["c0ffee"], vec![])), ("two", merged(&[], &[], conflicts))]
    {
        let tree = WorktreeOutcome {
            path: None,
            branch: None,
            commit: None,
            base: Some("beef".into()),
            patch: None,
            merged: Some(merged),
            files_changed: 1,
            ..WorktreeOutcome::default()
        };
        journal.run(task, 1, What::Shell, Outcome { worktree: Some(tree), ..exit(0) });
    }
    let report = journal.render("md");
    let merges = report.split("## Merges\n\n").nth(1).unwrap().split("\n## ").next().unwrap();
    insta::assert_snapshot!(merges, @r"
    - `one`, attempt 1: `merge: squash` wrote 1 file as `c0ffee`
    - `two`, attempt 1: `merge: squash` was refused, nothing was written:
      - `a.txt` is not what the task began with, by `one`
      - `b.txt` was changed on the enclosing branch too
    ");
}

#[test]
fn what_trees_lacked_and_left_is_said_once_for_all_that_are_alike() {
    let mut journal = Journal::of(&["a", "b", "c"]);
    for (task, ignored, undelivered) in
        [("a", 0, vec![]), ("b", 3, vec![]), ("c", 1, vec!["nested/".to_owned()])]
    {
        let tree = WorktreeOutcome {
            path: (!undelivered.is_empty()).then(|| "/trees/c".to_owned()),
            lacked: vec![".claude/".into(), "fix.yaml".into()],
            uncommitted: 2,
            ignored,
            undelivered,
            ..WorktreeOutcome::default()
        };
        journal.run(task, 1, What::Shell, Outcome { worktree: Some(tree), ..exit(0) });
    }
    let report = journal.render("md");
    let said = report.split("## Left out\n\n").nth(1).unwrap().split("\n## ").next().unwrap();
    insta::assert_snapshot!(said, @r"
    - uncommitted: 2 of the checkout, not in the tree of `a`, `b`, `c`: `.claude/`, `fix.yaml`
    - ignored: files that git ignores, left behind: 3 by `b`, 1 by `c`
    - not delivered: `nested/` of `c`, a repository of its own, which no commit can hold; it is in `/trees/c`
    ");
}

#[test]
fn a_merge_for_which_the_checkout_was_elsewhere_says_so() {
    let merged = MergeOutcome {
        how: Merge::Squash,
        files: vec![],
        commits: vec![],
        conflicts: vec![],
        moved: Some(Moved { from: "main".into(), to: "elsewhere".into() }),
    };
    let tree = WorktreeOutcome { merged: Some(merged), ..WorktreeOutcome::default() };
    let mut journal = Journal::of(&["t"]);
    journal.run("t", 1, What::Shell, Outcome { worktree: Some(tree), ..exit(0) });
    let report = journal.render("md");
    let said = report.split("## Merges\n\n").nth(1).unwrap().split("\n## ").next().unwrap();
    insta::assert_snapshot!(said, @r"
    - `t`, attempt 1: `merge: squash` was refused, nothing was written:
      - the checkout is on `elsewhere`, and the run began on `main`
    ");
}
