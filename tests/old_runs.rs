//! Runs that earlier programs have left, in `tests/logs`: each still lists, shows, reports and resumes as it did.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Flow, Transcript};

/// Every run that a version has left has a test below.
const NAMES: &[&str] = &["agents", "failed", "finished", "killed", "resumed", "stopped", "trees"];

fn logs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/logs")
}

/// What a folder holds, by name, in order.
fn entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> =
        all.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path)).collect();
    all.sort();
    all
}

fn versions() -> Vec<(String, PathBuf)> {
    entries(&logs()).into_iter().filter(|(_, path)| path.is_dir()).collect()
}

/// Looks at a run of that name, one of each version, in every way; then goes on with it, after `prepare`, and looks again
/// at what is the same each time.
fn check(name: &str, prepare: impl Fn(&Flow), resume: &[&str], again: &[&[&str]]) {
    for (version, folder) in versions() {
        let flow = Flow::new();
        put(&folder.join(name), flow.dir().parent().unwrap(), &Names::of(&flow));
        let mut before = Transcript::new(&flow);
        for args in [
            &["ps"][..],
            &["status", "latest"],
            &["events", "latest"],
            &["logs", "latest"],
            &["logs", "latest", "--failed"],
            &["report", "latest"],
            &["report", "latest", "--format", "json"],
            &["report", "latest", "--format", "junit"],
        ] {
            before.run(args);
        }
        before.is(&format!("{version}-{name}"));
        prepare(&flow);
        let mut going_on = Transcript::new(&flow);
        going_on.run(&[&["resume", "latest"], resume].concat());
        going_on.file("ran");
        for args in again {
            going_on.run(args);
        }
        going_on.is(&format!("{version}-{name}-resumed"));
    }
}

/// What stands in the kept files for the place, the run and the folder of the project's trees.
struct Names {
    root: String,
    run: String,
    trees: String,
}

impl Names {
    /// The run has an id of its own in every copy: what carries its id belongs to it, on the whole machine.
    fn of(flow: &Flow) -> Self {
        let root = flow.dir().parent().unwrap().display().to_string();
        let run = format!("20260101-000000-{:06x}", crc32fast::hash(root.as_bytes()) & 0xff_ffff);
        // Private trees are found by where their project is.
        let place = flow.dir().canonicalize().unwrap().join(".git");
        let hash = blake3::hash(place.as_os_str().as_encoded_bytes()).to_hex();
        Names { root, run, trees: format!("work-{}", &hash[..12]) }
    }

    fn fill(&self, text: &str) -> String {
        text.replace("@ROOT@", &self.root).replace("@RUN@", &self.run).replace("@TREES@", &self.trees)
    }
}

/// Copies a kept folder, names and all, into a place where it can be gone on with.
fn put(from: &Path, to: &Path, names: &Names) {
    for (name, path) in entries(from) {
        let name = name.strip_prefix("dot-").map_or(name.clone(), |rest| format!(".{rest}"));
        let target = to.join(names.fill(&name));
        if path.is_dir() {
            fs::create_dir_all(&target).unwrap();
            put(&path, &target, names);
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let filled = match String::from_utf8(bytes) {
            Ok(text) if name == "events.jsonl" => {
                names.fill(&text).lines().map(sealed).collect::<String>().into_bytes()
            }
            Ok(text) => names.fill(&text).into_bytes(),
            Err(binary) => binary.into_bytes(),
        };
        fs::write(&target, filled).unwrap();
    }
}

/// A line of a journal with the checksum of what it holds now. An attempt that was to wait is due at once: no test waits,
/// and the clock of this machine may be behind that of the one on which the run was left.
fn sealed(line: &str) -> String {
    let (head, _) = line.rsplit_once(",\"crc\":").unwrap();
    let head = match head.split_once(",\"due\":") {
        Some((before, _)) => format!("{before},\"due\":0"),
        None => head.to_owned(),
    };
    format!("{head},\"crc\":\"{:08x}\"}}\n", crc32fast::hash(head.as_bytes()))
}

/// Lets tasks succeed that failed or waited, and writes down anew what runs.
fn go(flow: &Flow) {
    flow.write("go", "");
    flow.write("ran", "");
}

/// Nothing has happened since.
const NOTHING: &[&[&str]] = &[&["status", "latest"]];

/// With one task at once the journal has one order.
const ALL: &[&[&str]] = &[
    &["ps"],
    &["status", "latest"],
    &["events", "latest"],
    &["logs", "latest"],
    &["report", "latest"],
    &["report", "latest", "--format", "json"],
];

/// Less the events: where calls of agents stand among them depends on the millisecond.
const OF_AGENTS: &[&[&str]] = &[
    &["ps"],
    &["status", "latest"],
    &["logs", "latest"],
    &["report", "latest"],
    &["report", "latest", "--format", "json"],
];

#[test]
fn every_kept_run_is_looked_at() {
    for (version, folder) in versions() {
        let kept: BTreeSet<String> = entries(&folder).into_iter().map(|(name, _)| name).collect();
        assert_eq!(kept, NAMES.iter().map(|name| (*name).to_owned()).collect(), "{version}");
    }
    assert!(!versions().is_empty());
}

#[test]
fn a_finished_run_is_shown_and_has_nothing_left_to_do() {
    check("finished", go, &[], NOTHING);
}

#[test]
fn a_failed_run_goes_on_with_what_failed_and_what_waited_for_it() {
    check("failed", go, &["-j", "1"], ALL);
}

#[test]
fn a_run_whose_engine_was_killed_goes_on_with_what_was_under_way() {
    check("killed", go, &["-j", "1"], ALL);
}

#[test]
fn a_stopped_run_goes_on() {
    check("stopped", go, &["-j", "1"], ALL);
}

#[test]
fn a_run_that_was_resumed_is_resumed_once_more() {
    check("resumed", go, &["-j", "1"], ALL);
}

#[test]
fn private_trees_of_a_dead_engine_are_kept_and_their_tasks_run_again() {
    check("trees", go, &["-j", "1"], ALL);
}

/// What the model says to those that go on; turns that were played already stand for their number only.
const AGAIN: &str = "\
wrong: [{ say: played }, { say: Better., usage: { input: 100, output: 10 } }]
cut: [{ say: played }, { say: Twice forty-two., usage: { input: 130, output: 15 } }]
held: [{ say: played }, { say: It is over., usage: { input: 140, output: 15 } }]
later: [{ say: Now it is done., usage: { input: 150, output: 15 } }]
";

#[test]
fn agents_of_a_dead_engine_go_on_with_their_conversations() {
    let prepare = |flow: &Flow| {
        go(flow);
        flow.write("again.yaml", AGAIN);
    };
    check("agents", prepare, &["-j", "1", "--model-script", "again.yaml"], OF_AGENTS);
}
