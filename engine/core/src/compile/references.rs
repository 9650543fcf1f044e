//! Which names a template sees where it stands, and what each reference leads to.

use super::fields::{self, Wrong, path_text};
use super::findings::{Findings, Written};
use super::input::Purpose;
use super::scope::{Need, OutputRead, Scope, Spot};
use super::shape::Shape;
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::model::{Reason, TaskState};
use crate::template::{Reference, Segment, Template};

/// Names of other systems and what stands for them here.
const FOREIGN: &[(&str, &str)] = &[
    ("steps", "write `tasks.NAME.output`"),
    ("jobs", "write `tasks.NAME.output`"),
    ("needs", "write `tasks.NAME.output`"),
    ("nodes", "write `tasks.NAME.output`"),
    ("github", "write `run`, `git` or `env`"),
    ("params", "write `inputs.NAME`"),
    ("parameters", "write `inputs.NAME`"),
    ("vars", "write `inputs.NAME` or `env.NAME`"),
    ("round", "only loops have rounds, and this version has no loops"),
];

pub(super) const RUN: &[&str] = &["id", "dir", "ci"];
pub(super) const RUN_STATUS: &[&str] = &["status", "failed"];
pub(super) const GIT: &[&str] = &["root", "branch", "commit", "tag", "dirty"];

impl<'a> Scope<'_, 'a> {
    /// Checks one reference; a good one to a task becomes an edge.
    pub(super) fn resolve(
        &mut self,
        findings: &mut Findings,
        spot: Spot,
        written: Written<'a>,
        reference: &Reference,
    ) {
        let path = reference.path.as_slice();
        let Some((Segment::Name(root), rest)) = path.split_first() else { return };
        let found = match root.as_str() {
            "inputs" => self.input(findings, rest),
            "env" => self.variable(findings, spot, reference, rest),
            "secrets" if spot.in_env() => self.secret(findings, rest),
            "tasks" if !spot.is_before_tasks() => self.other_task(findings, spot, written, reference, rest),
            "run" if spot.sees_run_status() => {
                one_of(findings, root, rest, RUN.iter().chain(RUN_STATUS).copied())
            }
            // The lock decides whether there will be a run.
            "run" if spot == Spot::Lock => one_of(findings, root, rest, ["ci"].into_iter()),
            "run" => self.run(findings, rest),
            "git" => one_of(findings, root, rest, GIT.iter().copied()),
            "attempt" if spot.of_attempt() => scalar(root, rest),
            "key" if spot.sees_key() && self.is_expanded() => scalar(root, rest),
            "task" if spot == Spot::Verdict => self.own_values(findings, rest),
            "task" if self.task.is_some() => own_name(findings, spot, rest),
            _ if spot.of_instance() && self.item_name() == Some(root) => Ok(()),
            "matrix" if spot.of_instance() && self.axes().is_some() => {
                self.axis(findings, spot, written, reference, rest)
            }
            _ => Err(self.unknown_root(findings, spot, root)),
        };
        if let Err(mut problem) = found {
            let mark = findings.mark(written, reference.at.clone());
            if problem.message.is_empty() {
                problem.message = format!("unknown name `{}`", path_text(path));
            }
            let finding = findings.at_mark(problem.code, mark, problem.message).maybe_help(problem.help);
            findings.push(finding);
        }
    }

    fn input(&self, findings: &mut Findings, rest: &[Segment]) -> Result<(), Problem> {
        let Some(first) = rest.first() else { return Ok(()) };
        let name = name_of(first);
        match self.world.inputs.get(name.as_str()) {
            None => {
                let help = findings.instead(&name, self.world.inputs.keys().copied());
                let help =
                    help.unwrap_or_else(|| format!("declare it: `inputs: {{ {name}: {{ type: string }} }}`"));
                Err(Problem::reference(format!("this plan has no input `{name}`"), help))
            }
            Some(input) if rest.len() > 1 && !input.kind.has_parts() => {
                let message = format!("input `{name}` is {} and has no fields", input.kind.described());
                Err(Problem::reference(message, format!("write `inputs.{name}`")))
            }
            Some(_) => Ok(()),
        }
    }

    fn secret(&self, findings: &mut Findings, rest: &[Segment]) -> Result<(), Problem> {
        let names = &self.world.secrets;
        match rest {
            [Segment::Name(name)] if names.contains(&name.as_str()) => Ok(()),
            [Segment::Name(name), ..] if !names.contains(&name.as_str()) => {
                let near = findings.instead(name, names.iter().copied());
                let help = near.unwrap_or_else(|| format!("declare it: `secrets: [{name}]`"));
                Err(Problem::reference(format!("this plan declares no secret `{name}`"), help))
            }
            _ => Err(Problem::reference("a secret is read by its name", "write `secrets.NAME`")),
        }
    }

    /// Whether the task's own variable of a name has a secret in it.
    fn own_is_secret(&self, name: &str) -> bool {
        let Some(task) = self.task else { return false };
        let own = |name: &str| {
            let mut variables = task.keys.own.env.iter().chain(&task.keys.defaults.env);
            variables.find(|(own, _)| own.value == name)
        };
        let (mut asked, mut seen) = (vec![name.to_owned()], Vec::new());
        while let Some(name) = asked.pop() {
            let Some((_, text)) = own(&name).filter(|_| !seen.contains(&name)) else { continue };
            // What is wrong with it is said where it stands.
            let template = Template::text(&text.value);
            for reference in template.iter().flat_map(|template| &template.references) {
                match reference.path.as_slice() {
                    [Segment::Name(root), ..] if root == "secrets" => return true,
                    [Segment::Name(root), Segment::Name(of)] if root == "env" => {
                        let of_plan = self.world.env.get(of.as_str()).is_some_and(|variable| variable.secret);
                        if of_plan || self.world.secrets.contains(&of.as_str()) {
                            return true;
                        }
                        asked.push(of.clone());
                    }
                    _ => {}
                }
            }
            seen.push(name);
        }
        false
    }

    fn variable(
        &self,
        findings: &mut Findings,
        spot: Spot,
        reference: &Reference,
        rest: &[Segment],
    ) -> Result<(), Problem> {
        let [Segment::Name(name)] = rest else {
            return Err(Problem::reference(
                "a variable of the environment is read by its name",
                "write `env.NAME`",
            ));
        };
        let before = match spot {
            Spot::PlanEnv(before) => before,
            Spot::Lock
            | Spot::PlanOutputs
            | Spot::Condition
            | Spot::Items
            | Spot::Key
            | Spot::Env
            | Spot::Attempt
            | Spot::Verdict => self.world.env.len(),
        };
        let own = self.world.env.get_full(name.as_str());
        let declared = own.filter(|(at, ..)| *at < before).map(|(_, _, own)| own);
        let is_secret = match declared {
            Some(own) => own.secret,
            None => self.world.secrets.contains(&name.as_str()),
        };
        if !spot.in_env() && (is_secret || self.own_is_secret(name)) {
            return Err(Problem::reference(
                format!("`env.{name}` holds a secret, which can be used in `env` only"),
                format!("let the program read its variable `{name}`"),
            ));
        }
        if declared.is_some() || reference.defaulted || self.world.place.env(name).is_some() {
            return Ok(());
        }
        let of_task = |task: &&Shape<'a>| {
            let env = task.keys.own.env.iter().chain(&task.keys.defaults.env);
            env.into_iter().any(|(own, _)| own.value == *name)
        };
        let message = format!("the environment has no variable `{name}`");
        if self.task.as_ref().is_some_and(of_task) {
            let help = format!("a task's own `env` is for its programs: they read `${name}`");
            return Err(Problem::reference(message, help));
        }
        if own.is_some() {
            let help = format!("`{name}` is declared further down; put it first");
            return Err(Problem::reference(message, help));
        }
        let near = findings.near(name, self.world.env.keys().copied());
        let near = near.map(|near| format!("did you mean `{near}`? else ")).unwrap_or_default();
        let help = format!("{near}set it, declare it under `env:`, or write `env.{name} | default(\"\")`");
        // Where the plan will run, as in CI, it may be there.
        let (code, message) = match self.world.purpose {
            Purpose::Run => (Code::UnknownReference, message),
            Purpose::Look => (Code::UnsetVariable, format!("{message} here; a run without it is refused")),
        };
        Err(Problem { code, message, help: Some(help) })
    }

    fn run(&self, findings: &mut Findings, rest: &[Segment]) -> Result<(), Problem> {
        match rest.first().map(name_of) {
            Some(name) if RUN_STATUS.contains(&name.as_str()) => Err(Problem::reference(
                format!("`run.{name}` is known in `if` and in the plan's `outputs` only"),
                "ask for the tasks that matter: `tasks.NAME.status`",
            )),
            _ => one_of(findings, "run", rest, RUN.iter().copied()),
        }
    }

    fn axis(
        &self,
        findings: &mut Findings,
        spot: Spot,
        written: Written<'a>,
        reference: &Reference,
        rest: &[Segment],
    ) -> Result<(), Problem> {
        let Some(first) = rest.first() else { return Ok(()) };
        let (name, axes) = (name_of(first), self.axes().unwrap_or_default());
        if !axes.contains(&name.as_str()) {
            let help = findings.instead(&name, axes.iter().copied());
            return Err(Problem {
                help,
                ..Problem::reference(format!("the matrix has no axis `{name}`"), "")
            });
        }
        let Some(task) = self.task.filter(|_| !reference.defaulted && spot != Spot::Condition) else {
            return Ok(());
        };
        if let Some((_, key)) = task.lacking.iter().find(|(lacking, _)| *lacking == name) {
            let mark = findings.mark(written, reference.at.clone());
            let message =
                format!("`matrix.{name}` is null in `{}[{key}]`, whose row doesn't say it", task.id.value);
            let finding = findings.at_mark(Code::MaybeNull, mark, message);
            findings
                .push(finding.help(format!("write `matrix.{name} | default(...)`, or say it in every row")));
        }
        Ok(())
    }

    fn own_values(&self, findings: &mut Findings, rest: &[Segment]) -> Result<(), Problem> {
        let Some(task) = self.task else { return Ok(()) };
        if rest.is_empty() {
            return Err(Problem::reference("`task` is read by field", "write for example `task.output`"));
        }
        fields::check_own(task, rest)
            .map_err(|wrong| field_problem(findings, "task", "this task".to_owned(), rest, wrong))
    }

    fn other_task(
        &mut self,
        findings: &mut Findings,
        spot: Spot,
        written: Written<'a>,
        reference: &Reference,
        rest: &[Segment],
    ) -> Result<(), Problem> {
        let Some((first, fields)) = rest.split_first() else {
            return Err(Problem::reference(
                "`tasks` is read by task: without a name nothing tells what to wait for",
                "write `tasks.NAME`",
            ));
        };
        let name = name_of(first);
        let Some(id) = self.world.ids.get(name.as_str()).copied() else {
            return Err(unknown_task(findings, self.world.names(), &name));
        };
        let shape = &self.world.shapes[id.index()];
        if self.task.is_some_and(|task| task.task == id) {
            let help = match spot {
                Spot::Verdict => "write `task` for the attempt that has just ended, as in `task.output`",
                Spot::PlanEnv(_)
                | Spot::Lock
                | Spot::PlanOutputs
                | Spot::Condition
                | Spot::Items
                | Spot::Key
                | Spot::Env
                | Spot::Attempt => "only `expect.that` and `retry.if` see a task's own values, as `task`",
            };
            return Err(Problem::reference(format!("task `{name}` can't wait for its own values"), help));
        }
        self.needs.push(Need { from: id, written, at: reference.at.clone() });
        let prefix = format!("tasks.{name}");
        if fields.is_empty() {
            let help = format!("write for example `{prefix}.output` or `{prefix}.status`");
            return Err(Problem::field(format!("`{prefix}` is no value by itself"), Some(help)));
        }
        let who =
            format!("{} `{name}`", shape.described().trim_start_matches("a ").trim_start_matches("an "));
        fields::check(shape, fields).map_err(|wrong| field_problem(findings, &prefix, who, fields, wrong))?;
        if matches!(&fields[0], Segment::Name(field) if field == "output") {
            self.reads.push(OutputRead {
                from: id,
                spot,
                path: path_text(&reference.path),
                defaulted: reference.defaulted,
                written,
                at: reference.at.clone(),
            });
        }
        Ok(())
    }

    /// Takes down whose private trees a template reads by the paths of their folders.
    pub(super) fn note_dirs(&mut self, template: &Template) {
        let is_named = |segment: Option<&Segment>, name: &str| match segment {
            Some(Segment::Name(field)) => field == name,
            Some(Segment::Index(_)) | None => false,
        };
        for reference in &template.references {
            let task = reference.task().and_then(|task| self.world.ids.get(task).copied());
            let Some(task) = task.filter(|task| self.world.shapes[task.index()].isolation.is_private())
            else {
                continue;
            };
            let fields = &reference.path[2..];
            let of_instances = is_named(fields.first(), "results");
            let reads_dir = is_named(fields.first(), "dir")
                || of_instances && is_named(fields.get(2), "dir")
                || of_instances && fields.len() < 3 && template.claims.may_read("dir");
            if reads_dir {
                self.dirs.push(task);
            }
        }
    }

    fn unknown_root(&self, findings: &mut Findings, spot: Spot, root: &str) -> Problem {
        let known = |message: &str, help: &str| Problem::reference(message.to_owned(), help);
        match root {
            "secrets" => {
                return known(
                    "a secret can be used in `env` only",
                    "put it into `env` and let the program read the variable",
                );
            }
            "tasks" if spot == Spot::Lock => {
                return known(
                    "`lock` is read before any task runs",
                    "name the lock by `inputs`, `env` or `git`, as in `deploy-${{ inputs.target }}`",
                );
            }
            "tasks" => {
                return known(
                    "the plan's `env` is made before any task runs",
                    "put it into the `env` of a task",
                );
            }
            "task" => {
                return known(
                    "`task` is the task that a template stands in, and this one stands in none",
                    "a task is read as `tasks.NAME`",
                );
            }
            "attempt" => {
                return known(
                    "`attempt` is known only while the task runs",
                    "use it in `run`, `prompt` or `env`",
                );
            }
            "item" | "matrix" | "key" => {
                let help = match (self.item_name(), self.axes()) {
                    (Some(name), _) if root != "key" => {
                        format!("the items of this `for_each` are called `{name}`")
                    }
                    (_, Some(axes)) if root == "item" => match axes.first() {
                        Some(axis) => format!("write `matrix.{axis}`"),
                        None => "write `matrix.AXIS`".to_owned(),
                    },
                    (None, None) => match root {
                        "matrix" => "give the task a `matrix`".to_owned(),
                        _ => "give the task a `for_each`".to_owned(),
                    },
                    _ => "use it in `run`, `prompt` or `env`".to_owned(),
                };
                return Problem::reference(format!("`{root}` is not known here"), help);
            }
            _ => {}
        }
        let is_word =
            TaskState::ended(root).is_some() || Reason::ALL.iter().any(|reason| reason.as_str() == root);
        let help = if is_word {
            Some(format!("a text stands in quotes: `\"{root}\"`"))
        } else if let Some((_, help)) = FOREIGN.iter().find(|(name, _)| *name == root) {
            Some((*help).to_owned())
        } else if self.world.ids.contains_key(root) {
            Some(format!("write `tasks.{root}`"))
        } else if self.world.inputs.contains_key(root) {
            Some(format!("write `inputs.{root}`"))
        } else {
            findings.instead(root, self.roots(spot))
        };
        Problem { help, ..Problem::reference(format!("`{root}` is not known here"), "") }
    }
}

/// What is wrong with a reference.
pub(super) struct Problem {
    pub code: Code,
    pub message: String,
    pub help: Option<String>,
}

impl Problem {
    fn reference(message: impl Into<String>, help: impl Into<String>) -> Self {
        Problem { code: Code::UnknownReference, message: message.into(), help: Some(help.into()) }
    }

    fn field(message: String, help: Option<String>) -> Self {
        Problem { code: Code::UnknownField, message, help }
    }
}

/// A task that doesn't exist, with what there is.
pub(super) fn unknown_task<'n>(
    findings: &mut Findings,
    names: impl Iterator<Item = &'n str>,
    name: &str,
) -> Problem {
    let help = findings.instead(name, names);
    Problem { code: Code::UnknownTask, message: format!("there is no task `{name}`"), help }
}

fn field_problem(
    findings: &mut Findings,
    prefix: &str,
    who: String,
    fields: &[Segment],
    wrong: Wrong,
) -> Problem {
    let subject = match wrong.good {
        0 => who,
        good => format!("`{}`", path_text(&[&[Segment::Name(prefix.to_owned())], &fields[..good]].concat())),
    };
    let given = fields.get(wrong.good).map(name_of).unwrap_or_default();
    let help = match wrong.help {
        Some(help) => Some(help.to_owned()),
        None => findings.instead(&given, wrong.names.iter().map(String::as_str)),
    };
    Problem::field(format!("{subject} {}", wrong.why), help)
}

/// `task` before the attempt has ended: what it is called.
fn own_name(findings: &mut Findings, spot: Spot, rest: &[Segment]) -> Result<(), Problem> {
    if let [Segment::Name(name), ..] = rest
        && fields::is_value(name)
    {
        return Err(Problem::reference(
            format!("`task.{name}` is known once the attempt has ended: in `expect.that` and `retry.if`"),
            "other tasks are read as `tasks.NAME`",
        ));
    }
    one_of(findings, "task", rest, fields::OF_SELF[..spot.own_names()].iter().copied())
}

/// A root with a fixed set of plain fields.
fn one_of(
    findings: &mut Findings,
    root: &str,
    rest: &[Segment],
    names: impl Iterator<Item = &'static str> + Clone,
) -> Result<(), Problem> {
    match rest {
        [Segment::Name(name)] if names.clone().any(|known| known == name) => Ok(()),
        [] => {
            let help = findings.instead("", names).unwrap_or_default();
            Err(Problem::reference(format!("`{root}` is read by field"), help))
        }
        [first, ..] => {
            let name = name_of(first);
            if names.clone().any(|known| known == name) {
                let message = format!("`{root}.{name}` is a plain value and has no fields");
                return Err(Problem::reference(message, format!("write `{root}.{name}`")));
            }
            let help = findings.instead(&name, names);
            Err(Problem { help, ..Problem::reference(format!("`{root}` has no `{name}`"), "") })
        }
    }
}

fn scalar(root: &str, rest: &[Segment]) -> Result<(), Problem> {
    match rest {
        [] => Ok(()),
        [..] => Err(Problem::reference(
            format!("`{root}` is a plain value and has no fields"),
            format!("write `{root}`"),
        )),
    }
}

fn name_of(segment: &Segment) -> String {
    match segment {
        Segment::Name(name) => name.clone(),
        Segment::Index(index) => index.to_string(),
    }
}

/// Turns a problem into a diagnostic at a place of the manifest.
pub(super) fn report(findings: &Findings, problem: Problem, span: Span) -> Diagnostic {
    findings.at(problem.code, span, problem.message).maybe_help(problem.help)
}

#[cfg(test)]
#[path = "references_tests.rs"]
mod tests;
