//! What a journal adds up to.

use super::super::testing::{Journal, What, ends, exit, said, usage};
use super::super::{Fold, RunReport, TaskReport};
use crate::event::Event;
use crate::graph::EdgeKind;
use crate::ids::{Address, Attempt, Millis};
use crate::model::{
    AttemptEnd, Counts, Denial, DenialReason, Outcome, OutputSlice, Reason, RunStatus, TaskState,
    WorktreeOutcome,
};

/// Addresses and states, in the report's order.
fn tasks(report: &RunReport) -> String {
    let one = |task: &TaskReport| format!("{}={}", task.address, task.state.as_str());
    report.tasks.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_journal_without_a_beginning_is_no_run() {
    assert_eq!(RunReport::fold(&[]), None);
}

#[test]
fn the_head_is_what_the_run_was_started_with() {
    let mut journal = Journal::of(&[]);
    let outputs = Some(serde_json::json!({ "verdict": "pass" }));
    journal.add(Event::RunEnded {
        status: RunStatus::Completed,
        exit: 0,
        outputs: outputs.clone(),
        message: Some("m".into()),
    });
    let report = journal.report();
    assert_eq!(
        (report.plan.as_str(), report.path.as_str(), report.root.as_str()),
        ("audit", "plan.yaml", "/repo")
    );
    assert_eq!((report.status, report.exit, report.outputs), (RunStatus::Completed, Some(0), outputs));
    assert_eq!((report.started, report.ended, report.duration_ms), (Millis(0), Some(Millis(1000)), 1000));
    assert_eq!((report.epoch, report.message.as_deref()), (1, Some("m")));
}

#[test]
fn instances_stand_in_item_order_after_their_parent() {
    let mut journal = Journal::of(&["m", "z"]);
    journal.expand("m", &["b", "a"]).run("m[a]", 1, What::Shell, exit(0)).start("z", 1, What::Shell);
    let report = journal.report();
    assert_eq!(tasks(&report), "m=running m[b]=created m[a]=completed z=running");
    assert_eq!(report.tasks[1].parent.as_ref(), Some(&report.tasks[0].address));
    assert_eq!(report.tasks[0].duration_ms, 1200);
}

#[test]
fn counts_are_of_instances_and_allowed_failures_stand_apart() {
    let mut journal = Journal::of(&["m", "a", "b", "c"]);
    journal.expand("m", &["x", "y"]).run("m[x]", 1, What::Shell, exit(0));
    journal.start("a", 1, What::Shell).attempt_ended("a", 1, exit(3)).add(Event::TaskEnded {
        task: "a".into(),
        state: TaskState::Failed,
        reason: Some(Reason::ExitCode),
        message: None,
        allowed: true,
    });
    journal.ended("b", TaskState::Blocked, Some(Reason::Upstream));
    let counts = journal.report().counts;
    let expected =
        Counts { total: 5, completed: 1, allowed_failures: 1, blocked: 1, waiting: 2, ..Counts::default() };
    assert_eq!(counts, expected);
    assert_eq!(counts.in_words(), "1 completed, 1 allowed failure, 1 blocked, 2 waiting");
    assert_eq!(Counts::default().in_words(), "no tasks");
}

#[test]
fn what_was_stopped_before_it_began_was_not_run_and_is_killed_for_programs() {
    let mut journal = Journal::of(&["a", "b", "c"]);
    journal.start("a", 1, What::Shell).attempt_ended(
        "a",
        1,
        Outcome::bare(AttemptEnd::Killed, Some(Reason::Cancelled), None),
    );
    for task in ["a", "b", "c"] {
        journal.ended(task, TaskState::Killed, Some(Reason::Cancelled));
    }
    let counts = journal.report().counts;
    assert_eq!(counts, Counts { total: 3, killed: 3, not_run: 2, ..Counts::default() });
    assert_eq!(counts.in_words(), "1 stopped, 2 not run");
    // Stopped again in an epoch in which it did not begin.
    journal.resumed(2, &[], &["a"]).ended("a", TaskState::Killed, Some(Reason::Cancelled));
    assert_eq!(journal.report().counts.not_run, 3);
}

#[test]
fn both_attempts_of_a_retried_task_are_listed_with_their_reasons() {
    let mut journal = Journal::of(&["t"]);
    journal.start("t", 1, What::Shell).attempt_ended("t", 1, ends(AttemptEnd::Failed, Reason::Timeout));
    assert_eq!(journal.report().tasks[0].state, TaskState::Running);
    journal.add(Event::TaskRetry { task: "t".into(), attempt: crate::ids::Attempt(2), due: Millis(9) });
    assert_eq!(journal.report().tasks[0].state, TaskState::Created);
    journal.run("t", 2, What::Shell, exit(0));
    let task = &journal.report().tasks[0];
    let attempts: Vec<_> =
        task.attempts.iter().map(|one| (one.attempt.0, one.launch, one.end, one.reason)).collect();
    let failed = (1, 1, Some(AttemptEnd::Failed), Some(Reason::Timeout));
    assert_eq!(attempts, [failed, (2, 1, Some(AttemptEnd::Completed), None)]);
    assert_eq!(
        (task.state, task.reason, task.exit_code, task.duration_ms),
        (TaskState::Completed, None, Some(0), 1700)
    );
}

#[test]
fn usage_denials_and_leaks_add_up_over_attempts() {
    let mut journal = Journal::of(&["t", "u"]);
    let denial = Denial { tool: "Bash".into(), call: "rm x".into(), reason: DenialReason::Rule, why: None };
    let first = Outcome {
        usage: Some(usage(1, 10)),
        denials: vec![denial.clone()],
        leaky: true,
        ..ends(AttemptEnd::Failed, Reason::Overloaded)
    };
    let slice = journal.text("o", "x");
    journal.start("t", 1, What::Agent).attempt_ended("t", 1, first).run("t", 2, What::Agent, said(slice));
    let report = journal.report();
    let task = &report.tasks[0];
    assert_eq!(task.usage.as_ref().map(|usage| (usage.turns, usage.input_tokens)), Some((4, 1010)));
    assert_eq!((task.denials.as_slice(), task.leaky), ([denial].as_slice(), true));
    assert_eq!(task.agent.as_ref().map(|agent| agent.hash.as_str()), Some("9f86d081"));
    assert_eq!((report.total_tokens, report.usage.turns), (1090, 4));
}

#[test]
fn the_message_of_an_attempt_stands_unless_the_task_says_its_own() {
    let mut journal = Journal::of(&["t", "u"]);
    journal.run("t", 1, What::Shell, Outcome::failed(Reason::Spawn, "no such file"));
    journal.start("u", 1, What::Shell).attempt_ended("u", 1, exit(1)).add(Event::TaskEnded {
        task: "u".into(),
        state: TaskState::Failed,
        reason: Some(Reason::Expression),
        message: Some("own".into()),
        allowed: false,
    });
    let messages: Vec<_> = journal.report().tasks.into_iter().map(|task| task.message).collect();
    assert_eq!(messages, [Some("no such file".to_owned()), Some("own".to_owned())]);
}

#[test]
fn a_resume_begins_anew_what_it_resets_and_keeps_the_attempts() {
    let mut journal = Journal::of(&["a", "b", "m"]);
    journal.run("a", 1, What::Shell, exit(1)).ended("b", TaskState::Blocked, Some(Reason::Upstream));
    journal.expand("m", &["x", "y"]).run("m[x]", 1, What::Shell, exit(0)).run(
        "m[y]",
        1,
        What::Shell,
        exit(1),
    );
    journal.ended("m", TaskState::Failed, Some(Reason::ExitCode)).finish(RunStatus::Failed, 1);
    journal.resumed(2, &[], &["a", "b", "m[y]"]);
    let report = journal.report();
    assert_eq!(tasks(&report), "a=created b=created m=running m[x]=completed m[y]=created");
    assert_eq!((report.status, report.exit, report.ended, report.epoch), (RunStatus::Running, None, None, 2));
    assert_eq!(
        (report.tasks[0].reason, report.tasks[0].exit_code, report.tasks[2].reason),
        (None, None, None)
    );
    journal.run("a", 2, What::Shell, exit(0));
    let task = &journal.report().tasks[0];
    assert_eq!((task.attempts.len(), task.launches.len(), task.attempts[1].launch), (2, 2, 2));
    assert_eq!((task.launches[0].state, task.launches[0].epoch), (Some(TaskState::Failed), 1));
    assert_eq!((task.launches[1].state, task.launches[1].epoch), (Some(TaskState::Completed), 2));
}

#[test]
fn an_expansion_that_is_made_again_takes_its_instances_along_and_drops_the_others() {
    let mut journal = Journal::of(&["m"]);
    journal.expand("m", &["x", "y", "z"]).run("m[x]", 1, What::Shell, exit(0)).run(
        "m[y]",
        1,
        What::Shell,
        exit(0),
    );
    journal.resumed(2, &[], &["m"]);
    assert_eq!(tasks(&journal.report()), "m=created");
    journal.expand("m", &["y", "w"]);
    let report = journal.report();
    assert_eq!(tasks(&report), "m=running m[y]=created m[w]=created");
    assert_eq!(report.tasks[1].attempts.len(), 1);
    let dropped: Vec<&str> = report.dropped.iter().map(|task| task.address.as_str()).collect();
    assert_eq!(dropped, ["m[x]"]);
    let mut fold = Fold::default();
    journal.entries.iter().for_each(|entry| fold.take(entry));
    let rows: Vec<&str> = fold.plan_rows().map(|task| task.address.as_str()).collect();
    assert_eq!(rows, ["m", "m[y]", "m[w]"], "what is dropped counts no more");
}

#[test]
fn every_launch_ends_even_when_a_resume_takes_its_expansion_away() {
    let mut journal = Journal::of(&["m"]);
    journal.expand("m", &["x"]).start("m[x]", 1, What::Shell).attempt_ended("m[x]", 1, exit(1));
    journal.add(Event::TaskRetry { task: "m[x]".into(), attempt: crate::ids::Attempt(2), due: Millis(99) });
    journal.resumed(2, &[], &["m"]).expand("m", &[]);
    assert_eq!(journal.report().dropped[0].launches[0].state, Some(TaskState::Failed));
}

#[test]
fn a_launch_that_a_resume_ends_is_a_kill_where_somebody_stopped_it() {
    let state_after = |outcome: Outcome| {
        let mut journal = Journal::of(&["a"]);
        journal.start("a", 1, What::Shell).attempt_ended("a", 1, outcome).resumed(2, &[], &["a"]);
        journal.report().tasks[0].launches[0].state
    };
    assert_eq!(state_after(ends(AttemptEnd::Failed, Reason::Cancelled)), Some(TaskState::Killed));
    assert_eq!(state_after(ends(AttemptEnd::Killed, Reason::Timeout)), Some(TaskState::Failed));
}

#[test]
fn time_between_epochs_is_not_counted() {
    let mut journal = Journal::of(&["a"]);
    journal.run("a", 1, What::Shell, exit(1)).finish(RunStatus::Failed, 1);
    let before = journal.report().duration_ms;
    journal.resumed(2, &[], &["a"]);
    journal.entries.last_mut().unwrap().at = Millis(1_000_000);
    journal.run("a", 2, What::Shell, exit(0)).finish(RunStatus::Completed, 0);
    for (at, entry) in journal.entries.iter_mut().skip_while(|entry| entry.at < Millis(1_000_000)).enumerate()
    {
        entry.at = Millis(1_000_000 + at as u64 * 1000);
    }
    assert_eq!(journal.report().duration_ms, before + 5000);
}

#[test]
fn without_an_owner_what_was_under_way_is_lost() {
    let mut journal = Journal::of(&["a", "b", "m", "n"]);
    journal.start("a", 1, What::Shell).expand("m", &["x"]).start("m[x]", 1, What::Shell).expand("n", &["x"]);
    let report = journal.report().without_owner();
    assert_eq!(report.status, RunStatus::Lost);
    assert_eq!(tasks(&report), "a=lost b=created m=lost m[x]=lost n=created n[x]=created");
    assert_eq!((report.counts.lost, report.counts.waiting), (2, 2));
    assert_eq!(report.tasks[0].attempts[0].end, Some(AttemptEnd::Lost));
    journal.finish(RunStatus::Failed, 1);
    assert_eq!(journal.report().without_owner(), journal.report());
}

#[test]
fn failures_are_of_instances_and_leave_out_what_is_allowed_or_blocked() {
    let mut journal = Journal::of(&["m", "b", "e"]);
    journal.expand("m", &["x"]).run("m[x]", 1, What::Shell, exit(1)).ended(
        "m",
        TaskState::Failed,
        Some(Reason::ExitCode),
    );
    journal.ended("b", TaskState::Blocked, Some(Reason::Upstream));
    journal.ended("e", TaskState::Failed, Some(Reason::Expression));
    let report = journal.report();
    let failures: Vec<&str> = report.failures().map(|task| task.address.as_str()).collect();
    assert_eq!(failures, ["m[x]", "e"]);
}

#[test]
fn a_fold_can_be_asked_at_any_time() {
    let mut journal = Journal::of(&["a"]);
    journal.run("a", 1, What::Shell, exit(0));
    let mut fold = super::Fold::default();
    for entry in &journal.entries {
        fold.take(entry);
        assert!(fold.report().is_some());
    }
    assert_eq!(fold.report(), Some(journal.report()));
    assert_eq!(fold.task(&"a".into()).map(|task| task.state), Some(TaskState::Completed));
}

/// Whatever happens to a run, after every event its report and its scheduler say the same, and every launch that has
/// ended has one notification.
#[test]
fn report_and_scheduler_agree_over_random_runs() {
    for seed in 0..150 {
        let (specs, limits, entries) = crate::schedule::played(seed);
        let mut scheduler = crate::schedule::Scheduler::new(specs, limits);
        let mut fold = super::Fold::default();
        for entry in &entries {
            scheduler.apply(&entry.event, entry.at);
            fold.take(entry);
            let report = fold.report().unwrap();
            for task in report.tasks.iter().chain(&report.children) {
                let view = scheduler.node(scheduler.find(&task.address).unwrap());
                let known = (view.state, view.reason, view.allowed, view.attempts as usize);
                let attempts = task.attempts.last().map_or(0, |attempt| attempt.attempt.0 as usize);
                assert_eq!(
                    (task.state, task.reason, task.allowed, attempts),
                    known,
                    "{seed}: {}",
                    task.address
                );
            }
            assert_eq!(report.counts, scheduler.counts(), "{seed}");
        }
        let mut journal = Journal::default();
        journal.entries = entries;
        let report = journal.report();
        let launches: Vec<_> = report.rows().flat_map(|task| &task.launches).collect();
        assert!(launches.iter().all(|launch| launch.state.is_some()), "{seed}: a launch without an end");
        let told = journal.render("notifications").matches("<task-notification>").count();
        assert_eq!(told, launches.len(), "{seed}");
    }
}

#[test]
fn what_became_many_took_as_long_as_one_of_it_was_at_work() {
    let mut journal = Journal::of(&["many"]);
    // Each event is a second after the last: they begin at 2 s and 4 s, and take 2.5 s and 4 s.
    let took = |duration_ms| Outcome { duration_ms, ..exit(0) };
    journal.expand("many", &["a", "b"]).start("many[a]", 1, What::Shell).start("many[b]", 1, What::Shell);
    journal.attempt_ended("many[a]", 1, took(2500)).attempt_ended("many[b]", 1, took(4000));
    let report = journal.report();
    assert_eq!((report.tasks[0].wall_ms, report.tasks[0].duration_ms), (Some(6000), 6500));
    assert_eq!(report.tasks[1].wall_ms, None);
}

#[test]
fn what_is_blocked_knows_by_whom() {
    let mut journal = Journal::of(&["a", "b", "c", "d"]);
    journal.edges(&[(0, 2, EdgeKind::Success), (1, 2, EdgeKind::Done), (2, 3, EdgeKind::Success)]);
    journal.run("a", 1, What::Shell, exit(1)).run("b", 1, What::Shell, exit(1));
    journal.ended("c", TaskState::Blocked, Some(Reason::Upstream));
    journal.ended("d", TaskState::Blocked, Some(Reason::Upstream));
    let report = journal.report();
    let by: Vec<Vec<&str>> =
        report.tasks.iter().map(|task| task.blocked_by.iter().map(Address::as_str).collect()).collect();
    assert_eq!(by, [vec![], vec![], vec!["a"], vec!["c"]]);
    let needs: Vec<(&str, &str)> =
        report.tasks[2].needs.iter().map(|need| (need.task.as_str(), need.on.as_str())).collect();
    assert_eq!(needs, [("a", ""), ("b", "done")]);
}

#[test]
fn what_an_agent_starts_is_a_row_beside_the_tasks() {
    let mut journal = Journal::of(&["lead"]);
    journal.start("lead", 1, What::Agent);
    for event in crate::schedule::child_started("lead", "b0000000000000001") {
        journal.add(event);
    }
    let child = "lead/@b0000000000000001";
    journal.attempt_ended(child, 1, exit(3)).ended(child, TaskState::Failed, Some(Reason::ExitCode));
    journal.attempt_ended("lead", 1, exit(0)).ended("lead", TaskState::Completed, None);
    let report = journal.report();
    assert_eq!((report.tasks.len(), report.counts.total, report.failures().count()), (1, 1, 0));
    let row = &report.children[0];
    let by = row.by.as_deref().map(|by| (by.task.as_str(), by.attempt.0));
    assert_eq!((row.address.as_str(), row.state, by), (child, TaskState::Failed, Some(("lead", 1))));
    assert_eq!((row.background, row.description.as_deref()), (true, Some("d")));
}

fn made(task: &str, attempt: u32) -> Event {
    let name = format!("flow/r/{task}.{attempt}");
    Event::WorktreeMade {
        task: task.into(),
        attempt: Attempt(attempt),
        path: format!("/trees/{task}.{attempt}"),
        branch: Some(name),
        base: Some("0f5c".into()),
    }
}

fn open_trees(journal: &Journal) -> String {
    let mut fold = Fold::default();
    journal.entries.iter().for_each(|entry| fold.take(entry));
    let open = fold.open_trees().into_iter().map(|(task, attempt, tree)| {
        let base = tree.branch.as_ref().map_or("", |branch| &branch.base);
        format!("{} {} {} {base}", task.address, attempt.attempt, tree.path)
    });
    open.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_tree_is_open_from_its_making_to_its_end_whatever_becomes_of_its_task() {
    let mut journal = Journal::of(&["a", "b"]);
    journal.add(Event::AttemptStarting { task: "b".into(), attempt: Attempt(1), slot: Some(0) });
    journal.add(Event::AttemptStarting { task: "a".into(), attempt: Attempt(1), slot: Some(1) });
    journal.add(made("b", 1)).add(made("a", 1));
    assert_eq!(open_trees(&journal), "b 1 /trees/b.1 0f5c, a 1 /trees/a.1 0f5c");
    // The next engine tries again; it has not settled the tree of the first yet.
    journal.resumed(2, &["a", "b"], &[]);
    journal.add(Event::AttemptStarting { task: "a".into(), attempt: Attempt(2), slot: Some(0) });
    journal.add(made("a", 2));
    let ended = |task: &str, attempt| Event::WorktreeEnded {
        task: task.into(),
        attempt: Attempt(attempt),
        kept: true,
        commit: None,
    };
    journal.add(ended("a", 1));
    assert_eq!(open_trees(&journal), "b 1 /trees/b.1 0f5c, a 2 /trees/a.2 0f5c");
    journal.add(ended("a", 2)).add(ended("b", 1));
    assert_eq!(open_trees(&journal), "");
}

#[test]
fn the_tree_of_an_instance_that_was_dropped_is_open_all_the_same() {
    let mut journal = Journal::of(&["e"]);
    journal.expand("e", &["x"]);
    journal.add(Event::AttemptStarting { task: "e[x]".into(), attempt: Attempt(1), slot: Some(0) });
    journal.add(made("e[x]", 1)).resumed(2, &[], &["e"]).expand("e", &["y"]);
    assert_eq!(open_trees(&journal), "e[x] 1 /trees/e[x].1 0f5c");
}

#[test]
fn commands_live_until_they_end_or_another_engine_goes_on() {
    let mut journal = Journal::of(&["a", "b", "c", "d"]);
    journal.start("a", 1, What::Shell).start("b", 1, What::Agent);
    journal.add(Event::AttemptStarting { task: "c".into(), attempt: Attempt(1), slot: Some(0) });
    journal.start("d", 1, What::Shell);
    let live = |journal: &Journal| {
        let mut fold = Fold::default();
        journal.entries.iter().for_each(|entry| fold.take(entry));
        fold.live_commands().map(|(task, _)| task.address.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(live(&journal), "a d");
    journal.attempt_ended("a", 1, exit(0));
    assert_eq!(live(&journal), "d");
    journal.resumed(2, &["b", "c", "d"], &[]);
    assert_eq!(live(&journal), "");
}

#[test]
fn the_longest_slice_of_a_file_says_how_far_it_is_written() {
    let mut journal = Journal::of(&["a", "b"]);
    for (task, start, len) in [("a", 4, 6), ("b", 0, 4)] {
        let stdout = Some(OutputSlice::new("out/0.out", start, len));
        journal.run(task, 1, What::Shell, Outcome { stdout, ..exit(0) });
    }
    let mut fold = Fold::default();
    journal.entries.iter().for_each(|entry| fold.take(entry));
    assert_eq!(fold.written().into_iter().collect::<Vec<_>>(), [("out/0.out", 10)]);
}

#[test]
fn a_tree_in_which_a_later_attempt_went_on_is_kept_for_nobody() {
    let kept = |path: Option<&str>| Outcome {
        worktree: path
            .map(|path| WorktreeOutcome { path: Some(path.to_owned()), ..WorktreeOutcome::default() }),
        ..ends(AttemptEnd::Killed, Reason::Cancelled)
    };
    let same = |attempt| {
        let Event::WorktreeMade { task, path, branch, base, .. } = made("t", 1) else { unreachable!() };
        Event::WorktreeMade { task, attempt: Attempt(attempt), path, branch, base }
    };
    let mut journal = Journal::of(&["t"]);
    journal.start("t", 1, What::Agent).add(made("t", 1)).attempt_ended("t", 1, kept(Some("/trees/t.1")));
    let trees = |journal: &Journal| {
        let report = journal.report();
        report.kept_trees().map(|(_, attempt, _)| attempt.attempt.to_string()).collect::<String>()
    };
    assert_eq!(trees(&journal), "1");
    journal.start("t", 2, What::Agent).add(same(2));
    assert_eq!(trees(&journal), "");
    journal.attempt_ended("t", 2, kept(Some("/trees/t.1")));
    assert_eq!(trees(&journal), "2");
    journal.start("t", 3, What::Agent).add(same(3)).attempt_ended("t", 3, kept(None));
    assert_eq!(trees(&journal), "");
}
