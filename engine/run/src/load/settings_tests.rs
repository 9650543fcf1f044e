use super::super::testing::Place;
use super::*;

fn check(place: &Place, plan_dir: &str, expected: &[(SettingsLayer, &str)]) {
    let (texts, findings) = find_settings(&place.project("p"), &place.top.join(plan_dir), &place.dirs());
    let found: Vec<_> = texts.iter().map(|text| (text.layer, text.file.text.as_str())).collect();
    assert_eq!(found, expected);
    assert_eq!(findings, []);
}

#[test]
fn layers_come_weakest_first_down_to_the_plan() {
    let files =
        ["home/.config/flow/flow.toml", "p/flow.toml", "p/a/b/flow.toml", "policy/flow.toml", "q/flow.toml"];
    let place = Place::new(&files);
    use SettingsLayer::{Policy, Repository, User};
    let [user, root, nested, policy, other] = files.map(|file| format!("# {file}\n"));
    check(&place, "p", &[(User, &user), (Repository, &root), (Policy, &policy)]);
    check(&place, "p/a/b", &[(User, &user), (Repository, &root), (Repository, &nested), (Policy, &policy)]);
    check(&place, "q", &[(User, &user), (Repository, &root), (Repository, &other), (Policy, &policy)]);
}

#[test]
fn names_are_relative_and_folders_whole() {
    let place = Place::new(&["p/flow.toml", "p/a/flow.toml"]);
    let project = Project::locate(&place.top.join("p/a"), None);
    let (texts, _) = find_settings(&project, &place.top.join("p/a"), &place.dirs());
    assert_eq!(
        (texts[0].file.name.as_str(), &*texts[0].dir),
        ("flow.toml", place.top.join("p/a").to_str().unwrap())
    );
}

#[test]
fn a_project_in_the_persons_own_folder_leaves_their_settings_theirs() {
    let place = Place::new(&["p/flow/flow.toml"]);
    let dirs = Dirs { home: None, config: Some(place.top.join("p")), policy: None };
    let (texts, _) = find_settings(&place.project("p/flow"), &place.top.join("p/flow"), &dirs);
    assert_eq!(texts.iter().map(|text| text.layer).collect::<Vec<_>>(), [SettingsLayer::User]);
}

#[test]
fn a_file_that_cant_be_read_is_a_finding() {
    let place = Place::new(&["p/flow.toml"]);
    std::fs::create_dir(place.top.join("policy")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.top.join("policy/flow.toml")).unwrap();
    let (texts, findings) = find_settings(&place.project("p"), &place.top.join("p"), &place.dirs());
    assert_eq!((texts.len(), findings.len()), (1, 1));
}
