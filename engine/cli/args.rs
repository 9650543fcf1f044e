//! The command line. What stands here is what `--help` teaches.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// A declarative workflow engine for AI agents.
///
/// Workflows are YAML graphs of shell and agent tasks, agents are Markdown files with front matter. flow checks both
/// before anything runs, runs them in parallel, each in a git worktree of its own where the plan says so, keeps a journal
/// from which any run can be resumed, and never calls a failure a success.
#[derive(Debug, Parser)]
#[command(name = "flow", version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Cli {
    /// Works as if started in DIR.
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true, help_heading = EVERYWHERE)]
    pub directory: Option<PathBuf>,

    /// Colours: when standard error is a terminal, always or never.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, env = "FLOW_COLOR", help_heading = EVERYWHERE)]
    pub color: ColorWhen,

    /// Keeps runs in DIR instead of `.flow` in the project root.
    #[arg(long, value_name = "DIR", global = true, env = "FLOW_STATE_DIR", help_heading = EVERYWHERE)]
    pub state_dir: Option<PathBuf>,

    /// More (or other) agent definitions: a file, a folder or JSON. May be given several times.
    #[arg(long, value_name = "FILE|DIR|JSON", global = true, help_heading = EVERYWHERE)]
    pub agents: Vec<String>,

    #[command(subcommand)]
    pub command: Command,
}

/// The heading of what every command takes.
const EVERYWHERE: &str = "Options of every command";

const AFTER_HELP: &str = "\
Examples:
  flow check plan.yaml                 find every mistake before anything runs
  flow run plan.yaml -i target=src     run it; outputs as JSON on stdout, progress on stderr
  flow resume latest                   go on where the last run broke off
  flow report latest --format md       what happened
  flow init                            a first plan, an agent, settings and a CI file

Exit codes:
  0 all well                    8 an unmet `expect.that` was the only cause
  1 a task failed               9 locked, or resume refused
  2 usage                      70 a defect of flow
  3 plan, agent, input wrong   74 journal or report I/O
  4 nothing selected           77 not trusted
  5 allowed failures under     129 hung up, 130 interrupted,
    --strict                   141 stdout closed, 143 terminated";

const AFTER_RUN: &str = "\
Examples:
  flow run plan.yaml -i target=src -i 'paths:=[\"a\", \"b\"]' -i notes=@notes.md
  flow run plan.yaml -n                          show what would run
  flow run plan.yaml --model-script model.yaml   no key, no network: a written model answers
  flow run plan.yaml -o json | jq -c .ev         follow the events
  flow run plan.yaml --report md=report.md > outputs.json";

const AFTER_LOGS: &str = "\
Examples:
  flow logs                     the latest run, task by task
  flow logs --failed            what went wrong, with the last words and calls of each task
  flow logs latest test -f      one task while it runs
  flow logs latest 'audit[x]'   one of the instances of a task
  flow logs latest --raw        of agents their final texts only
  flow logs latest --stderr     only what went to standard error";

const AFTER_ATTACH: &str = "\
It reads the run's folder and does nothing to the run: Ctrl-C leaves the run going, `flow stop` ends it. When the run ends,
its last words and its outputs are shown, and its exit code is that of `flow attach`.

Examples:
  flow run plan.yaml -d && flow attach       in the background, and looked at
  flow attach -v                             starts and tool calls too
  flow attach 20261130-18 -o plain > log     lines instead of a view";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Writes a first plan, an agent, settings and a CI file; overwrites nothing.
    Init(InitArgs),
    /// Runs a plan.
    #[command(after_help = AFTER_RUN)]
    Run(RunArgs),
    /// Finds every mistake of a plan and its agents; runs nothing.
    Check(CheckArgs),
    /// Shows what a plan would run: tasks in order, commands, agents, edges.
    Plan(PlanArgs),
    /// Draws the graph of a plan.
    Graph(GraphArgs),
    /// Lists runs, newest first, with the state of their tasks.
    Ps(PsArgs),
    /// Shows one run: its tasks and states, and what runs now.
    Status(StatusArgs),
    /// Shows a run that is under way as `flow run` does, from any terminal, until it ends.
    #[command(after_help = AFTER_ATTACH)]
    Attach(AttachArgs),
    /// Shows what the tasks of a run printed, byte for byte, and what its agents said and did.
    #[command(after_help = AFTER_LOGS)]
    Logs(LogsArgs),
    /// Shows what happened in a run, event by event.
    Events(EventsArgs),
    /// Shows what happened in a run.
    Report(ReportArgs),
    /// Goes on with a run that failed, was stopped or lost its engine; what is finished stays finished.
    Resume(ResumeArgs),
    /// Runs failed tasks of a run again, with what needs them; other failures stay.
    Retry(RetryArgs),
    /// Stops a live run, or one task of it, from any process.
    Stop(StopArgs),
    /// Removes what runs left behind and nobody needs: trees and branches without work, old run folders.
    Gc(GcArgs),
    /// Agent definitions: which there are, and what they say.
    Agents {
        #[command(subcommand)]
        command: AgentsCommand,
    },
    /// Checks what flow needs here: programs, keys, settings, and what dead runs have left.
    Doctor(DoctorArgs),
    /// Writes the completions of a shell to standard output.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder; made when it isn't there.
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}

#[derive(Debug, Args)]
#[command(override_usage = "flow run [OPTIONS] <PLAN>")]
pub struct RunArgs {
    /// The plan: a file, or NAME for workflows/NAME.yaml.
    #[arg(value_name = "PLAN")]
    pub plan: Option<String>,

    #[command(flatten)]
    pub inputs: InputArgs,

    /// Tasks at once.
    #[arg(short, long, value_name = "N", env = "FLOW_JOBS", value_parser = jobs)]
    pub jobs: Option<NonZeroU32>,

    /// Shows what would run (as `flow plan`), and runs nothing.
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// Stops the run at the first failure that is not allowed.
    #[arg(long)]
    pub fail_fast: bool,

    /// Only these tasks: an address, or a pattern with `*` and `?`. May be given several times.
    #[arg(long, value_name = "SEL")]
    pub only: Vec<String>,

    /// Only these tasks and what needs them.
    #[arg(long, value_name = "SEL")]
    pub from: Vec<String>,

    /// Only these tasks and what they need.
    #[arg(long, value_name = "SEL")]
    pub until: Vec<String>,

    /// Runs in the background; the run's id goes to standard output, what the run says to `engine.log` in its folder.
    #[arg(short, long, conflicts_with = "dry_run")]
    pub detach: bool,

    /// The background half of `--detach`.
    #[arg(long, hide = true)]
    pub detached: bool,

    #[command(flatten)]
    pub engine: EngineArgs,
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The run: its id, a unique beginning of it, or `latest`.
    #[arg(value_name = "RUN")]
    pub run: String,

    #[command(flatten)]
    pub go_on: GoOnArgs,
}

#[derive(Debug, Args)]
pub struct RetryArgs {
    /// The run: its id, a unique beginning of it, or `latest`.
    #[arg(value_name = "RUN")]
    pub run: String,

    /// The tasks, by address; without any, all that did not end well.
    #[arg(value_name = "TASK")]
    pub tasks: Vec<String>,

    #[command(flatten)]
    pub go_on: GoOnArgs,
}

/// What `resume` and `retry` have in common.
#[derive(Debug, Args)]
pub struct GoOnArgs {
    /// Tasks at once.
    #[arg(short, long, value_name = "N", env = "FLOW_JOBS", value_parser = jobs)]
    pub jobs: Option<NonZeroU32>,

    /// Stops the run at the first failure that is not allowed.
    #[arg(long)]
    pub fail_fast: bool,

    #[command(flatten)]
    pub engine: EngineArgs,
}

#[derive(Debug, Args)]
pub struct StopArgs {
    /// The run: its id, a unique beginning of it, or `latest`.
    #[arg(value_name = "RUN")]
    pub run: String,

    /// Only this task, by address; for a task that became many, all of its instances.
    #[arg(value_name = "TASK")]
    pub task: Option<String>,

    /// Kills at once instead of asking first.
    #[arg(long)]
    pub now: bool,
}

/// Who answers, whatever plan and settings say.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// The model of every agent: an alias of flow.toml, `provider/id` or an id.
    #[arg(long, value_name = "MODEL", env = "FLOW_MODEL")]
    pub model: Option<String>,

    /// Plays a written model from FILE instead of asking a real one.
    #[arg(long, value_name = "FILE", env = "FLOW_MODEL_SCRIPT")]
    pub model_script: Option<PathBuf>,
}

/// What `run`, `resume` and `retry` have in common.
#[derive(Debug, Args)]
pub struct EngineArgs {
    #[command(flatten)]
    pub models: ModelArgs,

    /// Writes the report as FMT (md, json, junit, github, notifications) to PATH, `-` for standard output. May be given several times.
    #[arg(long, value_name = "FMT=PATH")]
    pub report: Vec<String>,

    /// What to show: `auto` is `tui` on a terminal and `plain` elsewhere; in CI it shows failures and a summary, and
    /// under GitHub Actions it is `github`; `json` writes events to standard output.
    #[arg(short, long, value_name = "HOW", default_value = "auto", env = "FLOW_OUTPUT_MODE")]
    pub output: OutputHow,

    /// How surely the journal is on disk before a task starts: `batch` is at most 20 ms behind.
    #[arg(long, value_name = "HOW", default_value = "batch", env = "FLOW_DURABILITY")]
    pub durability: DurabilityHow,

    /// A refused call of an agent is a failure of its task (`permission_denied`); exits with 5 when a task failed whose
    /// failure is allowed. A resumed run stays strict.
    #[arg(long)]
    pub strict: bool,

    /// Shows starts and tool calls too.
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Shows warnings and refused calls only, as `-o quiet`.
    #[arg(short, long)]
    pub quiet: bool,

    /// Answers yes to every question.
    #[arg(short, long)]
    pub yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputHow {
    Auto,
    Tui,
    Plain,
    Json,
    Github,
    Quiet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "help stays short when values have none")]
pub enum DurabilityHow {
    // Never waits for the disk.
    None,
    // At most 20 ms behind.
    Batch,
    // Waits for the disk before every task.
    Always,
}

#[derive(Debug, Args)]
pub struct InputArgs {
    /// An input: `k=v`, `k=@file` for a file's text, `k:=json` for a JSON value.
    #[arg(short, long = "input", value_name = "K=V")]
    pub input: Vec<String>,

    /// Inputs from a YAML or JSON file; `-i` goes before it.
    #[arg(long, value_name = "FILE")]
    pub inputs_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The plan; without one every plan of `workflows/` and `plan.yaml`, and every agent file.
    #[arg(value_name = "PLAN")]
    pub plan: Option<String>,

    #[command(flatten)]
    pub inputs: InputArgs,

    #[command(flatten)]
    pub models: ModelArgs,

    /// Text for people, or the findings as JSON.
    #[arg(short, long, value_name = "HOW", default_value = "text")]
    pub output: ListHow,
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The plan: a file, or NAME for workflows/NAME.yaml.
    #[arg(value_name = "PLAN")]
    pub plan: String,

    #[command(flatten)]
    pub inputs: InputArgs,

    #[command(flatten)]
    pub models: ModelArgs,

    /// Text for people, or JSON.
    #[arg(short, long, value_name = "HOW", default_value = "text")]
    pub output: ListHow,
}

#[derive(Debug, Args)]
pub struct GraphArgs {
    /// The plan: a file, or NAME for workflows/NAME.yaml.
    #[arg(value_name = "PLAN")]
    pub plan: String,

    #[command(flatten)]
    pub inputs: InputArgs,

    /// The language of the drawing.
    #[arg(long, value_name = "FMT", default_value = "ascii")]
    pub format: GraphFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    Ascii,
    Mermaid,
    Dot,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListHow {
    Text,
    Json,
}

#[derive(Debug, Args)]
pub struct PsArgs {
    /// Text for people, or JSON.
    #[arg(short, long, value_name = "HOW", default_value = "text")]
    pub output: ListHow,

    /// Every run instead of the newest 20.
    #[arg(short, long)]
    pub all: bool,
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// The run: its id, a unique beginning of it, or `latest`.
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,

    /// Text for people, or JSON.
    #[arg(short, long, value_name = "HOW", default_value = "text")]
    pub output: ListHow,
}

#[derive(Debug, Args)]
pub struct AttachArgs {
    /// The run: its id, a unique beginning of it, or `latest`; without it the newest that is under way.
    #[arg(value_name = "RUN")]
    pub run: Option<String>,

    /// What to show: `auto` is `tui` on a terminal and `plain` elsewhere; `json` writes the events to standard output.
    #[arg(short, long, value_name = "HOW", default_value = "auto", env = "FLOW_OUTPUT_MODE")]
    pub output: OutputHow,

    /// Shows starts and tool calls too.
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Shows nothing, as `-o quiet`, and waits for the end.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct GcArgs {
    /// Shows what would go, and removes nothing.
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// Removes work as well that no other branch has. It is lost then.
    #[arg(long)]
    pub force: bool,

    /// Keeps the newest N runs, whatever their age. Without it the newest 20 stay, and all of the last 14 days.
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,

    /// Text for people, or JSON.
    #[arg(short, long, value_name = "HOW", default_value = "text")]
    pub output: ListHow,
}

#[derive(Debug, Args)]
pub struct EventsArgs {
    /// The run: its id, a unique beginning of it, or `latest`.
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,

    /// Goes on until the run ends.
    #[arg(short, long)]
    pub follow: bool,

    /// Text for people, or the events as JSON, one a line.
    #[arg(short, long, value_name = "HOW", default_value = "text")]
    pub output: ListHow,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Text for people, or JSON.
    #[arg(short, long, value_name = "HOW", default_value = "text")]
    pub output: ListHow,
}

#[derive(Debug, Args)]
pub struct LogsArgs {
    /// The run: its id, a unique beginning of it, or `latest`; a task of the latest run may stand here too.
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,

    /// Only this task (an address, or a task's id for all its instances).
    #[arg(value_name = "TASK")]
    pub task: Option<String>,

    /// Only what failed, was stopped or was refused something: the last words and calls of each, and why it ended.
    #[arg(long, conflicts_with = "follow")]
    pub failed: bool,

    /// Of agents the final text instead of the conversation, byte for byte.
    #[arg(long)]
    pub raw: bool,

    /// Goes on until the run ends.
    #[arg(short, long)]
    pub follow: bool,

    /// Only standard error of shell tasks.
    #[arg(long)]
    pub stderr: bool,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run: its id, a unique beginning of it, or `latest`.
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,

    /// md, json, junit, github or notifications.
    #[arg(long, value_name = "FMT", default_value = "md")]
    pub format: String,
}

#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// Lists the definitions that win, with their sources.
    List {
        /// Text for people, or JSON.
        #[arg(short, long, value_name = "HOW", default_value = "text")]
        output: ListHow,
    },
    /// Says which definition of a name counts, and which others it replaces.
    Why {
        /// Its name, exact case.
        name: String,
        /// Text for people, or JSON.
        #[arg(short, long, value_name = "HOW", default_value = "text")]
        output: ListHow,
    },
    /// Finds what is odd or wrong in the definitions, a line each.
    Check {
        /// Text for people, or JSON.
        #[arg(short, long, value_name = "HOW", default_value = "text")]
        output: ListHow,
    },
    /// Shows one definition.
    Show {
        /// Its name, exact case.
        name: String,
        /// Text for people, or JSON.
        #[arg(short, long, value_name = "HOW", default_value = "text")]
        output: ListHow,
    },
}

fn jobs(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| "it must be a number from 1".to_owned())
}

#[cfg(test)]
mod tests {
    use flow_core::model::Cause;

    use super::*;

    /// Where the second column of the exit codes begins.
    const SECOND: usize = 30;

    #[test]
    fn the_help_lists_every_exit_code_with_its_words() {
        let rows = AFTER_HELP.split("Exit codes:\n").nth(1).unwrap().lines();
        let columns = rows.map(|row| row.split_at(row.len().min(SECOND))).unzip::<_, _, Vec<_>, Vec<_>>();
        let text = [columns.0, columns.1].concat().concat();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for cause in Cause::ALL {
            let row = format!("{} {}", cause.code(), cause.in_words());
            assert!(text.contains(&row), "`{row}` is not in `{text}`");
        }
    }
}
