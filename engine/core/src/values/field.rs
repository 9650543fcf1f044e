//! `tasks.x.FIELD`: what one task can read of another.

use serde_json::{Map, Value, json};

use crate::model::{Artifact, Outcome, OutputSlice, Reason, TaskState, Usage, WorktreeOutcome};
use crate::report::{Fold, TaskReport, Texts, notification};

/// The value of a field. Fields that a kind of task doesn't have are refused by the compiler; here they are null.
pub(super) fn field(task: &TaskReport, name: &str, run: &Fold, texts: &dyn Texts) -> Value {
    if let Some(instances) = &task.instances {
        let all = instances.iter().filter_map(|address| run.task(address));
        return match name {
            "output" => all
                .filter(|task| task.state == TaskState::Completed)
                .map(|task| output(task, texts))
                .collect(),
            "results" => all.map(|task| result(task, run, texts)).collect(),
            "notification" => all.map(|task| json!(notification(task, texts))).collect(),
            _ => common(task, name),
        };
    }
    let last = task.attempts.last();
    let stream = |slice: Option<&OutputSlice>| json!(slice.map(|slice| whole(slice, texts)));
    match name {
        "output" if task.state == TaskState::Completed => output(task, texts),
        "output" => Value::Null,
        "text" => stream(last.and_then(|attempt| attempt.text.as_ref().or(attempt.stdout.as_ref()))),
        "stdout" => stream(last.and_then(|attempt| attempt.stdout.as_ref())),
        "stderr" => stream(last.and_then(|attempt| attempt.stderr.as_ref())),
        "exit_code" => json!(task.exit_code),
        "usage" => json!(task.usage),
        "branch" => json!(task.worktree.as_ref().and_then(|tree| tree.branch.as_ref())),
        "patch" => json!(task.worktree.as_ref().and_then(|tree| Some(texts.path(&patch(tree)?)))),
        "artifacts" => task.artifacts.iter().map(|artifact| json!(texts.path(&artifact.slice()))).collect(),
        "dir" => json!(task.dir),
        "notification" => json!(notification(task, texts)),
        _ => common(task, name),
    }
}

/// The patch as a file of the run folder.
fn patch(tree: &WorktreeOutcome) -> Option<OutputSlice> {
    Some(OutputSlice { file: tree.patch.clone()?, start: 0, len: 0 })
}

fn common(task: &TaskReport, name: &str) -> Value {
    match name {
        "status" => json!(task.state.as_str()),
        "reason" => json!(task.reason.map(Reason::as_str)),
        "attempts" => json!(task.attempts.len()),
        "duration" => json!(seconds(task.duration_ms)),
        _ => Value::Null,
    }
}

/// An element of `.results`: every value of an instance with its key and item.
fn result(task: &TaskReport, run: &Fold, texts: &dyn Texts) -> Value {
    const FIELDS: &[&str] = &[
        "output",
        "text",
        "stdout",
        "stderr",
        "exit_code",
        "status",
        "reason",
        "attempts",
        "duration",
        "usage",
        "branch",
        "patch",
        "artifacts",
        "dir",
    ];
    let mut all = Map::new();
    all.insert("key".to_owned(), json!(task.key));
    all.insert("item".to_owned(), json!(task.item));
    for name in FIELDS {
        all.insert((*name).to_owned(), field(task, name, run, texts));
    }
    Value::Object(all)
}

/// The output of a task in its declared form.
fn output(task: &TaskReport, texts: &dyn Texts) -> Value {
    let last = task.attempts.last();
    let slice = last.and_then(|attempt| attempt.text.as_ref().or(attempt.stdout.as_ref()));
    formed(task.output.as_ref(), task.output_file.as_deref(), slice, texts)
}

fn formed(
    value: Option<&Value>,
    file: Option<&str>,
    slice: Option<&OutputSlice>,
    texts: &dyn Texts,
) -> Value {
    match (value, file) {
        (Some(value), _) => value.clone(),
        (None, Some(file)) => texts.json(file).unwrap_or(Value::Null),
        (None, None) => {
            let text = slice.map(|slice| whole(slice, texts)).unwrap_or_default();
            text.trim_end_matches(['\n', '\r']).into()
        }
    }
}

/// `task` in an expression that judges an attempt which has ended just now: `expect.that`.
pub(super) fn of_outcome(outcome: &Outcome, texts: &dyn Texts) -> Map<String, Value> {
    let state = if outcome.reason.is_none() { TaskState::Completed } else { TaskState::Failed };
    let streams = [outcome.text.as_ref(), outcome.stdout.as_ref(), outcome.stderr.as_ref()];
    let judged = Judged {
        output: formed(
            outcome.output.as_ref(),
            outcome.output_file.as_deref(),
            streams[0].or(streams[1]),
            texts,
        ),
        streams,
        exit_code: outcome.exit_code,
        state,
        reason: outcome.reason,
        duration_ms: outcome.duration_ms,
        usage: outcome.usage.as_ref(),
        artifacts: &outcome.artifacts,
    };
    judged.values(texts)
}

/// `task` in an expression that judges the last attempt on record: `retry.if`.
pub(super) fn of_last_attempt(task: &TaskReport, texts: &dyn Texts) -> Map<String, Value> {
    let last = task.attempts.last();
    let judged = Judged {
        output: Value::Null,
        streams: [
            last.and_then(|attempt| attempt.text.as_ref()),
            last.and_then(|attempt| attempt.stdout.as_ref()),
            last.and_then(|attempt| attempt.stderr.as_ref()),
        ],
        exit_code: last.and_then(|attempt| attempt.exit_code),
        state: TaskState::Failed,
        reason: last.and_then(|attempt| attempt.reason),
        duration_ms: last.map_or(0, |attempt| attempt.duration_ms),
        usage: last.and_then(|attempt| attempt.usage.as_ref()),
        artifacts: &task.artifacts,
    };
    judged.values(texts)
}

struct Judged<'a> {
    output: Value,
    /// Final text, standard output, standard error.
    streams: [Option<&'a OutputSlice>; 3],
    exit_code: Option<i32>,
    state: TaskState,
    reason: Option<Reason>,
    duration_ms: u64,
    usage: Option<&'a Usage>,
    artifacts: &'a [Artifact],
}

impl Judged<'_> {
    fn values(self, texts: &dyn Texts) -> Map<String, Value> {
        let [text, stdout, stderr] = self.streams;
        let stream = |slice: Option<&OutputSlice>| json!(slice.map(|slice| whole(slice, texts)));
        [
            ("output", self.output),
            ("text", stream(text.or(stdout))),
            ("stdout", stream(stdout)),
            ("stderr", stream(stderr)),
            ("exit_code", json!(self.exit_code)),
            ("status", json!(self.state.as_str())),
            ("reason", json!(self.reason.map(Reason::as_str))),
            ("duration", json!(seconds(self.duration_ms))),
            ("usage", json!(self.usage)),
            ("artifacts", self.artifacts.iter().map(|one| json!(texts.path(&one.slice()))).collect()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

fn whole(slice: &OutputSlice, texts: &dyn Texts) -> String {
    texts.text(slice, usize::MAX).0
}

fn seconds(ms: u64) -> f64 {
    std::time::Duration::from_millis(ms).as_secs_f64()
}
