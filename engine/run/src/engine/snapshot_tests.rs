use super::super::testing::Place;
use super::*;

const PLAN: &str = "flow: 1\nname: p\ntasks:\n  a: { agent: writer, prompt: go }\n";

fn agent(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {body}\n---\n{body}\n")
}

/// What is read back of a run that kept these definitions.
fn kept(place: &Place, definitions: &Definitions) -> RunSnapshot {
    let (prepared, _) = place.engine.plan(&place.request()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let said = Said { selected: None, answering: &Answering::default(), strict: true };
    keep(folder.path(), &prepared, definitions, said).unwrap();
    // What is kept is all there is.
    std::fs::remove_dir_all(place.folder.path().join("agents")).unwrap();
    read(folder.path()).unwrap()
}

/// Names, sources and prompts of the definitions that count, what they replace, and what is wrong.
fn shown(agents: &AgentRegistry) -> Vec<String> {
    let one = |def: &AgentDef| format!("{} {} {}", def.name, def.source.as_str(), def.body.trim());
    let winners = agents.winners().map(|def| {
        let replaced: Vec<String> = agents.shadowed(&def.name).iter().map(one).collect();
        format!("{} replaces {replaced:?}", one(def))
    });
    let wrong = agents.findings().into_iter().map(|found| format!("{:?} {}", found.code, found.message));
    winners.chain(wrong).collect()
}

#[test]
fn a_plan_keeps_the_definitions_that_it_names_and_no_others() {
    let place = Place::new(&[
        ("plan.yaml", PLAN),
        ("agents/writer.md", &agent("writer", "writes")),
        ("agents/other.md", &agent("other", "does not")),
    ]);
    let (prepared, _) = place.engine.plan(&place.request()).unwrap();
    let kept = kept(&place, &Definitions::of_plan(&prepared.plan));
    assert_eq!(shown(&kept.agents), ["writer project writes replaces []"]);
    assert!(kept.strict);
}

#[test]
fn a_whole_registry_is_read_back_as_it_was() {
    let place = Place::new(&[
        ("plan.yaml", PLAN),
        ("flow.toml", "[agents]\ndisable = [\"gone\"]\n"),
        ("agents/writer.md", &agent("writer", "writes")),
        ("agents/gone.md", &agent("gone", "is taken out")),
        ("agents/Plan.md", &agent("Plan", "replaces a built-in one")),
        // Two of one name in one folder: neither counts.
        ("agents/twin.md", &agent("twin", "one")),
        ("agents/again.md", &agent("twin", "two")),
        ("agents/broken.md", "---\nname: broken\n---\n"),
    ]);
    let (settings, _) = place.engine.settings(place.folder.path());
    let (mut all, _) = place.engine.agents(place.folder.path(), &settings);
    let before = shown(&all);
    assert!(before.iter().any(|line| line.contains("twin")), "{before:?}");
    let named = |file: &AgentText| (file.file.name.clone(), file.clone());
    let definitions =
        Definitions { files: all.files().iter().map(named).collect(), disabled: all.disabled().to_vec() };
    all = kept(&place, &definitions).agents;
    assert_eq!(shown(&all), before);
    assert!(all.is_disabled("gone"));
}

#[test]
fn what_can_not_be_read_stays_unreadable() {
    let place = Place::new(&[("plan.yaml", PLAN), ("agents/writer.md", &agent("writer", "writes"))]);
    let file = Arc::new(SourceFile::new("agents/secret.md", ""));
    let why = Diagnostic::new(Code::Unreadable, &file, Span::default(), "can't read `agents/secret.md`");
    let secret = AgentText { unreadable: Some(why), ..AgentText::new(AgentSource::Project, "agents", file) };
    let definitions = Definitions { files: vec![("secret".to_owned(), secret)], disabled: Vec::new() };
    let agents = kept(&place, &definitions).agents;
    let broken = agents.broken("secret").map(|found| found[0].message.clone());
    assert_eq!(broken.as_deref(), Some("can't read `agents/secret.md`"));
}

#[test]
fn what_earlier_versions_kept_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let index = r#"{"plan":"plan.yaml","dir":"/p","inputs":{},
        "agents":[{"name":"writer","source":"project","path":"agents/writer.md"}]}"#;
    std::fs::write(folder.path().join("kept.json"), index).unwrap();
    std::fs::write(folder.path().join("plan.yaml"), PLAN).unwrap();
    std::fs::create_dir(folder.path().join("agents")).unwrap();
    std::fs::write(folder.path().join("agents/0.md"), agent("writer", "writes")).unwrap();
    let kept = read(folder.path()).unwrap();
    assert_eq!(shown(&kept.agents), ["writer project writes replaces []"]);
    assert_eq!((kept.selected, kept.strict), (None, false));
}
