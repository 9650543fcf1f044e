//! The built program in a scratch folder with a home of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::world::{git, wait_until};

/// How long a run may take before the test gives up on it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A scratch folder and a clean environment.
pub struct Flow {
    root: TempDir,
    /// The name of the working folder.
    folder: &'static str,
    env: Vec<(String, String)>,
    started: AtomicU32,
}

/// A started command; it is killed when the test gives up on it.
pub struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
    began: Instant,
}

/// What came out of a run of the program.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl Flow {
    pub fn new() -> Self {
        Self::in_folder("work")
    }

    /// With a working folder of that name.
    pub fn in_folder(folder: &'static str) -> Self {
        let root = tempfile::Builder::new().prefix("flow-test-").tempdir().unwrap();
        for folder in [folder, "home", "tmp"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        Flow { root, folder, env: Vec::new(), started: AtomicU32::new(0) }
    }

    /// Writes a file below the working folder.
    pub fn file(self, path: &str, text: &str) -> Self {
        self.write(path, text);
        self
    }

    /// Writes `plan.yaml`; `flow: 1` stands at its top already.
    pub fn plan(self, text: &str) -> Self {
        self.file("plan.yaml", &format!("flow: 1\n{text}"))
    }

    /// Writes `model.yaml`.
    pub fn model(self, text: &str) -> Self {
        self.file("model.yaml", text)
    }

    /// Sets a variable for the program.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Makes the working folder a repository with one commit that holds `a.txt` and every file so far.
    pub fn git(self) -> Self {
        self.write("a.txt", "a\n");
        self.repository()
    }

    /// Makes the working folder a repository with one commit that holds every file so far.
    pub fn repository(self) -> Self {
        let dir = self.dir();
        git(&dir, &["init", "-q", "-b", "main"]);
        git(&dir, &["config", "user.name", "Tester"]);
        git(&dir, &["config", "user.email", "tester@localhost"]);
        git(&dir, &["add", "-A"]);
        git(&dir, &["commit", "-q", "-m", "start"]);
        self
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        if text.starts_with("#!") {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    pub fn dir(&self) -> PathBuf {
        self.root.path().join(self.folder)
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.dir().join(path)
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    pub fn read(&self, path: &str) -> String {
        let path = self.path(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The program with arguments, in the scratch folder, with nothing of the caller's environment but `PATH`.
    pub fn command(&self, args: &[&str]) -> Command {
        self.command_in(&self.dir(), env!("CARGO_BIN_EXE_flow"), args)
    }

    /// Any program in the same environment.
    pub fn command_in(&self, dir: &Path, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(dir).env_clear().stdin(Stdio::null());
        for name in ["PATH", "LLVM_PROFILE_FILE"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("HOME", self.home())
            .env("XDG_STATE_HOME", self.home().join("state"))
            .env("XDG_CONFIG_HOME", self.home().join("config"))
            .env("FLOW_POLICY_DIR", self.home().join("policy"))
            .env("TMPDIR", self.root.path().join("tmp"))
            .env("LANG", "C.UTF-8")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(self.env.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.finish(self.command(args))
    }

    /// Runs a shell line in which `flow` is the built program.
    pub fn shell(&self, line: &str) -> Ran {
        self.start_shell(line).wait()
    }

    /// Starts such a line.
    pub fn start_shell(&self, line: &str) -> Running {
        let program = Path::new(env!("CARGO_BIN_EXE_flow"));
        let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let mut command = self.command_in(&self.dir(), "bash", &["-c", line]);
        command.env("PATH", path);
        self.spawn(command)
    }

    /// Runs a command to its end.
    pub fn finish(&self, command: Command) -> Ran {
        self.spawn(command).wait()
    }

    /// Starts a command, output into files so that nothing blocks.
    pub fn spawn(&self, mut command: Command) -> Running {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let file = |name: &str| self.root.path().join(format!("{name}-{number}"));
        let (out, err) = (file("stdout"), file("stderr"));
        command.stdout(fs::File::create(&out).unwrap()).stderr(fs::File::create(&err).unwrap());
        Running { child: command.spawn().unwrap(), out, err, began: Instant::now() }
    }

    /// Starts the program.
    pub fn start(&self, args: &[&str]) -> Running {
        self.spawn(self.command(args))
    }

    /// The folder for temporary files.
    pub fn tmp(&self) -> PathBuf {
        self.root.path().join("tmp")
    }

    /// The report of the newest run.
    pub fn report(&self) -> Value {
        self.report_of(&self.newest_run())
    }

    pub fn report_of(&self, run: &Path) -> Value {
        serde_json::from_str(&fs::read_to_string(run.join("report.json")).unwrap()).unwrap()
    }

    /// The report's entry of a task of the newest run.
    pub fn task(&self, address: &str) -> Value {
        let report = self.report();
        let tasks = report["tasks"].as_array().unwrap();
        let found = tasks.iter().find(|task| task["address"] == address);
        found.unwrap_or_else(|| panic!("no task {address} in {report:#}")).clone()
    }

    /// The folder of the newest run.
    pub fn newest_run(&self) -> PathBuf {
        let mut runs: Vec<_> =
            fs::read_dir(self.path(".flow/runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
        runs.sort();
        runs.pop().unwrap()
    }

    /// The events of the newest run.
    pub fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.newest_run().join("events.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Running {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has said so far on standard output, and on standard error.
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.out).unwrap()).into_owned()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.err).unwrap()).into_owned()
    }

    /// Waits for its end.
    #[track_caller]
    pub fn wait(mut self) -> Ran {
        let mut status = None;
        let ended = wait_until(PATIENCE, || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let ran = Ran {
            code: status.and_then(|status| status.code()),
            stdout: text(&self.out),
            stderr: text(&self.err),
            took: self.began.elapsed(),
        };
        assert!(ended, "did not end within {PATIENCE:?}: {ran:#?}");
        ran
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ran {
    /// Demands an exit code; shows everything when it was another.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// Demands texts on standard error.
    #[track_caller]
    pub fn says(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stderr.contains(text), "stderr lacks {text:?}:\n{}", self.stderr);
        }
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {:?}", self.stdout))
    }
}
