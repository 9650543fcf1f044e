use flow_core::diagnostic::Code;

use super::super::testing::Place;
use super::*;

fn found(place: &Place, plan_dir: &str, flags: &[&str]) -> FoundAgents {
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    find_agents(&place.project("p"), &place.top.join(plan_dir), &place.dirs(), &flags)
}

/// Source and path of each file that isn't built in; the text of a test file is its path.
fn check(place: &Place, plan_dir: &str, flags: &[&str], expected: &[(AgentSource, &str)]) {
    let found = found(place, plan_dir, flags);
    let texts: Vec<_> = found
        .texts
        .iter()
        .skip_while(|text| text.source == AgentSource::BuiltIn)
        .map(|text| (text.source, text.file.text.trim_start_matches("# ").trim_end()))
        .collect();
    assert_eq!(texts, expected);
    assert_eq!(found.findings, []);
}

use AgentSource::{Flag, Policy, Project as OfProject, User};

#[test]
fn sources_come_weakest_first_and_the_nearest_folder_last() {
    let place = Place::new(&[
        "p/flow.toml",
        "policy/agents/x.md",
        "home/.claude/agents/x.md",
        "home/.config/flow/agents/x.md",
        "p/a/agents/x.md",
        "p/agents/x.md",
        "p/.flow/agents/x.md",
        "p/.claude/agents/x.md",
        "p/given/x.md",
        "q/agents/x.md",
    ]);
    let before = [
        (User, "home/.config/flow/agents/x.md"),
        (User, "home/.claude/agents/x.md"),
        (OfProject, "p/.claude/agents/x.md"),
        (OfProject, "p/.flow/agents/x.md"),
        (OfProject, "p/agents/x.md"),
    ];
    let policy = (Policy, "policy/agents/x.md");
    let given = "---\nname: x\ndescription: d\n---";
    place.write("p/given/x.md", given);
    check(&place, "p", &[], &[&before[..], &[policy]].concat());
    check(&place, "p/a", &[], &[&before[..], &[(OfProject, "p/a/agents/x.md"), policy]].concat());
    check(&place, "q", &[], &[&before[..], &[(OfProject, "q/agents/x.md"), policy]].concat());
    check(&place, "p", &["given/x.md"], &[&before[..], &[(Flag, given), policy]].concat());
    check(&place, "p", &["given"], &[&before[..], &[(Flag, given), policy]].concat());
}

#[test]
fn built_in_agents_come_first() {
    let found = found(&Place::new(&[]), "p", &[]);
    assert!(found.texts.iter().all(|text| text.source == AgentSource::BuiltIn));
    assert_eq!(found.texts[0].file.name, "built-in/Explore.md");
}

#[test]
fn only_markdown_counts_sorted_by_name_and_only_claude_code_has_subfolders() {
    let place = Place::new(&[
        "p/agents/b.md",
        "p/agents/a.md",
        "p/agents/a.md.bak",
        "p/agents/notes.txt",
        "p/agents/sub/c.md",
        "p/.claude/agents/z.md",
        "p/.claude/agents/team/one/d.md",
        "p/.claude/agents/.hidden/e.md",
    ]);
    std::os::unix::fs::symlink("..", place.top.join("p/.claude/agents/team/circle")).unwrap();
    std::os::unix::fs::symlink("a.md", place.top.join("p/agents/link.md")).unwrap();
    let expected = [
        (OfProject, "p/.claude/agents/z.md"),
        (OfProject, "p/.claude/agents/team/one/d.md"),
        (OfProject, "p/agents/a.md"),
        (OfProject, "p/agents/b.md"),
        (OfProject, "p/agents/a.md"),
    ];
    check(&place, "p", &[], &expected);
    let found = found(&place, "p", &[]);
    let deep = found.texts.iter().find(|text| text.file.name.ends_with("d.md")).unwrap();
    assert_eq!(
        (deep.folder.as_str(), deep.file.name.as_str()),
        (".claude/agents", ".claude/agents/team/one/d.md")
    );
}

#[test]
fn a_project_that_is_the_persons_home_leaves_their_agents_theirs() {
    let place = Place::new(&["p/.claude/agents/x.md"]);
    let dirs = Dirs { home: Some(place.top.join("p")), config: None, policy: None };
    let found = find_agents(&place.project("p"), &place.top.join("p"), &dirs, &[]);
    let sources: Vec<_> =
        found.texts.iter().map(|text| text.source).filter(|s| *s != AgentSource::BuiltIn).collect();
    assert_eq!(sources, [User]);
}

#[test]
fn searched_folders_are_those_that_exist_and_those_that_could() {
    let place = Place::new(&["p/flow.toml", "p/a/agents/x.md", "home/.claude/agents/x.md"]);
    let home = place.top.join("home/.claude/agents").display().to_string();
    let expected = [&home, ".claude/agents", ".flow/agents", "agents", "a/agents"];
    assert_eq!(found(&place, "p/a", &[]).searched, expected);
}

#[test]
fn files_that_cant_be_read_are_found_with_the_reason_and_so_are_the_others() {
    let place = Place::new(&["p/agents/a.md"]);
    place.write("p/agents/large.md", &"x".repeat(AGENT_LIMIT + 1));
    std::os::unix::fs::symlink("nowhere", place.top.join("p/agents/lost.md")).unwrap();
    std::fs::write(place.top.join("p/agents/utf16.md"), b"\xff\xfe-\0-\0-\0").unwrap();
    let texts = found(&place, "p", &[]).texts;
    let code = |text: &AgentText| text.unreadable.as_ref().map(|finding| finding.code);
    let read: Vec<_> = texts.iter().map(|text| (text.file.name.as_str(), code(text))).collect();
    let ours = [
        ("agents/a.md", None),
        ("agents/large.md", Some(Code::TooLarge)),
        ("agents/lost.md", Some(Code::Unreadable)),
        ("agents/utf16.md", Some(Code::NotText)),
    ];
    assert!(read.ends_with(&ours), "{read:?}");
    let place_of =
        |text: &AgentText| Some(text.unreadable.as_ref()?.labels.first()?.file.name == text.file.name);
    assert!(texts.iter().all(|text| place_of(text) != Some(false)), "each tells its place");
}

#[test]
fn what_a_person_or_a_policy_demands_must_be_readable() {
    let place = Place::new(&["p/agents/a.md", "policy/agents/a.md"]);
    std::os::unix::fs::symlink("nowhere", place.top.join("policy/agents/lost.md")).unwrap();
    let dirs = Dirs { home: None, config: None, policy: Some(place.top.join("policy")) };
    let flags = ["missing.md".to_owned()];
    let found = find_agents(&place.project("p"), &place.top.join("p"), &dirs, &flags);
    let codes: Vec<_> = found.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::Unreadable, Code::Unreadable]);
}
