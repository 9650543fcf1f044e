use super::super::testing::{Rig, limits, specs, task};
use super::super::{ReplayError, Scheduler};
use crate::event::{Entry, Event};
use crate::ids::{Address, Attempt};
use crate::model::TaskState;

/// A journal of two tasks, of which the first has completed and the second is under way: 8 entries.
fn journal() -> Vec<Entry> {
    let mut rig = Rig::start(vec![task("a"), task("b").after("a")], limits(1));
    rig.running("a").done("a");
    rig.entries
}

#[track_caller]
fn check(change: impl FnOnce(&mut Vec<Entry>), expected: Result<(), &str>) {
    let mut entries = journal();
    change(&mut entries);
    let specs = specs(vec![task("a"), task("b").after("a")]);
    let result = Scheduler::replay(specs, limits(1), &entries).map(drop);
    assert_eq!(result.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
}

fn replace(at: usize, event: Event) -> impl FnOnce(&mut Vec<Entry>) {
    move |entries| entries[at].event = event
}

#[test]
fn a_whole_journal_replays() {
    check(|_| {}, Ok(()));
    assert_eq!(journal().len(), 8);
}

#[test]
fn a_newer_format_is_refused() {
    check(|entries| entries[3].v = 3, Err("event 3 has format version 3, and this flow reads up to 2"));
}

#[test]
fn missing_events_are_refused() {
    check(|entries| drop(entries.remove(2)), Err("event 3 stands where event 2 should"));
}

#[test]
fn the_journal_of_another_plan_is_refused() {
    let specs = specs(vec![task("a"), task("c")]);
    assert_eq!(Scheduler::replay(specs, limits(1), &journal()).map(drop), Err(ReplayError::OtherPlan));
}

#[test]
fn an_unknown_task_is_refused() {
    let ready = Event::TaskReady { task: Address::task("x") };
    check(replace(1, ready), Err("event 1 is about `x`, which the run doesn't have"));
}

#[test]
fn what_can_not_follow_is_refused() {
    let b = || Address::task("b");
    let out_of_place = "event 7 about `b` can't follow what came before it";
    let ended = Event::TaskEnded {
        task: Address::task("a"),
        state: TaskState::Failed,
        reason: None,
        message: None,
        allowed: false,
    };
    let half = Event::TaskEnded {
        task: b(),
        state: TaskState::Running,
        reason: None,
        message: None,
        allowed: false,
    };
    check(
        replace(7, Event::AttemptStarting { task: b(), attempt: Attempt(2), slot: Some(0) }),
        Err(out_of_place),
    );
    check(replace(7, Event::TaskReady { task: b() }), Err(out_of_place));
    check(replace(7, Event::TaskExpanded { task: b(), instances: vec![] }), Err(out_of_place));
    check(
        replace(7, Event::TaskRetry { task: b(), attempt: Attempt(1), due: crate::ids::Millis(0) }),
        Err(out_of_place),
    );
    check(replace(7, half), Err(out_of_place));
    check(replace(7, ended), Err("event 7 about `a` can't follow what came before it"));
}
