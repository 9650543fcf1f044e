use super::*;

#[test]
fn no_two_causes_have_one_code() {
    let codes: Vec<u8> = Cause::ALL.iter().map(|cause| cause.code()).collect();
    assert!(codes.is_sorted_by(|one, next| one < next), "{codes:?}");
}

#[test]
fn the_guide_lists_the_codes_that_there_are() {
    let text = include_str!("../../../docs/ci.md");
    let section = text.split("## Exit codes").nth(1).unwrap().split("\n## ").next().unwrap();
    let listed: Vec<u8> =
        section.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok()).collect();
    assert_eq!(listed, Cause::ALL.map(Cause::code));
}
