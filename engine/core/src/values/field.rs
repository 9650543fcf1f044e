//! `tasks.x.FIELD`: what one task can read of another.

use serde_json::{Map, Value, json};

use crate::ids::Address;
use crate::model::{Artifact, Digest, Outcome, OutputSlice, Reason, TaskState, Usage, WorktreeOutcome};
use crate::plan::{FACTS, Fact, FactInfo, FactOf, OfMany, USAGE};
use crate::report::{Fold, TaskReport, Texts, notification};

/// The value of a field. Fields that a kind of task doesn't have are refused by the compiler; here they are null. The error
/// says that what the task wrote can't be read any more.
pub(super) fn field(task: &TaskReport, name: &str, run: &Fold, texts: &dyn Texts) -> Result<Value, String> {
    let Some(row) = FactInfo::of_name(name) else { return Ok(Value::Null) };
    match (&task.instances, row.of_many) {
        (None, _) if row.of == FactOf::Many => Ok(Value::Null),
        (None, _) | (Some(_), OfMany::Whole) => read(task, row, texts),
        (Some(_), OfMany::Nothing) => Ok(Value::Null),
        (Some(instances), OfMany::List) => {
            let all = instances.iter().filter_map(|address| run.task(address));
            all.filter(|task| row.fact != Fact::Output || task.state == TaskState::Completed)
                .map(|task| read(task, row, texts))
                .collect()
        }
    }
}

/// The task, or its instances, of which a value can't be read any more, and why.
pub fn unreadable(task: &TaskReport, name: &str, run: &Fold, texts: &dyn Texts) -> Vec<(Address, String)> {
    let all = match &task.instances {
        None => vec![task],
        Some(instances) => instances.iter().filter_map(|address| run.task(address)).collect(),
    };
    let Some(row) = FactInfo::of_name(name) else { return Vec::new() };
    all.into_iter().filter_map(|task| Some((task.address.clone(), read(task, row, texts).err()?))).collect()
}

/// The fact of a task that is no list of instances; an error says which can't be read.
fn read(task: &TaskReport, row: &FactInfo, texts: &dyn Texts) -> Result<Value, String> {
    let value = own(task, row.fact, texts);
    // Which part of `.results` can't be read says more.
    let says_so = row.fact == Fact::Results;
    value.map_err(|why| match says_so {
        true => why,
        false => format!("`{}` of `{}` can't be read: {why}", row.name, task.address),
    })
}

fn own(task: &TaskReport, fact: Fact, texts: &dyn Texts) -> Result<Value, String> {
    let last = task.attempts.last();
    Ok(match fact {
        Fact::Output if has_output(task) => output(task, texts)?,
        Fact::Output => Value::Null,
        Fact::Results => result(task, texts)?,
        Fact::Text => {
            text(last.and_then(|attempt| attempt.text.as_ref().or(attempt.stdout.as_ref())), texts)?
        }
        Fact::Stdout => whole(last.and_then(|attempt| attempt.stdout.as_ref()), texts)?,
        Fact::Stderr => whole(last.and_then(|attempt| attempt.stderr.as_ref()), texts)?,
        Fact::ExitCode => json!(task.exit_code),
        Fact::Status => json!(task.state.as_str()),
        Fact::Reason => json!(task.reason.map(Reason::as_str)),
        Fact::Attempts => json!(task.attempts.len()),
        Fact::Duration => json!(seconds(task.duration_ms)),
        Fact::Usage => usage(task.usage.as_ref()),
        Fact::Notification => json!(told(task, texts)?),
        Fact::Branch => json!(task.worktree.as_ref().and_then(|tree| tree.branch.as_ref())),
        Fact::Patch => match task.worktree.as_ref().and_then(patch) {
            Some(patch) => {
                texts.check(&patch)?;
                json!(texts.path(&patch))
            }
            None => Value::Null,
        },
        Fact::Artifacts => task.artifacts.iter().map(|one| kept(one, texts)).collect::<Result<_, _>>()?,
        Fact::Dir => json!(task.dir),
    })
}

fn usage(usage: Option<&Usage>) -> Value {
    let facts =
        |usage: &Usage| USAGE.iter().map(|(name, value)| ((*name).to_owned(), value(usage))).collect();
    usage.map_or(Value::Null, |usage| Value::Object(facts(usage)))
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

/// An element of `.results`: every value of an instance with its key and item.
fn result(task: &TaskReport, texts: &dyn Texts) -> Result<Value, String> {
    let mut all = Map::new();
    all.insert("key".to_owned(), json!(task.key));
    all.insert("item".to_owned(), json!(task.item));
    for row in FACTS.iter().filter(|row| row.in_results) {
        all.insert(row.name.to_owned(), read(task, row, texts)?);
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
    fn values(mut self, texts: &dyn Texts) -> Result<Map<String, Value>, String> {
        let facts = FACTS.iter().filter(|row| row.of_attempt);
        facts.map(|row| Ok((row.name.to_owned(), self.value(row.fact, texts)?))).collect()
    }

    fn value(&mut self, fact: Fact, texts: &dyn Texts) -> Result<Value, String> {
        let [said, stdout, stderr] = self.streams;
        Ok(match fact {
            Fact::Output => self.output.take(),
            Fact::Text => text(said.or(stdout), texts)?,
            Fact::Stdout => whole(stdout, texts)?,
            Fact::Stderr => whole(stderr, texts)?,
            Fact::ExitCode => json!(self.exit_code),
            Fact::Status => json!(self.state.as_str()),
            Fact::Reason => json!(self.reason.map(Reason::as_str)),
            Fact::Duration => json!(seconds(self.duration_ms)),
            Fact::Usage => usage(self.usage),
            Fact::Artifacts => self.artifacts.iter().map(|one| json!(texts.path(&one.slice()))).collect(),
            // What the task has and no attempt by itself.
            Fact::Results | Fact::Attempts | Fact::Notification | Fact::Branch | Fact::Patch | Fact::Dir => {
                Value::Null
            }
        })
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
