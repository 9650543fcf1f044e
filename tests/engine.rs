//! The engine without a command line: what any other face can do with a run, of its own process and of another.

use std::time::Duration;

use flow_core::compile::Purpose;
use flow_core::event::Event;
use flow_core::model::{Cause, Command, RunStatus};
use flow_core::plan::Selection;
use flow_run::engine::{
    Answering, Dirs, Durability, Engine, EngineError, Notice, PlanRequest, ProjectOptions, Run, RunHandle,
    RunOptions, Subscription,
};
use flow_run::watch::{Stream, Update};

use crate::support::{Flow, wait_until};

const OPTIONS: RunOptions = RunOptions {
    jobs: None,
    fail_fast: false,
    strict: false,
    durability: Durability::None,
    owns_process: false,
};

/// Says something, and then waits to be stopped.
const WAITS: &str = "name: waits\ntasks:\n  a: { run: echo begun; sleep 600 }\n";

fn engine(flow: &Flow) -> Engine {
    let options = ProjectOptions {
        directory: Some(flow.dir()),
        dirs: Some(Dirs::default()),
        ..ProjectOptions::default()
    };
    Engine::open(options).unwrap()
}

/// Begins `plan.yaml`.
fn start(engine: &Engine) -> Result<RunHandle, EngineError> {
    let request = PlanRequest {
        plan: "plan.yaml".to_owned(),
        inputs: Vec::new(),
        inputs_file: None,
        purpose: Purpose::Run,
    };
    let tell = &mut |_: Notice| {};
    let ready = engine.prepare(&request, (&Selection::default(), &Answering::default()), tell)?;
    engine.start(ready, &OPTIONS, tell)
}

/// Every update until the run is over. Each is what is left of it after a way over a wire.
fn follow(subscription: Subscription) -> Vec<Update> {
    let over_a_wire = |update: Update| {
        let text = serde_json::to_string(&update).unwrap();
        let read: Update = serde_json::from_str(&text).unwrap();
        assert_eq!(read, update, "{text}");
        read
    };
    subscription.map(|update| over_a_wire(update.unwrap())).collect()
}

/// Follows a run until its command has said something.
fn wait_until_begun(subscription: &mut Subscription) {
    let begun = subscription.find(|update| match update.as_ref().unwrap() {
        Update::Output { task, stream: Stream::Stdout, text, missed: 0 } => {
            assert_eq!((task.as_str(), text.as_str()), ("a", "begun\n"));
            true
        }
        Update::Event(_) | Update::Output { .. } | Update::Progress(..) | Update::Note(_) => false,
    });
    assert!(begun.is_some(), "the run ended before its command said anything");
}

fn events(updates: &[Update]) -> Vec<&Event> {
    let mut events = Vec::new();
    for update in updates {
        if let Update::Event(entry) = update {
            events.push(&entry.event);
        }
    }
    events
}

/// Stops a run once its command has begun, and sees its end.
fn stop_in_the_middle(run: &Run) {
    let mut subscription = run.subscribe(0);
    wait_until_begun(&mut subscription);
    run.command(&Command::StopRun { force: false, signal: None }).unwrap();
    let rest = follow(subscription);
    let exit = Cause::Terminated.code();
    assert!(
        matches!(
            events(&rest).last(),
            Some(Event::RunEnded { status: RunStatus::Killed, exit: found, .. }) if *found == exit
        ),
        "{rest:?}"
    );
    assert_eq!(run.report().unwrap().exit, Some(exit));
}

#[test]
fn a_run_is_begun_and_followed_to_its_end() {
    let flow = Flow::new().plan(
        "name: p\ntasks:\n  a: { run: echo 7, output: json }\n  b: { needs: a, run: 'true' }\n\
         outputs: { seven: '${{ tasks.a.output }}' }\n",
    );
    let handle = start(&engine(&flow)).unwrap();
    let run = handle.run().clone();
    let all = follow(run.subscribe(0));
    let ended = handle.wait().unwrap();
    assert_eq!((ended.cause, ended.outputs), (Cause::Success, Some(serde_json::json!({ "seven": 7 }))));
    // What was followed is the journal, whole and in its order.
    let journal = run.entries().unwrap();
    assert_eq!(events(&all), journal.iter().map(|entry| &entry.event).collect::<Vec<_>>());
    // Who comes later reads on from where they were.
    let later = follow(run.subscribe(3));
    assert_eq!(events(&later), events(&all)[3..]);
    assert_eq!(run.report().unwrap(), ended.report);
    assert!(run.path().join("report.json").is_file() && !run.is_live().unwrap());
}

#[test]
fn a_run_of_this_process_is_stopped_in_the_middle() {
    let flow = Flow::new().plan(WAITS);
    let handle = start(&engine(&flow)).unwrap();
    stop_in_the_middle(handle.run());
    assert_eq!(handle.wait().unwrap().cause, Cause::Terminated);
}

#[test]
fn a_run_of_another_process_is_followed_and_stopped_in_the_middle() {
    let flow = Flow::new().plan(WAITS);
    let other = flow.start(&["run", "plan.yaml"]);
    let engine = engine(&flow);
    assert!(wait_until(Duration::from_secs(60), || engine.find_run("latest").is_ok()), "{}", other.stderr());
    stop_in_the_middle(&engine.find_run("latest").unwrap());
    other.wait().exits(143);
}

#[test]
fn a_run_that_was_stopped_goes_on_in_another_process() {
    let flow = Flow::new().plan(
        "name: p\ntasks:\n  first: { run: 'true' }\n  a: { needs: first, run: 'test -e go || { echo begun; sleep 600; }' }\n",
    );
    let engine = engine(&flow);
    let handle = start(&engine).unwrap();
    stop_in_the_middle(handle.run());
    handle.wait().unwrap();
    flow.write("go", "");
    let id = engine.find_run("latest").unwrap().id().to_string();
    flow.run(&["resume", &id]).exits(0);
    // And nothing is left for this one.
    let mut told = Vec::new();
    let run = engine.find_run(&id).unwrap();
    let again = engine.resume(&run, (&Answering::default(), OPTIONS), &mut |notice| told.push(notice));
    assert!(again.unwrap().is_none());
    let complete = Notice::Complete { run: run.id().clone() };
    assert!(told.contains(&complete), "{told:?}");
}

#[test]
fn what_is_wrong_with_a_plan_is_handed_back() {
    let flow = Flow::new().plan("name: p\ntasks:\n  a: { nedds: b, run: 'true' }\n");
    let Err(EngineError::Invalid(findings)) = start(&engine(&flow)) else { panic!("it was begun") };
    assert!(findings.iter().any(|finding| finding.is_error() && finding.message.contains("nedds")));
    assert!(!flow.exists(".flow"));
}
