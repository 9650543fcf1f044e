use super::super::testing::{Journal, What, ends, exit, said};
use crate::event::Event;
use crate::model::{
    AttemptEnd, ConflictKind, Denial, DenialReason, Merge, MergeConflict, MergeOutcome, Outcome, Reason,
    RunStatus, TaskState, WorktreeOutcome,
};

#[test]
fn a_small_run_at_a_glance() {
    let mut journal = Journal::of(&["build", "test"]);
    journal.run("build", 1, What::Shell, exit(0)).run("test", 1, What::Shell, exit(0));
    journal.finish(RunStatus::Completed, 0);
    insta::assert_snapshot!(journal.render("md"), @r##"
        # audit: completed

        2 completed · 9.0s · run `20261130-075412-k3f9q2` · `plan.yaml` · exit code 0

        | task | state | attempts | time | what |
        |---|---|---:|---:|---|
        | `build` | completed | 1 | 1.2s | do build |
        | `test` | completed | 1 | 1.2s | do test |
        "##);
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
        why: None,
    };
    let tree = WorktreeOutcome {
        path: Some("/trees/my tree".into()),
        branch: Some("flow/20261130-075412-k3f9q2/review.5Ba.5D.1".into()),
        commit: Some("c0ffee".into()),
        base: "beef".into(),
        patch: Some("tasks/r/changes.patch".into()),
        merged: None,
        files_changed: 1,
        lacked: vec!["notes.txt".into()],
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
    insta::assert_snapshot!(journal.render("md"), @r##"
        # audit: failed

        1 completed, 2 failed, 1 blocked · 19.0s · run `20261130-075412-k3f9q2` · `plan.yaml` · exit code 1 · 3 turns, 1040 tokens

        > could not write \`x\`

        | task | state | attempts | time | what |
        |---|---|---:|---:|---|
        | `lint` | failed (exit_code) | 2 | 1.7s | do lint |
        | `review` | completed |  | 2.5s |  |
        | ↳ `review[a\|b]` | completed | 1 | 2.5s | do review\[a\|b\] |
        | `fix` | failed (max_turns) | 1 | 0ms | do fix |
        | `after` | blocked (upstream) |  |  |  |

        ## `lint` failed (exit_code)

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

        ## `fix` failed (max_turns)

        200 turns; split into smaller \*tasks\*

        attempt 1: max_turns after 0ms

        ## Kept trees

        `review[a|b]`, attempt 1: 1 file changed, commit `c0ffee`

        ```sh
        git diff beef...flow/20261130-075412-k3f9q2/review.5Ba.5D.1
        git merge flow/20261130-075412-k3f9q2/review.5Ba.5D.1
        git -C '/trees/my tree' status
        git apply /runs/r/tasks/r/changes.patch
        ```

        Not in the tree, since it was not committed: `notes.txt`.

        ## Refused calls

        - `review[a|b]`: `Bash` `` rm -rf / | `x` `` (nobody could be asked)

        ## Agents

        | agent | model | source | definition | BLAKE3 |
        |---|---|---|---|---|
        | `coder` | `m-1` | project | `.flow/agents/coder.md` | `9f86d081` |

        ## Outputs

        ````json
        {
          "verdict": "```"
        }
        ````
        "##);
}

#[test]
fn an_empty_plan_has_no_table() {
    let mut journal = Journal::of(&[]);
    journal.finish(RunStatus::Completed, 0);
    insta::assert_snapshot!(journal.render("md"), @r##"
        # audit: completed

        no tasks · 1.0s · run `20261130-075412-k3f9q2` · `plan.yaml` · exit code 0
        "##);
}

#[test]
fn merges_say_what_was_written_and_which_sides_did_not_fit() {
    let merged = |files: &[&str], commits: &[&str], conflicts| MergeOutcome {
        how: Merge::Squash,
        files: files.iter().map(|&file| file.to_owned()).collect(),
        commits: commits.iter().map(|&commit| commit.to_owned()).collect(),
        conflicts,
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
            base: "beef".into(),
            patch: None,
            merged: Some(merged),
            files_changed: 1,
            lacked: Vec::new(),
        };
        journal.run(task, 1, What::Shell, Outcome { worktree: Some(tree), ..exit(0) });
    }
    let report = journal.render("md");
    let merges = report.split("## Merges\n\n").nth(1).unwrap();
    insta::assert_snapshot!(merges, @r"
    - `one`, attempt 1: `merge: squash` wrote 1 file as `c0ffee`
    - `two`, attempt 1: `merge: squash` was refused, nothing was written:
      - `a.txt` is not what the task began with, by `one`
      - `b.txt` was changed on the enclosing branch too
    ");
}
