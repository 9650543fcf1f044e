use super::permissions::PROTECTED;
use super::read_only::{COMMANDS, GIT_COMMANDS};
use crate::testing::{PERMISSIONS, keys, listed, same};

#[test]
fn commands_that_only_look_are_listed() {
    let known = COMMANDS.iter().map(|(name, _)| *name).chain(["find", "git"]);
    let beginning = "Commands that only look, with options that neither write nor run programs:";
    same(listed(PERMISSIONS, beginning), known.chain(GIT_COMMANDS.iter().copied()));
}

#[test]
fn places_that_no_mode_opens_and_reasons_of_refusals_are_listed() {
    let opens = listed(PERMISSIONS, "No mode opens");
    assert_eq!(opens[..PROTECTED.len()], *PROTECTED);
    let known = serde_json::from_str::<crate::model::DenialReason>("\"?\"").unwrap_err().to_string();
    let known = crate::testing::expected(&known);
    same(keys(PERMISSIONS, "## Why a call was refused"), known.iter().map(String::as_str));
}
