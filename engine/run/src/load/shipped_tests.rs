use std::collections::BTreeSet;
use std::path::Path;

use super::*;

fn body(name: &str) -> &'static str {
    let agent = AGENTS.iter().find(|agent| agent.name == name).unwrap();
    agent.text.splitn(3, "---\n").nth(2).unwrap()
}

#[test]
fn every_file_of_agents_is_compiled_in_and_no_two_clash_on_a_disk_without_case() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents");
    let on_disk: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let shipped: BTreeSet<String> = AGENTS.iter().map(|agent| agent.name.to_owned()).collect();
    assert_eq!(shipped, on_disk);
    let folded: BTreeSet<String> = shipped.iter().map(|name| name.to_lowercase()).collect();
    assert_eq!(folded.len(), shipped.len());
}

#[test]
fn front_matter_is_closed_and_bodies_are_prompts() {
    for agent in AGENTS {
        assert!(agent.text.starts_with("---\nname: "), "{}", agent.name);
        assert!(
            body(agent.name).contains("Your final message is all that the caller sees"),
            "{}",
            agent.name
        );
    }
}

#[test]
fn the_guide_says_the_same_under_both_names() {
    assert_eq!(body("guide.md"), body("claude-code-guide.md"));
}
