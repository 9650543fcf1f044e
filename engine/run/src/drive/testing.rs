//! A run without processes: executors that do what a test says, a journal in a temporary folder.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use flow_core::compile::{CompileInput, GitPlace, Place, Purpose, agent_registry, compile};
use flow_core::diagnostic::SourceFile;
use flow_core::event::{Event, Launch};
use flow_core::model::{AttemptEnd, Command, Outcome, RunStatus, Settings};
use flow_core::report::Fold;
use flow_core::schedule::{Limits, NodeSpec, Scheduler};
use flow_core::values::{AttemptPacket, Facts, GitFacts, Work};
use indexmap::IndexMap;
use tempfile::TempDir;
use tokio::sync::mpsc;

use super::driver::{DriveError, Driver};
use super::setup::RunSetup;
use crate::execute::{Attempting, Executor, Executors, NotWritten, Sink};
use crate::load::{Dirs, Project, find_agents};
use crate::provider::{ProviderConfig, Providers};
use crate::store::{Durability, Journal, RunFolder, StateDir, read_journal};
use crate::sys::clock;
use crate::sys::stop::StopSignal;
use crate::watch::Publisher;
use crate::workspace::Trees;

/// A plan and how it is run.
pub(super) struct Rig {
    folder: TempDir,
    root: PathBuf,
    text: String,
    concurrency: u32,
}

/// What became of a run.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) status: Result<RunStatus, DriveError>,
    /// What the journal holds.
    pub(super) journal: Vec<Event>,
    /// What the attempts said of themselves, in order.
    pub(super) log: Vec<String>,
    /// The run, folded as it happened.
    pub(super) run: Fold,
}

/// An attempt in the hands of a test.
pub(super) struct Scene {
    pub(super) packet: Box<AttemptPacket>,
    pub(super) sink: Sink,
    pub(super) stop: StopSignal,
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) trees: Arc<Trees>,
    pub(super) journal: PathBuf,
    log: Arc<Mutex<Vec<String>>>,
}

impl Scene {
    /// Notes that something of the attempt happens.
    pub(super) fn note(&self, what: &str) {
        self.log.lock().unwrap().push(format!("{}.{} {what}", self.packet.address, self.packet.attempt));
    }

    /// Announces the launch that the packet asks for.
    pub(super) async fn launch(&mut self) -> Result<(), NotWritten> {
        let Work { description, background, .. } = self.packet.work.clone();
        let kind = self.packet.work.kind().info().word.to_owned();
        let launch = Launch { kind, description, dir: "/".to_owned(), background, agent: None };
        self.sink.launch(launch, None).await
    }

    /// The journal as it is now.
    pub(super) fn events(&self) -> Vec<Event> {
        events(&self.journal)
    }
}

/// Runs attempts as a test says.
struct Fake<F> {
    act: F,
    commands: mpsc::Sender<Command>,
    trees: Arc<Trees>,
    journal: PathBuf,
    log: Arc<Mutex<Vec<String>>>,
}

impl<F, A> Executor for Fake<F>
where
    F: Fn(Scene) -> A + Send + Sync + 'static,
    A: Future<Output = Outcome> + Send + 'static,
{
    fn run(self: Arc<Self>, packet: Box<AttemptPacket>, sink: Sink, stop: StopSignal) -> Attempting {
        let scene = Scene {
            packet,
            sink,
            stop,
            commands: self.commands.clone(),
            trees: Arc::clone(&self.trees),
            journal: self.journal.clone(),
            log: Arc::clone(&self.log),
        };
        Box::pin(async move { Box::new((self.act)(scene).await) })
    }
}

impl Rig {
    /// A plan in an empty folder; `flow: 1` is put before it.
    pub(super) fn of(text: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        Rig { folder, root, text: format!("flow: 1\n{text}"), concurrency: 4 }
    }

    /// The same in another folder.
    pub(super) fn within(mut self, root: &Path) -> Self {
        self.root = root.to_owned();
        self
    }

    /// So many tasks at once.
    pub(super) fn at_once(mut self, concurrency: u32) -> Self {
        self.concurrency = concurrency;
        self
    }

    /// Plays the run, with an executor that does this for every attempt.
    pub(super) async fn play<F, A>(self, act: F) -> Played
    where
        F: Fn(Scene) -> A + Send + Sync + 'static,
        A: Future<Output = Outcome> + Send + 'static,
    {
        let mut setup = self.setup();
        let journal = setup.folder.events();
        let state = self.folder.path().canonicalize().unwrap().join("trees");
        let trees = Trees::new(&self.root, Some(state), setup.folder.id()).landing_on(setup.run.branch());
        let (trees, log) = (Arc::new(trees), Arc::default());
        let (commands, mut receiver) = mpsc::channel(8);
        let fake = Arc::new(Fake {
            act,
            commands,
            trees: Arc::clone(&trees),
            journal: journal.clone(),
            log: Arc::clone(&log),
        });
        let executors = Executors::new(move |_| Arc::clone(&fake) as Arc<dyn Executor>);
        setup.publisher = Publisher::silent();
        let mut driver = Driver::new(setup, trees, executors);
        let status = driver.drive(&mut receiver).await;
        assert!(driver.live.is_empty(), "something lives: {:?}", driver.live.keys());
        let (status, run) = match status {
            Err(error) => (Err(error), driver.setup.run),
            Ok(status) => {
                let end = driver.finish(status).unwrap();
                (Ok(end.status), end.run)
            }
        };
        let log = log.lock().unwrap().clone();
        Played { status, journal: events(&journal), log, run }
    }

    fn setup(&self) -> RunSetup {
        let settings = Settings::default();
        let project = Project::locate(&self.root, None);
        let found = find_agents(&project, &self.root, &Dirs::from_variables(|_| None), &[]);
        let file = Arc::new(SourceFile::new("plan.yaml", self.text.clone()));
        let agents = agent_registry(found.texts, &[], Vec::new());
        let compiled = compile(&CompileInput {
            file,
            agents: &agents,
            settings: &settings,
            inputs: &[],
            place: &Nowhere,
            purpose: Purpose::Run,
        });
        let plan = compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        let concurrency = NonZeroU32::new(self.concurrency).unwrap();
        let limits = Limits { concurrency, fail_fast: false, seed: 1 };
        let mut scheduler = Scheduler::new(NodeSpec::of(&plan), limits);
        let state = StateDir::at(&self.folder.path().join(".flow")).unwrap();
        let folder = Arc::new(RunFolder::create(&state, clock::now()).unwrap());
        let mut journal = Journal::create(&folder.events(), Durability::None).unwrap();
        let opening = Event::RunStarted {
            run: folder.id().clone(),
            plan: plan.name.clone(),
            path: "plan.yaml".to_owned(),
            root: self.root.display().to_string(),
            tasks: plan.tasks.iter().map(|task| task.address.clone()).collect(),
            edges: Vec::new(),
            concurrency: self.concurrency,
            inputs: Default::default(),
            seed: 1,
            flow: "0".to_owned(),
            branch: crate::workspace::branch(&self.root),
        };
        let mut run = Fold::default();
        for entry in journal.append(clock::now(), [opening]).unwrap() {
            scheduler.apply(&entry.event, entry.at);
            run.take(&entry);
        }
        let env = Box::new(|_: &str| None);
        let config = ProviderConfig { settings: settings.clone(), script: None, model: None, env };
        RunSetup {
            facts: Arc::new(Facts {
                run: folder.id().to_string(),
                run_dir: folder.path().display().to_string(),
                root: self.root.display().to_string(),
                ci: false,
                git: GitFacts::default(),
                env: IndexMap::new(),
            }),
            hidden_env: Vec::new(),
            agents: Arc::new(agents),
            settings: Arc::new(settings),
            limits,
            scheduler,
            run,
            journal,
            folder,
            providers: Arc::new(Providers::new(config).unwrap()),
            worktrees_dir: None,
            publisher: Publisher::silent(),
            strict: false,
            owns_process: false,
            plan: Arc::new(plan),
        }
    }
}

impl Played {
    /// The events of a task by name, in order.
    pub(super) fn events_of(&self, task: &str) -> Vec<String> {
        self.journal.iter().filter(|event| task_of(event).as_deref() == Some(task)).map(name_of).collect()
    }

    /// The message of a task's last attempt.
    pub(super) fn message(&self, task: &str) -> String {
        let task = self.run.task(&task.into()).unwrap();
        task.attempts.last().and_then(|attempt| attempt.message.clone()).unwrap_or_default()
    }
}

/// The outcome of an attempt that went well.
pub(super) fn well() -> Outcome {
    Outcome::bare(AttemptEnd::Completed, None, None)
}

/// The name of an event in the journal.
pub(super) fn name_of(event: &Event) -> String {
    serde_json::to_value(event).unwrap()["ev"].as_str().unwrap().to_owned()
}

/// Whose event it is.
pub(super) fn task_of(event: &Event) -> Option<String> {
    Some(serde_json::to_value(event).unwrap().get("task")?.as_str()?.to_owned())
}

fn events(journal: &Path) -> Vec<Event> {
    read_journal(journal).unwrap().entries.into_iter().map(|entry| entry.event).collect()
}

/// An outside in which there is nothing but git.
struct Nowhere;

impl Place for Nowhere {
    fn env(&self, _: &str) -> Option<String> {
        None
    }

    fn read(&self, _: &str) -> Result<String, String> {
        Err("no such file".to_owned())
    }

    fn git(&self) -> GitPlace {
        GitPlace::Ready
    }

    fn depth(&self) -> usize {
        0
    }

    fn exists(&self, _: &str) -> bool {
        false
    }

    fn has_program(&self, _: &str) -> bool {
        true
    }
}
