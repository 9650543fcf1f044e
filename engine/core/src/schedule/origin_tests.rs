//! What agents start, as nodes of a run. `Rig::starts` lets a live attempt start a command.

use super::super::testing::{Rig, append, child_started, limits, run_started, specs, task};
use super::super::{Cancel, Input, Limits, Origin, Scheduler};
use crate::event::{Entry, Event};
use crate::ids::Millis;
use crate::model::Reason;

const CHILD: &str = "lead/@b0000000000000001";
const ID: &str = "b0000000000000001";

#[test]
fn a_child_takes_no_slot() {
    let mut rig = Rig::start(vec![task("lead"), task("next")], limits(1));
    rig.running("lead").starts("lead", ID).starts("lead", "b0000000000000002");
    rig.done("lead").says("launch next 1 in 0");
    assert_eq!(rig.scheduler.running().count(), 3);
}

#[test]
fn a_child_counts_as_no_task_and_fails_nothing() {
    let limits = Limits { fail_fast: true, ..limits(1) };
    let mut rig = Rig::start(vec![task("lead"), task("next").after("lead")], limits);
    rig.running("lead").starts("lead", ID).running(CHILD).fail(CHILD).says("");
    rig.are("lead=running next=created lead/@b0000000000000001=failed(exit_code)");
    assert_eq!(rig.scheduler.counts().total, 2);
    rig.done("lead").done("next").says("finish completed");
}

#[test]
fn a_run_ends_after_the_last_child_and_is_not_stuck_before() {
    let mut rig = Rig::start(vec![task("lead")], limits(1));
    rig.starts("lead", ID).done("lead").says("").done(CHILD).says("finish completed");
}

#[test]
fn a_child_is_stopped_by_itself_and_with_the_run_and_after_its_time() {
    let mut rig = Rig::start(vec![task("lead")], limits(1));
    rig.starts("lead", ID).running(CHILD);
    rig.tick(5000).says("stop lead/@b0000000000000001 timeout");

    let mut rig = Rig::start(vec![task("lead")], limits(1));
    rig.starts("lead", ID);
    rig.input(Input::Cancel(Cancel::Gently));
    rig.says("stop lead cancelled, stop lead/@b0000000000000001 cancelled");

    let mut rig = Rig::start(vec![task("lead")], limits(1));
    rig.starts("lead", ID);
    let child = rig.id(CHILD);
    rig.input(Input::StopTask(child, Cancel::Now)).says("kill lead/@b0000000000000001 cancelled");
    rig.end(CHILD, super::super::testing::killed(Reason::Cancelled)).are("lead=starting");
    rig.done("lead").says("finish completed");
}

#[test]
fn children_of_instances_and_of_children_know_their_starter_and_their_task() {
    let mut rig = Rig::start(vec![task("m").expands()], limits(2));
    rig.answer("m", super::super::testing::keys(&["k"])).starts("m[k]", ID);
    rig.starts("m[k]/@b0000000000000001", "b0000000000000002");
    let below = rig.scheduler.node(rig.id("m[k]/@b0000000000000001/@b0000000000000002"));
    let Origin::Child(child) = below.origin else { panic!("{:?}", below.origin) };
    assert_eq!((child.by, child.depth), (rig.id("m[k]/@b0000000000000001"), 2));
    assert_eq!(below.task.index(), 0);
}

#[test]
fn what_is_under_way_is_lost_at_a_resume_before_a_task_starts() {
    let mut rig = Rig::start(vec![task("lead"), task("next").after("lead")], limits(1));
    rig.running("lead").starts("lead", ID).running(CHILD).done("lead").resume();
    let events: Vec<String> = rig
        .entries
        .iter()
        .skip_while(|entry| !matches!(entry.event, Event::RunResumed { .. }))
        .map(|entry| match &entry.event {
            Event::RunResumed { lost, given_up, .. } => {
                format!("resumed, lost {lost:?}, given up {given_up:?}")
            }
            Event::TaskEnded { task, state, message, .. } => {
                format!("{task} {}: {}", state.as_str(), message.as_deref().unwrap_or_default())
            }
            Event::AttemptStarting { task, .. } => format!("{task} starts"),
            Event::TaskReady { task } => format!("{task} may start"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        events,
        [
            "resumed, lost [Address(\"next\")], given up [Address(\"lead/@b0000000000000001\")]",
            "next may start",
            "lead/@b0000000000000001 lost: the engine died while it ran",
            "next starts"
        ]
    );
}

#[test]
fn a_child_whose_attempt_was_never_ordered_is_lost_too() {
    let mut rig = Rig::start(vec![task("lead")], limits(1));
    rig.running("lead").starts("lead", ID);
    let before_its_attempt = rig.entries.len() - 1;
    rig.crash(before_its_attempt).are("lead/@b0000000000000001=lost(worker_restart) lead=starting");
}

/// What a replay says of a journal in which `lead` runs and these events follow.
#[track_caller]
fn check(events: impl IntoIterator<Item = Event>, expected: Result<(), &str>) {
    let mut rig = Rig::start(vec![task("lead"), task("next").after("lead")], limits(1));
    rig.running("lead");
    events.into_iter().for_each(|event| append(&mut rig.entries, Millis(0), event));
    let specs = specs(vec![task("lead"), task("next").after("lead")]);
    let result =
        Scheduler::replay(specs, limits(1), &rig.entries).map(drop).map_err(|error| error.to_string());
    assert_eq!(result, expected.map_err(str::to_owned));
}

#[test]
fn a_journal_with_children_replays_and_what_can_not_be_is_refused() {
    check(child_started("lead", ID), Ok(()));
    let refused = |by: &str| format!("event 4 about `{by}` can't follow what came before it");
    check(child_started("next", ID), Err(&refused("next")));
    check(child_started("lead", "a0000000000000001"), Err(&refused("lead")));
    check(child_started("gone", ID), Err("event 4 is about `gone`, which the run doesn't have"));
    let [mut started, _] = child_started("lead", ID);
    if let Event::ChildStarted { depth, .. } = &mut started {
        *depth = 2;
    }
    check([started], Err(&refused("lead")));
    let [started, mut starting] = child_started("lead", ID);
    if let Event::AttemptStarting { slot, .. } = &mut starting {
        *slot = Some(1);
    }
    check(
        [started.clone(), starting],
        Err("event 5 about `lead/@b0000000000000001` can't follow what came before it"),
    );
    check([started.clone(), started], Err("event 5 about `lead` can't follow what came before it"));
}

#[test]
fn journals_of_both_versions_are_read() {
    let entry = |line: &str| serde_json::from_str::<Entry>(line).unwrap().event;
    let slot = |line: &str| match entry(line) {
        Event::AttemptStarting { slot, .. } => slot,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        slot(r#"{"v":1,"seq":3,"at":1,"ev":"attempt_starting","task":"a","attempt":1,"slot":2}"#),
        Some(2)
    );
    assert_eq!(slot(r#"{"v":2,"seq":3,"at":1,"ev":"attempt_starting","task":"a","attempt":1}"#), None);
    let mut entries = Vec::new();
    append(&mut entries, Millis(0), run_started(&specs(vec![task("lead")])));
    let [started, _] = child_started("lead", ID);
    append(&mut entries, Millis(7), started);
    let written = serde_json::to_string(&entries[1]).unwrap();
    assert_eq!(
        written,
        r#"{"v":2,"seq":1,"at":7,"ev":"child_started","task":"lead/@b0000000000000001","by":"lead","by_agent":"a0","call":"call_1","kind":"local_bash","mode":"background","depth":1,"description":"d","timeout_ms":5000,"on_lost":"fail"}"#
    );
    assert_eq!(serde_json::from_str::<Entry>(&written).unwrap(), entries[1]);
}
