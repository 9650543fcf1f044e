use std::process::Command;

use flow_core::ids::{Address, Attempt};

use super::super::read_journal;
use super::*;

fn ready(task: &str) -> Event {
    Event::TaskReady { task: Address::task(task) }
}

fn place() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.jsonl");
    (dir, path)
}

#[test]
fn a_line_is_json_with_its_checksum_last() {
    let (_dir, path) = place();
    let mut journal = Journal::create(&path, Durability::None).unwrap();
    journal.append(Millis(5), [ready("a")]).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let head = r#"{"v":2,"seq":0,"at":5,"ev":"task_ready","task":"a""#;
    assert_eq!(text, format!("{head},\"crc\":\"{:08x}\"}}\n", crc32fast::hash(head.as_bytes())));
}

#[test]
fn numbers_go_on_over_calls_and_engines() {
    let (_dir, path) = place();
    for durability in [Durability::None, Durability::Batch, Durability::Always] {
        let mut journal = if durability == Durability::None {
            Journal::create(&path, durability).unwrap()
        } else {
            Journal::open_for_append(&path, &read_journal(&path).unwrap(), durability).unwrap()
        };
        assert_eq!(journal.append(Millis(1), []).unwrap(), []);
        journal.append(Millis(1), [ready("a"), ready("b")]).unwrap();
        let entry = journal.append(Millis(2), [ready("c")]).unwrap().remove(0);
        journal.sync().unwrap();
        assert_eq!(read_journal(&path).unwrap().entries.last(), Some(&entry));
    }
    let read = read_journal(&path).unwrap();
    assert_eq!(read.entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), (0..9).collect::<Vec<_>>());
}

#[test]
fn a_journal_is_never_begun_twice() {
    let (_dir, path) = place();
    Journal::create(&path, Durability::Batch).unwrap();
    assert_eq!(Journal::create(&path, Durability::Batch).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
}

#[test]
fn a_torn_tail_is_cut_before_the_next_event() {
    let (_dir, path) = place();
    let mut journal = Journal::create(&path, Durability::None).unwrap();
    journal.append(Millis(1), [ready("a"), ready("b")]).unwrap();
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 7]).unwrap();
    let read = read_journal(&path).unwrap();
    assert_eq!(read.torn.map(|torn| torn.line), Some(2));
    let mut journal = Journal::open_for_append(&path, &read, Durability::None).unwrap();
    journal.append(Millis(2), [ready("c")]).unwrap();
    let read = read_journal(&path).unwrap();
    assert_eq!((read.entries.len(), read.torn), (2, None));
    assert_eq!(read.entries[1].event, ready("c"));
}

#[test]
fn a_journal_that_grew_since_it_was_read_is_not_touched() {
    let (_dir, path) = place();
    let mut journal = Journal::create(&path, Durability::None).unwrap();
    let read = read_journal(&path).unwrap();
    journal.append(Millis(1), [ready("a")]).unwrap();
    assert!(Journal::open_for_append(&path, &read, Durability::None).is_err());
    assert_eq!(read_journal(&path).unwrap().entries.len(), 1);
}

#[test]
fn a_sync_that_fails_is_told_by_sync_and_by_every_append_after_it() {
    // A pipe takes what is written and can't be synced.
    let (_reader, writer) = io::pipe().unwrap();
    let mut journal =
        Journal::over(File::from(std::os::fd::OwnedFd::from(writer)), 0, 0, Durability::Batch).unwrap();
    journal.append(Millis(1), [ready("a")]).unwrap();
    let first = journal.sync().unwrap_err();
    assert_eq!(first.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(journal.append(Millis(1), [ready("b")]).unwrap_err().kind(), first.kind());
    assert_eq!(journal.sync().unwrap_err().kind(), first.kind());
}

#[test]
fn an_immediate_sync_that_fails_refuses_the_event() {
    let (_reader, writer) = io::pipe().unwrap();
    let mut journal =
        Journal::over(File::from(std::os::fd::OwnedFd::from(writer)), 0, 0, Durability::Always).unwrap();
    journal.append(Millis(1), [ready("a")]).unwrap_err();
    journal.append(Millis(1), [ready("a")]).unwrap_err();
    assert!(journal.is_empty());
}

/// The file size limit makes the kernel take a part of a write and refuse the rest, as a full disk does. The limit holds
/// for a whole process, so this test runs itself again in one of its own.
#[test]
fn a_write_that_only_half_fits_leaves_nothing_behind() {
    const VARIABLE: &str = "FLOW_TEST_SMALL_DISK";
    if let Some(path) = std::env::var_os(VARIABLE) {
        let mut journal = Journal::create(Path::new(&path), Durability::Batch).unwrap();
        let events = || (0..3).map(|_| ready(&"x".repeat(100)));
        while journal.append(Millis(1), events()).is_ok() {
            assert!(journal.len() < 1000, "the limit does not hold");
        }
        let accepted = journal.len();
        let read = read_journal(Path::new(&path)).unwrap();
        assert_eq!((read.entries.len() as u64, read.torn), (accepted, None));
        assert!(accepted > 0);
        // A smaller event would fit; it is refused all the same.
        assert_eq!(journal.append(Millis(1), [ready("y")]).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert!(journal.sync().is_err());
        return;
    }
    let (_dir, path) = place();
    let name = "store::journal::tests::a_write_that_only_half_fits_leaves_nothing_behind";
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" --exact \"$1\" --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .arg(name)
        .env(VARIABLE, &path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // Every length but the last line's start would be torn or short of an event.
    let read = read_journal(&path).unwrap();
    assert_eq!(read.entries.len() % 3, 0);
}

#[test]
fn attempts_and_tasks_come_back_as_they_were_written() {
    let (_dir, path) = place();
    let events = vec![
        Event::AttemptStarting {
            task: Address::task("a").instance("k"),
            attempt: Attempt::FIRST,
            slot: Some(3),
        },
        Event::TaskRetry { task: Address::task("a"), attempt: Attempt(2), due: Millis(9) },
    ];
    let mut journal = Journal::create(&path, Durability::Batch).unwrap();
    journal.append(Millis(4), events.clone()).unwrap();
    let read = read_journal(&path).unwrap();
    assert_eq!(read.entries.into_iter().map(|entry| entry.event).collect::<Vec<_>>(), events);
}

#[test]
fn a_journal_that_somebody_took_away_or_changed_takes_no_event() {
    type Meddle = fn(&std::path::Path);
    let cases: [(Meddle, &str); 3] = [
        (|path| std::fs::remove_file(path).unwrap(), "deleted"),
        (|path| std::fs::write(path, "").unwrap(), "changed"),
        (|path| std::fs::write(path, std::fs::read_to_string(path).unwrap() + "more").unwrap(), "changed"),
    ];
    for (meddle, why) in cases {
        let (_dir, path) = place();
        let mut journal = Journal::create(&path, Durability::None).unwrap();
        journal.append(Millis(1), [ready("a")]).unwrap();
        meddle(&path);
        let error = journal.append(Millis(2), [ready("b")]).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert!(journal.append(Millis(3), [ready("c")]).is_err(), "and none after it");
    }
}
