//! What runs again. `Rig::resume` replays the journal into a new scheduler, opens an epoch and goes on.

use super::super::testing::{Rig, keys, killed, limits, node, specs, task};
use super::super::{Cancel, Input, Scheduler};
use crate::event::Event;
use crate::graph::EdgeKind;
use crate::ids::{Millis, NodeId};
use crate::model::Reason;

/// The addresses in `lost` and `reset` of the event that a resume now would write.
#[track_caller]
fn check(rig: &Rig, lost: &str, reset: &str) {
    let Event::RunResumed { lost: actual_lost, reset: actual_reset, .. } = rig.scheduler.resume() else {
        panic!()
    };
    let words = |addresses: Vec<crate::ids::Address>| {
        addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!((words(actual_lost).as_str(), words(actual_reset).as_str()), (lost, reset));
}

#[test]
fn a_completed_run_resumes_to_nothing() {
    let mut rig = Rig::start(vec![task("a"), task("b").after("a")], limits(1));
    rig.done("a").done("b");
    check(&rig, "", "");
    rig.resume().says("finish completed");
}

#[test]
fn what_was_under_way_is_lost_and_runs_again_with_the_next_number() {
    let mut rig = Rig::start(vec![task("a"), task("b"), task("c").after("a")], limits(2));
    rig.running("a");
    check(&rig, "a b", "");
    rig.resume().says("launch a 2 in 0, launch b 2 in 1");
    assert_eq!(rig.scheduler.epoch(), 2);
}

#[test]
fn finished_tasks_stay_and_failed_ones_run_again_with_all_that_needs_them() {
    let drafts = vec![
        task("ok"),
        task("bad").after("ok"),
        task("blocked").after("bad"),
        task("ran").needs("bad", EdgeKind::Done),
        task("deep").after("ran"),
        task("aside").after("ok"),
    ];
    let mut rig = Rig::start(drafts, limits(9));
    rig.done("ok").fail("bad").done("ran").done("deep").done("aside").says("finish failed");
    check(&rig, "", "bad blocked ran deep");
    rig.resume().says("launch bad 2 in 0").done("bad").says("launch ran 2 in 0, launch blocked 1 in 1");
    rig.done("blocked").done("ran").says("launch deep 2 in 0").done("deep").says("finish completed");
}

#[test]
fn allowed_failures_skips_and_blocks_behind_them_stay() {
    let drafts = vec![
        task("allowed").allowed(),
        task("skipped").asks(),
        task("blocked").needs("skipped", EdgeKind::Completed),
        task("bad"),
    ];
    let mut rig = Rig::start(drafts, limits(9));
    rig.fail("allowed").yes("skipped", false).fail("bad");
    check(&rig, "", "bad");
    rig.resume().says("launch bad 2 in 0").done("bad").says("finish completed");
}

#[test]
fn a_task_with_a_condition_is_asked_again() {
    let mut rig = Rig::start(vec![task("a").asks()], limits(9));
    rig.yes("a", true).fail("a").resume().says("ask a if").yes("a", true).says("launch a 2 in 0");
}

#[test]
fn the_retries_of_an_epoch_are_its_own() {
    let mut rig = Rig::start(vec![task("a").retries(1)], limits(9));
    rig.fail("a").tick(1000).fail("a").are("a=failed(exit_code)").resume().says("launch a 3 in 0");
    rig.fail("a").are("a=created").tick(2000).says("launch a 4 in 0").fail("a").are("a=failed(exit_code)");
}

#[test]
fn a_task_that_waits_for_its_retry_goes_on_waiting() {
    let mut rig = Rig::start(vec![task("a").retries(1)], limits(9));
    rig.fail("a");
    check(&rig, "", "");
    rig.resume().says("").tick(1000).says("launch a 2 in 0");
}

#[test]
fn only_the_failed_instances_of_an_expanded_task_run_again() {
    let mut rig = Rig::start(vec![task("m").expands(), task("z").after("m")], limits(9));
    rig.answer("m", keys(&["1", "2", "3"])).done("m[1]").fail("m[2]").done("m[3]");
    rig.are("m=failed(exit_code) z=blocked(upstream)").says("finish failed");
    check(&rig, "", "z m[2]");
    rig.resume().says("launch m[2] 2 in 0").are("m=running z=created");
    rig.done("m[2]").are("m=completed").says("launch z 1 in 0").done("z").says("finish completed");
}

#[test]
fn an_instance_that_its_own_condition_skipped_stays_skipped_and_one_that_failed_is_asked_again() {
    let mut rig = Rig::start(vec![task("m").asks_each()], limits(2));
    rig.answer("m", keys(&["a", "b", "c"])).yes("m[a]", false).yes("m[b]", true).yes("m[c]", true);
    rig.fail("m[b]").done("m[c]").are("m=failed(exit_code)");
    check(&rig, "", "m[b]");
    rig.resume().says("ask m[b] if").are("m[a]=skipped(condition) m[b]=created m=running");
    rig.yes("m[b]", true).says("launch m[b] 2 in 0").done("m[b]").are("m=completed").says("finish completed");
}

#[test]
fn an_instance_that_was_skipped_is_asked_again_when_its_parent_begins_again() {
    let m = task("m").needs("a", EdgeKind::Done).asks_each();
    let mut rig = Rig::start(vec![task("a"), m], limits(2));
    rig.fail("a").answer("m", keys(&["x"])).yes("m[x]", false).are("m=completed");
    check(&rig, "", "a m");
    rig.resume().done("a").says("ask m items").answer("m", keys(&["x"])).says("ask m[x] if");
}

#[test]
fn an_engine_that_died_before_the_answers_asks_them_again() {
    let mut rig = Rig::start(vec![task("m").asks_each()], limits(1));
    rig.answer("m", keys(&["a", "b", "c"])).yes("m[a]", true).yes("m[b]", false);
    check(&rig, "m[a]", "");
    rig.resume().says("ask m[a] if, ask m[c] if").are("m[b]=skipped(condition)");
}

#[test]
fn an_expansion_behind_something_that_runs_again_is_made_again() {
    let m = task("m").needs("a", EdgeKind::Done).expands();
    let mut rig = Rig::start(vec![task("a"), m], limits(9));
    rig.fail("a").answer("m", keys(&["x", "y"])).done("m[x]").done("m[y]");
    check(&rig, "", "a m");
    rig.resume().says("launch a 2 in 0").done("a").says("ask m items");
    assert_eq!(rig.scheduler.find(&"m[x]".into()), None);
    // The numbers of an address go on; one that is new begins at 1.
    rig.answer("m", keys(&["y", "z"])).says("launch m[y] 2 in 0, launch m[z] 1 in 1");
    rig.done("m[y]").done("m[z]").are("m=completed").says("finish completed");
    assert_eq!(rig.scheduler.counts().total, 3);
}

#[test]
fn instances_that_were_live_are_lost_even_when_their_parent_begins_again() {
    let m = task("m").needs("a", EdgeKind::Done).expands();
    let mut rig = Rig::start(vec![task("a"), m], limits(1));
    rig.fail("a").answer("m", keys(&["x", "y"])).done("m[x]");
    check(&rig, "m[y]", "a m");
    rig.resume().says("launch a 2 in 0");
}

#[test]
fn a_cancelled_run_goes_on_where_it_stopped() {
    let mut rig = Rig::start(vec![task("a"), task("b").after("a"), task("c").after("b")], limits(1));
    rig.done("a")
        .input(Input::Cancel(Cancel::Gently))
        .end("b", killed(Reason::Cancelled))
        .says("finish killed");
    check(&rig, "", "b c");
    rig.resume().says("launch b 2 in 0").done("b").done("c").says("finish completed");
}

#[test]
fn a_group_that_fail_fast_stopped_goes_on_with_what_did_not_end_well() {
    let m = task("m").expands().with(|spec| spec.fail_fast = true);
    let mut rig = Rig::start(vec![m], limits(2));
    rig.answer("m", keys(&["a", "b", "c"])).done("m[a]").fail("m[b]").end("m[c]", killed(Reason::FailFast));
    rig.are("m=failed(exit_code)");
    rig.resume()
        .says("launch m[b] 2 in 0, launch m[c] 2 in 1")
        .done("m[c]")
        .done("m[b]")
        .says("finish completed");
}

#[test]
fn an_engine_that_died_between_an_attempt_and_its_consequences_is_made_up_for() {
    for (well, says) in [(true, "launch b 1 in 0"), (false, "launch a 2 in 0")] {
        let mut rig = Rig::start(vec![task("a").retries(5), task("b").after("a")], limits(1));
        if well {
            rig.done("a")
        } else {
            rig.fail("a")
        };
        let ended = |entry: &crate::event::Entry| matches!(entry.event, Event::AttemptEnded { .. });
        let keep = rig.entries.iter().position(ended).unwrap() + 1;
        rig.crash(keep).says(says);
    }
}

#[test]
fn a_resume_before_anything_happened_begins() {
    let mut rig = Rig::start(vec![task("a")], limits(1));
    rig.crash(1).says("launch a 1 in 0");
    let fresh = Scheduler::replay(specs(vec![task("a")]), limits(1), &[]).unwrap();
    assert!(!fresh.is_finished() && fresh.node(node(0)).attempts == 0);
}

/// The addresses in `reset` of the event that a retry of these tasks would write.
#[track_caller]
fn retries(rig: &Rig, tasks: &[&str], reset: &str) {
    let ids: Vec<NodeId> =
        tasks.iter().map(|task| rig.scheduler.find(&crate::ids::Address::task(task)).unwrap()).collect();
    let Event::RunResumed { reset: actual, .. } = rig.scheduler.retry(&ids) else { panic!() };
    assert_eq!(actual.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "), reset);
}

#[test]
fn a_retry_takes_the_named_tasks_and_what_needs_them_and_no_other_failure() {
    let drafts = vec![
        task("one"),
        task("two"),
        task("after one").after("one"),
        task("after two").after("two"),
        task("after both").after("one").after("two"),
    ];
    let mut rig = Rig::start(drafts, limits(9));
    rig.fail("one").fail("two").says("finish failed");
    retries(&rig, &["one"], "one after one after both");
    retries(&rig, &["two", "one"], "one two after one after two after both");
    retries(&rig, &["after one"], "");
}

#[test]
fn a_retry_of_an_expanded_task_takes_its_failed_instances_and_one_of_an_instance_only_that() {
    let drafts = vec![task("m").expands(), task("after").after("m")];
    let mut rig = Rig::start(drafts, limits(9));
    rig.answer("m", keys(&["a", "b", "c"]));
    rig.done("m[a]").fail("m[b]").fail("m[c]").says("finish failed");
    retries(&rig, &["m"], "after m[b] m[c]");
    retries(&rig, &["m[b]"], "after m[b]");
}

#[test]
fn a_retry_of_an_allowed_failure_runs_it_again_when_it_is_named() {
    let mut rig = Rig::start(vec![task("may").allowed(), task("after").after("may")], limits(9));
    rig.fail("may").done("after").says("finish completed");
    retries(&rig, &["may"], "may after");
}

#[test]
fn what_must_not_run_twice_stays_lost_until_a_person_resumes_again() {
    let once = |name| task(name).with(|spec| spec.retries_lost = false);
    let drafts = vec![
        once("agent"),
        task("shell"),
        task("reader").after("agent"),
        task("mourner").needs("agent", EdgeKind::Failure),
    ];
    let mut rig = Rig::start(drafts, limits(2));
    rig.running("agent").running("shell");
    let Event::RunResumed { given_up, lost, .. } = rig.scheduler.resume() else { panic!() };
    assert_eq!((given_up[0].as_str(), lost[0].as_str()), ("agent", "shell"));
    rig.resume().says("launch shell 2 in 0, launch mourner 1 in 1");
    rig.done("shell").done("mourner").says("finish failed");
    check(&rig, "", "agent reader mourner");
}

#[test]
fn a_lost_instance_that_must_not_run_twice_leaves_its_siblings_alone() {
    let drafts = vec![task("many").expands().with(|spec| spec.retries_lost = false)];
    let mut rig = Rig::start(drafts, limits(1));
    rig.answer("many", keys(&["a", "b"])).running("many[a]");
    rig.resume().says("launch many[b] 1 in 0").done("many[b]").says("finish failed");
}

#[test]
fn what_ended_well_runs_again_when_what_it_wrote_is_lost_with_all_that_needs_it() {
    let drafts = vec![task("a"), task("b").after("a"), task("m").expands(), task("c").after("m").after("b")];
    let mut rig = Rig::start(drafts, limits(9));
    rig.done("a").answer("m", keys(&["1", "2"])).done("m[1]").done("m[2]").done("b").fail("c");
    let reset = |lost: &[&str]| {
        let lost: Vec<NodeId> = lost.iter().map(|name| rig.id(name)).collect();
        let Event::RunResumed { reset, .. } = rig.scheduler.resume_without(None, &lost) else { panic!() };
        reset.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(reset(&[]), "c");
    assert_eq!(reset(&["a"]), "a b c");
    assert_eq!(reset(&["b"]), "b c");
    assert_eq!(reset(&["m[2]"]), "c m[2]");
    let lost = [rig.id("m[2]")];
    let event = rig.scheduler.resume_without(None, &lost);
    rig.resume_with(event).says("launch m[2] 2 in 0").are("m=running c=created b=completed");
    rig.done("m[2]").says("launch c 2 in 0").done("c").says("finish completed");
}

#[test]
fn an_allowed_failure_runs_again_when_what_it_wrote_is_lost() {
    let mut rig = Rig::start(vec![task("a").allowed(), task("b").after("a")], limits(9));
    rig.fail("a").fail("b");
    let event = rig.scheduler.resume_without(None, &[rig.id("a")]);
    rig.resume_with(event).says("launch a 2 in 0").done("a").says("launch b 2 in 0");
}

#[test]
fn a_clock_that_was_set_back_makes_no_wait_longer() {
    let mut rig = Rig::start(vec![task("a").retries(1)], limits(9));
    rig.tick(100_000);
    rig.fail("a");
    rig.now = Millis(10_000);
    rig.resume().says("").tick(10_999).says("").tick(11_000).says("launch a 2 in 0");
    // One that went on is no reason to wait again.
    let mut rig = Rig::start(vec![task("a").retries(1)], limits(9));
    rig.fail("a");
    rig.now = Millis(5000);
    rig.resume().says("launch a 2 in 0");
}
