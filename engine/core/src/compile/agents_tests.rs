use super::super::testing::Trial;
use super::*;
use crate::diagnostic::testing::short;
use crate::model::{ModelRef, PermissionMode, ToolPolicy};

fn text(source: AgentSource, folder: &str, name: &str, content: &str) -> AgentText {
    let file = Arc::new(SourceFile::new(format!("{folder}/{name}"), content));
    AgentText::new(source, folder, file)
}

/// An agent file of the project with this front matter.
fn project(name: &str, front: &str) -> AgentText {
    text(AgentSource::Project, "agents", name, &format!("---\n{front}\n---\nBe good.\n"))
}

fn registry(files: Vec<AgentText>) -> AgentRegistry {
    agent_registry(files, &[], vec!["agents".to_owned()])
}

/// What is wrong with agent `a` of this front matter.
fn problems(front: &str) -> String {
    let registry = registry(vec![project("a.md", &format!("name: a\ndescription: d\n{front}"))]);
    match registry.broken("a") {
        Some(found) => short(found),
        None => short(&registry.diagnostics()),
    }
}

macro_rules! check {
    ($front:expr, @$expected:literal) => {
        insta::assert_snapshot!(problems($front), @$expected)
    };
}

#[test]
fn later_sources_replace_earlier_ones_whole() {
    let named = |source, folder: &str, body: &str| {
        text(source, folder, "a.md", &format!("---\nname: a\ndescription: d\n---\n{body}"))
    };
    let registry = registry(vec![
        named(AgentSource::BuiltIn, "built-in", "one"),
        named(AgentSource::User, "home", "two"),
        named(AgentSource::Project, ".claude/agents", "three"),
        named(AgentSource::Project, "agents", "four"),
    ]);
    let agent = registry.get("a").unwrap();
    assert_eq!(
        (agent.body.as_str(), agent.source, agent.path.as_str()),
        ("four", AgentSource::Project, "agents/a.md")
    );
    let shadowed: Vec<&str> = registry.shadowed("a").iter().map(|agent| agent.body.as_str()).collect();
    assert_eq!(shadowed, ["three", "two", "one"]);
    assert_eq!(registry.shadowed("a")[2].path, "built-in");
    assert_eq!(registry.names().collect::<Vec<_>>(), ["a"]);
    assert_eq!(registry.searched, ["agents"]);
}

#[test]
fn names_differ_in_case_and_come_from_the_file_when_absent() {
    let registry = registry(vec![
        project("one.md", "name: Explore\ndescription: d"),
        project("two.md", "name: explore\ndescription: d"),
        project("no.name.md", "description: d"),
    ]);
    assert_eq!(registry.names().collect::<Vec<_>>(), ["Explore", "explore", "no.name"]);
}

#[test]
fn two_of_one_name_in_a_folder_are_an_error_once_named() {
    let files = vec![project("a.md", "name: a\ndescription: d"), project("b.md", "name: a\ndescription: d")];
    let registry = registry(files);
    assert!(registry.get("a").is_none());
    insta::assert_snapshot!(short(registry.broken("a").unwrap()), @"2:7 [a] F0502 agent `a` is defined twice in one folder: `agents/a.md`, `agents/b.md` (2:7 and here); rename one of them");
    insta::assert_snapshot!(short(&registry.diagnostics()), @"2:7 [a] W0505 agent `a` can't be used: agent `a` is defined twice in one folder: `agents/a.md`, `agents/b.md` (2:7 and here); rename one of them");
    assert!(registry.diagnostics().iter().all(|found| !found.is_error()));
}

#[test]
fn a_broken_definition_hides_a_weaker_one_and_is_a_warning_until_named() {
    let registry = registry(vec![
        text(AgentSource::User, "home", "a.md", "---\nname: a\ndescription: d\n---\nB"),
        project("a.md", "name: a\ndescription: d\nisolaton: worktree"),
    ]);
    assert!(registry.get("a").is_none());
    assert_eq!(registry.shadowed("a").len(), 1);
    insta::assert_snapshot!(short(registry.broken("a").unwrap()), @"4:1 [isolaton] F0201 unknown key `isolaton`; it looks like one that limits the agent; did you mean `isolation`? a key of your own would be `x-isolaton`");
    insta::assert_snapshot!(short(&registry.diagnostics()), @"4:1 [isolaton] W0505 agent `a` can't be used: unknown key `isolaton`; it looks like one that limits the agent; did you mean `isolation`? a key of your own would be `x-isolaton`");
}

#[test]
fn files_without_front_matter_are_skipped_until_named() {
    let registry = registry(vec![
        text(AgentSource::Project, "agents", "notes.md", "# Notes\n"),
        text(AgentSource::Project, "agents", "README.md", "---\nname: r\n"),
        text(AgentSource::Project, "agents", "open.md", "---\nname: o\n"),
    ]);
    assert_eq!(registry.names().count(), 0);
    insta::assert_snapshot!(short(registry.broken("notes").unwrap()), @"1:1 [] F0109 `agents/notes.md` has no front matter, so it defines no agent; begin it with `---`, `name:` and `description:` lines, and `---`");
    insta::assert_snapshot!(short(registry.broken("open").unwrap()), @"1:1 [---] F0109 front matter that begins with `---` is never closed; put a line with `---` between the keys and the prompt");
    assert!(registry.broken("README").is_none() && registry.broken("r").is_none());
}

#[test]
fn definitions_that_other_lines_hide_say_why_under_both_names() {
    let keys = "name: h\ndescription: d\ntools: Read\n";
    let why = |body: &str| {
        let registry = registry(vec![text(AgentSource::Project, "agents", "file.md", body)]);
        assert!(registry.get("h").is_none());
        assert_eq!(registry.broken("h"), registry.broken("file"), "{body}");
        short(registry.broken("file").unwrap())
    };
    let fenced = "1:1 [```markdown] F0109 the definition stands in a code fence, so it defines no agent; take this line and the closing fence away, and what stands above";
    assert_eq!(why(&format!("```markdown\n---\n{keys}---\nB\n```\n")), fenced);
    let behind = "3:1 [```yaml] F0109 the definition stands in a code fence, so it defines no agent; put the keys between two lines `---` at the top of the file, without the fence";
    assert_eq!(why(&format!("# Helper\n\n```yaml\n{keys}```\n\nB\n")), behind);
    let titled = "3:1 [---] F0109 lines stand above the front matter, so it defines no agent; begin the file with this line, and put what stands above behind the keys";
    assert_eq!(why(&format!("# Helper\n\n---\n{keys}---\nB\n")), titled);
    let open = "1:1 [name: h] F0109 the opening `---` of the front matter is missing, so it defines no agent; put a line `---` above this one";
    assert_eq!(why(&format!("{keys}---\nB\n")), open);
    assert_eq!(why(&format!("{keys}\nB\n")), format!("{open}, and one behind the last key"));
    // A page that speaks of agents.
    let page = registry(vec![text(
        AgentSource::Project,
        "agents",
        "p.md",
        "# P\n\n---\nname: only\n\n```\nx\n```\n",
    )]);
    assert_eq!(page.findings().len(), 0);
}

#[test]
fn findings_go_by_file_and_place_and_every_error_is_told() {
    let registry = registry(vec![
        project("b.md", "name: a\ndescription: d\nzebra: 1\nisolaton: x\neffort: most\nmaxTurn: 3"),
        project("a.md", "name: z\ndescription: d\ntools: Bahs, Read\nzebra: 1"),
    ]);
    let place = |found: &Diagnostic| found.labels[0].file.at(found.labels[0].span.start);
    let all: Vec<Diagnostic> = registry.findings().into_iter().cloned().collect();
    let places: Vec<String> = all.iter().map(place).collect();
    let expected = ["a.md:4:8", "a.md:5:1", "b.md:4:1", "b.md:5:1", "b.md:6:9", "b.md:7:1"];
    assert_eq!(places, expected.map(|place| format!("agents/{place}")));
    assert_eq!(all.iter().filter(|found| found.is_error()).count(), 2);
    let warnings = registry.diagnostics();
    assert_eq!(warnings.iter().map(place).collect::<Vec<_>>(), places);
    assert!(!warnings.iter().any(Diagnostic::is_error));
    assert_eq!(registry.broken_names().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn a_file_that_cannot_be_read_stands_for_the_agent_of_its_name() {
    let mut lost = project("a.md", "");
    lost.file = Arc::new(SourceFile::new("agents/a.md", ""));
    lost.unreadable =
        Some(Diagnostic::new(Code::NotText, &lost.file, Span::default(), "`agents/a.md` isn't UTF-8"));
    let registry = registry(vec![
        text(AgentSource::User, "home", "a.md", "---\nname: a\ndescription: d\n---\nB"),
        project("b.md", "name: b\ndescription: d"),
        lost,
    ]);
    assert!(registry.get("a").is_none() && registry.get("b").is_some());
    insta::assert_snapshot!(short(registry.broken("a").unwrap()), @"1:1 [] F0103 `agents/a.md` isn't UTF-8");
    insta::assert_snapshot!(short(&registry.unreadable()), @"1:1 [] W0505 agent `a` can't be used: `agents/a.md` isn't UTF-8");
    assert_eq!(registry.unreadable(), registry.diagnostics());
}

#[test]
fn disabled_names_are_gone() {
    let files = vec![project("a.md", "name: a\ndescription: d\nzebra: 1")];
    let registry = agent_registry(files, &["a".to_owned()], Vec::new());
    assert!(registry.get("a").is_none() && registry.broken("a").is_none() && registry.is_disabled("a"));
    assert_eq!((registry.names().count(), registry.diagnostics().len()), (0, 0));
}

#[test]
fn tools_that_do_not_exist_grant_nothing() {
    check!("tools: Read, Bahs", @"4:14 [Bahs] W0502 there is no tool `Bahs`; it grants nothing; did you mean `Bash`?");
    check!("tools: read, edit", @r"
    4:8 [read] F0503 there is no tool `read`, and the agent has no other; did you mean `Read`?
    4:14 [edit] F0503 there is no tool `edit`, and the agent has no other; did you mean `Edit`?
    ");
    check!("tools: [Bahs, search/codebase, runCommands, zzz]", @r"
    4:9 [Bahs] F0503 there is no tool `Bahs`, and the agent has no other; did you mean `Bash`?
    4:15 [search/codebase] F0503 there is no tool `search/codebase`, and the agent has no other; did you mean `Grep`?
    4:32 [runCommands] F0503 there is no tool `runCommands`, and the agent has no other; did you mean `Bash`?
    4:45 [zzz] F0503 there is no tool `zzz`, and the agent has no other; tools: `Read`, `Glob`, `Grep`, `Write`, `Edit`, `Bash`
    ");
    check!("tools: []", @"");
    check!("tools: Read, WebFetch, mcp__docs__search, Task, WebFetch, TaskUpdate, StructuredOutput", @"4:14 [WebFetch] W0502 flow has no `WebFetch`, `mcp__docs__search`, `Task`, `TaskUpdate`; take it out, or let a task of its own do what it is for");
    check!("tools: WebFetch, WebSearch", @"4:8 [WebFetch] W0502 flow has no `WebFetch`, `WebSearch`, and the agent has no other tool; take it out, or let a task of its own do what it is for");
    check!("tools: All", @"4:8 [All] F0503 there is no tool `All`, and the agent has no other; for all tools leave `tools` out");
    check!("disallowedTools: bash, Wirte, zzz, Agent", @r"
    4:18 [bash] W0502 there is no tool `bash`; `Bash` is taken away; write `Bash`
    4:24 [Wirte] W0502 there is no tool `Wirte`; `Write` is taken away; write `Write`
    4:31 [zzz] W0502 there is no tool `zzz`, so nothing is taken away
    ");
}

#[test]
fn a_misspelt_denial_still_denies() {
    let registry =
        registry(vec![project("a.md", "name: a\ndescription: d\ndisallowedTools: bash, Bash(rm *)")]);
    let denied: Vec<String> =
        registry.get("a").unwrap().disallowed_tools.iter().map(ToString::to_string).collect();
    assert_eq!(denied, ["Bash", "Bash(rm *)"]);
}

#[test]
fn words_that_limit_are_known_or_an_error() {
    check!("isolation: workree\npermissionMode: dontask\nmaxTurns: 0", @r"
    4:12 [workree] F0203 `isolation` can't be `workree`; did you mean `worktree`?
    5:17 [dontask] F0203 `permissionMode` can't be `dontask`; did you mean `dontAsk`?
    6:11 [0] F0203 `maxTurns` can't be 0; write a number from 1, or take it out for no limit of its own
    ");
    check!("isolation: remote", @"4:12 [remote] F0203 `isolation` can't be `remote`; write one of `none`, `worktree`, `copy`, `fork`");
    check!("effort: extreme", @"4:9 [extreme] W0202 there is no effort `extreme`; the default is used; write one of `low`, `medium`, `high`, `xhigh`, `max`");
    check!("model: [one, two]", @r#"4:14 [two] W0201 of several models only the first is used; give the list a name in flow.toml: `[models] NAME = ["…", "…"]`"#);
    check!("tools: Write, Edit\npermissionMode: plan", @"4:8 [Write, Edit] F0505 every tool of this agent writes, and its mode refuses writers (5:17 refuses them); take one of the two out");
}

#[test]
fn only_people_and_policies_may_bypass() {
    let mode = |source| {
        let content = "---\nname: a\ndescription: d\npermissionMode: bypassPermissions\n---\nB";
        let registry = registry(vec![text(source, "f", "a.md", content)]);
        (registry.get("a").unwrap().permission_mode, short(&registry.diagnostics()))
    };
    let (found, warning) = mode(AgentSource::Project);
    assert_eq!(found, Some(PermissionMode::Default));
    insta::assert_snapshot!(warning, @"4:17 [bypassPermissions] W0601 `bypassPermissions` is read as `default`; only a definition of the user, a flag or a policy may ask for it");
    assert_eq!(mode(AgentSource::Plugin).0, Some(PermissionMode::Default));
    for source in [AgentSource::BuiltIn, AgentSource::User, AgentSource::Flag, AgentSource::Policy] {
        assert_eq!(mode(source), (Some(PermissionMode::BypassPermissions), String::new()));
    }
}

#[test]
fn a_name_that_does_not_stand_on_one_line_is_none() {
    for front in [
        "name: \"a\\nb\"\ndescription: d",
        "name: a\n description: d\ntools: Read",
        "name: |\n  a\n  b\ndescription: d",
    ] {
        let registry = registry(vec![project("x.md", front)]);
        assert_eq!(registry.names().count(), 0, "{front}");
        assert!(registry.findings().iter().any(|found| found.code == Code::BadName), "{front}");
    }
}

#[test]
fn a_name_that_a_terminal_obeys_is_shown_escaped() {
    let registry = registry(vec![project("a.md", "name: \"a\\e[2J\"\ndescription: d")]);
    insta::assert_snapshot!(short(&registry.diagnostics()), @r#"2:7 [\"a\\e[2J\"] W0505 agent `a\u{1b}[2J` can't be used: `a\u{1b}[2J` can't name an agent; a name stands on one line and has letters that everybody can see"#);
}

#[test]
fn a_definition_keeps_its_hash_and_its_warnings() {
    let registry = registry(vec![project("a.md", "name: a\ndescription: d\nzebra: 1")]);
    let agent = registry.get("a").unwrap();
    assert_eq!(agent.hash.len(), 64);
    assert_eq!(agent.warnings, ["agents/a.md:4:1: unknown key `zebra` is ignored"]);
    assert_eq!((agent.model.clone(), agent.tools.clone()), (ModelRef::Inherit, ToolPolicy::Inherit));
}

#[test]
fn no_file_is_parsed_before_a_definition_is_asked_for() {
    let registry = registry(vec![project("a.md", "name: a\ndescription: d")]);
    assert!(registry.read.get().is_none());
    assert!(registry.get("a").is_some());
    assert!(registry.read.get().is_some());
}

#[test]
fn a_plan_without_agents_parses_no_definition() {
    let registry = registry(vec![project("a.md", "name: a\ndescription: d")]);
    assert!(Trial::of("tasks: { t: { run: echo } }").compile_with(&registry).plan.is_some());
    assert!(registry.read.get().is_none());
    assert!(Trial::of("tasks: { t: { prompt: p, agent: a } }").compile_with(&registry).plan.is_some());
    assert!(registry.read.get().is_some());
}
