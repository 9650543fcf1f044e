//! One task: which kind it is, which keys it takes, and its parts put together.

use super::agent_task::{self, Cast};
use super::expansion;
use super::findings::{Findings, Written};
use super::fork::Forks;
use super::input::{CompileInput, GitPlace};
use super::matrix_rules::lacking;
use super::private_tree::{self, merge_of, preparation};
use super::prompts;
use super::references::{report, unknown_task};
use super::schema;
use super::scope::{Need, Scope, Spot};
use super::shape::{Keys, Names, Shape};
use super::shell;
use super::templates;
use super::words::{
    EDGES, ISOLATIONS, MERGES, ON_LOST, length, literal, positive_length, reasons, whole, word,
};
use crate::diagnostic::{Code, Span, Spanned};
use crate::graph::Edge;
use crate::ids::{Address, TaskId};
use crate::model::{Isolation, Merge};
use crate::plan::{Condition, Expect, Kind, OnLost, Output, Retry, Task, TaskKind, TaskOptions, Timeout};
use crate::syntax::{Key, PromptText, RunText, TaskFile, TaskKeys, Text, WorkflowFile};
use crate::template::Template;

/// What a fork has from the conversation that it goes on with.
const FORK_LACKS: &[&str] = &["model", "tools"];
const EXPANSION_KEYS: &[&str] = &["key", "max_parallel", "fail_fast"];

/// Reads what others can see of a task, and reports keys that exclude each other.
pub(super) fn shape<'a>(
    findings: &mut Findings,
    input: &CompileInput<'a>,
    (cast, forks): (&mut Cast, &Forks),
    (task, file): (TaskId, &'a TaskFile),
    workflow: &'a WorkflowFile,
    faulty: bool,
) -> Shape<'a> {
    let defaults = &workflow.defaults;
    let keys = Keys { own: &file.keys, defaults };
    let fork = forks.get(&task);
    let kind = kind(findings, &file.id, keys, faulty);
    let agent = match &file.keys.fork {
        _ if kind != Some(Kind::Agent) => None,
        None => cast.resolve(findings, input, keys),
        Some(_) => fork.and_then(|fork| fork.origin).and_then(|origin| {
            let keys = Keys { own: &workflow.tasks[origin.index()].keys, defaults };
            cast.resolve(findings, input, keys)
        }),
    };
    let isolation = keys.get(|keys| &keys.isolation);
    let isolation = match isolation.map(|text| word(findings, "isolation", text, ISOLATIONS)) {
        // From `defaults` it is for agents.
        Some(Some(Isolation::Fork)) if keys.own.isolation.is_none() && is_no_agent(kind) => Isolation::None,
        Some(word) => word.unwrap_or_default(),
        None => agent.and_then(|agent| cast.get(agent)?.isolation).unwrap_or_default(),
    };
    let merge = keys.get(|keys| &keys.merge).and_then(|text| word(findings, "merge", text, MERGES));
    let output = keys.get(|keys| &keys.output);
    let output = output.map_or(Output::Text, |node| schema::output(findings, input.place, node));
    // An agent says its output; what it takes over from `defaults` is for shell tasks.
    let output = match (output, kind) {
        (Output::Pairs, Some(Kind::Agent)) if keys.own.output.is_none() => Output::Text,
        (output, _) => output,
    };
    let names = expansion::names(findings, keys);
    let lacking = file.keys.matrix.as_ref().map_or_else(Vec::new, |matrix| lacking(&matrix.value));
    let merge = merge_of(isolation, merge.unwrap_or_default());
    let fork = fork.map(|fork| fork.task);
    let shape = Shape {
        task,
        id: &file.id,
        keys,
        kind,
        agent,
        fork,
        names,
        lacking,
        output,
        isolation,
        merge,
        faulty,
    };
    check_keys(findings, &shape);
    shape
}

/// Which kind a task is; exactly one is right.
fn kind(findings: &mut Findings, id: &Spanned<Key>, keys: Keys<'_>, faulty: bool) -> Option<Kind> {
    let own = keys.own;
    let place = |key: &str, span: Span| keys.written(key).unwrap_or(span);
    if let (Some(agent), Some(fork)) = (&own.agent, &own.fork) {
        let message = format!("task `{}` has both `agent` and `fork`", id.value);
        let finding = findings.at(Code::KeyConflict, place("agent", agent.span), message);
        let finding =
            findings.related(finding, place("fork", fork.span), "goes on as the agent of that task");
        findings.push(finding.help("take one of them away"));
        return None;
    }
    let who = own.agent.as_ref().map(|text| ("agent", text));
    let who = who.or(own.fork.as_ref().map(|text| ("fork", text)));
    match (&own.run, who, own.prompt.as_ref().map(PromptText::written)) {
        (Some(_), None, None) => Some(Kind::Shell),
        (None, _, Some(_)) => Some(Kind::Agent),
        (Some(run), who, prompt) => {
            let second = who.or(prompt.map(|text| ("prompt", text)));
            if let Some((key, text)) = second {
                let message = format!("task `{}` has both `run` and `{key}`", id.value);
                let finding = findings.at(Code::KeyConflict, place(key, text.span), message);
                let finding = findings.related(finding, place("run", run.span()), "the shell command");
                findings
                    .push(finding.help("make it two tasks; a task either runs a command or asks an agent"));
            }
            None
        }
        (None, Some((key, text)), None) => {
            if !faulty {
                let message = match key {
                    "fork" => format!("task `{}` goes on with a conversation and has no `prompt`", id.value),
                    _ => format!("task `{}` has an agent and no `prompt`", id.value),
                };
                findings.push(
                    findings
                        .at(Code::MissingKey, text.span, message)
                        .help("say what it shall do: `prompt: ...`"),
                );
            }
            Some(Kind::Agent)
        }
        (None, None, None) => {
            if !faulty {
                let message = format!("task `{}` does nothing: it has neither `run` nor `prompt`", id.value);
                let finding = findings.at(Code::MissingKey, id.span, message);
                findings.push(
                    finding.help("write `run:` with a shell command, or `prompt:` with work for an agent"),
                );
            }
            None
        }
    }
}

/// Reports keys that the task's kind, expansion, tree or output doesn't take. What comes from `defaults` is for the
/// tasks that take it.
fn check_keys(findings: &mut Findings, shape: &Shape<'_>) {
    let (own, id) = (shape.keys.own, &shape.id.value);
    let mut conflict = |key: &str, message: String, other: Option<(Span, &str)>, help: &str| {
        let span = shape.keys.written(key).unwrap_or(shape.id.span);
        let mut finding = findings.at(Code::KeyConflict, span, message).help(help);
        if let Some((span, text)) = other {
            finding = findings.related(finding, span, text);
        }
        findings.push(finding);
    };
    let what = shape.kind.map_or("this task", |kind| kind.info().one);
    let makes = format!("this makes it {what}");
    let made_by =
        shape.kind.and_then(|kind| kind.info().made_by.iter().find_map(|key| shape.keys.written(key)));
    let made_by = made_by.map(|span| (span, makes.as_str()));
    let fork = own.fork.as_ref();
    let forked = shape.keys.written("fork").map(|span| (span, "goes on with that conversation"));
    for (key, _) in &own.written {
        let owner = Kind::ALL.iter().copied().find(|kind| kind.info().keys.contains(key));
        if let (Some(owner), Some(_)) = (owner.filter(|owner| Some(*owner) != shape.kind), shape.kind) {
            let message = format!("`{key}` is for {}, and `{id}` is {what}", owner.info().all);
            conflict(key, message, made_by, "take the key away");
        } else if let Some(fork) =
            fork.filter(|_| shape.kind == Some(Kind::Agent) && FORK_LACKS.contains(key))
        {
            let message = format!("`{key}` is that of `{}`, which `{id}` goes on with", fork.value);
            let help =
                "take the key away: a fork keeps the model and the tools that its conversation began with";
            conflict(key, message, forked, help);
        }
    }
    if is_no_agent(shape.kind) && shape.isolation == Isolation::Fork {
        let message = format!("`isolation: fork` is where a conversation begins, and `{id}` is {what}");
        conflict("isolation", message, made_by, "write `worktree` or `copy`, or take the key away");
    }
    if let (Some(RunText::Words(_)), Some(_)) = (&own.run, &own.shell) {
        let message = format!("`shell` reads scripts, and `run` of `{id}` is a list, which no shell reads");
        let run = shape.keys.written("run").map(|span| (span, makes.as_str()));
        conflict("shell", message, run, "take `shell` away, or write `run` as one text");
    }
    if let (Some(_), Some(for_each)) = (&own.matrix, &own.for_each) {
        let other = shape.keys.written("for_each").unwrap_or(for_each.span);
        let message = format!("task `{id}` has both `matrix` and `for_each`");
        conflict(
            "matrix",
            message,
            Some((other, "the other")),
            "one of them can range over everything: keep that one",
        );
    }
    if own.for_each.is_none() && own.item_name.is_some() {
        let message = "`as` names the items of a `for_each`, and there is none".to_owned();
        conflict("as", message, None, "add `for_each`, or take `as` away");
    }
    for key in EXPANSION_KEYS.iter().filter(|_| !shape.is_expanded() && !shape.faulty) {
        if shape.keys.written(key).is_some() {
            let message = format!(
                "`{key}` is for tasks that become many, and `{id}` has no `for_each` and no `matrix`"
            );
            conflict(key, message, None, "take the key away");
        }
    }
    private_tree::check_keys(shape, &mut conflict);
    let shared = !shape.isolation.is_private() && !shape.faulty;
    let changes = own.expect.as_ref().and_then(|expect| expect.value.changes.as_ref());
    if shared && changes.is_some_and(|changes| changes.value) {
        let message = format!("`expect.changes` compares a private tree with its start, and `{id}` has none");
        conflict(
            "expect",
            message,
            None,
            "add `isolation: worktree`, or name the files: `expect: { files: [...] }`",
        );
    }
    let agent = shape.kind == Some(Kind::Agent);
    let denied = own.expect.as_ref().is_some_and(|expect| expect.value.denied.is_some());
    if denied && is_no_agent(shape.kind) {
        let message = format!("`expect.denied` is about the calls of an agent, and `{id}` is {what}");
        conflict("expect", message, None, "take `denied` away");
    }
    if agent && shape.output == Output::Pairs {
        let message =
            format!("`output: pairs` is what a command wrote to a file, and `{id}` is an agent task");
        conflict("output", message, made_by, "write `output: json`, `lines` or a JSON Schema");
    }
    if agent && own.repair.is_some() && shape.output == Output::Text && !shape.faulty {
        let message = format!("`repair` mends an output that has a form, and that of `{id}` is plain text");
        conflict(
            "repair",
            message,
            None,
            "add `output: json`, `lines` or a JSON Schema, or take `repair` away",
        );
    }
}

/// Whether it is clear that no agent works on a task.
fn is_no_agent(kind: Option<Kind>) -> bool {
    kind.is_some_and(|kind| kind != Kind::Agent)
}

/// Builds a task. Everything is read before anything that is missing takes the task away.
pub(super) fn task<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    shape: &Shape<'a>,
    cast: &Cast,
) -> Option<Task> {
    let keys = shape.keys;
    needs(findings, scope, shape);
    let description = keys.own.description.as_ref();
    let description = description.map(|text| templates::text(findings, scope, Spot::Attempt, text));
    let condition = keys.own.condition.as_ref();
    let condition = condition.map(|text| {
        let expression = templates::expression(findings, scope, Spot::Condition, "if", text)?;
        Some(Condition { at: scope.condition_at(&expression), expression })
    });
    let agent = shape.agent.and_then(|index| Some((index, cast.get(index)?)));
    let kind = match (shape.kind, agent) {
        (Some(Kind::Shell), _) => shell::task(findings, scope, keys).map(TaskKind::Shell),
        (Some(Kind::Agent), Some((index, agent))) => {
            let task = agent_task::task(findings, scope, shape, index, agent);
            task.map(|task| TaskKind::Agent(Box::new(task)))
        }
        (Some(Kind::Agent), None) | (None, _) => {
            // What it would say is read all the same, so that its references are checked.
            let words = match &keys.own.run {
                Some(RunText::Script(text)) => std::slice::from_ref(text),
                Some(RunText::Words(words)) => words.value.as_slice(),
                None => &[],
            };
            for text in words {
                templates::text(findings, scope, Spot::Attempt, text);
            }
            if let Some(prompt) = &keys.own.prompt {
                prompts::prompt(findings, scope, prompt);
            }
            None
        }
    };
    let expansion = match shape.names {
        Names::None => None,
        Names::Item(_) | Names::Matrix(_) => Some(expansion::expansion(findings, scope, keys, &shape.names)),
    };
    let retry = retry(findings, scope, keys);
    let timeout = timeout(findings, keys);
    let artifacts = artifacts(findings, scope, keys);
    let expect = expect(findings, scope, keys, shape.isolation);
    let dir = keys.get(|keys| &keys.dir).map(|text| templates::text(findings, scope, Spot::Attempt, text));
    let env = env(findings, scope, keys);
    let preparation = preparation(findings, scope, shape);
    let message = private_tree::message(findings, scope, shape);
    let base = keys.get(|keys| &keys.base).filter(|_| shape.isolation == Isolation::Worktree);
    let base = base.map(|text| templates::text(findings, scope, Spot::Attempt, text));
    let options = TaskOptions {
        description: whole_or_none(description)?,
        condition: whole_or_none(condition)?,
        expansion: match expansion {
            None => None,
            Some(expansion) => Some(Box::new(expansion?)),
        },
        retry,
        timeout,
        continue_on_error: shape.may_fail(),
        output: shape.output.clone(),
        artifacts: artifacts?,
        expect,
        dir: whole_or_none(dir)?,
        env,
        base: whole_or_none(base)?,
        merge_message: whole_or_none(message)?,
        preparation: match preparation {
            None => None,
            Some(preparation) => Some(Box::new(preparation?)),
        },
        pool: keys.get(|keys| &keys.pool).and_then(|name| pool(findings, scope, name)),
        on_lost: on_lost(findings, shape),
        background: background(findings, shape, cast),
        // Settled once all references are read.
        dir_readers: Vec::new(),
    };
    Some(Task {
        id: shape.task,
        address: Address::from(shape.id.value.clone()),
        kind: kind?,
        isolation: shape.isolation,
        merge: shape.merge,
        options: (options != TaskOptions::default()).then(|| Box::new(options)),
    })
}

/// An absent key is fine, a faulty one is not.
fn whole_or_none<T>(part: Option<Option<T>>) -> Option<Option<T>> {
    match part {
        None => Some(None),
        Some(read) => read.map(Some),
    }
}

/// Reads `needs`.
fn needs<'a>(findings: &mut Findings, scope: &mut Scope<'_, 'a>, shape: &Shape<'a>) {
    scope.edges.reserve_exact(shape.keys.own.needs.len());
    for need in &*shape.keys.own.needs {
        let kind = need.kind().and_then(|kind| word(findings, "needs", kind, EDGES));
        let name = need.task(scope.world.file);
        if let Some(from) = scope.world.ids.get(name) {
            scope.edges.push(Edge { from: *from, kind: kind.unwrap_or_default() });
        } else if literal(findings, "needs", Written { text: name, span: need.span, file: None }) {
            let problem = unknown_task(findings, scope.world.names(), name);
            findings.push(report(findings, problem, need.span));
        }
    }
    if let (Some(from), Some(written)) = (shape.fork, &shape.keys.own.fork) {
        let at = 0..written.value.len();
        scope.needs.push(Need { from, written: written.into(), at });
    }
}

fn retry<'a>(findings: &mut Findings, scope: &mut Scope<'_, 'a>, keys: Keys<'a>) -> Retry {
    let mut retry = Retry::default();
    let policy = &mut retry.policy;
    let Some(Spanned { value: written, span }) = keys.get(|keys| &keys.retry) else { return retry };
    if written.max.is_none() {
        let finding =
            findings.at(Code::Suspicious, *span, "`retry` says how, but not how often: nothing is retried");
        findings.push(finding.help("add `max`, the number of further attempts"));
    }
    if let Some(max) = &written.max {
        policy.max = whole(findings, "retry.max", max, 0..=1000).unwrap_or_default();
    }
    if let Some(delay) = &written.delay {
        policy.delay = length(findings, "retry.delay", delay).unwrap_or(policy.delay);
    }
    if let Some(most) = &written.max_delay {
        policy.max_delay = length(findings, "retry.max_delay", most).unwrap_or(policy.max_delay);
    }
    if let Some(factor) = &written.backoff {
        if (1.0..=1000.0).contains(&factor.value) {
            policy.backoff = factor.value;
        } else {
            let message = format!("`retry.backoff` can't be {}: it takes 1 to 1000", factor.value);
            findings.push(findings.at(Code::BadValue, factor.span, message));
        }
    }
    if let Some(jitter) = &written.jitter {
        policy.jitter = jitter.value;
    }
    policy.on = written.on.as_ref().map(|words| reasons(findings, &words.value));
    let condition = written.condition.as_ref();
    retry.condition =
        condition.and_then(|text| templates::expression(findings, scope, Spot::Verdict, "retry.if", text));
    retry
}

fn timeout(findings: &mut Findings, keys: Keys<'_>) -> Timeout {
    let Some(written) = keys.get(|keys| &keys.timeout).map(|timeout| &timeout.value) else {
        return Timeout::default();
    };
    Timeout {
        run: written.run.as_ref().and_then(|text| positive_length(findings, "timeout", text)),
        idle: written.idle.as_ref().and_then(|text| positive_length(findings, "timeout.idle", text)),
        grace: written.grace.as_ref().and_then(|text| length(findings, "timeout.grace", text)),
    }
}

/// Reads `artifacts`. What leads out of the task's folder is refused now where it can be seen, else when it is looked for.
fn artifacts<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    keys: Keys<'a>,
) -> Option<Vec<Template>> {
    let Some(written) = keys.get(|keys| &keys.artifacts) else { return Some(Vec::new()) };
    let mut all = Vec::with_capacity(written.value.len());
    for path in &written.value {
        let template = templates::text(findings, scope, Spot::Attempt, path);
        let leads_out = path.value.starts_with('/') || path.value.split('/').any(|part| part == "..");
        if path.value.trim().is_empty() || leads_out {
            let message = match leads_out {
                true => format!("the artifact `{}` leads out of the task's folder", path.value),
                false => "an artifact's path is empty".to_owned(),
            };
            let finding = findings.at(Code::BadValue, path.span, message);
            findings.push(finding.help("write a path or a pattern below the folder that the task works in"));
        }
        all.push(template);
    }
    all.into_iter().collect()
}

/// The index of a pool in the plan's.
fn pool(findings: &mut Findings, scope: &Scope<'_, '_>, name: &Text) -> Option<usize> {
    let found = scope.world.pools.get_index_of(name.value.as_str());
    if found.is_none() && literal(findings, "pool", name) {
        let message = format!("this plan has no pool `{}`", name.value);
        let help = findings.instead(&name.value, scope.world.pools.keys().copied());
        let help = help.unwrap_or_else(|| format!("declare it at the top: `pools: {{ {}: 1 }}`", name.value));
        findings.push(findings.at(Code::UnknownReference, name.span, message).help(help));
    }
    found
}

/// What a resume does with an attempt that was lost: the task's word, else what its kind does.
fn on_lost(findings: &mut Findings, shape: &Shape<'_>) -> OnLost {
    let written = shape.keys.get(|keys| &keys.on_lost);
    if let Some(word) = written.and_then(|text| word(findings, "on_lost", text, ON_LOST)) {
        return word;
    }
    let harmless = shape.keys.get(|keys| &keys.idempotent).map(|flag| flag.value);
    match harmless {
        Some(true) => OnLost::Retry,
        Some(false) => OnLost::Fail,
        None => shape.kind.map(|kind| kind.info().on_lost).unwrap_or_default(),
    }
}

/// Whether the rules of background tasks hold: the task's word, else its agent's.
fn background(findings: &mut Findings, shape: &Shape<'_>, cast: &Cast) -> bool {
    let written = shape.keys.get(|keys| &keys.background);
    let agent = shape.agent.and_then(|index| cast.get(index));
    if let (Some(Spanned { value: true, span }), Some(agent)) = (written, agent)
        && !agent.supports_background
    {
        let message = format!("agent `{}` says that it can't work in the background", agent.name);
        let finding = findings.at(Code::AgentConflict, *span, message);
        findings
            .push(finding.help(format!("take `background` away, or choose another agent ({})", agent.path)));
    }
    written.map_or(agent.is_some_and(|agent| agent.background), |flag| flag.value)
}

fn expect<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    keys: Keys<'a>,
    isolation: Isolation,
) -> Expect {
    let no_denials = no_denials(findings, keys);
    let Some(written) = keys.get(|keys| &keys.expect).map(|expect| &expect.value) else {
        return Expect { no_denials, ..Expect::default() };
    };
    let files = written.files.iter().filter(|file| literal(findings, "expect.files", *file));
    let files = files.map(|file| file.value.clone()).collect();
    // That of `defaults` asks nothing of a task that shares its tree with others.
    let changes = written.changes.as_ref().map(|changes| changes.value);
    let changes = changes.filter(|must| !must || isolation.is_private());
    let that = written.that.as_ref();
    let that =
        that.and_then(|text| templates::expression(findings, scope, Spot::Verdict, "expect.that", text));
    Expect { files, changes, no_denials, that }
}

/// `expect.denied` of the task, else of `defaults`: what a task expects beside it doesn't take it away.
fn no_denials(findings: &mut Findings, keys: Keys<'_>) -> bool {
    let written = |keys: &TaskKeys| keys.expect.as_ref().and_then(|expect| expect.value.denied.clone());
    let own = written(keys.own);
    if let Some(Spanned { value: true, span }) = own {
        let finding = findings.at(Code::BadValue, span, "`expect.denied` can only be `false`");
        findings.push(finding.help("leave it out: then refused calls are told, and are no failure"));
    }
    let is_agent = keys.own.run.is_none();
    is_agent && own.or_else(|| written(keys.defaults)).is_some_and(|denied| !denied.value)
}

/// `env` of `defaults` with that of the task over it.
fn env<'a>(findings: &mut Findings, scope: &mut Scope<'_, 'a>, keys: Keys<'a>) -> Vec<(String, Template)> {
    let own = &keys.own.env;
    let kept =
        keys.defaults.env.iter().filter(|(name, _)| own.iter().all(|(over, _)| over.value != name.value));
    let mut env = Vec::with_capacity(own.len() + keys.defaults.env.len());
    for (name, value) in kept.chain(own) {
        if let Some(value) = templates::text(findings, scope, Spot::Env, value) {
            env.push((name.value.clone(), value));
        }
    }
    env
}

/// Reports a task that wants a private tree where none can be made.
pub(super) fn check_git(findings: &mut Findings, shape: &Shape<'_>, git: impl FnOnce() -> GitPlace) {
    if shape.isolation != Isolation::Worktree {
        return;
    }
    let (why, help) = match git() {
        GitPlace::Ready => return,
        GitPlace::Bare => return check_bare(findings, shape),
        GitPlace::None => {
            ("this is no git repository", "run `git init` and commit, or take `isolation` away")
        }
        GitPlace::NoCommits => ("the git repository has no commit yet", "make a first commit"),
    };
    let written = shape.keys.get(|keys| &keys.isolation).map(|text| text.span);
    let span = written.unwrap_or(agent_task::agent_place(shape.keys));
    let message = format!("task `{}` works in a git worktree, and {why}", shape.id.value);
    findings.push(findings.at(Code::BadPlace, span, message).help(help));
}

/// Reports a task whose work is to come home to a checkout that isn't there.
fn check_bare(findings: &mut Findings, shape: &Shape<'_>) {
    // A commit on a branch needs no checkout.
    if shape.merge != Merge::Apply {
        return;
    }
    let written = shape.keys.get(|keys| &keys.merge).map_or(shape.id.span, |text| text.span);
    let id = &shape.id.value;
    let message = format!("`merge: apply` of `{id}` writes to the checkout, and this repository is bare");
    let help = "write `branch`, `patch`, `squash` or `cherry_pick`";
    findings.push(findings.at(Code::BadPlace, written, message).help(help));
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
