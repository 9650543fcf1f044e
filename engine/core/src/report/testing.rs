//! Journals in a few words and texts from memory, for the tests of this folder.

use std::collections::BTreeMap;

use super::{FORMATS, Manifest, RunReport, Texts};
use crate::event::{Entry, Event, Instance, Launch, LaunchAgent, PlanEdge, VERSION};
use crate::graph::EdgeKind;
use crate::ids::{Address, Attempt, Millis, RunId};
use crate::model::{AttemptEnd, Digest, Outcome, OutputSlice, Reason, RunStatus, TaskState, Usage};

/// A journal in the making. Each event comes a second after the last.
#[derive(Default)]
pub(crate) struct Journal {
    pub(crate) entries: Vec<Entry>,
    texts: BTreeMap<String, String>,
    manifest: Option<Manifest>,
}

impl Texts for Journal {
    fn tail(&self, slice: &OutputSlice, lines: usize) -> String {
        crate::text::tail_lines(&self.texts[&slice.file], lines).to_owned()
    }

    fn text(&self, slice: &OutputSlice, max_bytes: usize) -> (String, u64) {
        let text = &self.texts[&slice.file];
        (text[..text.floor_char_boundary(max_bytes)].to_owned(), text.len() as u64)
    }

    fn whole(&self, slice: &OutputSlice) -> Result<String, String> {
        let text = self.texts.get(&slice.file).ok_or_else(|| format!("`{}` is gone", slice.file))?;
        match slice.hash {
            Some(hash) if hash != Digest::of(text.as_bytes()) => Err(format!("`{}` was changed", slice.file)),
            Some(_) | None => Ok(text.clone()),
        }
    }

    fn json(&self, file: &str, hash: Option<Digest>) -> Result<serde_json::Value, String> {
        let slice = OutputSlice { hash, ..OutputSlice::new(file, 0, 0) };
        serde_json::from_str(&self.whole(&slice)?).map_err(|error| error.to_string())
    }

    fn check(&self, slice: &OutputSlice) -> Result<(), String> {
        self.whole(slice).map(drop)
    }

    fn manifest(&self) -> Option<Manifest> {
        self.manifest.clone()
    }

    fn path(&self, slice: &OutputSlice) -> String {
        format!("/runs/r/{}", slice.file)
    }
}

/// Which agent, if one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Shell,
    Agent,
}

impl Journal {
    pub(crate) fn of(tasks: &[&str]) -> Self {
        let mut journal = Journal::default();
        journal.add(Event::RunStarted {
            run: RunId::parse("20261130-075412-k3f9q2").unwrap(),
            plan: "audit".into(),
            path: "plan.yaml".into(),
            root: "/repo".into(),
            tasks: tasks.iter().map(|&task| Address::task(task)).collect(),
            edges: Vec::new(),
            concurrency: 2,
            inputs: BTreeMap::from([("target".to_owned(), "src".into())]),
            seed: 7,
            flow: "0.1.0".into(),
            branch: None,
        });
        journal
    }

    pub(crate) fn of_manifest(&mut self, path: Option<&str>, text: &str) {
        self.manifest = Some(Manifest { path: path.map(str::to_owned), text: text.to_owned() });
    }

    /// Who waits for whom, by the places of the tasks: the first must end before the second.
    pub(crate) fn edges(&mut self, all: &[(u32, u32, EdgeKind)]) -> &mut Self {
        if let Some(Entry { event: Event::RunStarted { edges, .. }, .. }) = self.entries.first_mut() {
            edges.extend(all.iter().map(|&(from, to, on)| PlanEdge { from, to, on }));
        }
        self
    }

    pub(crate) fn add(&mut self, event: Event) -> &mut Self {
        let seq = self.entries.len() as u64;
        self.entries.push(Entry { v: VERSION, seq, at: Millis(seq * 1000), event });
        self
    }

    pub(crate) fn text(&mut self, file: &str, text: &str) -> OutputSlice {
        self.texts.insert(file.to_owned(), text.to_owned());
        OutputSlice::new(file, 0, text.len() as u64)
    }

    pub(crate) fn expand(&mut self, task: &str, keys: &[&str]) -> &mut Self {
        let instance = |key: &&str| Instance { key: (*key).to_owned(), item: (*key).into() };
        self.add(Event::TaskExpanded { task: task.into(), instances: keys.iter().map(instance).collect() })
    }

    pub(crate) fn start(&mut self, task: &str, attempt: u32, what: What) -> &mut Self {
        let attempt = Attempt(attempt);
        let agent = LaunchAgent {
            written: None,
            at_once: None,
            id: "a0123456789abcdef".into(),
            name: "coder".into(),
            source: "project".into(),
            path: ".flow/agents/coder.md".into(),
            hash: "9f86d081".into(),
            version: None,
            model: "m-1".into(),
            fork: None,
        };
        let launch = Launch {
            kind: if what == What::Agent { "local_agent".into() } else { "local_bash".into() },
            description: format!("do {task}"),
            dir: "/repo".into(),
            background: false,
            agent: (what == What::Agent).then_some(agent),
        };
        self.add(Event::AttemptStarting { task: task.into(), attempt, slot: Some(0) });
        self.add(Event::AttemptRunning { task: task.into(), attempt, launch })
    }

    pub(crate) fn attempt_ended(&mut self, task: &str, attempt: u32, outcome: Outcome) -> &mut Self {
        let outcome = Box::new(outcome);
        self.add(Event::AttemptEnded { task: task.into(), attempt: Attempt(attempt), outcome })
    }

    pub(crate) fn ended(&mut self, task: &str, state: TaskState, reason: Option<Reason>) -> &mut Self {
        self.add(Event::TaskEnded { task: task.into(), state, reason, message: None, allowed: false })
    }

    /// A whole launch of one attempt that ended like this.
    pub(crate) fn run(&mut self, task: &str, attempt: u32, what: What, outcome: Outcome) -> &mut Self {
        let (state, reason) = (outcome.end.task_state(outcome.reason), outcome.reason);
        self.start(task, attempt, what).attempt_ended(task, attempt, outcome).ended(task, state, reason)
    }

    pub(crate) fn resumed(&mut self, epoch: u32, lost: &[&str], reset: &[&str]) -> &mut Self {
        let all = |tasks: &[&str]| tasks.iter().map(|&task| Address::task(task)).collect();
        self.add(Event::RunResumed { epoch, lost: all(lost), reset: all(reset), given_up: Vec::new() })
    }

    pub(crate) fn finish(&mut self, status: RunStatus, exit: u8) -> &mut Self {
        self.add(Event::RunEnded { status, exit, outputs: None, message: None })
    }

    pub(crate) fn report(&self) -> RunReport {
        RunReport::fold(&self.entries).unwrap()
    }

    pub(crate) fn render(&self, format: &str) -> String {
        let format = FORMATS.iter().find(|one| one.name == format).unwrap();
        (format.render)(&self.report(), self)
    }
}

/// An attempt of a shell task that exited with this code.
pub(crate) fn exit(code: i32) -> Outcome {
    let bad = code != 0;
    Outcome {
        exit_code: Some(code),
        duration_ms: 1200,
        ..Outcome::bare(
            if bad { AttemptEnd::Failed } else { AttemptEnd::Completed },
            bad.then_some(Reason::ExitCode),
            None,
        )
    }
}

pub(crate) fn ends(end: AttemptEnd, reason: Reason) -> Outcome {
    Outcome { duration_ms: 500, ..Outcome::bare(end, Some(reason), None) }
}

/// An attempt of an agent that said this.
pub(crate) fn said(text: OutputSlice) -> Outcome {
    Outcome {
        text: Some(text),
        duration_ms: 2500,
        agent_id: Some("a0123456789abcdef".into()),
        usage: Some(usage(3, 1000)),
        ..Outcome::bare(AttemptEnd::Completed, None, None)
    }
}

pub(crate) fn usage(turns: u32, tokens: u64) -> Usage {
    Usage {
        turns,
        tool_uses: 2,
        input_tokens: tokens,
        output_tokens: 40,
        model: "m-1".into(),
        ..Usage::default()
    }
}
