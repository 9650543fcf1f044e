//! `tasks.x.FIELD`: what one task can read of another.

use serde_json::{Map, Value, json};

use crate::ids::Address;
use crate::model::{Artifact, Digest, Outcome, OutputSlice, Reason, TaskState, Usage, WorktreeOutcome};
use crate::report::{Fold, TaskReport, Texts, notification};

/// The value of a field. Fields that a kind of task doesn't have are refused by the compiler; here they are null. The error
/// says that what the task wrote can't be read any more.
pub(super) fn field(task: &TaskReport, name: &str, run: &Fold, texts: &dyn Texts) -> Result<Value, String> {
    let Some(instances) = &task.instances else {
        return own(task, name, texts).map_err(|why| lost(task, name, &why));
    };
    let all = instances.iter().filter_map(|address| run.task(address));
    match name {
        "output" => all
            .filter(|task| task.state == TaskState::Completed)
            .map(|task| own(task, name, texts).map_err(|why| lost(task, name, &why)))
            .collect(),
        "results" => all.map(|task| result(task, texts)).collect(),
        "notification" => all.map(|task| own(task, name, texts)).collect(),
        _ => Ok(common(task, name)),
    }
}

/// The task, or its instances, of which a value can't be read any more, and why.
pub fn unreadable(task: &TaskReport, name: &str, run: &Fold, texts: &dyn Texts) -> Vec<(Address, String)> {
    let all = match &task.instances {
        None => vec![task],
        Some(instances) => instances.iter().filter_map(|address| run.task(address)).collect(),
    };
    let read = |task: &TaskReport| match name {
        "results" => result(task, texts),
        _ => own(task, name, texts).map_err(|why| lost(task, name, &why)),
    };
    all.into_iter().filter_map(|task| Some((task.address.clone(), read(task).err()?))).collect()
}

fn lost(task: &TaskReport, name: &str, why: &str) -> String {
    format!("`{name}` of `{}` can't be read: {why}", task.address)
}

/// The value of a field of a task that is no list of instances.
fn own(task: &TaskReport, name: &str, texts: &dyn Texts) -> Result<Value, String> {
    let last = task.attempts.last();
    Ok(match name {
        "output" if has_output(task) => output(task, texts)?,
        "output" => Value::Null,
        "text" => text(last.and_then(|attempt| attempt.text.as_ref().or(attempt.stdout.as_ref())), texts)?,
        "stdout" => whole(last.and_then(|attempt| attempt.stdout.as_ref()), texts)?,
        "stderr" => whole(last.and_then(|attempt| attempt.stderr.as_ref()), texts)?,
        "exit_code" => json!(task.exit_code),
        "usage" => json!(task.usage),
        "branch" => json!(task.worktree.as_ref().and_then(|tree| tree.branch.as_ref())),
        "patch" => match task.worktree.as_ref().and_then(patch) {
            Some(patch) => {
                texts.check(&patch)?;
                json!(texts.path(&patch))
            }
            None => Value::Null,
        },
        "artifacts" => task.artifacts.iter().map(|one| kept(one, texts)).collect::<Result<_, _>>()?,
        "dir" => json!(task.dir),
        "notification" => json!(told(task, texts)?),
        _ => common(task, name),
    })
}

/// Whether a task has an output: it completed, or said what was asked for and something else was expected. A verdict
/// that fails its task can say why.
pub(super) fn has_output(task: &TaskReport) -> bool {
    task.state == TaskState::Completed
        || task.state == TaskState::Failed && task.reason == Some(Reason::Expectation)
}

/// The notification of a task; an error where what it said can't be read.
pub(super) fn told(task: &TaskReport, texts: &dyn Texts) -> Result<Option<String>, String> {
    let said = task.attempts.last().and_then(|attempt| attempt.text.as_ref());
    said.map_or(Ok(()), |said| texts.check(said))?;
    Ok(notification(task, texts))
}

/// The path of a file that the run keeps.
fn kept(artifact: &Artifact, texts: &dyn Texts) -> Result<Value, String> {
    texts.check_artifact(artifact)?;
    Ok(json!(texts.path(&artifact.slice())))
}

/// The patch as a file of the run folder.
fn patch(tree: &WorktreeOutcome) -> Option<OutputSlice> {
    Some(OutputSlice::new(tree.patch.clone()?, 0, 0))
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
fn result(task: &TaskReport, texts: &dyn Texts) -> Result<Value, String> {
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
        let value = own(task, name, texts).map_err(|why| lost(task, name, &why))?;
        all.insert((*name).to_owned(), value);
    }
    Ok(Value::Object(all))
}

/// The output of a task in its declared form.
fn output(task: &TaskReport, texts: &dyn Texts) -> Result<Value, String> {
    let last = task.attempts.last();
    let slice = last.and_then(|attempt| attempt.text.as_ref().or(attempt.stdout.as_ref()));
    let file = task.output_file.as_deref().map(|file| (file, task.output_hash));
    formed(task.output.as_ref(), file, slice, texts)
}

fn formed(
    value: Option<&Value>,
    file: Option<(&str, Option<Digest>)>,
    slice: Option<&OutputSlice>,
    texts: &dyn Texts,
) -> Result<Value, String> {
    match (value, file) {
        (Some(value), _) => Ok(value.clone()),
        (None, Some((file, hash))) => texts.json(file, hash),
        (None, None) => Ok(match text(slice, texts)? {
            Value::Null => Value::String(String::new()),
            text => text,
        }),
    }
}

/// `task` in an expression that judges an attempt which has ended just now: `expect.that`.
pub(super) fn of_outcome(outcome: &Outcome, texts: &dyn Texts) -> Result<Map<String, Value>, String> {
    let state = if outcome.reason.is_none() { TaskState::Completed } else { TaskState::Failed };
    let streams = [outcome.text.as_ref(), outcome.stdout.as_ref(), outcome.stderr.as_ref()];
    let judged = Judged {
        output: formed(
            outcome.output.as_ref(),
            outcome.output_file.as_deref().map(|file| (file, outcome.output_hash)),
            streams[0].or(streams[1]),
            texts,
        )?,
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
pub(super) fn of_last_attempt(task: &TaskReport, texts: &dyn Texts) -> Result<Map<String, Value>, String> {
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
    fn values(self, texts: &dyn Texts) -> Result<Map<String, Value>, String> {
        let [said, stdout, stderr] = self.streams;
        let all = [
            ("output", self.output),
            ("text", self::text(said.or(stdout), texts)?),
            ("stdout", whole(stdout, texts)?),
            ("stderr", whole(stderr, texts)?),
            ("exit_code", json!(self.exit_code)),
            ("status", json!(self.state.as_str())),
            ("reason", json!(self.reason.map(Reason::as_str))),
            ("duration", json!(seconds(self.duration_ms))),
            ("usage", json!(self.usage)),
            ("artifacts", self.artifacts.iter().map(|one| json!(texts.path(&one.slice()))).collect()),
        ];
        Ok(all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

/// What a task said, without the newlines at its end: what `output: text` makes of it. The bytes are `.stdout`.
fn text(slice: Option<&OutputSlice>, texts: &dyn Texts) -> Result<Value, String> {
    let Some(slice) = slice else { return Ok(Value::Null) };
    Ok(texts.whole(slice)?.trim_end_matches(['\n', '\r']).into())
}

fn whole(slice: Option<&OutputSlice>, texts: &dyn Texts) -> Result<Value, String> {
    slice.map_or(Ok(Value::Null), |slice| texts.whole(slice).map(Value::String))
}

fn seconds(ms: u64) -> f64 {
    std::time::Duration::from_millis(ms).as_secs_f64()
}
