//! Who answers: real models, written ones that must not pass for them, and the default where a definition's can't be used.

use serde_json::json;

use crate::support::Flow;
use crate::support::model_server::{Answer, ModelServer, openai_text};

const PLAN: &str = "tasks:\n  look: { agent: Explore, prompt: look, tools: [Read] }\n  stop: { needs: [look], run: test -f go }\noutputs: { said: '${{ tasks.look.output }}' }\n";

/// A project as `flow init` and the examples have it: real models first, then one that is written down.
fn written() -> Flow {
    Flow::new()
        .plan(PLAN)
        .model("default: [{ say: invented }]\n")
        .file("flow.toml", "[models]\ndefault = ['anthropic/claude-x', 'openai/gpt-x', 'demo']\ndemo = { provider = 'script', file = 'model.yaml' }\n")
        .file("go", "")
}

/// The person's own settings, with a server of theirs as the default.
fn own(flow: &Flow, server: &ModelServer) {
    let text = format!(
        "[models]\ndefault = 'lab/m'\n[providers.lab]\nkind = 'openai'\nbase_url = '{}'\nallow_local = true\n",
        server.url
    );
    let path = flow.home().join("config/flow/flow.toml");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_written_model_is_said_to_answer_in_every_mode_and_once() {
    const WARNING: &str = "the written model `model.yaml` answers for `look`";
    /// Flags, and a variable.
    type Mode = (&'static [&'static str], &'static [(&'static str, &'static str)]);
    let modes: &[Mode] = &[
        (&[], &[]),
        (&["-q"], &[]),
        (&["-v"], &[]),
        (&["-o", "json"], &[]),
        (&[], &[("CI", "true")]),
        (&[], &[("GITHUB_ACTIONS", "true")]),
        (&["--model", "demo"], &[]),
        (&["--model-script", "model.yaml"], &[]),
    ];
    for (flags, env) in modes {
        let flow = env.iter().fold(written(), |flow, (name, value)| flow.env(name, value));
        let ran = flow.run(&[&["run", "plan.yaml"][..], flags].concat()).exits(0);
        let lines: Vec<&str> = ran.stderr.lines().filter(|line| line.contains(WARNING)).collect();
        // For GitHub Actions an annotation is the line.
        let annotated = lines.iter().filter(|line| line.starts_with("::warning")).count();
        let on_github = usize::from(env.iter().any(|(name, _)| *name == "GITHUB_ACTIONS"));
        assert_eq!((lines.len(), annotated), (1, on_github), "{flags:?} {env:?}: {}", ran.stderr);
        let page = std::fs::read_to_string(flow.newest_run().join("report.md")).unwrap();
        assert_eq!(
            page.lines().next(),
            Some("# plan: completed (answers of the written model `model.yaml`)")
        );
        assert_eq!(flow.report()["written_models"], json!(["model.yaml"]));
        assert!(!ran.stderr.contains("no model has a key"));
    }
}

#[test]
fn a_resume_says_it_only_where_the_written_model_answers_again() {
    let flow = written();
    std::fs::remove_file(flow.path("go")).unwrap();
    flow.run(&["run", "plan.yaml", "-q"])
        .exits(1)
        .says(&["the written model `model.yaml` answers for `look`"]);
    flow.write("go", "");
    let ran = flow.run(&["resume", "latest"]).exits(0);
    assert!(!ran.stderr.contains("written model"), "{}", ran.stderr);
    // What it said then is still in the outputs, and the title says so.
    assert_eq!(flow.report()["written_models"], json!(["model.yaml"]));

    let flow = Flow::new()
        .plan("tasks:\n  look: { agent: Explore, prompt: p, retry: 0 }\n")
        .model("look: [{ fail: { status: 400, message: no } }, { say: later }]\n");
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(1);
    let ran = flow.run(&["resume", "latest", "-q"]);
    assert!(ran.stderr.contains("the written model `model.yaml` answers for `look`"), "{}", ran.stderr);
}

#[test]
fn a_model_of_the_person_goes_before_one_that_a_repository_has_written_down() {
    let server = ModelServer::start(vec![Answer::stream(openai_text("seen with real eyes"))]);
    let flow = written();
    own(&flow, &server);
    let planned = flow.run(&["plan", "plan.yaml"]).exits(0);
    assert!(planned.stdout.contains("  model      lab/m (in place of haiku)\n"), "{}", planned.stdout);
    let ran = flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(ran.json(), json!({ "said": "seen with real eyes" }));
    assert!(!ran.stderr.contains("written"), "{}", ran.stderr);
    assert_eq!(flow.report()["written_models"], json!(null));
    // Who asks for it gets it.
    let ran = flow.run(&["run", "plan.yaml", "--model", "demo"]).exits(0);
    assert_eq!(ran.json(), json!({ "said": "invented" }));
}

#[test]
fn a_plan_shows_the_model_of_each_agent() {
    let plan = "tasks:
  a: { agent: Explore, prompt: p }
  b: { prompt: p, model: opus, tools: [Read] }
  c: { prompt: p, model: claude-x, tools: [Read] }
  d: { prompt: p, tools: [Read] }
";
    let models = |flow: Flow, args: &[&str]| -> Vec<String> {
        let ran = flow.run(&[&["plan", "plan.yaml"], args].concat()).exits(0);
        let models = ran.stdout.lines().filter_map(|line| line.strip_prefix("  model      "));
        models.map(str::to_owned).collect()
    };
    let with_key = || Flow::new().plan(plan).env("ANTHROPIC_API_KEY", "k");
    assert_eq!(
        models(with_key(), &[]),
        [
            "anthropic/claude-haiku-5-5 (haiku)",
            "anthropic/claude-opus-5-5 (opus)",
            "anthropic/claude-x (claude-x)",
            "anthropic/claude-sonnet-5-5"
        ]
    );
    let other_key = Flow::new().plan(plan).env("OPENAI_API_KEY", "k");
    assert_eq!(
        models(other_key, &[]),
        [
            "openai/gpt-5.4 (in place of haiku)",
            "none: `ANTHROPIC_API_KEY` is not set, so the model `opus` can't be used",
            "none: `ANTHROPIC_API_KEY` is not set, so the model `claude-x` can't be used",
            "openai/gpt-5.4"
        ]
    );
    let script = with_key().model("default: [{ say: x }]\n");
    assert_eq!(models(script, &["--model-script", "model.yaml"]), ["written model model.yaml"; 4]);
}

#[test]
fn a_definition_s_model_without_a_key_falls_to_the_default_and_a_task_s_does_not() {
    let server = ModelServer::start(vec![Answer::stream(openai_text("done"))]);
    let flow = Flow::new()
        .plan("tasks:\n  a: { agent: Explore, prompt: p }\n")
        .file("strict.yaml", "flow: 1\ntasks:\n  a: { agent: Explore, prompt: p, model: haiku }\n");
    own(&flow, &server);
    let warning = "`ANTHROPIC_API_KEY` is not set, so the model `haiku` can't be used; the default `lab/m` answers for agent `Explore`";
    for command in [&["check", "plan.yaml"][..], &["plan", "plan.yaml"], &["run", "plan.yaml", "-q"]] {
        let ran = flow.run(command).exits(0);
        assert_eq!(ran.stderr.matches(warning).count(), 1, "{command:?}: {}", ran.stderr);
    }
    flow.run(&["run", "strict.yaml"]).exits(3).says(&[
        "`a` would not start: `ANTHROPIC_API_KEY` is not set, so the model `haiku` can't be used",
        "say what it means here: `haiku = \"lab/m\"` under `[models]` in flow.toml",
    ]);
    flow.run(&["run", "plan.yaml", "--model", "opus"]).exits(3).says(&["the model `opus` can't be used"]);
}

#[test]
fn a_written_model_that_has_nothing_to_say_to_a_task_is_told_before_the_run() {
    let flow = written().model("other: [{ say: x }]\n");
    let told = "the written model `model.yaml` has no turns for `look`, which would fail";
    flow.run(&["check"]).exits(0).says(&[told, "write an entry `look`, or one `default` for every task"]);
    flow.run(&["run", "plan.yaml"]).exits(1).says(&[told]);
}

#[test]
fn a_key_that_a_project_binds_to_a_host_is_said_to_be_ignored_before_the_run_and_by_doctor() {
    let server = ModelServer::start(vec![Answer::stream(openai_text("done"))]);
    let settings = format!(
        "[models]\ndefault = 'fake/m'\n[providers.fake]\nkind = 'openai'\nbase_url = '{}'\napi_key_env = 'FAKE_KEY'\nallow_local = true\n",
        server.url
    );
    let flow = Flow::new()
        .plan("tasks:\n  a: { prompt: p, tools: [Read] }\n")
        .file("flow.toml", &settings)
        .env("FAKE_KEY", "sk-secret");
    let moved = format!("move `[providers.fake]` to `{}", "~/config/flow/flow.toml");
    let told = "`providers.fake.api_key_env` is ignored: a project's flow.toml can't bind a key to a host";
    for command in [&["check"][..], &["plan", "plan.yaml"], &["run", "plan.yaml"]] {
        let ran = flow.run(command).exits(0);
        assert!(ran.stderr.contains(told) && ran.stderr.contains(&moved), "{command:?}: {}", ran.stderr);
    }
    let doctor = flow.run(&["doctor"]).exits(0).stdout;
    assert!(doctor.contains(told) && doctor.contains(&moved), "{doctor}");
    assert!(!doctor.contains("`FAKE_KEY` set"), "a key that is never sent is no key: {doctor}");
}
