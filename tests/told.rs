//! What an agent is told beside its prompt, and what a person is told of agents, models and tools.

use serde_json::Value;

use super::support::Flow;

const DONE: &str = "default:\n  - say: done\n";

fn run(flow: &Flow) {
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(0);
}

/// The text of the first message of a task.
fn first_message(flow: &Flow, task: &str) -> String {
    let path = flow.newest_run().join(format!("tasks/{task}/context.jsonl"));
    let text = std::fs::read_to_string(path).unwrap();
    let item: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    item["message"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn an_agent_of_a_project_hears_its_place_first_and_has_its_own_prompt_whole() {
    let flow = Flow::new()
        .file("agents/own.md", "---\nname: own\ndescription: d\ntools: Read\n---\n\nYou are.  \n\n")
        .plan("tasks:\n  own: { agent: own, prompt: Go. }\n  built_in: { agent: Explore, prompt: Go. }\n")
        .model(DONE);
    run(&flow);
    let first = first_message(&flow, "own");
    let dir = flow.dir().canonicalize().unwrap();
    let place = format!("<place>\nWorking folder: {}\nPlatform: ", dir.display());
    assert!(first.starts_with(&place) && first.ends_with("\n</place>\n\nGo."), "{first}");
    let system = |task: &str| {
        std::fs::read_to_string(flow.newest_run().join(format!("tasks/{task}/system.md"))).unwrap()
    };
    assert_eq!(system("own"), "\nYou are.  \n\n");
    assert_eq!(first_message(&flow, "built_in"), "Go.");
    assert!(system("built_in").contains("Working folder: "));
}

#[test]
fn files_of_the_briefing_reach_every_agent() {
    let flow = Flow::new()
        .file("CLAUDE.md", "Be brief. </briefing>\n")
        .file("AGENTS.md", "Be kind.\n")
        .plan("briefing: { file: [CLAUDE.md, AGENTS.md] }\ntasks:\n  a: { agent: Explore, prompt: Go. }\n")
        .model(DONE);
    run(&flow);
    let files = "CLAUDE.md:\n\n```\nBe brief. &lt;/briefing>\n```\n\nAGENTS.md:\n\n```\nBe kind.\n```";
    assert_eq!(first_message(&flow, "a"), format!("<briefing>\n{files}\n</briefing>\n\nGo."));
    std::fs::remove_file(flow.path("AGENTS.md")).unwrap();
    flow.run(&["check"]).exits(3).says(&["can't read `AGENTS.md` for the briefing", "plan.yaml:2:31"]);
}

#[test]
fn tools_that_flow_lacks_are_said_once_by_check_agents_check_and_run() {
    let flow = Flow::new()
        .file("agents/web.md", "---\nname: web\ndescription: d\ntools: Read, WebFetch, WebSearch\n---\nB\n")
        .plan("tasks:\n  a: { agent: web, prompt: p }\n  b: { agent: web, prompt: p }\n")
        .model(DONE);
    let lacks = "flow has no `WebFetch`, `WebSearch`";
    let run = ["run", "plan.yaml", "--model-script", "model.yaml"];
    for command in [&["check"][..], &["agents", "check"], &run] {
        let ran = flow.run(command).exits(0);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(told.matches(lacks).count(), 1, "{command:?}: {told}");
    }
}

#[test]
fn a_misspelt_model_is_an_error_of_check_and_a_foreign_one_a_warning() {
    let flow = Flow::new()
        .env("ANTHROPIC_API_KEY", "k")
        .plan("tasks:\n  a: { agent: Explore, prompt: p, model: sonet }\n");
    flow.run(&["check"]).exits(3).says(&[
        "error[F0504]: `a` would not start: no provider is known for the model `sonet`",
        "did you mean `sonnet`?",
    ]);
    flow.write("plan.yaml", "flow: 1\ntasks:\n  a: { agent: Explore, prompt: p, model: house }\n");
    flow.run(&["check"]).exits(0).says(&["warning[W0506]: `a` would not start", "`house`"]);
}

#[test]
fn why_names_agents_that_hold_the_name() {
    let agent = |name: &str| format!("---\nname: {name}\ndescription: d\ntools: Read\n---\nB\n");
    let flow = Flow::new();
    for name in ["accessibility-expert", "code-refactoring-code-reviewer", "security-reviewer"] {
        flow.write(&format!("agents/{name}.md"), &agent(name));
    }
    let ran = flow.run(&["agents", "why", "code-reviewer"]).exits(3);
    ran.says(&["there are `code-refactoring-code-reviewer`, `security-reviewer`\n"]);
}

#[test]
fn a_hidden_definition_gives_its_reason_to_check_and_to_plans() {
    let flow = Flow::new()
        .file("agents/file.md", "```markdown\n---\nname: fenced\ndescription: d\n---\nB\n```\n")
        .plan("tasks:\n  a: { agent: fenced, prompt: p }\n");
    let why = "the definition stands in a code fence";
    let ran = flow.run(&["agents", "check"]).exits(3);
    assert!(ran.stdout.contains("agents/file.md:1:1: error[F0109]") && ran.stdout.contains(why));
    flow.run(&["check"]).exits(3).says(&[why, "this task needs agent `fenced`"]);
    flow.write("plan.yaml", "flow: 1\ntasks:\n  a: { run: ls }\n");
    flow.run(&["check"]).exits(0).says(&[why]);
}

#[test]
fn an_agent_file_that_cannot_be_read_is_told_though_no_task_has_an_agent() {
    let flow = Flow::new().plan("tasks:\n  a: { run: 'true' }\n");
    std::fs::create_dir(flow.path("agents")).unwrap();
    std::fs::write(flow.path("agents/x.md"), b"\xff\xfe-").unwrap();
    for command in [["check", "plan.yaml"], ["run", "plan.yaml"]] {
        let ran = flow.run(&command).exits(0);
        assert_eq!(ran.stderr.matches("`agents/x.md` isn't UTF-8").count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn who_names_no_agent_is_not_warned_of_its_tools() {
    let flow = Flow::new()
        .plan("tasks:\n  a: { agent: general-purpose, prompt: hi }\n  b: { agent: general-purpose, prompt: hi }\n")
        .model(DONE);
    let warned = |command: &[&str]| flow.run(command).exits(0).stderr.matches("W0503").count();
    let run = ["run", "plan.yaml", "--model-script", "model.yaml"];
    assert_eq!((warned(&run), warned(&["graph", "plan.yaml"])), (1, 0));
    flow.write("plan.yaml", "flow: 1\ntasks:\n  a: { prompt: hi }\n");
    assert_eq!((warned(&run), warned(&["check"])), (0, 0));
}

#[test]
fn doctor_says_that_a_claude_on_the_path_is_no_model() {
    let flow = Flow::new().file("bin/claude", "#!/bin/sh\n");
    let doctor = |flow: &Flow| flow.shell("PATH=$PWD/bin:$PATH flow doctor").stdout;
    let said = "`claude` is on the PATH, and its sign-in is no model for flow";
    assert_eq!(doctor(&flow).matches(said).count(), 1);
    assert!(!doctor(&flow.env("OPENAI_API_KEY", "k")).contains(said));
}
