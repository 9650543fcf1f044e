use super::super::testing::Place;
use super::*;

fn check(json: &str, expected: &[(&str, &str)]) {
    let project = Place::new(&[]).project("p");
    let texts = from_flag(&project, json).unwrap();
    let found: Vec<_> = texts.iter().map(|text| (&*text.file.name, &*text.file.text)).collect();
    assert_eq!(found, expected);
}

fn check_wrong(json: &str, code: Code, at: u32, message: &str) {
    let project = Place::new(&[]).project("p");
    let findings = from_flag(&project, json).unwrap_err();
    let found: Vec<_> = findings
        .iter()
        .map(|finding| (finding.code, finding.labels[0].span.start, &*finding.message))
        .collect();
    assert_eq!(found, [(code, at, message)]);
}

#[test]
fn json_becomes_the_file_that_says_the_same() {
    check(
        r#"{"r": {"description": "d: \"q\" # x", "prompt": "Do it.\n---\n", "tools": ["Read", "Grep"], "maxTurns": 3}}"#,
        &[(
            "--agents (r)",
            "---\nname: \"r\"\ndescription: \"d: \\\"q\\\" # x\"\ntools: [\"Read\",\"Grep\"]\nmaxTurns: 3\n---\nDo it.\n---\n",
        )],
    );
    // The key is the name, whatever stands inside; keys can't break out of their line.
    check(
        r#"{"a": {"name": "b", "prompt": "x", "k: 1\ntools": []}}"#,
        &[("--agents (a)", "---\nname: \"a\"\n\"k: 1\\ntools\": []\n---\nx")],
    );
}

#[test]
fn json_that_is_none_or_says_too_little_is_a_finding() {
    check_wrong(
        "{\"a\": {\n  oops}}",
        Code::Malformed,
        10,
        "the agents aren't well-formed JSON: key must be a string",
    );
    check_wrong(r#"{"a": "x"}"#, Code::WrongType, 0, "agent `a` isn't an object with the text `prompt`");
    check_wrong(
        r#"{"a": {"prompt": 3}}"#,
        Code::WrongType,
        0,
        "agent `a` isn't an object with the text `prompt`",
    );
}

#[test]
fn json_may_stand_in_a_file() {
    let place = Place::new(&[]);
    place.write("p/team.json", r#"{"a": {"description": "d", "prompt": "x"}}"#);
    let texts = from_flag(&place.project("p"), "team.json").unwrap();
    assert_eq!((&*texts[0].folder, &*texts[0].file.name), ("team.json", "team.json (a)"));
}
