//! Spellings of other tools, and what they are called here. A guess by similarity would lead people astray with these.

/// Which mapping a key stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The top of a manifest.
    Plan,
    /// A task.
    Task,
    /// `defaults`.
    Defaults,
    /// Any other mapping, by the words for it.
    Other(&'static str),
}

impl Place {
    /// What messages call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Place::Plan => "a plan",
            Place::Task => "a task",
            Place::Defaults => "`defaults`",
            Place::Other(name) => name,
        }
    }
}

const PLAN: &[(&[&str], &str)] = &[
    (&["jobs", "steps", "dag", "nodes"], "flow calls it `tasks`"),
    (&["agents"], "agents are files: put them into `agents/`, or name a folder with `--agents`"),
    (&["stages"], "tasks have no stages: the order comes from `needs`"),
    (&["workflow", "plan", "pipeline"], "the whole file is the plan: write its tasks under `tasks`"),
    (
        &["include", "includes", "imports"],
        "a plan is one file; what repeats goes into `defaults`, or behind an anchor",
    ),
    (
        &["on", "trigger", "triggers", "schedule", "cron"],
        "flow has no triggers: CI, cron or systemd calls `flow run`",
    ),
    (&["permissions"], "`permissions` belong to a task that runs an agent"),
    (
        &["handler_on", "onExit", "errors", "finally", "hooks"],
        "there are no hooks: write a task with `needs: { NAME: done }`, or with `if: failure()`",
    ),
    (&["version", "apiVersion"], "write `flow: 1`"),
    (&["max_parallel", "parallelism", "jobs_limit"], "flow calls it `concurrency`"),
    (&["variables", "vars"], "flow calls them `inputs`, or `env` for the environment"),
];

const TASK: &[(&[&str], &str)] = &[
    (&["deps", "depends", "depends_on", "dependencies", "dependsOn", "after"], "flow calls it `needs`"),
    (&["when", "preconditions", "only", "rules", "except", "condition"], "flow calls it `if`"),
    (
        &["withItems", "withParam", "foreach", "forEach", "parallel", "iterate", "across"],
        "flow calls it `for_each`",
    ),
    (&["strategy"], "flow calls it `matrix`, directly on the task"),
    (&["cmd", "cmds", "command", "commands", "script"], "flow calls it `run`"),
    (
        &["call", "dag", "pipeline", "workflow"],
        "a task can't call another workflow; write its tasks into this plan",
    ),
    (&["timeout-minutes", "timeout_minutes", "timeout_sec"], "write `timeout: 10m`"),
    (&["continue-on-error", "allow_failure", "ignore_error"], "flow calls it `continue_on_error`"),
    (
        &["retry_policy", "retryStrategy", "attempts", "retries", "max_attempts", "max_retries"],
        "flow calls it `retry`",
    ),
    (&["subagent_type", "persona", "harness"], "flow calls it `agent`"),
    (&["uses"], "flow has no actions: write the command in `run`"),
    (
        &["image", "container", "docker"],
        "tasks run on this machine; for a container write `run: docker run IMAGE …`",
    ),
    (&["id"], "the key above it is the task's id; take it out"),
    (&["stage"], "tasks have no stages: the order comes from `needs`"),
    (&["before_script"], "put it in front of `run`; what prepares a private tree goes into `setup`"),
    (&["after_script"], "write a task with `needs: { NAME: done }`"),
    (&["extends"], "what tasks share goes into `defaults`, or behind an anchor: `<<: *name`"),
    (
        &["schedule", "cron", "trigger", "triggers"],
        "flow has no triggers: CI, cron or systemd calls `flow run`",
    ),
    (&["tags"], "tasks run on this machine; take it out"),
    (&["prompt_file"], "write `prompt: { file: prompt.md }`"),
    (&["instructions", "message", "system_prompt"], "flow calls it `prompt`"),
    (&["schema", "output_schema", "response_format"], "flow calls it `output`"),
    (&["outputs"], "write `output: pairs`, and `name=value` lines into the file `$FLOW_OUTPUT`"),
    (&["worktree"], "write `isolation: worktree`"),
    (
        &["concurrency"],
        "write `max_parallel` for the instances of a task, `pool` for several tasks, `lock` at the top for whole runs",
    ),
    (&["secrets"], "declare them at the top, and hand them on in `env`"),
    (&["environment", "variables", "vars"], "flow calls it `env`"),
    (&["name"], "the key above it is the task's name; free text goes into `description`"),
    (&["runs-on"], "tasks run on this machine; take it out"),
    (&["steps"], "a task has one `run` or one `prompt`: make each step a task with `needs`"),
    (
        &["handler_on", "onExit", "errors", "finally", "hooks"],
        "write a task with `needs: { NAME: done }`, or with `if: failure()`",
    ),
    (&["working-directory", "working_directory", "working_dir", "cwd", "workdir"], "flow calls it `dir`"),
];

const RETRY: &[(&[&str], &str)] = &[
    (
        &["limit", "attempts", "count", "times", "retries", "max_attempts"],
        "`retry` calls it `max`: the further attempts",
    ),
    (&["when"], "write `on: [exit_code, timeout]`, or `if` with an expression"),
    (&["interval", "wait", "interval_sec"], "`retry` calls it `delay`"),
];

const INPUT: &[(&[&str], &str)] = &[
    (&["options", "option", "choice", "choices", "values"], "write `enum: [low, high]`"),
    (&["min"], "write `minimum`"),
    (&["max"], "write `maximum`"),
    (&["value"], "write `default`"),
];

/// Keys that the language has and this version doesn't read. Similar ones would only lead away from that.
const LATER: &[(Place, &[&str])] = &[
    (Place::Plan, &["budget"]),
    (
        Place::Task,
        &[
            "budget",
            "loop",
            "votes",
            "cache",
            "team",
            "lead",
            "members",
            "rounds",
            "with",
            "approve",
            "form",
            "on_timeout",
            "tasks",
            "sandbox",
            "effort",
            "backend",
            "summary",
            "skills",
            "memory",
        ],
    ),
];

/// What to say about a key that another tool has.
pub(crate) fn advice(place: Place, key: &str) -> Option<&'static str> {
    let table = match place {
        Place::Plan => PLAN,
        Place::Task | Place::Defaults => TASK,
        Place::Other("`retry`") => RETRY,
        Place::Other("an input") => INPUT,
        Place::Other(_) => return None,
    };
    let same_place = if place == Place::Defaults { Place::Task } else { place };
    if LATER.iter().any(|(place, keys)| *place == same_place && keys.contains(&key)) {
        return Some("this version of flow doesn't have it");
    }
    table.iter().find(|(names, _)| names.contains(&key)).map(|(_, advice)| *advice)
}
