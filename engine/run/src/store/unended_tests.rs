use std::io::Write;

use flow_core::event::{Entry, Event, Launch};
use flow_core::ids::{Attempt, Millis};
use flow_core::model::{AttemptEnd, Outcome};

use super::super::{Slots, StateDir};
use super::*;

fn fold(entries: &[Entry]) -> Fold {
    let mut run = Fold::default();
    entries.iter().for_each(|entry| run.take(entry));
    run
}

#[test]
fn what_a_running_command_printed_begins_where_the_last_attempt_of_its_slot_ended() {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(&dir.path().join(".flow")).unwrap();
    let run = RunFolder::create(&state, Millis(0)).unwrap();
    let mut slots = Slots::new(&run, 2);
    let mut entries = Vec::new();
    let mut write = |event| {
        let seq = entries.len() as u64;
        entries.push(Entry { v: 1, seq, at: Millis(seq), event });
    };
    write(Event::RunStarted {
        run: run.id().clone(),
        plan: "p".into(),
        path: "p.yaml".into(),
        root: "/".into(),
        tasks: ["a", "b"].map(Address::task).into(),
        edges: Vec::new(),
        concurrency: 2,
        inputs: Default::default(),
        seed: 1,
        flow: "0.1.0".into(),
        branch: None,
    });
    let launch = || Launch {
        kind: "local_bash".into(),
        description: "d".into(),
        dir: "/".into(),
        background: false,
        agent: None,
    };
    let mut start = |task: &str, text: &str, write: &mut dyn FnMut(Event)| {
        let (task, attempt) = (Address::task(task), Attempt::FIRST);
        write(Event::AttemptStarting { task: task.clone(), attempt, slot: Some(0) });
        write(Event::AttemptRunning { task, attempt, launch: launch() });
        let files = slots.open(0).unwrap();
        files.stdout.file().write_all(text.as_bytes()).unwrap();
        files
    };
    let files = start("a", "first", &mut write);
    let mut outcome = Box::new(Outcome::bare(AttemptEnd::Completed, None, None));
    outcome.stdout = files.stdout.slice(5).unwrap();
    write(Event::AttemptEnded { task: Address::task("a"), attempt: Attempt::FIRST, outcome });
    start("b", "second", &mut write);
    let found = unended(&run, &fold(&entries));
    let slice = |file: &str, start, len| OutputSlice::new(file, start, len);
    let wanted = Unended {
        task: Address::task("b"),
        stdout: slice("out/0.out", 5, 6),
        stderr: slice("out/0.err", 0, 0),
    };
    assert_eq!(found, [wanted]);
    // A later engine has files of its own.
    entries.push(Entry {
        v: 1,
        seq: 99,
        at: Millis(99),
        event: Event::RunResumed {
            epoch: 2,
            lost: vec![Address::task("b")],
            reset: Vec::new(),
            given_up: Vec::new(),
        },
    });
    assert_eq!(unended(&run, &fold(&entries)), []);
}
