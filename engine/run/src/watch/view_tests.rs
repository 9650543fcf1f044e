use std::sync::Arc;

use flow_core::event::{Entry, Instance};
use flow_core::model::{AttemptEnd, TaskState};
use serde_json::json;

use super::*;

fn at(ms: u64, event: Event) -> Update {
    Update::Event(Arc::new(Entry { v: 1, seq: 0, at: Millis(ms), event }))
}

fn ended(task: &str, state: TaskState, allowed: bool) -> Event {
    Event::TaskEnded { task: task.into(), state, reason: None, message: None, allowed }
}

#[test]
fn a_task_is_shown_from_its_start_to_its_end_and_then_counted() {
    let mut view = View::default();
    let task = Address::task("t");
    view.update(&at(5, Event::AttemptStarting { task: task.clone(), attempt: Attempt(2), slot: Some(0) }));
    view.update(&Update::Progress(task.clone(), Progress::Turn(3)));
    view.update(&Update::Progress(task.clone(), Progress::Tokens { fresh: 100, cached: 20 }));
    view.update(&Update::Progress(task.clone(), Progress::Tool("Read".to_owned(), "a.rs".to_owned())));
    let running = &view.running[&task];
    assert_eq!(
        (running.turn, running.spent, running.activity.as_str()),
        (3, Spent { fresh: 100, cached: 20 }, "Read a.rs")
    );
    let outcome = Box::new(Outcome::bare(AttemptEnd::Completed, None, None));
    view.update(&at(
        9,
        Event::AttemptEnded { task: task.clone(), attempt: Attempt(2), outcome: outcome.clone() },
    ));
    let line = view.update(&at(9, ended("t", TaskState::Completed, false)));
    assert!(matches!(line, Some(Line::Ended { outcome: Some(found), .. }) if found == outcome));
    assert!(view.running.is_empty());
    assert_eq!(view.ended, Counts { total: 1, completed: 1, ..Counts::default() });
}

#[test]
fn a_parent_counts_as_its_instances() {
    let mut view = View::default();
    let run = Event::TaskExpanded {
        task: "m".into(),
        instances: ["a", "b"].map(|key| Instance { key: key.to_owned(), item: json!(key) }).into(),
    };
    view.total = 1;
    view.update(&at(0, run));
    view.update(&at(1, ended("m[a]", TaskState::Completed, false)));
    view.update(&at(1, ended("m[b]", TaskState::Failed, true)));
    view.update(&at(1, ended("m", TaskState::Completed, false)));
    assert_eq!((view.total, view.ended.total, view.ended.allowed_failures), (2, 2, 1));
}

#[test]
fn a_task_that_runs_again_after_a_resume_is_counted_once() {
    let mut view = View { total: 2, ..View::default() };
    let expanded = |keys: &[&str]| Event::TaskExpanded {
        task: "m".into(),
        instances: keys.iter().map(|key| Instance { key: (*key).to_owned(), item: json!(key) }).collect(),
    };
    view.update(&at(0, expanded(&["a", "b"])));
    view.update(&at(1, ended("m[a]", TaskState::Completed, false)));
    view.update(&at(1, ended("m[b]", TaskState::Failed, false)));
    view.update(&at(1, ended("m", TaskState::Failed, false)));
    view.update(&at(1, ended("n", TaskState::Blocked, false)));
    let reset = ["m[b]", "n"].map(Address::from).to_vec();
    view.update(&at(2, Event::RunResumed { epoch: 2, lost: Vec::new(), reset, given_up: Vec::new() }));
    assert_eq!(view.ended, Counts { total: 1, completed: 1, ..Counts::default() });
    view.update(&at(3, ended("m[b]", TaskState::Completed, false)));
    view.update(&at(3, ended("m", TaskState::Completed, false)));
    assert_eq!((view.total, view.ended), (3, Counts { total: 2, completed: 2, ..Counts::default() }));
    // With other items than before, the old ones are gone.
    view.update(&at(4, expanded(&["c", "d", "e"])));
    assert_eq!((view.total, view.ended), (4, Counts::default()));
}

#[test]
fn a_group_counts_its_instances_and_the_queue_what_could_run() {
    let mut view = View::default();
    let plan = |ev: &mut View, event: Event| ev.update(&at(1, event));
    let starts =
        |task: &str| Event::AttemptStarting { task: task.into(), attempt: Attempt(1), slot: Some(0) };
    let ends = |task: &str| Event::AttemptEnded {
        task: task.into(),
        attempt: Attempt(1),
        outcome: Box::new(Outcome::bare(AttemptEnd::Completed, None, None)),
    };
    plan(&mut view, Event::TaskReady { task: "m".into() });
    plan(&mut view, Event::TaskReady { task: "n".into() });
    assert_eq!(view.queued(), 2);
    let instances = ["a", "b", "c", "d"].map(|key| Instance { key: key.to_owned(), item: json!(key) }).into();
    plan(&mut view, Event::TaskExpanded { task: "m".into(), instances });
    assert_eq!(view.queued(), 5, "the instances stand for their parent");
    for task in ["m[a]", "m[b]", "n"] {
        plan(&mut view, starts(task));
    }
    plan(&mut view, ends("m[a]"));
    assert_eq!(view.groups[0].queued(), 3, "one that will be tried again waits like the others");
    plan(&mut view, ended("m[a]", TaskState::Completed, false));
    plan(&mut view, ended("m[c]", TaskState::Killed, false));
    let group = &view.groups[0];
    assert_eq!((group.running, group.queued(), view.queued()), (1, 1, 1));
    assert_eq!((group.ended.completed, group.ended.not_run, view.ended.not_run), (1, 1, 1));
    assert_eq!(view.group_of(&"m[b]".into()).map(|(parent, _)| parent.as_str()), Some("m"));
    assert_eq!(view.longest, 4);
}

#[test]
fn a_harsher_order_to_stop_stays_harsh_and_a_resume_forgets_it() {
    let mut view = View::default();
    let kill = |force| Event::KillRequested { task: None, reason: Reason::Cancelled, force };
    view.update(&at(1, kill(false)));
    assert_eq!(view.stopping, Some(Stopping { reason: Reason::Cancelled, force: false }));
    view.update(&at(2, kill(true)));
    view.update(&at(3, kill(false)));
    assert_eq!(view.stopping.map(|stopping| stopping.force), Some(true));
    let again = Event::RunResumed { epoch: 2, lost: Vec::new(), reset: Vec::new(), given_up: Vec::new() };
    view.update(&at(4, again));
    assert_eq!(view.stopping, None);
}

#[test]
fn what_an_agent_starts_is_no_task() {
    let mut view = View::default();
    let child = Address::from("lead/@b0123456789abcdef");
    let attempt = Attempt(1);
    let outcome = Box::new(Outcome::bare(AttemptEnd::Completed, None, None));
    let events = [
        Event::AttemptStarting { task: child.clone(), attempt, slot: None },
        Event::AttemptEnded { task: child.clone(), attempt, outcome },
        ended(child.as_str(), TaskState::Failed, false),
    ];
    for event in events {
        assert_eq!(view.update(&at(1, event)), None);
        assert!(view.running.is_empty());
    }
    assert_eq!(view.ended.total, 0);
}
