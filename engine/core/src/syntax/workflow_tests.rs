use super::*;
use crate::diagnostic::testing::short;
use crate::syntax::NeedFile;
use crate::syntax::fields::MOST;

fn read(text: &str) -> (Option<WorkflowFile>, Vec<Diagnostic>) {
    workflow(&Arc::new(SourceFile::new("p.yaml", text)))
}

/// A plan with these keys on its one task, four blanks in.
fn task_with(keys: &str) -> String {
    format!("flow: 1\ntasks:\n  t:\n    {}\n", keys.replace('\n', "\n    "))
}

macro_rules! check {
    ($text:expr, @$expected:literal) => {
        insta::assert_snapshot!(short(&read($text).1), @$expected)
    };
}

#[test]
fn a_plan_without_tasks_says_so() {
    check!("", @"1:1 [] F0108 plan has no tasks; write at least one: `tasks: { hello: { run: echo hello } }`");
    check!("# nothing\n", @"2:1 [] F0108 plan has no tasks; write at least one: `tasks: { hello: { run: echo hello } }`");
    check!("null\n", @"1:1 [null] F0108 plan has no tasks; write at least one: `tasks: { hello: { run: echo hello } }`");
    check!("flow: 1\n", @"1:1 [flow: 1] F0108 plan has no tasks; write at least one: `tasks: { hello: { run: echo hello } }`");
    check!("flow: 1\ntasks:\n", @"2:1 [tasks] F0108 plan has no tasks; write at least one: `tasks: { hello: { run: echo hello } }`");
    check!("flow: 1\ntasks: {}\n", @"2:1 [tasks] F0108 plan has no tasks; write at least one: `tasks: { hello: { run: echo hello } }`");
    check!("flow: 1\ntask: {a: {run: x}}\n", @"2:1 [task] F0201 unknown key `task` in a plan; did you mean `tasks`?");
    check!("flow: 1\njobs: {a: {run: x}}\n", @"2:1 [jobs] F0201 unknown key `jobs` in a plan; flow calls it `tasks`");
}

#[test]
fn a_plan_is_a_mapping_and_tasks_are_one_too() {
    check!("- a\n", @"1:1 [- a] F0202 a plan is a mapping of keys; begin with `flow: 1` and `tasks:`");
    check!("flow: 1\ntasks:\n- a\n", @"3:3 [a] F0202 `tasks` takes a mapping of names to tasks, not a list; write `NAME:` in place of each `- `");
    check!("flow: 1\ntasks: a\n", @"2:8 [a] F0202 `tasks` takes a mapping of names to tasks, not text");
    check!("flow: 1\ntasks:\n  a: echo 'hi'\n  b:\n  c: [x]\n", @r"
    3:6 [echo \'hi\'] F0202 `a` takes a mapping of keys, not text; write `a: { run: … }`
    4:3 [b] F0202 `b` has no value; it takes a mapping of keys; write `b: { run: … }`
    5:6 [[x]] F0202 `c` takes a mapping of keys, not a list; write `c: { run: … }`
    ");
}

#[test]
fn the_format_version_is_required_and_known() {
    check!("tasks: {a: {run: x}}\n", @"1:1 [tasks: {a: {run: x}}] F0204 the plan doesn't say which format it has; begin it with `flow: 1`");
    check!("flow: 2\ntasks: {a: {run: x}}\n", @"1:7 [2] F0203 this program reads format 1, not `2`; write `flow: 1`");
    check!("flow: \"1\"\ntasks: {a: {run: x}}\n", @r#"1:7 [\"1\"] F0203 this program reads format 1, not `"1"`; write `flow: 1`"#);
    check!("flow:\ntasks: {a: {run: x}}\n", @"1:1 [flow] F0203 `flow` has no value; it takes the version of the format; write `flow: 1`");
}

#[test]
fn names_are_identifiers_and_differ_in_more_than_case() {
    let plan = "flow: 1\ntasks:\n  my-task: {run: x}\n  1st: {run: x}\n  ../x: {run: x}\n  -rf: {run: x}\n  '': {run: x}\n  pаth: {run: x}\n";
    check!(plan, @r"
    3:3 [my-task] F0206 `my-task` can't name a task: letters, digits and `_`, no digit first; write `my_task`
    4:3 [1st] F0206 `1st` can't name a task: letters, digits and `_`, no digit first; write `_1st`
    5:3 [../x] F0206 `../x` can't name a task: letters, digits and `_`, no digit first; write `___x`
    6:3 [-rf] F0206 `-rf` can't name a task: letters, digits and `_`, no digit first; write `_rf`
    7:3 [\'\'] F0206 `` can't name a task: letters, digits and `_`, no digit first
    8:3 [pаth] F0206 `pаth` can't name a task: letters, digits and `_`, no digit first; `а` is U+0430; write the name in ASCII
    ");
    check!("flow: 1\ntasks:\n  Task: {run: x}\n  task: {run: x}\n", @"4:3 [task] F0206 `Task` and `task` differ only in case (3:3 the other one); rename one of them");
    check!(&format!("flow: 1\ntasks:\n  {}: {{run: x}}\n", "a".repeat(65)), @"3:3 [aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa] F0206 the name of a task may have 64 characters, and this one has 65");
    check!(&format!("flow: 1\ntasks:\n  {}: {{run: x}}\n", "a".repeat(64)), @"");
    check!("flow: 1\ninputs: {a-b: , A: , a: }\nsecrets: [A-B]\nenv: {'A=B': 1}\ntasks: {a: {run: x}}\n", @r"
    2:10 [a-b] F0206 `a-b` can't name an input: letters, digits and `_`, no digit first; write `a_b`
    2:22 [a] F0206 `A` and `a` differ only in case (2:17 the other one); rename one of them
    3:11 [A-B] F0206 `A-B` can't name a secret; a secret is an environment variable: letters, digits and `_`
    4:7 [\'A=B\'] F0206 `A=B` can't name an environment variable
    ");
    check!(&task_with("for_each: [a]\nas: my-item\nmatrix: {my-axis: [a]}"), @r"
    5:9 [my-item] F0206 `my-item` can't name an item: letters, digits and `_`, no digit first; write `my_item`
    6:14 [my-axis] F0206 `my-axis` can't name an axis: letters, digits and `_`, no digit first; write `my_axis`
    ");
}

#[test]
fn unknown_keys_are_errors_at_every_depth() {
    let keys = "need: [a]\nretry: {maxx: 2}\ntimeout: {idel: 3}\nexpect: {fiels: x}\npermissions: {alow: []}";
    check!(&task_with(keys), @r"
    4:5 [need] F0201 unknown key `need` in a task; did you mean `needs`?
    5:13 [maxx] F0201 unknown key `maxx` in `retry`; did you mean `max`?
    6:15 [idel] F0201 unknown key `idel` in `timeout`; did you mean `idle`?
    7:14 [fiels] F0201 unknown key `fiels` in `expect`; did you mean `files`?
    8:19 [alow] F0201 unknown key `alow` in `permissions`; did you mean `allow`?
    ");
    check!("flow: 1\ninput: {}\ninputs: {x: {typ: string}}\ntasks: {a: {run: x}}\n", @r"
    2:1 [input] F0201 unknown key `input` in a plan; did you mean `inputs`?
    3:14 [typ] F0201 unknown key `typ` in an input; did you mean `type`?
    ");
    check!(&task_with("maxTurns: 4\npermission-mode: plan\nisolaton: worktree"), @r"
    4:5 [maxTurns] F0201 unknown key `maxTurns` in a task; did you mean `max_turns`?
    5:5 [permission-mode] F0201 unknown key `permission-mode` in a task; did you mean `permission_mode`?
    6:5 [isolaton] F0201 unknown key `isolaton` in a task; did you mean `isolation`?
    ");
    check!("flow: 1\ndefaults: {retrys: 2, zebra: 1}\ntasks: {a: {run: x}}\n", @r"
    2:12 [retrys] F0201 unknown key `retrys` in `defaults`; did you mean `retry`?
    2:23 [zebra] F0201 unknown key `zebra` in `defaults`
    ");
}

#[test]
fn spellings_of_other_tools_are_answered_with_ours() {
    check!(&task_with("depends_on: [a]\ncmd: x\nwhen: x\nstrategy: x\nname: x\nsteps: []\nwith: x"), @r"
    4:5 [depends_on] F0201 unknown key `depends_on` in a task; flow calls it `needs`
    5:5 [cmd] F0201 unknown key `cmd` in a task; flow calls it `run`
    6:5 [when] F0201 unknown key `when` in a task; flow calls it `if`
    7:5 [strategy] F0201 unknown key `strategy` in a task; flow calls it `matrix`, directly on the task
    8:5 [name] F0201 unknown key `name` in a task; the key above it is the task's name; free text goes into `description`
    9:5 [steps] F0201 unknown key `steps` in a task; a task has one `run` or one `prompt`: make each step a task with `needs`
    10:5 [with] F0201 unknown key `with` in a task; this version of flow doesn't have it
    ");
    check!("flow: 1\non: push\nfinally: {}\nhooks: {}\nbudget: {a: 1}\ntasks: {a: {run: x}}\n", @r"
    2:1 [on] F0201 unknown key `on` in a plan; flow has no triggers: CI, cron or systemd calls `flow run`
    3:1 [finally] F0201 unknown key `finally` in a plan; there are no hooks: write a task with `needs: { NAME: done }`, or with `if: failure()`
    4:1 [hooks] F0201 unknown key `hooks` in a plan; there are no hooks: write a task with `needs: { NAME: done }`, or with `if: failure()`
    5:1 [budget] F0201 unknown key `budget` in a plan; this version of flow doesn't have it
    ");
    check!(&task_with("effort: high\nbudget: {}\nhooks: {}\nloop: {}\nvotes: 3\nartifacts: []"), @r"
    4:5 [effort] F0201 unknown key `effort` in a task; this version of flow doesn't have it
    5:5 [budget] F0201 unknown key `budget` in a task; this version of flow doesn't have it
    6:5 [hooks] F0201 unknown key `hooks` in a task; write a task with `needs: { NAME: done }`, or with `if: failure()`
    7:5 [loop] F0201 unknown key `loop` in a task; this version of flow doesn't have it
    8:5 [votes] F0201 unknown key `votes` in a task; this version of flow doesn't have it
    ");
}

#[test]
fn values_of_the_wrong_type_say_what_the_key_takes() {
    check!(&task_with("run: true"), @"4:10 [true] F0202 `run` takes text, not a truth value; quote it: `'true'`");
    check!(&task_with("run: {a: b}\nprompt: 5\nagent:\nneeds: {a: [b]}"), @r"
    4:10 [{a: b}] F0202 `run` takes text, not a mapping
    5:13 [5] F0202 `prompt` takes text, not a number; quote it: `'5'`
    6:5 [agent] F0202 `agent` has no value; it takes text; write a value, or take the key out
    7:16 [[b]] F0202 `a` takes text, not a list; write one text, without brackets or `- `
    ");
    check!(&task_with("continue_on_error: yes\nfail_fast: no\nmax_turns: many\nrepair: 1.5"), @r"
    4:24 [yes] F0202 `continue_on_error` takes `true` or `false`, not text; write `true`
    5:16 [no] F0202 `fail_fast` takes `true` or `false`, not text; write `false`
    6:16 [many] F0202 `max_turns` takes a whole number, not text
    7:13 [1.5] F0202 `repair` takes a whole number, not a fraction
    ");
    check!(&task_with("matrix: [a]\nfor_each: 3\nretry: a\ntimeout: [1]\nexpect: out.txt\npermissions: x"), @r"
    4:13 [[a]] F0202 `matrix` takes a mapping of axes to lists, not a list; write `matrix: { os: [linux, mac] }`
    5:15 [3] F0202 `for_each` takes a list, or one `${{ … }}`, not a number
    6:12 [a] F0202 `retry` takes a number of further attempts, or a mapping, not text; write `retry: 2` or `retry: { max: 2, delay: 5s }`
    7:14 [[1]] F0202 `timeout` takes a length of time such as `10m`, or a mapping, not a list; write `timeout: 10m` or `timeout: { run: 10m, idle: 1m }`
    8:13 [out.txt] F0202 `expect` takes a mapping, not text; write `expect: { files: [out.txt] }` or `expect: { that: … }`
    9:18 [x] F0202 `permissions` takes a mapping, not text; write `permissions: { allow: [...], ask: [...], deny: [...] }`
    ");
    check!(&task_with("output: [a]\nmax_output: 1.5\nshell: 3\nenv: [A]\ntools: {a: b}\nneeds: [[a]]"), @r"
    4:13 [[a]] F0202 `output` takes `text`, `json`, `lines`, `pairs` or a JSON Schema, not a list
    5:17 [1.5] F0202 `max_output` takes a number of bytes, or a size such as `64MiB`, not a fraction
    6:12 [3] F0202 `shell` takes the words of a command, such as `bash -e` or `[node, -e]`, not a number
    7:10 [[A]] F0202 `env` takes a mapping of names to values, not a list
    8:12 [{a: b}] F0202 `tools` takes a list, not a mapping
    9:13 [[a]] F0202 an element of `needs` must be text, not a list
    ");
    check!(&task_with("matrix: {os: 3, include: {a: b}, exclude: [a, {os: x}]}"), @r"
    4:18 [3] F0202 `os` takes a list, or one `${{ … }}`, not a number
    4:30 [{a: b}] F0202 `include` takes a list of mappings, not a mapping
    4:48 [a] F0202 an element of `exclude` must be a mapping of axes to values
    ");
    check!("flow: 1\nconcurrency: many\nsecrets: A\nbriefing: 3\ninputs: {x: string, y: {enum: a}}\ntasks: {a: {run: x}}\n", @r"
    2:14 [many] F0202 `concurrency` takes a whole number, not text
    3:10 [A] F0202 `secrets` takes a list, not text; put it in brackets: `[A]`
    5:13 [string] F0202 `x` takes a mapping such as `{ type: string }`, not text; write `x: { type: string, default: … }`
    5:31 [a] F0202 `enum` takes a list, not text
    ");
}

#[test]
fn defaults_take_what_tasks_can_share() {
    check!("flow: 1\ndefaults:\n  needs: a\n  run: x\n  timeout: 10m\ntasks: {a: {run: x}}\n", @r"
    3:3 [needs] F0201 `needs` can't stand in `defaults`; write it on each task that it is meant for
    4:3 [run] F0201 `run` can't stand in `defaults`; write it on each task that it is meant for
    ");
    check!("flow: 1\ndefaults: 3\ntasks: {a: {run: x}}\n", @"2:11 [3] F0202 `defaults` takes a mapping of a task's keys, not a number");
}

#[test]
fn a_comment_that_cuts_a_text_is_pointed_at() {
    check!(&task_with("run: make # all"), @"4:15 [# all] W0202 ` #` begins a comment, so this isn't part of `run`; quote it: `run: 'make # all'`, or write `run: |` and the text on the next line, indented; for a comment, give it a line of its own");
    check!(&task_with("prompt: a\n  b # c"), @"5:9 [# c] W0202 ` #` begins a comment, so this isn't part of `prompt`; quote it: `prompt: 'a b # c'`, or write `prompt: |` and the text on the next line, indented; for a comment, give it a line of its own");
    check!(&task_with("run: make#all"), @"");
    check!(&task_with("run: 'make' # all"), @"");
    check!(&task_with("run: |\n  make # all"), @"");
    check!(&task_with("run: make\n# all"), @"");
}

#[test]
fn an_anchor_that_nothing_uses_is_pointed_at() {
    check!(&task_with("prompt: &x is a variable"), @"4:13 [&x] W0202 `&x` names a part of the file, so it isn't part of `prompt`; quote it: `prompt: '&x is a variable'`, or write `prompt: |` and the text on the next line, indented");
    check!(&task_with("prompt: &x is shared\ndescription: *x"), @"");
}

#[test]
fn second_keys_and_tags_do_not_hide_the_other_problems() {
    let plan = "flow: 1\ntasks:\n  a:\n    run: x\n    run: y\n    if: !tasks.b.output.ok\n    nees: b\n  a: {run: z}\n";
    check!(plan, @r"
    5:5 [run] F0107 `run` is written twice (4:5 first here); take one of them out
    6:9 [!tasks.b.output.ok] F0106 `!tasks.b.output.ok` is a YAML tag, and flow has no tags; write `not tasks.b.output.ok`: `!` has another meaning in YAML
    7:5 [nees] F0201 unknown key `nees` in a task; did you mean `needs`?
    8:3 [a] F0107 `a` is written twice (3:3 first here); take one of them out
    ");
}

#[test]
fn a_file_full_of_mistakes_has_a_bounded_report() {
    let keys: String = (0..20_000).map(|n| format!("key{n}: 1\nkey{n}: 2\n")).collect();
    let found = read(&keys).1;
    assert!((MOST..=3 * MOST + 2).contains(&found.len()), "{}", found.len());
}

#[test]
fn every_key_of_a_task_is_read() {
    let text = task_with(
        "description: 5\nneeds: {a: done, b: failure}\nif: true\nrun: echo\nagent: x\nfork: w\nprompt: p\nmatrix: {os: [a, 1], v: '${{ x }}', include: [{os: b}], exclude: [{os: a}]}\nfor_each: ${{ x }}\nas: area\nkey: k\nmax_parallel: 3\nfail_fast: true\nretry: {max: 2, delay: 5s, backoff: 2, max_delay: 1m, jitter: false, on: [timeout], if: x}\ntimeout: {run: 15m, idle: 3m, grace: 10}\ncontinue_on_error: false\noutput: json\nrepair: 2\nchecks: [{ run: make, timeout: 5m }]\nartifacts: out/*\npool: p\non_lost: fail\nidempotent: true\nbackground: true\nexpect: {files: a, changes: true, denied: false, that: x}\ndir: d\nenv: {A: 1.10, B: yes, C: }\nshell: bash -e\nmax_output: 64MiB\nisolation: worktree\nbase: head\ninclude: '*.env'\nsetup: [npm ci]\nmerge: {how: patch, message: m}\nmodel: haiku\ntools: Read, Bash(git diff:*)\ndisallowed_tools: [Write]\nmax_turns: 20\npermission_mode: plan\npermissions: {allow: [Read], ask: Edit, deny: []}",
    );
    let (read, found) = read(&text);
    assert_eq!(short(&found), "");
    let read = read.unwrap();
    let keys = &read.tasks[0].keys;
    let texts = |list: &[Text]| list.iter().map(|text| text.value.clone()).collect::<Vec<_>>().join("|");
    assert_eq!(keys.written.len(), super::super::task::KEY_COUNT);
    assert_eq!(keys.fork.as_ref().map(|fork| fork.value.as_str()), Some("w"));
    assert_eq!(
        keys.env.iter().map(|(_, value)| value.value.as_str()).collect::<Vec<_>>(),
        ["1.10", "yes", ""]
    );
    assert_eq!(texts(&keys.shell.as_ref().unwrap().value), "bash|-e");
    assert_eq!(texts(&keys.tools.as_ref().unwrap().value), "Read|Bash(git diff:*)");
    assert_eq!(keys.needs.iter().map(|need| need.task(&read.file)).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(keys.timeout.as_ref().unwrap().value.grace.as_ref().unwrap().value, "10");
    assert_eq!(keys.condition.as_ref().unwrap().value, "true");
    for text in keys.tools.iter().chain(&keys.shell).flat_map(|list| &list.value) {
        assert_eq!(read.file.slice(text.span), text.value);
    }
    // Debug shows every field, so a key that is read into nothing shows as `None` or `[]`.
    let debug = format!("{keys:?}").replace("unlike: None", "");
    assert!(!debug.contains("None") && !debug.contains("clude: []"), "{debug}");
}

#[test]
fn a_task_without_rare_keys_has_no_box_for_them_and_reads_as_if_it_had() {
    let text = "flow: 1\ntasks: { a: { run: echo, needs: b }, b: { run: echo, dir: d } }\n";
    let (read, found) = workflow(&Arc::new(SourceFile::new("plan.yaml", text)));
    assert_eq!(found, []);
    let tasks = read.unwrap().tasks;
    assert_eq!(tasks.iter().map(|task| task.keys.rare.is_some()).collect::<Vec<_>>(), [false, true]);
    assert!(tasks[0].keys.dir.is_none() && tasks[0].keys.env.is_empty());
    assert_eq!(tasks[1].keys.dir.as_ref().unwrap().value, "d");
}

/// A plan of 100,000 tasks and 300,000 edges has all of these until it is compiled.
#[test]
fn tasks_and_edges_as_written_are_small() {
    assert_eq!(size_of::<NeedFile>(), 16);
    assert_eq!(size_of::<TaskFile>(), 104);
}

#[test]
fn keys_of_ones_own_at_the_top_are_places_for_what_is_repeated() {
    let text = "flow: 1\nx-common: &common { env: { A: b }, whatever: { tasks: 1 } }\n.lint: &lint\n  run: make lint\ntasks:\n  a: { env: { A: c }, run: x }\n  b: *lint\n  c: { <<: *lint, timeout: 5m }\n";
    let (read, found) = read(text);
    assert_eq!(short(&found), "");
    let tasks = read.unwrap().tasks;
    assert_eq!(tasks[2].keys.run.as_ref().unwrap().span(), tasks[1].keys.run.as_ref().unwrap().span());
    // Only at the top, and only with a sign of its own.
    let (_, found) = workflow(&Arc::new(SourceFile::new(
        "plan.yaml",
        "flow: 1\nxcommon: 1\ntasks: { a: { run: x, x-b: 1 } }\n",
    )));
    assert_eq!(found.len(), 2);
}

#[test]
fn a_key_at_the_wrong_level_is_said_where_it_belongs() {
    check!("flow: 1\ntasks:\na:\n  run: x\nb:\n  run: y\n", @r"3:1 [a] F0201 `a` stands beside `tasks`, not in it; indent `a:` under `tasks:`, and 1 more like it");
    check!("flow: 1\ntasks:\n  a:\n    run: x\n  needs: [b]\n  retry: { max: 2 }\n  run: y\n", @r"
    5:3 [needs] F0202 `needs` stands among the tasks, and is a key of one; indent it under `a:`
    6:3 [retry] F0202 `retry` stands among the tasks, and is a key of one; indent it under `a:`
    7:3 [run] F0202 `run` stands among the tasks, and is a key of one; indent it under `a:`
    ");
    // A task may be called as a key is.
    check!("flow: 1\ntasks:\n  setup: { run: x }\n  key: { prompt: y }\n", @"");
    check!("flow: 1\ntasks:\n  a:\n    run:echo\n    needs:[b]\n", @r"3:3 [a] F0202 `a` takes a mapping of keys, not text; a blank is missing after `run:`");
}

#[test]
fn what_people_write_in_needs_and_isolation_is_answered_with_what_to_write() {
    check!(&task_with("run: x\nneeds: build, lint\nisolation: true"), @r"
    5:12 [build, lint] F0202 `needs` names one task, or a list of them; write `needs: [build, lint]`
    6:16 [true] F0202 `isolation` takes a word, not a truth value; write `isolation: worktree`
    ");
    check!(&task_with("run: x\nneeds: [{ a: done }]\nisolation: false"), @r"
    5:12 [[{ a: done }]] F0202 an element of `needs` must be text, not a mapping; with edge types it is one mapping: `needs: { build: done, lint: success }`
    6:16 [false] F0202 `isolation` takes a word, not a truth value; write `isolation: none`
    ");
}
