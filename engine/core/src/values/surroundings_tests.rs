use super::*;

fn check(variables: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(redirecting(variables.iter().copied()), expected);
}

#[test]
fn what_leads_git_elsewhere_is_told_from_what_says_who_and_how() {
    check(
        &[
            ("PATH", "/bin"),
            ("GIT_DIR", ".git"),
            ("GIT_AUTHOR_NAME", "Ann"),
            ("GIT_COMMITTER_EMAIL", "ann@localhost"),
            ("GIT_INDEX_FILE", ".git/index"),
            ("GIT_SSH_COMMAND", "ssh -4"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_PARAMETERS", "'core.worktree'='/x'"),
            ("GIT_TERMINAL_PROMPT", "0"),
        ],
        &["GIT_DIR", "GIT_INDEX_FILE", "GIT_CONFIG_PARAMETERS"],
    );
}

#[test]
fn numbered_settings_stay_unless_one_of_them_leads_elsewhere() {
    let safe = ("GIT_CONFIG_KEY_0", "safe.directory");
    let value = ("GIT_CONFIG_VALUE_0", "/x");
    check(&[("GIT_CONFIG_COUNT", "1"), safe, value], &[]);
    for key in ["core.worktree", "Core.WorkTree", "includeIf.gitdir:/x.path", "extensions.worktreeConfig"] {
        check(
            &[
                ("GIT_CONFIG_COUNT", "2"),
                safe,
                value,
                ("GIT_CONFIG_KEY_1", key),
                ("GIT_CONFIG_VALUE_1", "/y"),
            ],
            &[
                "GIT_CONFIG_COUNT",
                "GIT_CONFIG_KEY_0",
                "GIT_CONFIG_VALUE_0",
                "GIT_CONFIG_KEY_1",
                "GIT_CONFIG_VALUE_1",
            ],
        );
    }
}
