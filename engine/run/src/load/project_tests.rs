use super::super::testing::Place;
use super::*;

#[test]
fn the_root_is_the_nearest_flow_toml_else_the_git_top_level_else_the_folder() {
    let check = |files: &[&str], expected: &str| {
        let place = Place::new(files);
        std::fs::create_dir_all(place.top.join("p/a/b")).unwrap();
        assert_eq!(place.project("p/a/b").root, place.top.join(expected), "{files:?}");
    };
    check(&[], "p/a/b");
    check(&["p/flow.toml", "p/a/.git/HEAD"], "p");
    check(&["p/flow.toml", "p/a/flow.toml"], "p/a");
    check(&["p/.git/HEAD"], "p");
    // A linked worktree or a submodule.
    check(&["p/.git/HEAD", "p/a/.git"], "p/a");
    check(&["p/flow.toml/x", "p/a/.git/HEAD"], "p/a");
}

#[test]
fn the_state_folder_is_at_the_root_or_where_the_person_says() {
    let place = Place::new(&["p/flow.toml", "p/a/x"]);
    assert_eq!(place.project("p/a").state_dir, place.top.join("p/.flow"));
    let given = Project::locate(&place.top.join("p/a"), Some("s".into()));
    assert_eq!(given.state_dir, place.top.join("p/a/s"));
    let given = Project::locate(&place.top.join("p/a"), Some("/s".into()));
    assert_eq!(given.state_dir, Path::new("/s"));
}

#[test]
fn paths_are_shown_as_seen_from_the_current_folder() {
    let place = Place::new(&["p/flow.toml", "p/a/b/x"]);
    let project = place.project("p/a");
    let check = |path: &str, expected: &str| assert_eq!(project.show(&place.top.join(path)), expected);
    check("p/a/b/x", "b/x");
    check("p/a", ".");
    check("p", "..");
    check("p/agents/x.md", "../agents/x.md");
    check("p/ab/x", "../ab/x");
    check("q/x", place.top.join("q/x").to_str().unwrap());
}

#[test]
fn levels_lead_from_the_root_to_the_plan_or_to_one_elsewhere() {
    let place = Place::new(&["p/flow.toml"]);
    let project = place.project("p");
    let check = |plan_dir: &str, expected: &[&str]| {
        let expected: Vec<PathBuf> = expected.iter().map(|level| place.top.join(level)).collect();
        assert_eq!(project.levels(&place.top.join(plan_dir)), expected);
    };
    check("p", &["p"]);
    check("p/a/b", &["p", "p/a", "p/a/b"]);
    check("q/a", &["p", "q/a"]);
}

#[test]
fn agents_come_from_the_top_of_the_checkout_down_and_settings_from_the_root() {
    let place = Place::new(&["p/.git/HEAD", "p/a/b/flow.toml"]);
    let check = |start: &str, plan_dir: &str, expected: &[&str]| {
        let expected: Vec<PathBuf> = expected.iter().map(|level| place.top.join(level)).collect();
        assert_eq!(place.project(start).agent_levels(&place.top.join(plan_dir)), expected, "{start}");
    };
    check("p/a/b", "p/a/b/c", &["p", "p/a", "p/a/b", "p/a/b/c"]);
    check("p/a/b", "q", &["p", "p/a", "p/a/b", "q"]);
    check("p", "p/a", &["p", "p/a"]);
    let project = place.project("p/a/b");
    assert_eq!(project.levels(&place.top.join("p/a/b")), [place.top.join("p/a/b")]);
    assert_eq!(project.show(&place.top.join("p/.claude/agents")), "../../.claude/agents");
    // Nothing above a folder that is in no checkout belongs to it.
    let alone = Place::new(&["p/flow.toml", "p/a/flow.toml"]);
    assert_eq!(alone.project("p/a").agent_levels(&alone.top.join("p/a")), [alone.top.join("p/a")]);
}
