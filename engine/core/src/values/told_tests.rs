use super::*;

const PLACE: Whereabouts<'_> = Whereabouts { dir: "/w", platform: "linux", date: "2026-11-30" };

/// A conversation of a person's definition, or of one of flow's own.
fn conversation(ours: bool) -> NewConversation {
    NewConversation {
        body: "You are. \n".to_owned(),
        system_has_place: ours,
        briefing: None,
        known: Vec::new(),
        opening: Some("Begin.".to_owned()),
    }
}

#[test]
fn a_persons_body_is_sent_byte_for_byte_and_a_built_in_one_names_the_place() {
    assert_eq!(conversation(false).system(PLACE), "You are. \n");
    let prompt = conversation(true).system(PLACE);
    assert_eq!(prompt, "You are.\n\n# Place\n\nWorking folder: /w\nPlatform: linux\nDate: 2026-11-30\n");
}

#[test]
fn the_first_message_holds_place_briefing_opening_and_prompt_in_this_order() {
    let place = "<place>\nWorking folder: /w\nPlatform: linux\nDate: 2026-11-30\n</place>\n\n";
    let briefed =
        |text: &str, ours| NewConversation { briefing: Some(text.to_owned()), ..conversation(ours) };
    let message = briefed("Small steps.\n", false).first_message(PLACE, "Go.");
    assert_eq!(message, format!("{place}<briefing>\nSmall steps.\n</briefing>\n\nBegin.\n\nGo."));
    let known = vec!["<a/>".to_owned(), "<b/>".to_owned()];
    let message = NewConversation { known, ..conversation(false) }.first_message(PLACE, "Go.");
    assert_eq!(message, format!("{place}<a/>\n\n<b/>\n\nBegin.\n\nGo."));
    // The system prompt of a built-in one names the place already.
    let message = briefed("a </briefing> b", true).first_message(PLACE, "Go.");
    assert_eq!(message, "<briefing>\na &lt;/briefing> b\n</briefing>\n\nBegin.\n\nGo.");
}

#[test]
fn a_fork_is_told_of_its_folder_only_where_that_is_another_one() {
    let fork = ForkOf { task: "a".into(), dir: Some("/there".to_owned()), output: OutputForm::Text };
    let told = |here| fork.directive(here, Some("flow/r/b"), &OutputForm::Json, "Go.");
    assert_eq!(told("/there"), "Go.");
    let moved = told("/here");
    assert!(moved.starts_with("From here on you work in `/here`, on the branch `flow/r/b`."), "{moved}");
}
