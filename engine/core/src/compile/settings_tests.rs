use super::*;
use crate::diagnostic::testing::short;

fn fold(layers: &[(SettingsLayer, &str)]) -> (Settings, String) {
    let texts = layers.iter().map(|(layer, text)| SettingsText {
        layer: *layer,
        dir: "dir".to_owned(),
        file: Arc::new(SourceFile::new("flow.toml", *text)),
    });
    let (settings, found) = settings(texts.collect(), "~/.config/flow/flow.toml");
    (settings, short(&found))
}

/// The settings of a person's file without problems.
fn own(text: &str) -> Settings {
    let (settings, found) = fold(&[(SettingsLayer::User, text)]);
    assert_eq!(found, "", "{text}");
    settings
}

macro_rules! check {
    ($text:expr, @$expected:literal) => {
        insta::assert_snapshot!(fold(&[(SettingsLayer::User, $text)]).1, @$expected)
    };
}

#[test]
fn every_key_has_its_place() {
    let settings = own("concurrency = 3\n\
        [models]\nsonnet = 'anthropic/claude'\ndefault = ['sonnet', { provider = 'script', file = 'm.yaml' }]\n\
        demo = { provider = 'script', file = 'model.yaml' }\n\
        [providers.openai]\n\
        [providers.local]\nkind = 'openai'\nbase_url = 'http://127.0.0.1:1'\napi_key_env = 'KEY'\nmax_concurrent = 2\nallow_local = true\n\
        [agents]\ndisable = ['Explore']\nmax_tool_concurrency = 4\n\
        [permissions]\nallow = ['Read']\nask = ['Bash(git push:*)']\ndeny = ['Bash(rm *)', 'mcp__x__*']\n\
        [worktrees]\ndir = '/tmp/w'\n");
    let targets = |name: &str| settings.models[name].targets.clone();
    assert_eq!(
        targets("default"),
        [ModelTarget::Named("sonnet".to_owned()), ModelTarget::Script("m.yaml".to_owned())]
    );
    assert_eq!(targets("demo"), [ModelTarget::Script("model.yaml".to_owned())]);
    assert_eq!((settings.models["demo"].dir.as_str(), settings.concurrency), ("dir", Some(3)));
    let local = ProviderSettings {
        kind: ProviderKind("openai"),
        base_url: Some("http://127.0.0.1:1".to_owned()),
        api_key_env: Some("KEY".to_owned()),
        max_concurrent: Some(2),
        allow_local: true,
        layer: SettingsLayer::User,
    };
    assert_eq!(settings.providers["local"], local);
    assert_eq!(settings.providers["openai"].kind, ProviderKind("openai"));
    assert_eq!(
        (settings.disabled_agents.as_slice(), settings.max_tool_concurrency),
        (["Explore".to_owned()].as_slice(), Some(4))
    );
    let rules: Vec<String> = settings.permissions[0].deny.iter().map(ToString::to_string).collect();
    assert_eq!(rules, ["Bash(rm *)", "mcp__x__*"]);
    assert_eq!(settings.worktrees_dir.as_deref(), Some("/tmp/w"));
}

#[test]
fn later_layers_win_key_by_key_and_denials_add_up() {
    let (settings, found) = fold(&[
        (
            SettingsLayer::User,
            "concurrency = 2\n[models]\na = 'x'\nb = 'x'\n[agents]\ndisable = ['A']\n[permissions]\ndeny = ['Bash']\n",
        ),
        (
            SettingsLayer::Repository,
            "[models]\nb = 'y'\n[agents]\ndisable = ['B', 'A']\n[permissions]\ndeny = ['Edit']\n",
        ),
        (SettingsLayer::Policy, "concurrency = 9\n"),
    ]);
    assert_eq!(found, "");
    assert_eq!(settings.concurrency, Some(9));
    assert_eq!(settings.models["a"].targets, [ModelTarget::Named("x".to_owned())]);
    assert_eq!(settings.models["b"].targets, [ModelTarget::Named("y".to_owned())]);
    assert_eq!(settings.disabled_agents, ["A", "B"]);
    let layers: Vec<SettingsLayer> = settings.permissions.iter().map(|rules| rules.layer).collect();
    assert_eq!(layers, [SettingsLayer::User, SettingsLayer::Repository]);
}

#[test]
fn a_repository_only_narrows() {
    let (settings, found) = fold(&[
        (
            SettingsLayer::User,
            "[worktrees]\ndir = 'mine'\nsetup = 'make'\n[providers.openai]\nbase_url = 'https://mine'\n",
        ),
        (
            SettingsLayer::Repository,
            "[permissions]\nallow = ['Bash']\nask = ['Read']\n[worktrees]\ndir = '/evil'\ninclude = 'x'\nsetup = ['evil']\n[providers.openai]\nbase_url = 'https://evil'\n[providers.b]\nkind = 'openai'\n",
        ),
    ]);
    insta::assert_snapshot!(found, @r"
    2:1 [allow] W0601 `permissions.allow` is ignored here; a repository can't set it; write it into your own `~/.config/flow/flow.toml`
    5:1 [dir] W0601 `worktrees.dir` is ignored here; a repository can't set it; write it into your own `~/.config/flow/flow.toml`
    7:1 [setup] W0601 `worktrees.setup` is ignored here; a repository can't set it; write it into your own `~/.config/flow/flow.toml`
    8:12 [openai] W0601 `providers.openai` is ignored here; a repository can't set it; write it into your own `~/.config/flow/flow.toml`
    ");
    assert!(settings.permissions[0].allow.is_empty() && settings.permissions[0].ask.len() == 1);
    assert_eq!(settings.worktrees_dir.as_deref(), Some("mine"));
    assert_eq!(
        (settings.worktrees_setup, settings.worktrees_include),
        (vec!["make".into()], vec!["x".into()])
    );
    assert_eq!(settings.providers["openai"].base_url.as_deref(), Some("https://mine"));
    assert_eq!(settings.providers["b"].layer, SettingsLayer::Repository);
}

#[test]
fn unknown_keys_are_errors_everywhere() {
    check!("concurency = 2\n[model]\n[trust]\nrequire = true\n[agents]\nfork = true\ndisabled = []\n[permissions]\nalow = []\n[worktrees]\nsetp = 'x'\n", @r"
    1:1 [concurency] F0201 unknown key `concurency` in `flow.toml`; did you mean `concurrency`?
    2:2 [model] F0201 unknown key `model` in `flow.toml`; did you mean `models`?
    3:2 [trust] F0201 unknown key `trust` in `flow.toml`; known keys: `models`, `providers`, `agents`, `permissions`, `worktrees`, `concurrency`
    6:1 [fork] F0201 unknown key `fork` in `[agents]`; known keys: `disable`, `max_tool_concurrency`
    7:1 [disabled] F0201 unknown key `disabled` in `[agents]`; did you mean `disable`?
    9:1 [alow] F0201 unknown key `alow` in `[permissions]`; did you mean `allow`?
    11:1 [setp] F0201 unknown key `setp` in `[worktrees]`; did you mean `setup`?
    ");
    check!("[providers.x]\nkind = 'openai'\nbase-url = 'u'\nallow_locl = true\n[models]\na = { provider = 'script', fiel = 'x' }\n", @r"
    3:1 [base-url] F0201 unknown key `base-url` in a provider; did you mean `base_url`?
    4:1 [allow_locl] F0201 unknown key `allow_locl` in a provider; did you mean `allow_local`?
    6:5 [{ provider = \'script\', fiel = \'x\' }] F0204 `a` lacks `file`
    6:28 [fiel] F0201 unknown key `fiel` in a model; did you mean `file`?
    ");
}

#[test]
fn values_have_their_types_and_ranges() {
    check!("concurrency = 0\n[models]\na = 3\nb = ''\nc = { provider = 'openai', file = 'x' }\nd = [['x']]\ne = { file = 'x' }\n", @r#"
    1:15 [0] F0203 `concurrency` can't be 0; write a number from 1
    3:5 [3] F0202 `a` takes a model, `{ provider = "script", file = "…" }`, or a list of those, not a number
    4:5 [\'\'] F0203 `b` names no model
    5:18 [\'openai\'] F0203 a model in this form is a script, not `openai`; write `"openai/MODEL"` for a provider's model
    6:6 [[\'x\']] F0202 `d` takes a model, `{ provider = "script", file = "…" }`, or a list of those, not a list
    7:5 [{ file = \'x\' }] F0204 `e` lacks `provider`
    "#);
    check!("concurrency = '2'\nmodels = 'x'\nproviders = { a = 3, b = {}, c = { kind = 'opnai' } }\n[agents]\ndisable = 'x'\nmax_tool_concurrency = -1\n", @r"
    1:15 [\'2\'] F0202 `concurrency` takes a whole number, not text; write it without quotes: `2`
    2:10 [\'x\'] F0202 `models` takes a table: `[models]`, not text
    3:19 [3] F0202 `a` takes a table: `[a]`, not a number
    3:22 [b] F0204 provider `b` lacks `kind`; write one of `anthropic`, `openai`
    3:43 [\'opnai\'] F0203 there is no kind of provider `opnai`; did you mean `openai`?
    5:11 [\'x\'] F0202 `disable` takes a list, not text; put it in brackets: `['x']`
    6:24 [-1] F0203 `max_tool_concurrency` can't be -1; write a number from 1
    ");
    check!("[permissions]\nallow = ['Bahs']\ndeny = ['shell(rm *)', 'Zzz', 3]\n", @r"
    2:10 [\'Bahs\'] F0503 there is no tool `Bahs`; did you mean `Bash`?
    3:9 [\'shell(rm *)\'] F0503 there is no tool `shell`; did you mean `Bash`?
    3:24 [\'Zzz\'] F0503 there is no tool `Zzz`; tools: `Read`, `Glob`, `Grep`, `Write`, `Edit`, `Bash`
    3:31 [3] F0503 there is no tool `3`; tools: `Read`, `Glob`, `Grep`, `Write`, `Edit`, `Bash`
    ");
    check!("a = \n", @"1:5 [] F0104 this isn't TOML: string values must be quoted, expected literal string");
}
