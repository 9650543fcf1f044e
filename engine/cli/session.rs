//! Where a command works and what it finds there: project, settings, agents, plans, runs.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::compile::{
    AgentRegistry, CompileInput, Compiled, GitPlace, GivenInput, GivenValue, Place, Purpose, agent_registry,
    compile, inputs_file, settings,
};
use flow_core::diagnostic::{Code, Diagnostic, SourceFile};
use flow_core::model::{Cause, Settings};
use flow_core::plan::Plan;
use flow_core::syntax::PLAN_LIMIT;
use flow_core::text::{format_size, parse_json};
use flow_run::load::{self, Dirs, Project};
use flow_run::store::{RunFolder, StateDir};
use flow_run::workspace;
use indexmap::IndexMap;

use crate::args::{Cli, InputArgs};
use crate::exit::Failure;
use crate::kept::Kept;
use crate::ui;

/// Where a command works.
pub struct Session {
    /// The project around the current folder (after `-C`).
    pub project: Project,
    dirs: Dirs,
    agent_flags: Vec<String>,
    /// Whether the person is in another folder: `-C`.
    elsewhere: bool,
}

/// A plan that can be run.
pub struct Prepared {
    /// The plan.
    pub plan: Plan,
    /// The manifest.
    pub file: Arc<SourceFile>,
    /// The manifest's folder.
    pub dir: PathBuf,
    /// The settings of all layers.
    pub settings: Settings,
    /// `[worktrees] dir`.
    pub worktrees_dir: Option<PathBuf>,
    /// The files that it names (prompts, schemas), by the path as written, as read.
    pub files: IndexMap<String, String>,
}

impl Session {
    /// Finds the project of the current folder.
    pub fn new(cli: &Cli) -> anyhow::Result<Self> {
        let here = std::env::current_dir().map_err(|error| {
            Failure::new(Cause::Usage, format!("the current folder can't be used: {error}"))
        })?;
        let cwd = match &cli.directory {
            None => here,
            Some(dir) => here.join(dir).canonicalize().map_err(|error| {
                Failure::new(Cause::Usage, format!("can't work in `{}`: {error}", dir.display()))
            })?,
        };
        let project = Project::locate(&cwd, cli.state_dir.clone());
        Ok(Session {
            project,
            dirs: Dirs::from_variables(|name| std::env::var_os(name)),
            agent_flags: cli.agents.clone(),
            elsewhere: cli.directory.is_some(),
        })
    }

    /// A path as the person can use it: relative to their folder, which isn't ours under `-C`.
    pub fn show(&self, path: &Path) -> String {
        match self.elsewhere {
            true => path.display().to_string(),
            false => self.project.show(path),
        }
    }

    /// The settings for plans of a folder; errors are shown and end the command.
    pub fn settings(&self, plan_dir: &Path) -> anyhow::Result<Settings> {
        let (settings, findings) = self.find_settings(plan_dir);
        refuse(&findings)?;
        Ok(settings)
    }

    /// The settings for plans of a folder; the findings are the caller's to show.
    pub fn find_settings(&self, plan_dir: &Path) -> (Settings, Vec<Diagnostic>) {
        let (texts, mut findings) = load::find_settings(&self.project, plan_dir, &self.dirs);
        let (settings, more) = settings(texts, &self.own_settings());
        findings.extend(more);
        (settings, findings)
    }

    /// The person's own flow.toml as they would write it, whether or not it is there.
    pub fn own_settings(&self) -> String {
        let Some(path) = self.dirs.user_settings() else { return "~/.config/flow/flow.toml".to_owned() };
        match self.dirs.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) => format!("~/{}", below.display()),
            None => path.display().to_string(),
        }
    }

    /// The agents for plans of a folder.
    pub fn agents(&self, plan_dir: &Path, settings: &Settings) -> anyhow::Result<AgentRegistry> {
        let (agents, findings) = self.find_agents(plan_dir, settings);
        refuse(&findings)?;
        Ok(agents)
    }

    /// The agents for plans of a folder; the findings (flags and policies that can't be read) are the caller's to show.
    pub fn find_agents(&self, plan_dir: &Path, settings: &Settings) -> (AgentRegistry, Vec<Diagnostic>) {
        let found = load::find_agents(&self.project, plan_dir, &self.dirs, &self.agent_flags);
        (agent_registry(found.texts, &settings.disabled_agents, found.searched), found.findings)
    }

    /// Reads and compiles a plan. All that is wrong is shown, and errors end the command before anything runs; warnings
    /// alone are shown in brief.
    pub fn compile(&self, plan: &str, inputs: &InputArgs, purpose: Purpose) -> anyhow::Result<Prepared> {
        let (prepared, mut diagnostics) = self.examine(plan, inputs, purpose)?;
        // Who only looks at a plan has nothing to grant yet.
        diagnostics.retain(|found| purpose == Purpose::Run || found.code != Code::AlwaysDenied);
        match prepared {
            Some(prepared) => {
                ui::in_brief(&diagnostics, plan);
                Ok(prepared)
            }
            None => {
                ui::diagnostics(&diagnostics);
                Err(refused(&diagnostics))
            }
        }
    }

    /// Reads and compiles a plan; the findings are the caller's to show.
    pub fn examine(
        &self,
        plan: &str,
        inputs: &InputArgs,
        purpose: Purpose,
    ) -> anyhow::Result<(Option<Prepared>, Vec<Diagnostic>)> {
        let given =
            inputs.input.iter().map(|text| self.given(text)).collect::<anyhow::Result<Vec<GivenInput>>>()?;
        let (mut all, mut findings) = self.inputs_file(inputs.inputs_file.as_deref());
        // The last of one name counts.
        all.extend(given);
        let found = match load::find_plan(&self.project, plan) {
            Ok(found) => found,
            Err(finding) => {
                findings.push(finding);
                return Ok((None, findings));
            }
        };
        let (settings, more) = self.find_settings(&found.dir);
        findings.extend(more);
        let (agents, more) = self.find_agents(&found.dir, &settings);
        findings.extend(more);
        // What follows from half of the settings, agents or inputs would only confuse.
        if findings.iter().any(Diagnostic::is_error) {
            return Ok((None, findings));
        }
        let outside = Outside::new(&found.dir, &self.project.root, IndexMap::new());
        let (prepared, more) = self.compile_text(found.file, outside, settings, agents, (&all, purpose));
        findings.extend(more);
        Ok((prepared, findings))
    }

    fn inputs_file(&self, path: Option<&Path>) -> (Vec<GivenInput>, Vec<Diagnostic>) {
        let Some(path) = path else { return (Vec::new(), Vec::new()) };
        let read = load::read_source(&self.project.here.join(path), PLAN_LIMIT, &path.display().to_string());
        match read.map_err(|finding| vec![finding]).and_then(|file| inputs_file(&file)) {
            Ok(inputs) => (inputs, Vec::new()),
            Err(findings) => (Vec::new(), findings),
        }
    }

    /// Compiles a plan that a run has kept, with the agents that it kept.
    pub fn compile_kept(&self, kept: Kept) -> anyhow::Result<Prepared> {
        let settings = self.settings(&kept.dir)?;
        let outside = Outside::new(&kept.dir, &self.project.root, kept.files);
        let (prepared, diagnostics) =
            self.compile_text(kept.file, outside, settings, kept.agents, (&kept.inputs, Purpose::Run));
        // Its warnings were shown when the run began.
        let errors: Vec<_> = diagnostics.into_iter().filter(Diagnostic::is_error).collect();
        ui::diagnostics(&errors);
        prepared.ok_or_else(|| refused(&errors))
    }

    /// The plan that a run has kept, for looking at the run; `None` where it can't be compiled any more.
    pub fn plan_of(&self, kept: Kept) -> Option<Plan> {
        let (settings, _) = self.find_settings(&kept.dir);
        let outside = Outside::new(&kept.dir, &self.project.root, kept.files);
        let given = (kept.inputs.as_slice(), Purpose::Look);
        let (prepared, _) = self.compile_text(kept.file, outside, settings, kept.agents, given);
        prepared.map(|prepared| prepared.plan)
    }

    fn compile_text(
        &self,
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
        let worktrees_dir = settings.worktrees_dir.as_ref().map(PathBuf::from);
        let (dir, files) = (outside.plan_dir.to_owned(), outside.files.into_inner());
        let prepared = plan.map(|plan| Prepared { plan, file, dir, settings, worktrees_dir, files });
        (prepared, diagnostics)
    }

    /// Refuses a plan with private trees in a repository that belongs to somebody else.
    pub fn refuse_strangers(&self, prepared: &Prepared) -> anyhow::Result<()> {
        if prepared.plan.tasks.iter().any(|task| task.isolation.is_private()) {
            workspace::check_owner(&self.project.root)?;
        }
        Ok(())
    }

    /// `k=v`, `k=@file`, `k:=json`.
    fn given(&self, text: &str) -> anyhow::Result<GivenInput> {
        let usage = |message: String| {
            Failure::new(Cause::Usage, message)
                .help("write `-i name=text`, `-i name=@file` or `-i name:=json`")
        };
        let Some((name, value)) = text.split_once('=') else {
            return Err(usage(format!("`-i {text}` has no `=`")).into());
        };
        if name.trim_end_matches(':').is_empty() {
            return Err(usage(format!("`-i {text}` names no input")).into());
        }
        if let Some(name) = name.strip_suffix(':') {
            let value =
                parse_json(value).map_err(|error| usage(format!("`-i {name}:=` is not JSON: {error}")))?;
            return Ok(GivenInput { name: name.to_owned(), value: GivenValue::Json(value), place: None });
        }
        let value = match value.strip_prefix('@') {
            None => value.to_owned(),
            Some(path) => std::fs::read_to_string(self.project.here.join(path))
                .map_err(|error| usage(format!("`-i {name}=@{path}` can't be read: {error}")))?,
        };
        Ok(GivenInput { name: name.to_owned(), value: GivenValue::Text(value), place: None })
    }

    /// The plans that `flow check` means without a name: `plan.yaml` here, and all of `workflows/`.
    pub fn plans(&self) -> Vec<String> {
        let mut plans = Vec::new();
        if self.project.here.join("plan.yaml").is_file() {
            plans.push("plan.yaml".to_owned());
        }
        let workflows = self.project.root.join("workflows");
        let entries = std::fs::read_dir(&workflows).into_iter().flatten().filter_map(Result::ok);
        let mut found: Vec<_> = entries
            .map(|entry| entry.path())
            .filter(|path| {
                path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
            })
            .map(|path| self.project.show(&path))
            .collect();
        found.sort();
        plans.extend(found);
        plans
    }

    /// The state folder, made when it isn't there.
    pub fn state(&self) -> anyhow::Result<StateDir> {
        Ok(StateDir::at(&self.project.state_dir)?)
    }

    /// Every run, newest first. Without a state folder there are none, and none is made.
    pub fn runs(&self) -> anyhow::Result<Vec<RunFolder>> {
        let Some(state) = StateDir::existing(&self.project.state_dir)? else { return Ok(Vec::new()) };
        let mut runs = RunFolder::list(&state)?;
        runs.reverse();
        Ok(runs)
    }

    /// A run by id, unique beginning, or `latest`.
    pub fn find_run(&self, name: &str) -> anyhow::Result<RunFolder> {
        let Some(state) = StateDir::existing(&self.project.state_dir)? else {
            let shown = self.project.show(&self.project.state_dir);
            return Err(Failure::new(
                Cause::Invalid,
                format!("there are no runs here: `{shown}` does not exist"),
            )
            .help("start one with `flow run PLAN`, or name the project's folder with `-C`")
            .into());
        };
        Ok(RunFolder::find(&state, name)?)
    }
}

/// Shows findings; errors end the command.
fn refuse(diagnostics: &[Diagnostic]) -> anyhow::Result<()> {
    ui::diagnostics(diagnostics);
    if diagnostics.iter().any(Diagnostic::is_error) { Err(refused(diagnostics)) } else { Ok(()) }
}

fn refused(diagnostics: &[Diagnostic]) -> anyhow::Error {
    let count = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let plural = if count == 1 { "error" } else { "errors" };
    Failure::new(Cause::Invalid, format!("{count} {plural}; nothing was run")).into()
}

/// The outside, as the compiler asks for it. What it read once it reads the same again: what is checked is what runs.
struct Outside<'a> {
    plan_dir: &'a Path,
    root: &'a Path,
    files: RefCell<IndexMap<String, String>>,
}

impl<'a> Outside<'a> {
    fn new(plan_dir: &'a Path, root: &'a Path, files: IndexMap<String, String>) -> Self {
        Outside { plan_dir, root, files: RefCell::new(files) }
    }
}

/// Whether this is a CI job, as CI systems say it.
pub fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|ci| !matches!(ci.as_str(), "" | "0" | "false"))
}

impl Place for Outside<'_> {
    fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn read(&self, path: &str) -> Result<String, String> {
        if let Some(text) = self.files.borrow().get(path) {
            return Ok(text.clone());
        }
        let found = self.plan_dir.join(path);
        let meta = found.metadata().map_err(|error| error.to_string())?;
        if !meta.is_file() {
            return Err("it is no regular file".to_owned());
        }
        if meta.len() > PLAN_LIMIT as u64 {
            return Err(format!("it has more than {}", format_size(PLAN_LIMIT)));
        }
        let text = std::fs::read_to_string(found).map_err(|error| error.to_string())?;
        self.files.borrow_mut().insert(path.to_owned(), text.clone());
        Ok(text)
    }

    fn git(&self) -> GitPlace {
        workspace::git_place(self.root)
    }

    fn depth(&self) -> usize {
        workspace::depth(self.root)
    }

    fn exists(&self, path: &str) -> bool {
        self.root.join(path).symlink_metadata().is_ok()
    }

    fn has_program(&self, name: &str) -> bool {
        let Some(path) = std::env::var_os("PATH") else { return false };
        std::env::split_paths(&path).any(|dir| dir.join(name).is_file())
    }
}

/// Whether a program is found on the `PATH`.
pub fn has_program(name: &str) -> bool {
    Outside::new(Path::new("."), Path::new("."), IndexMap::new()).has_program(name)
}
