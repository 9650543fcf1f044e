//! One sentence a rule. `testing::Rig` plays a small plan; `says` are the effects of the last input, `are` the states.

use std::num::NonZeroU32;
use std::time::Duration;

use super::super::testing::{Rig, broke, done, keys, killed, limits, node, task};
use super::super::{Cancel, Input, Limits};
use crate::event::Event;
use crate::graph::EdgeKind;
use crate::ids::{Attempt, Millis, TaskId};
use crate::model::{AttemptEnd, Outcome, Reason, TaskState};

fn fail_fast(concurrency: u32) -> Limits {
    Limits { fail_fast: true, ..limits(concurrency) }
}

#[test]
fn a_plan_without_tasks_completes_at_once() {
    Rig::start(vec![], limits(1)).says("finish completed");
}

#[test]
fn a_chain_runs_one_after_the_other() {
    let mut rig = Rig::start(vec![task("a"), task("b").after("a")], limits(4));
    rig.says("launch a 1 in 0").done("a").says("launch b 1 in 0").done("b").says("finish completed");
}

#[test]
fn the_longest_path_goes_first_and_ties_go_by_manifest_order() {
    let drafts = vec![task("x"), task("y"), task("z"), task("a").after("z"), task("b").after("a")];
    let mut rig = Rig::start(drafts, limits(1));
    rig.says("launch z 1 in 0").done("z").says("launch a 1 in 0");
    // `b` is a sink like `x` and `y`, and comes after them in the manifest.
    rig.done("a").says("launch x 1 in 0").done("x").says("launch y 1 in 0").done("y").says("launch b 1 in 0");
}

#[test]
fn more_tasks_than_slots_wait_and_take_the_lowest_free_slot() {
    let mut rig = Rig::start(vec![task("a"), task("b"), task("c"), task("d")], limits(2));
    rig.says("launch a 1 in 0, launch b 1 in 1");
    rig.done("b").says("launch c 1 in 1").done("a").says("launch d 1 in 0");
}

#[test]
fn each_kind_of_edge_holds_for_its_states_and_no_others() {
    // Each task ends in one of the ways that a task can end; a row says which kinds of edges that satisfies.
    let ways: [(&str, [bool; 4]); 7] = [
        ("completed", [true, true, false, true]),
        ("failed", [false, false, true, true]),
        ("allowed", [true, false, true, true]),
        ("killed", [false, false, true, true]),
        ("lost", [false, false, true, true]),
        ("skipped", [true, false, false, true]),
        ("blocked", [false, false, false, true]),
    ];
    let kinds = [EdgeKind::Success, EdgeKind::Completed, EdgeKind::Failure, EdgeKind::Done];
    for (way, expected) in ways {
        for (kind, holds) in kinds.into_iter().zip(expected) {
            let mut up = task("up").needs("root", EdgeKind::Done);
            up = match way {
                "allowed" => up.allowed(),
                "skipped" => up.asks(),
                "blocked" => task("up").needs("root", EdgeKind::Failure),
                _ => up,
            };
            let mut rig = Rig::start(vec![task("root"), up, task("down").needs("up", kind)], limits(2));
            rig.done("root");
            match way {
                "completed" => rig.done("up"),
                "failed" | "allowed" => rig.fail("up"),
                "killed" => {
                    rig.input(Input::StopTask(node(1), Cancel::Gently)).end("up", killed(Reason::Cancelled))
                }
                "lost" => rig.end("up", Outcome::bare(AttemptEnd::Lost, None, None)),
                "skipped" => rig.yes("up", false),
                _ => rig.are("up=blocked(upstream)"),
            };
            let state = if holds { "down=starting" } else { "down=blocked(upstream)" };
            println!("{way} {kind:?}");
            rig.are(state);
        }
    }
}

#[test]
fn a_broken_edge_blocks_at_once_and_the_block_cascades() {
    let drafts = vec![task("a"), task("slow"), task("b").after("a").after("slow"), task("c").after("b")];
    let mut rig = Rig::start(drafts, limits(2));
    rig.fail("a").are("b=blocked(upstream) c=blocked(upstream) slow=starting");
    rig.done("slow").says("finish failed");
}

#[test]
fn who_is_blocked_is_told_by_whom_from_the_first_cause_on() {
    let blocked = |rig: &Rig, by: &str| {
        let last = rig.scheduler.node(rig.id("last"));
        assert_eq!((last.state, last.message), (TaskState::Blocked, Some(by)));
    };
    let exit_2 = Outcome { exit_code: Some(2), ..broke(Reason::ExitCode) };
    for (end, by) in [
        (exit_2, "blocked by a (exit code 2)"),
        (broke(Reason::Timeout), "blocked by a (timeout)"),
        (killed(Reason::Cancelled), "blocked by a (stopped)"),
    ] {
        let chain = vec![task("a"), task("b").after("a"), task("last").after("b")];
        let mut rig = Rig::start(chain, limits(1));
        blocked(rig.end("a", end), by);
    }
    let mut rig = Rig::start(vec![task("a"), task("last").needs("a", EdgeKind::Failure)], limits(1));
    blocked(rig.done("a"), "blocked by a (completed)");
    let mut rig = Rig::start(vec![task("a").expands(), task("last").after("a")], limits(3));
    rig.answer("a", keys(&["x", "y", "z"])).fail("a[x]").done("a[y]");
    blocked(rig.fail("a[z]"), "blocked by a (2 of 3 failed)");
}

#[test]
fn a_blocked_task_alone_does_not_fail_the_run() {
    let mut rig = Rig::start(vec![task("a"), task("b").needs("a", EdgeKind::Failure)], limits(1));
    rig.done("a").are("b=blocked(upstream)").says("finish completed");
}

#[test]
fn a_condition_is_asked_when_the_edges_hold_and_no_skips() {
    let mut rig = Rig::start(vec![task("a"), task("b").after("a").asks(), task("c").after("b")], limits(1));
    rig.says("launch a 1 in 0").done("a").says("ask b if");
    rig.yes("b", false)
        .are("b=skipped(condition)")
        .says("launch c 1 in 0")
        .done("c")
        .says("finish completed");
}

#[test]
fn always_runs_behind_what_a_skip_blocked() {
    let c = task("c").needs("b", EdgeKind::Completed);
    let d = task("d").needs("c", EdgeKind::Done).asks();
    let mut rig = Rig::start(vec![task("a"), task("b").after("a").asks(), c, d], limits(1));
    rig.done("a").yes("b", false).are("c=blocked(upstream)").says("ask d if");
    rig.yes("d", true).says("launch d 1 in 0").done("d").says("finish completed");
}

#[test]
fn a_condition_hears_of_failures_anywhere_before_it_but_not_of_allowed_ones() {
    for (a, heard) in [(task("a"), "ask c if (failed)"), (task("a").allowed(), "ask c if")] {
        let b = task("b").needs("a", EdgeKind::Done);
        let mut rig = Rig::start(vec![a, b, task("c").needs("b", EdgeKind::Done).asks()], limits(1));
        rig.fail("a").done("b").says(heard);
    }
}

#[test]
fn a_condition_hears_that_something_before_it_was_stopped() {
    let mut rig = Rig::start(vec![task("a"), task("b").needs("a", EdgeKind::Done).asks()], limits(1));
    rig.input(Input::StopTask(node(0), Cancel::Gently))
        .end("a", killed(Reason::Cancelled))
        .says("ask b if (failed, cancelled)");
}

#[test]
fn an_expression_that_fails_fails_the_task() {
    let mut rig = Rig::start(vec![task("a").asks(), task("b").expands()], limits(1));
    rig.answer("a", Err("no field `x`".into())).are("a=failed(expression)");
    rig.answer("b", Err("no list".into())).are("b=failed(expression)").says("finish failed");
    assert_eq!(rig.scheduler.node(node(0)).message, Some("no field `x`"));
}

#[test]
fn an_answer_that_fits_no_question_is_a_defect_of_flow() {
    let mut rig = Rig::start(vec![task("a").asks(), task("b").expands(), task("c").expands()], limits(1));
    rig.answer("a", keys(&[])).are("a=failed(internal)").yes("b", true).are("b=failed(internal)");
    rig.answer("c", keys(&["x", "x"])).are("c=failed(internal)");
}

#[test]
fn an_expanded_task_runs_its_instances_in_item_order_and_holds_no_slot() {
    let mut rig = Rig::start(vec![task("m").expands(), task("z").after("m")], limits(2));
    rig.says("ask m items").answer("m", keys(&["b", "a", "c"]));
    rig.says("launch m[b] 1 in 0, launch m[a] 1 in 1").are("m=running m[c]=created");
    rig.done("m[a]").says("launch m[c] 1 in 1").done("m[b]").says("");
    rig.done("m[c]").are("m=completed").says("launch z 1 in 0");
}

#[test]
fn an_empty_expansion_completes() {
    let mut rig = Rig::start(vec![task("m").expands(), task("z").after("m")], limits(2));
    rig.answer("m", keys(&[])).are("m=completed").says("launch z 1 in 0");
}

#[test]
fn a_condition_comes_before_the_expansion() {
    let mut rig = Rig::start(vec![task("m").expands().asks()], limits(2));
    rig.says("ask m if").yes("m", true).says("ask m items");
}

#[test]
fn a_condition_of_instances_is_asked_of_each_after_the_expansion() {
    let mut rig = Rig::start(vec![task("m").asks_each(), task("z").after("m")], limits(2));
    rig.says("ask m items").answer("m", keys(&["a", "b", "c"]));
    rig.says("ask m[a] if, ask m[b] if, ask m[c] if").are("m=running m[a]=created");
    rig.yes("m[b]", false).are("m[b]=skipped(condition) m=running").says("");
    rig.yes("m[c]", true).says("launch m[c] 1 in 0").yes("m[a]", true).says("launch m[a] 1 in 1");
    rig.done("m[a]").done("m[c]").are("m=completed").says("launch z 1 in 0");
}

#[test]
fn a_task_whose_instances_are_all_skipped_completes() {
    let z = task("z").needs("m", EdgeKind::Completed);
    let mut rig = Rig::start(vec![task("m").asks_each(), z], limits(2));
    rig.answer("m", keys(&["a", "b"])).yes("m[a]", false).yes("m[b]", false);
    rig.are("m[a]=skipped(condition) m[b]=skipped(condition) m=completed").says("launch z 1 in 0");
}

#[test]
fn the_condition_of_an_instance_hears_of_failures_before_its_parent() {
    let m = task("m").needs("a", EdgeKind::Done).asks_each();
    let mut rig = Rig::start(vec![task("a"), m], limits(2));
    rig.fail("a").says("ask m items").answer("m", keys(&["x"])).says("ask m[x] if (failed)");
}

#[test]
fn a_condition_that_fails_for_one_instance_fails_that_one() {
    let fail_fast = |spec: &mut super::NodeSpec| spec.fail_fast = true;
    for (m, other) in
        [(task("m").asks_each(), "created"), (task("m").asks_each().with(fail_fast), "killed(fail_fast)")]
    {
        let mut rig = Rig::start(vec![m], limits(2));
        rig.answer("m", keys(&["a", "b"])).answer("m[a]", Err("no field `risk`".into()));
        rig.are(&format!("m[a]=failed(expression) m[b]={other}"));
    }
}

#[test]
fn an_instance_that_is_stopped_before_its_answer_stays_stopped() {
    let mut rig = Rig::start(vec![task("m").asks_each()], limits(2));
    rig.answer("m", keys(&["a", "b"])).yes("m[a]", true).says("launch m[a] 1 in 0");
    rig.input(Input::Cancel(Cancel::Gently)).says("stop m[a] cancelled").are("m[b]=killed(cancelled)");
    rig.yes("m[b]", true).says("").end("m[a]", killed(Reason::Cancelled)).says("finish killed");
}

#[test]
fn an_expanded_task_fails_with_the_reason_of_the_first_failed_in_item_order() {
    let mut rig = Rig::start(vec![task("m").expands()], limits(3));
    rig.answer("m", keys(&["a", "b", "c"]))
        .end("m[c]", broke(Reason::Timeout))
        .end("m[b]", broke(Reason::Signal));
    rig.are("m=running").done("m[a]").are("m=failed(signal)").says("finish failed");
}

#[test]
fn an_instance_whose_failure_is_allowed_does_not_fail_the_run() {
    let mut rig = Rig::start(vec![task("m").expands().allowed()], limits(3));
    rig.answer("m", keys(&["a", "b"])).fail("m[a]").done("m[b]");
    rig.are("m[a]=failed(exit_code)! m=failed(exit_code)!").says("finish completed");
}

#[test]
fn max_parallel_bounds_the_instances_and_others_take_the_slots() {
    let m = task("m").expands().with(|spec| spec.max_parallel = NonZeroU32::new(1));
    let mut rig = Rig::start(vec![m, task("x").after("m"), task("y")], limits(3));
    rig.says("ask m items, launch y 1 in 0");
    rig.answer("m", keys(&["a", "b"])).says("launch m[a] 1 in 1");
    rig.done("m[a]").says("launch m[b] 1 in 1");
}

#[test]
fn a_full_pool_holds_up_its_own_tasks_and_nobody_else() {
    let pool = |spec: &mut super::NodeSpec| {
        spec.pool = Some(super::super::PoolSpec { number: 0, slots: NonZeroU32::MIN });
    };
    let m = task("m").expands().with(pool);
    let first = task("first").with(pool);
    // `long` is on the longest path, so it goes first as soon as the pool is free.
    let long = task("long").with(pool);
    let mut rig = Rig::start(vec![first, long, task("other"), m, task("end").after("long")], limits(9));
    rig.says("ask m items, launch long 1 in 0, launch other 1 in 1");
    rig.answer("m", keys(&["a", "b"])).says("").done("long").says("launch first 1 in 0, launch end 1 in 2");
    rig.done("first").says("launch m[a] 1 in 0").fail("m[a]").says("launch m[b] 1 in 0");
}

#[test]
fn an_attempt_that_waits_to_be_tried_again_holds_no_slot_of_its_pool() {
    let pool = |spec: &mut super::NodeSpec| {
        spec.pool = Some(super::super::PoolSpec { number: 3, slots: NonZeroU32::MIN });
    };
    let mut rig = Rig::start(vec![task("a").retries(1).with(pool), task("b").with(pool)], limits(9));
    rig.says("launch a 1 in 0").fail("a").says("launch b 1 in 0").tick(1000).says("");
    rig.done("b").says("launch a 2 in 0");
}

#[test]
fn the_first_failed_instance_of_a_fail_fast_group_stops_its_siblings() {
    let m = task("m").expands().with(|spec| spec.fail_fast = true);
    let mut rig = Rig::start(vec![m, task("other")], limits(3));
    rig.answer("m", keys(&["a", "b", "c", "d"])).are("m[b]=starting m[c]=created other=starting");
    rig.fail("m[a]").says("stop m[b] fail_fast").are("m[c]=killed(fail_fast) m[d]=killed(fail_fast)");
    rig.end("m[b]", killed(Reason::FailFast))
        .are("m[b]=killed(fail_fast) m=failed(exit_code) other=starting");
    rig.done("other").says("finish failed");
}

#[test]
fn an_allowed_failure_satisfies_success_and_not_completed_and_lets_the_run_succeed() {
    let drafts = vec![task("a").allowed(), task("b").after("a"), task("c").needs("a", EdgeKind::Completed)];
    let mut rig = Rig::start(drafts, limits(1));
    rig.fail("a")
        .are("a=failed(exit_code)! b=starting c=blocked(upstream)")
        .done("b")
        .says("finish completed");
    let counts = rig.scheduler.counts();
    assert_eq!((counts.allowed_failures, counts.failed, counts.completed, counts.blocked), (1, 0, 1, 1));
}

#[test]
fn a_failure_lets_everything_go_on_that_does_not_need_it() {
    let mut rig = Rig::start(vec![task("a"), task("b"), task("c").after("b")], limits(1));
    rig.says("launch b 1 in 0").done("b").says("launch a 1 in 0").fail("a").says("launch c 1 in 0");
    rig.done("c").says("finish failed");
}

#[test]
fn fail_fast_stops_the_run_at_the_first_failure_that_is_not_allowed() {
    let drafts = vec![task("a").allowed(), task("b"), task("c"), task("d"), task("e").after("b")];
    let mut rig = Rig::start(drafts, fail_fast(2));
    rig.fail("a").says("launch c 1 in 1").fail("b").says("stop c fail_fast");
    rig.are("d=killed(fail_fast) e=blocked(upstream)");
    rig.end("c", killed(Reason::FailFast)).are("c=killed(fail_fast)").says("finish failed");
}

#[test]
fn a_task_is_tried_again_after_its_delay_and_passes() {
    let mut rig = Rig::start(vec![task("t").retries(3), task("u").after("t")], limits(1));
    rig.fail("t").says("").are("t=created");
    assert_eq!(rig.scheduler.next_wake(), Some(Millis(1000)));
    rig.tick(999).says("").tick(1000).says("launch t 2 in 0");
    rig.done("t").says("launch u 1 in 0").done("u").says("finish completed");
    assert_eq!(rig.scheduler.node(node(0)).attempts, 2);
}

#[test]
fn retries_end_with_the_last_failure() {
    let mut rig = Rig::start(vec![task("t").retries(1)], limits(1));
    rig.fail("t").tick(1000).end("t", broke(Reason::Signal)).are("t=failed(signal)").says("finish failed");
}

#[test]
fn a_task_that_waits_for_its_retry_holds_no_slot() {
    let mut rig = Rig::start(vec![task("t").retries(1), task("u")], limits(1));
    rig.fail("t").says("launch u 1 in 0").tick(5000).says("").done("u").says("launch t 2 in 0");
}

#[test]
fn a_retry_condition_is_asked_with_the_attempt_that_failed() {
    let asks = |spec: &mut super::NodeSpec| spec.asks_retry = true;
    let mut rig = Rig::start(vec![task("t").retries(5).with(asks)], limits(1));
    rig.fail("t").says("ask t retry").are("t=running").yes("t", true).are("t=created").tick(1000);
    rig.says("launch t 2 in 0").fail("t").yes("t", false).are("t=failed(exit_code)").says("finish failed");
}

#[test]
fn an_instance_is_tried_again_and_its_siblings_are_not() {
    let mut rig = Rig::start(vec![task("m").expands().retries(1)], limits(2));
    rig.answer("m", keys(&["a", "b"])).fail("m[a]").done("m[b]").are("m=running");
    rig.tick(1000).says("launch m[a] 2 in 0").done("m[a]").are("m=completed");
}

#[test]
fn a_locked_git_is_tried_again_and_a_tree_that_can_not_be_made_is_not() {
    let mut rig = Rig::start(vec![task("t").retries(1)], limits(1));
    rig.end("t", broke(Reason::GitLocked)).are("t=created").tick(1000).says("launch t 2 in 0");
    let mut rig = Rig::start(vec![task("t").retries(1)], limits(1));
    rig.end("t", broke(Reason::Isolation)).are("t=failed(isolation)").says("finish failed");
}

#[test]
fn a_timeout_stops_the_attempt_and_the_next_one_has_a_clock_of_its_own() {
    let timeout = |spec: &mut super::NodeSpec| spec.timeout = Some(Duration::from_secs(10));
    let mut rig = Rig::start(vec![task("t").retries(1).with(timeout)], limits(1));
    rig.tick(500).running("t");
    assert_eq!(rig.scheduler.next_wake(), Some(Millis(10_500)));
    rig.tick(10_499).says("").tick(10_500).says("stop t timeout").tick(20_000).says("");
    // The executor may call it killed: a clock that stopped an attempt makes a failure of it.
    rig.end("t", killed(Reason::Timeout)).are("t=created").tick(21_000).says("launch t 2 in 0");
    rig.running("t").tick(31_000).says("stop t timeout");
    rig.end("t", broke(Reason::Timeout)).are("t=failed(timeout)").says("finish failed");
}

#[test]
fn an_attempt_that_fails_because_it_was_stopped_is_stopped() {
    let mut rig = Rig::start(vec![task("t").retries(1)], limits(1));
    rig.end("t", broke(Reason::Cancelled)).are("t=killed(cancelled)");
}

#[test]
fn the_clock_stands_while_the_attempt_waits_for_a_provider() {
    let timeout = |spec: &mut super::NodeSpec| spec.timeout = Some(Duration::from_secs(10));
    let mut rig = Rig::start(vec![task("t").with(timeout)], limits(1));
    rig.running("t").tick(4_000).waiting("t", true).waiting("t", true);
    assert_eq!(rig.scheduler.next_wake(), None);
    rig.tick(60_000).says("").waiting("t", false);
    rig.tick(65_999).says("").tick(66_000).says("stop t timeout");
}

#[test]
fn an_attempt_that_was_faster_than_its_stop_keeps_its_end() {
    let mut rig = Rig::start(vec![task("t"), task("u")], limits(2));
    rig.input(Input::Cancel(Cancel::Gently)).done("t").are("t=completed");
    rig.fail("u").are("u=failed(exit_code)").says("finish killed");
}

#[test]
fn a_cancel_asks_what_runs_and_ends_what_waits() {
    let m = task("m").expands();
    let mut rig = Rig::start(vec![task("a").retries(9), m, task("b").needs("a", EdgeKind::Done)], limits(2));
    rig.answer("m", keys(&["x", "y"]));
    rig.input(Input::Cancel(Cancel::Gently)).says("stop a cancelled, stop m[x] cancelled");
    rig.are("m[y]=killed(cancelled) m=running b=killed(cancelled)");
    rig.input(Input::Cancel(Cancel::Gently)).says("");
    rig.input(Input::Cancel(Cancel::Now)).says("kill a cancelled, kill m[x] cancelled");
    rig.end("a", killed(Reason::Cancelled)).end("m[x]", killed(Reason::Cancelled));
    rig.are("a=killed(cancelled) m=killed(cancelled)").says("finish killed");
}

#[test]
fn a_failure_after_a_cancel_is_not_tried_again() {
    let mut rig = Rig::start(vec![task("a").retries(9)], limits(2));
    rig.input(Input::Cancel(Cancel::Gently)).fail("a").are("a=failed(exit_code)").says("finish killed");
}

#[test]
fn a_task_that_waits_for_a_retry_or_an_answer_is_cancelled_too() {
    let mut rig = Rig::start(vec![task("a").retries(9), task("b").asks(), task("c").expands()], limits(2));
    rig.fail("a").input(Input::Cancel(Cancel::Gently));
    rig.are("a=killed(cancelled) b=killed(cancelled) c=killed(cancelled)").says("finish killed");
    rig.yes("b", true).says("").tick(99_000).says("");
}

#[test]
fn a_person_stops_one_task_and_the_rest_goes_on() {
    let drafts = vec![task("a").retries(9), task("b").needs("a", EdgeKind::Failure), task("c").after("a")];
    let mut rig = Rig::start(drafts, limits(2));
    rig.input(Input::StopTask(node(0), Cancel::Gently))
        .says("stop a cancelled")
        .input(Input::StopTask(node(0), Cancel::Gently))
        .says("")
        .input(Input::StopTask(node(0), Cancel::Now))
        .says("kill a cancelled")
        .input(Input::StopTask(node(0), Cancel::Now))
        .says("");
    rig.end("a", killed(Reason::Cancelled)).are("a=killed(cancelled) c=blocked(upstream)");
    rig.says("launch b 1 in 0").done("b").says("finish failed");
}

#[test]
fn stopping_an_expanded_task_stops_its_instances() {
    let mut rig = Rig::start(vec![task("m").expands().retries(1), task("x")], limits(2));
    rig.answer("m", keys(&["a", "b"])).done("x").fail("m[a]").input(Input::StopTask(node(0), Cancel::Gently));
    rig.says("stop m[b] cancelled").are("m[a]=killed(cancelled)");
    rig.end("m[b]", killed(Reason::Cancelled)).are("m=killed(cancelled)").says("finish failed");
}

#[test]
fn inputs_that_no_longer_matter_change_nothing() {
    let mut rig = Rig::start(vec![task("a"), task("b").after("a")], limits(2));
    let before = rig.entries.len();
    let stale =
        |attempt| Input::Ended { node: node(0), attempt: Attempt(attempt), outcome: Box::new(done()) };
    rig.input(stale(2))
        .input(Input::StopTask(node(77), Cancel::Gently))
        .yes("a", true)
        .waiting("b", true)
        .running("b")
        .says("");
    assert_eq!(rig.entries.len(), before);
    rig.running("a").running("a").done("a").input(stale(1)).says("");
    let begun =
        rig.entries.iter().filter(|entry| matches!(entry.event, Event::AttemptRunning { .. })).count();
    assert_eq!(begun, 1);
}

#[test]
fn finish_comes_once_and_nothing_after_it() {
    let mut rig = Rig::start(vec![task("a")], limits(2));
    rig.done("a").says("finish completed").tick(9).says("").input(Input::Start).says("");
    rig.input(Input::Cancel(Cancel::Now)).says("");
    assert_eq!(rig.scheduler.next_wake(), None);
}

#[test]
fn a_defect_that_leaves_nothing_to_do_ends_the_run() {
    let mut rig = Rig::start(vec![task("a").after("b"), task("b").after("a"), task("c")], limits(2));
    rig.done("c").are("a=failed(internal) b=failed(internal)").says("finish failed");
}

#[test]
fn counts_are_of_instances_and_not_of_what_became_them() {
    let mut rig = Rig::start(vec![task("m").expands(), task("z").after("m")], limits(1));
    rig.answer("m", keys(&["a", "b"])).done("m[a]");
    let counts = rig.scheduler.counts();
    assert_eq!((counts.total, counts.completed, counts.running, counts.waiting), (3, 1, 1, 1));
}

#[test]
fn a_waiting_task_costs_less_than_a_kibibyte() {
    use std::mem::size_of;
    // The book's node, the spec, an edge each way with its indices, a place in the queue, twice an address of 40 bytes.
    let edges = 4 * (size_of::<crate::graph::Edge>() + size_of::<crate::graph::Dependent>());
    let tables = 64 + 2 * (40 + 16);
    let task = size_of::<super::super::book::Node>() + size_of::<super::NodeSpec>() + edges + tables;
    assert!(task < 1024, "{task}");
}

#[test]
fn a_chain_of_a_hundred_thousand_blocks_without_recursion() {
    let mut specs: Vec<_> = (0..100_000).map(|n| super::super::testing::bare(&format!("t{n}"))).collect();
    for (at, spec) in specs.iter_mut().enumerate().skip(1) {
        spec.needs.push(crate::graph::Edge { from: TaskId::at(at - 1), kind: EdgeKind::Success });
    }
    let mut scheduler = super::Scheduler::new(specs, limits(1));
    drop(scheduler.handle(Millis(0), Input::Start));
    let outcome = Box::new(broke(Reason::ExitCode));
    let decision =
        scheduler.handle(Millis(0), Input::Ended { node: node(0), attempt: Attempt::FIRST, outcome });
    assert_eq!(decision.events.len(), 100_001);
    assert_eq!(scheduler.counts().blocked, 99_999);
}

#[test]
fn allowed_failures_of_instances_make_a_failure_that_is_allowed() {
    let drafts = vec![
        task("m").expands().allowed(),
        task("next").after("m"),
        task("well").needs("m", EdgeKind::Completed),
        task("mend").needs("m", EdgeKind::Failure),
    ];
    let mut rig = Rig::start(drafts, limits(9));
    rig.answer("m", keys(&["1", "2", "3"])).done("m[1]").fail("m[2]").fail("m[3]");
    rig.are("m=failed(exit_code)! next=starting well=blocked(upstream) mend=starting");
    assert_eq!(rig.scheduler.node(rig.id("m")).message, Some("2 of 3 failed"));
    rig.done("next").done("mend").says("finish completed");
}
