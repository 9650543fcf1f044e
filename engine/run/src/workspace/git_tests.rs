use super::*;

#[test]
fn held_locks_are_told_apart_from_other_failures() {
    let check = |message: &str, expected: Option<&str>| assert_eq!(held_lock(message).as_deref(), expected);
    check(
        "fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother git",
        Some("/r/.git/index.lock"),
    );
    check(
        "error: cannot lock ref 'refs/heads/x': Unable to create '/r/.git/refs/heads/x.lock': File exists.",
        Some("/r/.git/refs/heads/x.lock"),
    );
    check("error: could not lock config file .git/config: File exists", Some("config.lock"));
    check("fatal: Unable to create '/r/.git/index.lock': Permission denied", None);
    check("fatal: '/r' already exists", None);
}
