//! Streams of model servers that break off, that are none, or that hold what nobody knows.

use super::{between, play};

/// What a case printed of one of its servers.
fn part<'a>(ran: &'a crate::support::Ran, name: &str) -> &'a str {
    between(&ran.stdout, &format!("## {name}\n"), "\n## ")
}

#[test]
fn n41_an_error_in_a_stream_is_no_end_of_the_answer() {
    let (_, ran) = play("N41");
    for name in ["anthropic", "openai"] {
        let part = part(&ran, name);
        assert!(part.contains(r#""t": "All of it.""#) && part.contains("rc=0\nasked 2\n"), "{part}");
    }
    let always = part(&ran, "always");
    assert!(always.contains(r#"["failed","overloaded",1]"#) && always.contains("rc=1\n"), "{always}");
    assert!(!always.contains(r#""t": "Half of""#), "{always}");
    let invalid = part(&ran, "invalid");
    assert!(invalid.contains("bad schema") && invalid.contains("rc=1\nasked 1\n"), "{invalid}");
    assert!(invalid.contains(r#"["failed","#), "{invalid}");
}

#[test]
fn n43_what_is_no_stream_or_no_call_is_told_and_never_an_answer() {
    let (_, ran) = play("N43");
    for name in ["eof", "eofopenai"] {
        let part = part(&ran, name);
        assert!(part.contains(r#""t": "All of it.""#) && part.contains("rc=0\nasked 2\n"), "{part}");
    }
    for (name, begin) in [("html", "<html><body>Please sign in"), ("empty", "is empty")] {
        let part = part(&ran, name);
        assert!(part.contains("no stream of events") && part.contains(begin), "{part}");
        assert!(part.contains("rc=1\nasked 3\n"), "asked a bounded number of times: {part}");
    }
    let calls = part(&ran, "badcall");
    assert!(calls.contains(r#""t": "All of it.""#) && calls.contains("rc=0\nasked 4\n"), "{calls}");
    let unknown = part(&ran, "unknown");
    assert!(unknown.contains(r#""t": "All of it.""#) && unknown.contains("rc=0\nasked 1\n"), "{unknown}");
}
