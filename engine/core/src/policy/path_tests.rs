use super::*;

#[track_caller]
fn matches(pattern: &str, path: &str, expected: bool) {
    let roots = Roots { tree: Path::new("/w/tree"), home: Some(Path::new("/home/me")) };
    assert_eq!(pattern_matches(pattern, Path::new(path), roots), Some(expected), "{pattern} over {path}");
}

#[test]
fn paths_are_made_absolute_without_looking() {
    let show = |path: &str| resolve(Path::new("/w/tree"), path).map(|path| path.display().to_string());
    for (path, expected) in [
        ("a/b", Some("/w/tree/a/b")),
        ("./a/./b/", Some("/w/tree/a/b")),
        ("a/../../x", Some("/w/x")),
        ("../../../../x", Some("/x")),
        ("/etc/../etc/passwd", Some("/etc/passwd")),
        ("", Some("/w/tree")),
        ("a\0b", None),
    ] {
        assert_eq!(show(path).as_deref(), expected, "{path:?}");
    }
    assert_eq!(resolve(Path::new("relative"), "x"), None);
}

#[test]
fn a_pattern_with_a_slash_begins_at_the_tree() {
    matches("src/**", "/w/tree/src/a/b.rs", true);
    matches("src/**", "/w/tree/src", false);
    matches("src/**", "/w/tree/other/src/a.rs", false);
    matches("/src/*.rs", "/w/tree/src/a.rs", true);
    matches("/src/*.rs", "/w/tree/src/a/b.rs", false);
    matches("./src", "/w/tree/src/deep/file", true);
    matches("src/**/x", "/w/tree/src/x", true);
    matches("src/**/x", "/w/tree/src/a/b/x", true);
    matches("src/**", "/w/treesrc/a", false);
    matches("../other/*", "/w/other/a", true);
    matches("../other/*", "/w/tree/other/a", false);
}

#[test]
fn a_pattern_without_a_slash_matches_at_any_depth_and_folders_hold_what_is_in_them() {
    matches(".env", "/w/tree/.env", true);
    matches(".env", "/w/tree/a/b/.env", true);
    matches(".env", "/w/tree/a/.env.local", false);
    matches("secret/", "/w/tree/a/secret/key", true);
    matches("*.pem", "/w/tree/a/k.pem", true);
    matches("*.pem", "/w/tree/a/kxpem", false);
    matches("**", "/w/tree/a/b", true);
    matches("**", "/w/elsewhere", false);
}

#[test]
fn roots_of_the_disk_and_home_can_be_named() {
    matches("//etc/**", "/etc/passwd", true);
    matches("//etc/**", "/w/tree/etc/passwd", false);
    matches("~/.ssh/**", "/home/me/.ssh/id", true);
    matches("~/.ssh", "/home/you/.ssh", false);
    matches("//**", "/anything/at/all", true);
}

#[test]
fn wildcards_never_cross_a_slash_and_other_characters_are_themselves() {
    matches("a?c", "/w/tree/abc", true);
    matches("a?c", "/w/tree/a/c", false);
    matches("a[bx]c", "/w/tree/axc", true);
    matches("a[!b]c", "/w/tree/abc", false);
    matches("a[!b]c", "/w/tree/a/c", false);
    matches("a.c", "/w/tree/abc", false);
    matches("a(b|c)+", "/w/tree/ab", false);
    matches("a\\*c", "/w/tree/a*c", true);
    matches("a\\*c", "/w/tree/abc", false);
    matches("a[", "/w/tree/a[", true);
    matches("(?i)A", "/w/tree/a", false);
}

#[test]
fn patterns_that_cannot_be_read_say_so() {
    let roots = Roots { tree: Path::new("/w/tree"), home: None };
    for pattern in ["~/x", "src/../x", "!src"] {
        assert_eq!(pattern_matches(pattern, Path::new("/w/tree/src"), roots), None, "{pattern}");
    }
}

#[test]
fn the_certain_part_of_a_path_ends_before_the_first_wildcard() {
    for (pattern, expected) in [
        ("src/**/*.rs", Some("src")),
        ("*.rs", Some(".")),
        ("/*", Some("/")),
        ("/etc/*", Some("/etc")),
        ("../x/*", Some("../x")),
        ("a/b", Some("a/b")),
        ("*/../../x", None),
        ("{..,x}/y", None),
        ("a/{b,c}/d", Some("a")),
    ] {
        assert_eq!(before_wildcards(pattern).as_deref(), expected, "{pattern}");
    }
}
