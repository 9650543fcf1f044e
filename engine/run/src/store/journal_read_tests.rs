use std::collections::BTreeMap;

use flow_core::event::VERSION;
use flow_core::ids::{Address, Attempt, Millis, RunId};
use flow_core::model::{AttemptEnd, Outcome, OutputSlice, Reason, RunStatus, TaskState};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{Durability, Journal};
use super::*;

/// What a journal of these events looks like on disk.
fn written(events: &[Event]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.jsonl");
    let mut journal = Journal::create(&path, Durability::None).unwrap();
    events.iter().for_each(|event| drop(journal.append(Millis(1), [event.clone()]).unwrap()));
    std::fs::read(&path).unwrap()
}

fn read_bytes(bytes: &[u8]) -> Result<JournalRead, JournalError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    read_journal(file.path())
}

/// Writes events, changes the bytes, reads back.
fn read_changed(events: &[Event], change: impl FnOnce(&mut Vec<u8>)) -> Result<JournalRead, JournalError> {
    let mut bytes = written(events);
    change(&mut bytes);
    read_bytes(&bytes)
}

fn started() -> Event {
    Event::RunStarted {
        run: RunId::parse("20261130-075412-k3f9q2").unwrap(),
        plan: "p".into(),
        path: "plan.yaml".into(),
        root: "/r".into(),
        tasks: vec![Address::task("a")],
        edges: Vec::new(),
        concurrency: 2,
        inputs: BTreeMap::new(),
        seed: u64::MAX,
        flow: "0.1.0".into(),
        branch: None,
    }
}

fn few() -> Vec<Event> {
    let ended = Event::TaskEnded {
        task: Address::task("a"),
        state: TaskState::Failed,
        reason: Some(Reason::ExitCode),
        message: Some("exit code 1\n\"crc\":\"00000000\"}".into()),
        allowed: false,
    };
    vec![started(), Event::TaskReady { task: Address::task("a") }, ended]
}

fn events_of(read: JournalRead) -> Vec<Event> {
    read.entries.into_iter().map(|entry| entry.event).collect()
}

#[test]
fn cut_at_any_byte_it_is_a_prefix() {
    let bytes = written(&few());
    for length in 0..=bytes.len() {
        let read = read_bytes(&bytes[..length]).unwrap();
        let whole = bytes[..length].iter().filter(|byte| **byte == b'\n').count();
        let rest = length - bytes[..length].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let torn = (rest > 0).then_some(TornTail { line: whole + 1, bytes: rest as u64 });
        assert_eq!(read.torn, torn, "cut at {length}");
        assert_eq!(events_of(read), few()[..whole], "cut at {length}");
    }
}

#[test]
fn a_changed_byte_is_an_error_or_in_the_last_line_a_cut() {
    let bytes = written(&few());
    let last = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for at in 0..bytes.len() {
        for mask in [0x01, 0x20, 0x80] {
            let mut changed = bytes.clone();
            changed[at] ^= mask;
            let read = read_bytes(&changed);
            // Without its newline the last line is whole all the same: it was accepted, so it can't be cut.
            if at < last || at == bytes.len() - 1 {
                let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
                let Err(JournalError::Damaged { line: found, .. }) = read else {
                    panic!("byte {at}: {read:?}")
                };
                assert_eq!(found, line, "byte {at}");
            } else {
                let read = read.unwrap();
                assert_eq!(read.torn.map(|torn| torn.line), Some(3), "byte {at}");
                assert_eq!(events_of(read), few()[..2], "byte {at}");
            }
        }
    }
}

#[test]
fn a_missing_or_doubled_line_is_an_error() {
    let lines: Vec<Vec<u8>> =
        written(&few()).split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let check = |order: &[usize], expected: (usize, u64, u64)| {
        let read =
            read_changed(&few(), |bytes| *bytes = order.iter().flat_map(|at| lines[*at].clone()).collect());
        let Err(JournalError::Gap { line, expected: wanted, found, .. }) = read else { panic!("{read:?}") };
        assert_eq!((line, wanted, found), expected);
    };
    check(&[0, 2], (2, 1, 2));
    check(&[0, 1, 1, 2], (3, 2, 1));
    check(&[1, 2], (1, 0, 1));
}

fn sealed(value: &Value) -> Vec<u8> {
    let mut text = value.to_string();
    text.pop();
    let crc = crc32fast::hash(text.as_bytes());
    format!("{text},\"crc\":\"{crc:08x}\"}}\n").into_bytes()
}

#[test]
fn a_journal_of_a_later_flow_is_refused_by_its_name() {
    let check = |events: &[Event], line: Value, expected: &str| {
        let error = read_changed(events, |bytes| bytes.extend(sealed(&line))).unwrap_err();
        assert!(error.to_string().ends_with(expected), "{error}");
    };
    let newer = VERSION + 1;
    check(
        &[],
        json!({"v": newer, "seq": 0, "at": 1, "ev": "run_started", "flow": "9.0.0"}),
        "has format 3, made by flow 9.0.0",
    );
    check(
        &[started()],
        json!({"v": newer, "seq": 1, "at": 1, "ev": "task_ready", "task": "a"}),
        "has format 3, made by flow 0.1.0",
    );
    check(&[], json!({"v": newer, "what": "else"}), "has format 3, made by flow of a later version");
}

#[test]
fn a_whole_line_that_is_no_event_is_never_cut_off() {
    let error =
        read_changed(&few(), |bytes| bytes.extend(sealed(&json!({"v": 1, "seq": 3, "at": 1, "ev": "x"}))));
    assert!(matches!(error, Err(JournalError::NoEvent { line: 4, .. })), "{error:?}");
}

#[test]
fn an_empty_journal_has_no_events_and_a_missing_one_is_an_error() {
    assert!(read_changed(&[], |_| {}).unwrap().entries.is_empty());
    let error = read_journal(Path::new("/nowhere/events.jsonl")).unwrap_err();
    assert_eq!(error.to_string(), "can't read the journal `/nowhere/events.jsonl`");
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    (
        any::<Option<String>>(),
        any::<Option<i32>>(),
        any::<u64>(),
        any::<(u64, u64)>(),
        any_value(),
        any::<bool>(),
    )
        .prop_map(|(message, exit_code, duration_ms, (start, len), output, leaky)| Outcome {
            exit_code,
            duration_ms,
            stdout: Some(OutputSlice::new("out/0.out", start, len)),
            // `null` and absent are the same on disk.
            output: Some(output).filter(|output| !output.is_null()),
            leaky,
            ..Outcome::bare(AttemptEnd::Failed, Some(Reason::Signal), message)
        })
}

fn any_event() -> impl Strategy<Value = Event> {
    let address = any::<String>().prop_map(|text| Address::task(&text));
    prop_oneof![
        address.clone().prop_map(|task| Event::TaskReady { task }),
        (address, any::<u32>().prop_map(Attempt), any_outcome().prop_map(Box::new))
            .prop_map(|(task, attempt, outcome)| Event::AttemptEnded { task, attempt, outcome }),
        (any::<String>(), prop::collection::btree_map(any::<String>(), any_value(), 0..3)).prop_map(
            |(plan, values)| match started() {
                Event::RunStarted {
                    run, path, root, tasks, edges, concurrency, seed, flow, branch, ..
                } => Event::RunStarted {
                    run,
                    plan,
                    path,
                    root,
                    tasks,
                    edges,
                    concurrency,
                    inputs: values,
                    seed,
                    flow,
                    branch
                },
                other => other,
            }
        ),
        (any::<u8>(), any_value()).prop_map(|(exit, outputs)| Event::RunEnded {
            status: RunStatus::Completed,
            exit,
            outputs: Some(outputs).filter(|outputs| !outputs.is_null()),
            message: None,
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn what_is_written_is_read(events in prop::collection::vec(any_event(), 0..6)) {
        let read = read_changed(&events, |_| {}).unwrap();
        prop_assert_eq!(read.torn, None);
        prop_assert_eq!(events_of(read), events);
    }

    #[test]
    fn whatever_happens_to_the_file_no_event_is_made_up(
        events in prop::collection::vec(any_event(), 1..5),
        place in any::<prop::sample::Index>(),
        junk in prop::collection::vec(any::<u8>(), 0..4),
        removed in 0usize..4,
    ) {
        let read = read_changed(&events, |bytes| {
            let at = place.index(bytes.len() + 1);
            bytes.splice(at..(at + removed).min(at.max(bytes.len())), junk);
        });
        if let Ok(read) = read {
            let found = events_of(read);
            // At most the last event is lost without an error.
            prop_assert!(found.len() + 1 >= events.len());
            prop_assert_eq!(&found[..], &events[..found.len()]);
        }
    }
}
