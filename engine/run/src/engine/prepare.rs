//! From the name of a plan to a plan that can be run, or to all that is wrong with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::compile::{AgentRegistry, CompileInput, Compiled, GivenInput, Purpose, compile, inputs_file};
use flow_core::diagnostic::{Code, Diagnostic, SourceFile};
use flow_core::model::Settings;
use flow_core::plan::Plan;
use flow_core::syntax::PLAN_LIMIT;
use indexmap::IndexMap;

use super::error::EngineError;
use super::place::Outside;
use super::project::Engine;
use super::snapshot::RunSnapshot;
use crate::load;
use crate::workspace;

/// Which plan is meant, and with what.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// A file, or the name of a workflow.
    pub plan: String,
    /// Inputs; they go before those of the file.
    pub inputs: Vec<GivenInput>,
    /// A YAML or JSON file with inputs.
    pub inputs_file: Option<PathBuf>,
    /// What the plan is for.
    pub purpose: Purpose,
}

/// A plan that can be run.
#[derive(Debug)]
pub struct Prepared {
    /// The plan.
    pub plan: Plan,
    /// The manifest.
    pub file: Arc<SourceFile>,
    /// The manifest's folder.
    pub dir: PathBuf,
    /// The definitions that it could name.
    pub agents: Arc<AgentRegistry>,
    /// The settings of all layers.
    pub settings: Settings,
    /// The files that it names (prompts, schemas), by the path as written, as read.
    pub files: IndexMap<String, String>,
}

impl Prepared {
    /// `[worktrees] dir`.
    pub(super) fn worktrees_dir(&self) -> Option<PathBuf> {
        self.settings.worktrees_dir.as_ref().map(PathBuf::from)
    }
}

impl Engine {
    /// Reads and compiles a plan. Nothing that is wrong ends it: the findings are the answer.
    pub fn check(&self, request: &PlanRequest) -> (Option<Prepared>, Vec<Diagnostic>) {
        let (mut inputs, mut findings) = self.read_inputs(request.inputs_file.as_deref());
        // The last of one name counts.
        inputs.extend(request.inputs.iter().cloned());
        let found = match load::find_plan(&self.project, &request.plan) {
            Ok(found) => found,
            Err(finding) => {
                findings.push(finding);
                return (None, findings);
            }
        };
        let (settings, more) = self.settings(&found.dir);
        findings.extend(more);
        let (agents, more) = self.agents(&found.dir, &settings);
        findings.extend(more);
        // What follows from half of the settings, agents or inputs would only confuse.
        if findings.iter().any(Diagnostic::is_error) {
            return (None, findings);
        }
        let outside = Outside::new(&found.dir, &self.project.root, IndexMap::new());
        let (prepared, more) =
            compile_text(found.file, outside, settings, agents, (&inputs, request.purpose));
        findings.extend(more);
        (prepared, findings)
    }

    /// Reads and compiles a plan that is to be run or shown, with the warnings about it.
    pub fn plan(&self, request: &PlanRequest) -> Result<(Prepared, Vec<Diagnostic>), EngineError> {
        let (prepared, mut findings) = self.check(request);
        // Who only looks at a plan has nothing to grant yet.
        findings.retain(|found| request.purpose == Purpose::Run || found.code != Code::AlwaysDenied);
        match prepared {
            Some(prepared) => Ok((prepared, findings)),
            None => Err(EngineError::Invalid(findings)),
        }
    }

    fn read_inputs(&self, path: Option<&Path>) -> (Vec<GivenInput>, Vec<Diagnostic>) {
        let Some(path) = path else { return (Vec::new(), Vec::new()) };
        let read = load::read_source(&self.project.here.join(path), PLAN_LIMIT, &path.display().to_string());
        match read.map_err(|finding| vec![finding]).and_then(|file| inputs_file(&file)) {
            Ok(inputs) => (inputs, Vec::new()),
            Err(findings) => (Vec::new(), findings),
        }
    }

    /// Compiles the plan that a run has kept, with the agents that it kept; with it what is odd about the settings of
    /// today.
    pub(super) fn plan_kept(&self, kept: RunSnapshot) -> (Result<Prepared, EngineError>, Vec<Diagnostic>) {
        let (settings, odd) = self.settings(&kept.dir);
        if odd.iter().any(Diagnostic::is_error) {
            return (Err(EngineError::Invalid(odd)), Vec::new());
        }
        let outside = Outside::new(&kept.dir, &self.project.root, kept.files);
        let given = (kept.inputs.as_slice(), Purpose::Run);
        let (prepared, mut findings) = compile_text(kept.file, outside, settings, kept.agents, given);
        // Its warnings were shown when the run began.
        findings.retain(Diagnostic::is_error);
        (prepared.ok_or(EngineError::Invalid(findings)), odd)
    }

    /// The plan that a run has kept, for looking at the run; `None` where it can't be compiled any more.
    pub(super) fn plan_of(&self, kept: RunSnapshot) -> Option<Plan> {
        let (settings, _) = self.settings(&kept.dir);
        let outside = Outside::new(&kept.dir, &self.project.root, kept.files);
        let given = (kept.inputs.as_slice(), Purpose::Look);
        let (prepared, _) = compile_text(kept.file, outside, settings, kept.agents, given);
        prepared.map(|prepared| prepared.plan)
    }

    /// Refuses a plan with private trees in a repository that belongs to somebody else.
    pub(super) fn refuse_strangers(&self, prepared: &Prepared) -> Result<(), EngineError> {
        if prepared.plan.tasks.iter().any(|task| task.isolation.is_private()) {
            workspace::check_owner(&self.project.root)?;
        }
        Ok(())
    }
}

fn compile_text(
    file: Arc<SourceFile>,
    outside: Outside<'_>,
    settings: Settings,
    agents: AgentRegistry,
    (inputs, purpose): (&[GivenInput], Purpose),
) -> (Option<Prepared>, Vec<Diagnostic>) {
    let input = CompileInput {
        file: Arc::clone(&file),
        agents: &agents,
        settings: &settings,
        inputs,
        place: &outside,
        purpose,
    };
    let Compiled { plan, mut diagnostics } = compile(&input);
    let used = plan.iter().flat_map(|plan| &plan.agents);
    diagnostics.extend(used.flat_map(|agent| agents.warnings(&agent.name)).cloned());
    // A file that the plan needs was told with it.
    let place = |found: &Diagnostic| found.labels.first().map(|label| label.file.name.clone());
    let told: Vec<_> = diagnostics.iter().filter(|found| found.is_error()).map(place).collect();
    diagnostics.extend(agents.unreadable().into_iter().filter(|found| !told.contains(&place(found))));
    let (dir, files) = (outside.plan_dir.to_owned(), outside.into_files());
    let prepared = plan.map(|plan| Prepared { plan, file, dir, agents: Arc::new(agents), settings, files });
    (prepared, diagnostics)
}
