use super::*;

fn why(pattern: &str) -> Option<String> {
    in_vain(pattern, false, |path| path == "build").map(|(message, _)| message)
}

#[test]
fn a_pattern_that_can_match_nothing_says_why() {
    for (pattern, expected) in [
        ("../outside.txt", "leads out of the checkout"),
        ("a/../../b", "leads out of the checkout"),
        ("/etc/hostname", "it has no `etc`"),
        ("~/.npmrc", "not your home"),
        ("./.env", "no path has a `.`"),
        ("# secrets", "a comment"),
        (" ", "is empty"),
        ("!.env.prod", "there is none"),
    ] {
        let said = why(pattern).unwrap_or_default();
        assert!(said.contains(expected), "{pattern}: {said}");
    }
}

#[test]
fn patterns_that_can_match_are_left_alone() {
    for pattern in [
        ".env*",
        "node_modules/**",
        "secrets/",
        "/build/keep.txt",
        "/*.pem",
        "**/*-local/",
        "a..b",
        "...",
        "\\#x",
    ] {
        assert_eq!(why(pattern), None, "{pattern}");
    }
    assert_eq!(in_vain("!.env.prod", true, |_| false), None);
}
