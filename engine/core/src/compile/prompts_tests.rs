use insta::assert_snapshot;

use crate::compile::testing::{Trial, check};
use crate::plan::TaskKind;

#[test]
fn a_prompt_file_is_a_prompt_and_its_references_are_edges() {
    let trial = Trial::of(
        "tasks:\n  a: { run: echo }\n  b: { tools: [Read], prompt: { file: ./p.md } }\n  c: { tools: [Read], prompt: { file: ./p.md } }\n",
    );
    let plan = trial.file("./p.md", "Look at ${{ tasks.a.output }}.\n").plan();
    for at in [1, 2] {
        let TaskKind::Agent(agent) = &plan.tasks[at].kind else { panic!("an agent") };
        assert_eq!(&*agent.prompt.source, "Look at ${{ tasks.a.output }}.\n");
        assert_eq!(plan.graph.needs[at].len(), 1);
    }
}

#[test]
fn what_is_wrong_in_a_prompt_file_is_shown_there() {
    let trial = Trial::of(
        "tasks:\n  a: { run: echo, if: inputs.x }\n  b: { tools: [Read], prompt: { file: p.md } }\ninputs: { x: { default: y } }\n",
    );
    let trial = trial.file(
        "p.md",
        "First line.\nThen ${{ tasks.aa.output }}, ${{ tasks.a.output.x }} and ${{ failure() }}.\n",
    );
    assert_snapshot!(trial.report(), @r#"
    warning[W0202]: `inputs.x` is text here, and every text but the empty one counts as true, `false` too
     --> plan.yaml:3:23
      |
    3 |   a: { run: echo, if: inputs.x }
      |                       ^^^^^^^^
      |
      = help: write `inputs.x == "true"`, or `inputs.x != ""` where any text will do, or give the input `x` another `type`

    error[F0301]: there is no task `aa`
     --> p.md:2:10
      |
    2 | Then ${{ tasks.aa.output }}, ${{ tasks.a.output.x }} and ${{ failure() }}.
      |          ^^^^^^^^^^^^^^^
      |
      = help: did you mean `a`? available: `a`, `b`

    error[F0304]: `tasks.a.output` is text and has no fields
     --> p.md:2:34
      |
    2 | Then ${{ tasks.aa.output }}, ${{ tasks.a.output.x }} and ${{ failure() }}.
      |                                  ^^^^^^^^^^^^^^^^
      |
      = help: give the task `output: json`, or a JSON Schema

    error[F0402]: `failure()` has a meaning in `if` only
     --> p.md:2:62
      |
    2 | Then ${{ tasks.aa.output }}, ${{ tasks.a.output.x }} and ${{ failure() }}.
      |                                                              ^^^^^^^^^
      |
      = help: read `tasks.NAME.status` instead
    "#);
    let cycle = Trial::of(
        "tasks:\n  a: { tools: [Read], prompt: { file: p.md } }\n  b: { run: 'echo ${{ tasks.a.text }}' }\n",
    );
    assert_snapshot!(cycle.file("p.md", "\n${{ tasks.b.text }}\n").report(), @r"
    error[F0302]: tasks wait for each other: `a -> b -> a`
     --> p.md:2:5
      |
    2 | ${{ tasks.b.text }}
      |     ^^^^^^^^^^^^ `a` needs `b`
      |
     ::: plan.yaml:4:23
      |
    4 |   b: { run: 'echo ${{ tasks.a.text }}' }
      |                       ------------ `b` needs `a`
      |
      = help: take one of these edges away
    ");
}

#[test]
fn a_prompt_file_must_be_there_and_say_something() {
    assert_snapshot!(check("tasks:\n  a: { tools: [Read], prompt: { file: p.md } }\n"), @r"
    error[F0101]: can't read the prompt `p.md`: no such file
     --> plan.yaml:3:39
      |
    3 |   a: { tools: [Read], prompt: { file: p.md } }
      |                                       ^^^^
      |
      = help: the path is relative to the folder of this file
    ");
    assert_snapshot!(Trial::of("tasks:\n  a: { tools: [Read], prompt: { file: p.md } }\n").file("p.md", " \n").report(), @r"
    error[F0203]: the prompt `p.md` is empty
     --> plan.yaml:3:39
      |
    3 |   a: { tools: [Read], prompt: { file: p.md } }
      |                                       ^^^^
    ");
    assert_snapshot!(check("tasks:\n  a: { prompt: { file: '${{ inputs.x }}.md' } }\n"), @r"
    error[F0402]: `prompt.file` is taken as written: it holds no templates
     --> plan.yaml:3:25
      |
    3 |   a: { prompt: { file: '${{ inputs.x }}.md' } }
      |                         ^^^^^^^^^^^^^^^
      |
      = help: templates stand in `run`, `prompt`, `checks`, `setup`, `env`, `dir`, `base`, `artifacts`, `for_each`, `matrix`, `key`, `lock`, `outputs` and a task's `description`
    ");
    assert_snapshot!(check("briefing: [x, { file: [no.md] }, { files: a }, {}]\ntasks: { a: { run: x } }\n"), @r"
    error[F0101]: can't read `no.md` for the briefing: no such file
     --> plan.yaml:2:24
      |
    2 | briefing: [x, { file: [no.md] }, { files: a }, {}]
      |                        ^^^^^
      |
      = help: the path is relative to the folder of this file

    error[F0201]: unknown key `files` in `briefing`
     --> plan.yaml:2:36
      |
    2 | briefing: [x, { file: [no.md] }, { files: a }, {}]
      |                                    ^^^^^
      |
      = help: did you mean `file`?

    error[F0204]: `briefing` names no file
     --> plan.yaml:2:48
      |
    2 | briefing: [x, { file: [no.md] }, { files: a }, {}]
      |                                                ^^
      |
      = help: write a text, or `briefing: { file: CLAUDE.md }`
    ");
    assert_snapshot!(check("tasks:\n  a: { prompt: { fil: p.md } }\n  b: { prompt: {} }\n  c: { prompt: [a] }\n"), @r"
    error[F0201]: unknown key `fil` in `prompt`
     --> plan.yaml:3:18
      |
    3 |   a: { prompt: { fil: p.md } }
      |                  ^^^
      |
      = help: did you mean `file`?

    error[F0204]: `prompt` names no file
     --> plan.yaml:4:16
      |
    4 |   b: { prompt: {} }
      |                ^^
      |
      = help: write `prompt: { file: prompt.md }`

    error[F0202]: `prompt` takes text, not a list
     --> plan.yaml:5:16
      |
    5 |   c: { prompt: [a] }
      |                ^^^
      |
      = help: write `prompt: |` and put the lines under it, indented
    ");
}

#[test]
fn a_briefing_takes_files_whole_and_fences_them() {
    let briefing = |keys: &str| {
        let trial = Trial::of(&format!("briefing: {keys}\ntasks: {{ a: {{ run: x }} }}\n"))
            .file("CLAUDE.md", "Be brief.\n````\n${{ x }}\n")
            .file("AGENTS.md", "Be kind.\n");
        trial.plan().briefing.unwrap()
    };
    assert_eq!(briefing("Small steps."), "Small steps.");
    let claude = "CLAUDE.md:\n\n`````\nBe brief.\n````\n${{ x }}\n`````";
    let agents = "AGENTS.md:\n\n```\nBe kind.\n```";
    assert_eq!(briefing("{ file: CLAUDE.md }"), claude);
    let both = format!("{claude}\n\n{agents}");
    assert_eq!(briefing("{ file: [CLAUDE.md, AGENTS.md] }"), both);
    assert_eq!(briefing("[{ file: CLAUDE.md }, { file: AGENTS.md }]"), both);
    assert_eq!(briefing("[First., { file: AGENTS.md }]"), format!("First.\n\n{agents}"));
}
