use std::fs::OpenOptions;
use std::io::Write;

use flow_core::event::Event;
use flow_core::ids::{Address, Millis};

use super::*;

fn line(seq: u64, task: &str) -> Vec<u8> {
    let event = Event::TaskReady { task: Address::task(task) };
    let mut bytes = Vec::new();
    journal_line::write(&Entry { v: 1, seq, at: Millis(seq), event }, &mut bytes).unwrap();
    bytes
}

fn seqs(tail: &mut JournalTail) -> Vec<u64> {
    tail.more().unwrap().iter().map(|entry| entry.seq).collect()
}

#[test]
fn every_event_is_read_once_and_none_before_it_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.jsonl");
    let write = |bytes: &[u8]| {
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| file.write_all(bytes)).unwrap();
    };
    let mut tail = JournalTail::new(path.clone());
    assert!(tail.more().is_err(), "there is none yet");
    write(&line(0, "a"));
    write(&line(1, "b"));
    assert_eq!(seqs(&mut tail), [0, 1]);
    assert_eq!(seqs(&mut tail), [0u64; 0]);
    let third = line(2, "c");
    write(&third[..20]);
    assert_eq!(seqs(&mut tail), [0u64; 0]);
    write(&third[20..]);
    write(&line(3, "d"));
    assert_eq!(seqs(&mut tail), [2, 3]);
}

#[test]
fn a_torn_end_waits_for_its_repair_and_a_damaged_middle_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.jsonl");
    let torn = b"{\"v\":1,\"seq\":1,\"at\":1,\"ev\":\"task_re\n".to_vec();
    std::fs::write(&path, [line(0, "a"), torn.clone()].concat()).unwrap();
    let mut tail = JournalTail::new(path.clone());
    assert_eq!(seqs(&mut tail), [0]);
    std::fs::write(&path, [line(0, "a"), torn, line(1, "b")].concat()).unwrap();
    assert!(matches!(tail.more(), Err(JournalError::Damaged { line: 2, .. })));
    std::fs::write(&path, [line(0, "a"), line(1, "b")].concat()).unwrap();
    assert_eq!(seqs(&mut tail), [1]);
}
