use std::io::Write;

use flow_core::event::Launch;
use flow_core::ids::{Attempt, Millis};
use flow_core::model::{AttemptEnd, Outcome};

use super::*;
use crate::store::{SlotFiles, Slots, StateDir};

/// A run with a command in its first slot.
struct Bench {
    _dir: tempfile::TempDir,
    folder: RunFolder,
    files: SlotFiles,
    outputs: Outputs,
    seq: u64,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(&dir.path().join(".flow")).unwrap();
        let folder = RunFolder::create(&state, Millis(0)).unwrap();
        let files = Slots::new(&folder, 1).open(0).unwrap();
        let mut bench = Bench { _dir: dir, folder, files, outputs: Outputs::default(), seq: 0 };
        bench.take(Event::RunStarted {
            run: bench.folder.id().clone(),
            plan: "p".into(),
            path: "p.yaml".into(),
            root: "/".into(),
            tasks: vec!["a".into()],
            edges: Vec::new(),
            concurrency: 1,
            inputs: Default::default(),
            seed: 1,
            flow: "0.1.0".into(),
            branch: None,
        });
        let (task, attempt) = (Address::task("a"), Attempt::FIRST);
        let (kind, description, dir) = ("local_bash".into(), "d".into(), "/".into());
        let launch = Launch { kind, description, dir, background: false, agent: None };
        bench.take(Event::AttemptStarting { task: task.clone(), attempt, slot: Some(0) });
        bench.take(Event::AttemptRunning { task, attempt, launch });
        bench
    }

    fn take(&mut self, event: Event) {
        let entry = Entry { v: 1, seq: self.seq, at: Millis(self.seq), event };
        self.seq += 1;
        self.outputs.take(&entry, true);
    }

    fn prints(&self, bytes: &[u8]) {
        self.files.stdout.file().write_all(bytes).unwrap();
    }

    /// Texts, and how much before each was missed.
    fn more(&mut self) -> Vec<(String, u64)> {
        let of = |update| match update {
            Update::Output { text, missed, stream: Stream::Stdout, .. } => (text, missed),
            other => panic!("{other:?}"),
        };
        self.outputs.more(&self.folder).into_iter().map(of).collect()
    }
}

fn said(text: &str) -> (String, u64) {
    (text.to_owned(), 0)
}

#[test]
fn what_is_printed_is_told_once_and_in_whole_characters() {
    let mut bench = Bench::new();
    assert_eq!(bench.more(), []);
    bench.prints("one ä".as_bytes());
    assert_eq!(bench.more(), [said("one ä")]);
    bench.prints(&"ö".as_bytes()[..1]);
    assert_eq!(bench.more(), []);
    bench.prints(&"ö".as_bytes()[1..]);
    assert_eq!(bench.more(), [said("ö")]);
}

#[test]
fn the_rest_of_a_command_that_has_ended_is_told() {
    let mut bench = Bench::new();
    bench.prints(b"begun");
    assert_eq!(bench.more(), [said("begun")]);
    bench.prints(b", and done \xff");
    let mut outcome = Box::new(Outcome::bare(AttemptEnd::Completed, None, None));
    outcome.stdout = bench.files.stdout.slice(17).unwrap();
    bench.take(Event::AttemptEnded { task: "a".into(), attempt: Attempt::FIRST, outcome });
    assert_eq!(bench.more(), [said(", and done \u{fffd}")]);
    assert_eq!(bench.more(), []);
}

#[test]
fn who_looks_too_seldom_misses_the_beginning() {
    let mut bench = Bench::new();
    bench.prints(&[b'x'; 100]);
    bench.prints(&vec![b'y'; usize::try_from(MOST).unwrap()]);
    let found = bench.more();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].0.len() as u64, found[0].1), (MOST, 100));
    assert!(found[0].0.starts_with('y'));
}
