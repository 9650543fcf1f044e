//! The passes of the compiler, in order. Each reports what it finds and goes on; a plan is made of a text without errors.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::num::NonZeroU32;

use indexmap::IndexMap;

use super::agent_task::{Cast, Powers};
use super::edges;
use super::findings::Findings;
use super::fork;
use super::input::{CompileInput, Compiled, Place, Purpose};
use super::inputs;
use super::private_tree;
use super::prompts;
use super::scope::{PlanVariable, Scope, Spot, World};
use super::shape::Shape;
use super::shell;
use super::task;
use super::templates;
use super::words::{at_least_one, literal};
use super::writers::{Writer, warn_of_shared_trees};
use crate::diagnostic::{Code, Span};
use crate::graph::Graph;
use crate::ids::TaskId;
use crate::plan::{Expansion, Kind, Plan, Task};
use crate::syntax::{self, RunText, Text, WorkflowFile};
use crate::template::{Segment, Template};
use crate::text::file_stem;

/// Compiles a manifest: everything that is wrong with it, or a plan.
pub fn compile(input: &CompileInput<'_>) -> Compiled {
    let (workflow, found) = syntax::workflow(&input.file);
    let Some(workflow) = workflow else {
        return Compiled { plan: None, diagnostics: Findings::new(&input.file, found).finish() };
    };
    let faults: Vec<Span> = found
        .iter()
        .filter(|finding| finding.is_error())
        .filter_map(|finding| finding.labels.first().map(|label| label.span))
        .collect();
    let mut findings = Findings::new(&input.file, found);
    let plan = plan(&mut findings, input, &workflow, &faults);
    let plan = plan.filter(|_| !findings.has_error());
    Compiled { plan, diagnostics: findings.finish() }
}

fn plan(
    findings: &mut Findings,
    input: &CompileInput<'_>,
    workflow: &WorkflowFile,
    faults: &[Span],
) -> Option<Plan> {
    for (key, text) in [("name", &workflow.name), ("description", &workflow.description)] {
        if let Some(text) = text {
            literal(findings, key, text);
        }
    }
    let concurrency = workflow.concurrency.as_ref();
    let concurrency = concurrency.and_then(|most| at_least_one(findings, "concurrency", most));
    if input.purpose == Purpose::Run {
        secrets(findings, input.place, &workflow.secrets);
    }
    let inputs = inputs::resolve(findings, &workflow.inputs, input.inputs, input.purpose);

    let ids: HashMap<&str, TaskId> = workflow
        .tasks
        .iter()
        .enumerate()
        .map(|(index, file)| (file.id.value.as_str(), TaskId::at(index)))
        .collect();
    let forks = fork::forks(findings, workflow, &ids);
    let mut cast = Cast::default();
    let tasks = workflow.tasks.iter().enumerate().map(|(index, file)| {
        let span = file.keys.span;
        let faulty = faults.iter().any(|fault| span.start <= fault.start && fault.start <= span.end);
        task::shape(findings, input, (&mut cast, &forks), (TaskId::at(index), file), workflow, faulty)
    });
    let shapes: Vec<Shape<'_>> = tasks.collect();
    let prompts = prompts::read(findings, input.place, workflow);
    let briefing = prompts::briefing(findings, input.place, workflow);
    let mut world = World {
        file: &workflow.file,
        place: input.place,
        purpose: input.purpose,
        prompts: &prompts,
        pools: pools(findings, workflow),
        ids,
        shapes,
        inputs: inputs.declared,
        secrets: workflow.secrets.iter().map(|name| name.value.as_str()).collect(),
        env: workflow
            .env
            .iter()
            .map(|(name, _)| (name.value.as_str(), PlanVariable { secret: false }))
            .collect(),
        settings: input.settings,
        shell: shell::words(findings, workflow.defaults.shell.as_ref()),
    };
    check_places(findings, input.place, &world);
    let env = plan_env(findings, &mut world, &workflow.env);
    let mut scope = Scope::new(&world, None);
    let lock = workflow.lock.as_ref().map(|lock| lock_name(findings, &mut scope, lock));

    let mut tasks: Vec<Option<Task>> = Vec::with_capacity(world.shapes.len());
    let mut needs = Vec::with_capacity(world.shapes.len());
    let mut inferred = edges::Inferred::new();
    let mut reads = Vec::new();
    let mut dirs = Vec::new();
    for shape in &world.shapes {
        let mut scope = Scope::new(&world, Some(shape));
        tasks.push(task::task(findings, &mut scope, shape, &cast));
        needs.push(scope.edges);
        dirs.extend(scope.dirs.into_iter().map(|read| (read, shape.task)));
        if !scope.needs.is_empty() {
            inferred.insert(shape.task, scope.needs);
        }
        if !scope.reads.is_empty() {
            reads.push((shape, scope.reads));
        }
    }
    let mut scope = Scope::new(&world, None);
    let outputs: Vec<(String, Option<Template>)> = workflow
        .outputs
        .iter()
        .map(|(name, text)| {
            (name.value.clone(), templates::text(findings, &mut scope, Spot::PlanOutputs, text))
        })
        .collect();

    let graph = edges::graph(needs, &inferred);
    edges::report_cycles(findings, &world, &graph, &inferred);
    for (shape, reads) in &reads {
        edges::warn_of_nulls(findings, shape, &tasks, &graph, reads, &world);
    }
    edges::report_unasked(findings, &world, &tasks, &graph);
    let tasks: Option<Vec<Task>> = tasks.into_iter().collect();
    let mut tasks = tasks.filter(|_| !findings.has_error())?;
    fork::settle(&mut tasks, &forks, &graph);
    for (read, reader) in dirs {
        let readers = &mut tasks[read.index()].options.get_or_insert_default().dir_readers;
        if !readers.contains(&reader) {
            readers.push(reader);
        }
    }
    warn_of_agents(findings, input, &world, &cast, &tasks, &graph);
    let name = workflow.name.as_ref().map(|name| name.value.clone());
    Some(Plan {
        name: name.unwrap_or_else(|| file_stem(&input.file.name).to_owned()),
        description: workflow.description.as_ref().map(|text| text.value.clone()),
        inputs: inputs.values,
        secrets: world.secrets.iter().map(|name| (*name).to_owned()).collect(),
        env: env?,
        concurrency,
        pools: world.pools.iter().map(|(name, slots)| ((*name).to_owned(), *slots)).collect(),
        lock: match lock {
            Some(lock) => Some(lock?),
            None => None,
        },
        briefing,
        tasks,
        graph,
        agents: cast.into_agents(),
        outputs: outputs
            .into_iter()
            .map(|(name, template)| Some((name, template?)))
            .collect::<Option<Vec<_>>>()?,
    })
}

/// `pools`; one that no task takes a slot of is a slip.
fn pools<'a>(findings: &mut Findings, workflow: &'a WorkflowFile) -> IndexMap<&'a str, NonZeroU32> {
    let keys = || workflow.tasks.iter().map(|task| &task.keys).chain([&workflow.defaults]);
    let mut pools = IndexMap::with_capacity(workflow.pools.len());
    for (name, slots) in &workflow.pools {
        let Some(slots) = at_least_one(findings, &format!("pools.{}", name.value), slots) else {
            // Its tasks are not told that it doesn't exist.
            pools.insert(name.value.as_str(), NonZeroU32::MIN);
            continue;
        };
        pools.insert(name.value.as_str(), slots);
        if !keys().any(|keys| keys.pool.as_ref().is_some_and(|pool| pool.value == name.value)) {
            let message = format!("no task takes a slot of the pool `{}`", name.value);
            let finding = findings.at(Code::Suspicious, name.span, message);
            findings.push(
                finding.help(format!("write `pool: {}` on the tasks that it is meant for", name.value)),
            );
        }
    }
    pools
}

fn lock_name<'a>(findings: &mut Findings, scope: &mut Scope<'_, 'a>, lock: &'a Text) -> Option<Template> {
    if lock.value.trim().is_empty() {
        findings.push(
            findings.at(Code::BadValue, lock.span, "`lock` is empty").help("write a name, such as `deploy`"),
        );
    }
    templates::text(findings, scope, Spot::Lock, lock)
}

/// The shortest secret that is masked: a shorter one is in every other line by chance.
pub const SHORTEST_MASKED: usize = 6;

/// Declared secrets must be there before anything runs.
fn secrets(findings: &mut Findings, place: &dyn Place, declared: &[Text]) {
    for name in declared {
        let message = match place.env(&name.value) {
            None => format!("secret `{}` is not set", name.value),
            Some(value) if value.is_empty() => format!("secret `{}` is empty", name.value),
            Some(value) if value.trim().chars().count() < SHORTEST_MASKED => {
                let message = format!(
                    "secret `{}` has fewer than {SHORTEST_MASKED} characters, so it isn't masked",
                    name.value
                );
                findings.push(findings.at(Code::ShownSecret, name.span, message));
                continue;
            }
            Some(_) => continue,
        };
        let help = format!("set `{}` in the environment of this program", name.value);
        findings.push(findings.at(Code::MissingSecret, name.span, message).help(help));
    }
}

/// What private trees and shells need of the place, asked once each and only when the plan needs it.
fn check_places(findings: &mut Findings, place: &dyn Place, world: &World<'_>) {
    let (git, depth) = (OnceCell::new(), OnceCell::new());
    for shape in &world.shapes {
        task::check_git(findings, shape, || *git.get_or_init(|| place.git()));
        private_tree::check_dir(findings, shape, || *depth.get_or_init(|| place.depth()));
    }
    let wants_bash = |shape: &&Shape<'_>| {
        let shell = shape.keys.get(|keys| &keys.shell).map(|shell| shell.value.as_slice());
        let is_bash = shell.is_none_or(|words| matches!(words, [only] if only.value == "bash"));
        if shape.kind == Some(Kind::Agent) {
            return shape.keys.get(|keys| &keys.checks).is_some() && shape.keys.defaults.shell.is_none();
        }
        is_bash && matches!(shape.keys.own.run, Some(RunText::Script(_)))
    };
    if let Some(shape) = world.shapes.iter().find(wants_bash)
        && !place.has_program("bash")
    {
        let written = shape.keys.written("run").or(shape.keys.written("checks"));
        let span = written.unwrap_or(shape.id.span);
        let message = format!("task `{}` runs in bash, and there is no bash here", shape.id.value);
        let finding = findings.at(Code::BadPlace, span, message);
        findings.push(finding.help("write `shell: sh`, for all tasks under `defaults:`"));
    }
}

/// Top-level `env`: each entry sees those before it.
fn plan_env<'a>(
    findings: &mut Findings,
    world: &mut World<'a>,
    written: &'a [(Text, Text)],
) -> Option<Vec<(String, Template)>> {
    let mut env: Vec<Option<(String, Template)>> = Vec::with_capacity(written.len());
    for (before, (name, text)) in written.iter().enumerate() {
        let mut scope = Scope::new(world, None);
        let value = templates::text(findings, &mut scope, Spot::PlanEnv(before), text);
        let holds_secret = |template: &Template| {
            template.references.iter().any(|reference| match reference.path.as_slice() {
                [Segment::Name(root), Segment::Name(of)] if root == "env" => {
                    let own = world.env.get_full(of.as_str()).filter(|(at, ..)| *at < before);
                    own.is_some_and(|(_, _, own)| own.secret) || world.secrets.contains(&of.as_str())
                }
                [Segment::Name(root), ..] => root == "secrets",
                _ => false,
            })
        };
        world.env[before].secret = value.as_ref().is_some_and(holds_secret);
        env.push(value.map(|value| (name.value.clone(), value)));
    }
    env.into_iter().collect()
}

/// What the powers of agents say about the plan as a whole.
fn warn_of_agents(
    findings: &mut Findings,
    input: &CompileInput<'_>,
    world: &World<'_>,
    cast: &Cast,
    tasks: &[Task],
    graph: &Graph,
) {
    let mut writers = Vec::new();
    for (task, shape) in tasks.iter().zip(&world.shapes) {
        let Some(work) = task.kind.agent() else { continue };
        let Some(agent) = cast.get(work.agent) else { continue };
        let powers = Powers { agent, task, work, settings: input.settings };
        // What a fork may not do either was said where its conversation begins.
        let as_before =
            |from: TaskId| tasks[from.index()].isolation.is_private() == task.isolation.is_private();
        if !work.fork.is_some_and(as_before) {
            powers.warn_of_denials(findings, shape.keys);
        }
        if !task.isolation.is_private() && powers.may_write() {
            let side_by_side =
                |expansion: &Expansion| expansion.max_parallel.is_none_or(|most| most.get() > 1);
            writers.push(Writer {
                task: task.id,
                parallel: task.expansion.as_deref().is_some_and(side_by_side),
            });
        }
    }
    warn_of_shared_trees(findings, &world.shapes, graph, &writers);
}

#[cfg(test)]
#[path = "compiler_tests.rs"]
mod tests;
