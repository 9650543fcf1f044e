use std::sync::Arc;

use flow_core::event::{Entry, Event, Instance, Launch, LaunchAgent};
use flow_core::ids::Attempt;

use super::*;
use crate::execute::Progress;
use crate::watch::Update;

fn take(view: &mut View, event: Event) {
    view.update(&Update::Event(Arc::new(Entry { v: 1, seq: 0, at: Millis(0), event })));
}

fn expand(view: &mut View, task: &str, count: usize) {
    let instance = |number: usize| Instance { key: number.to_string(), item: number.into() };
    take(view, Event::TaskExpanded { task: task.into(), instances: (0..count).map(instance).collect() });
}

fn start(view: &mut View, task: &str, agent: Option<(&str, Option<u32>)>) {
    let attempt = Attempt(1);
    take(view, Event::AttemptStarting { task: task.into(), attempt, slot: Some(0) });
    let agent = agent.map(|(model, at_once)| LaunchAgent {
        id: String::new(),
        name: String::new(),
        source: String::new(),
        path: String::new(),
        hash: String::new(),
        version: None,
        model: model.to_owned(),
        at_once,
        written: None,
        fork: None,
    });
    let (kind, description, dir) = (String::new(), String::new(), String::new());
    let launch = Launch { kind, description, dir, background: false, agent };
    take(view, Event::AttemptRunning { task: task.into(), attempt, launch });
}

#[test]
fn a_provider_that_lets_no_more_through_is_named_with_its_number_and_its_key() {
    let mut view = View::default();
    view.limits.concurrency = Some(40);
    expand(&mut view, "review", 100);
    for number in 0..40 {
        let task = format!("review[{number}]");
        start(&mut view, &task, Some(("fake/m1", Some(8))));
        if number >= 8 {
            view.update(&Update::Progress(task.as_str().into(), Progress::Waiting(true)));
        }
    }
    let said = "8 of 40 at once: provider fake allows 8 (max_concurrent)";
    assert_eq!(view.held(Millis(0)).as_deref(), Some(said));
    let reason = "Overloaded".to_owned();
    let event = Event::ProviderParked { provider: "fake/m1".to_owned(), until: Millis(2000), reason };
    take(&mut view, event);
    let said = "32 of 40 waiting: provider fake asks for 1.5s (Overloaded)";
    assert_eq!(view.held(Millis(500)).as_deref(), Some(said));
    assert!(view.held(Millis(2000)).is_some_and(|said| said.contains("max_concurrent")));
    view.update(&Update::Progress("review[0]".into(), Progress::Waiting(true)));
    let said = "33 of 40 waiting: provider fake refused some, so fewer go at once";
    assert_eq!(view.held(Millis(2000)).as_deref(), Some(said));
}

#[test]
fn the_run_a_pool_and_a_task_are_named_where_they_hold_something_up() {
    let mut view = View::default();
    view.limits = Limits {
        concurrency: Some(4),
        pools: vec![Pool { name: "gpu".to_owned(), slots: 1, tasks: vec!["m".into(), "n".into()] }],
        max_parallel: [("m".into(), 2)].into_iter().collect(),
        expands: true,
    };
    expand(&mut view, "m", 3);
    start(&mut view, "n", None);
    assert_eq!(view.held(Millis(0)).as_deref(), Some("1 of 4 at once: pool gpu allows 1 (pools)"));
    view.limits.pools.clear();
    start(&mut view, "m[0]", Some(("script/m", None)));
    assert_eq!(view.held(Millis(0)), None, "nothing holds, whatever waits");
    start(&mut view, "m[1]", None);
    assert_eq!(view.held(Millis(0)).as_deref(), Some("2 of 3 at once: m allows 2 (max_parallel)"));
    start(&mut view, "o", None);
    assert_eq!(view.held(Millis(0)).as_deref(), Some("4 of 5 at once: the run allows 4 (concurrency)"));
}
