use std::path::Path;

use super::*;

/// Whether the rule `Bash(spec)` allows every command of a text, or catches one of them.
fn reads(spec: &str, text: &str, purpose: Purpose) -> bool {
    let rule = ToolRule::parse(&format!("Bash({spec})"));
    let roots = Roots { tree: Path::new("/w/tree"), home: None };
    let speaks = |subject| speaks_of(&rule, "Bash", subject, purpose, roots);
    match (command::parse(text), purpose) {
        (Err(command::Unreadable), _) => speaks(Subject::Unclear),
        (Ok(parts), Purpose::Grant) => parts.iter().all(|part| speaks(Subject::Part(part))),
        (Ok(parts), Purpose::Restrict) => parts.iter().any(|part| speaks(Subject::Part(part))),
    }
}

#[track_caller]
fn allows(spec: &str, commands: &[&str]) {
    for text in commands {
        assert!(reads(spec, text, Purpose::Grant), "`{spec}` has to allow `{text}`");
    }
}

#[track_caller]
fn allows_not(spec: &str, commands: &[&str]) {
    for text in commands {
        assert!(!reads(spec, text, Purpose::Grant), "`{spec}` must not allow `{text}`");
    }
}

#[track_caller]
fn catches(spec: &str, commands: &[&str]) {
    for text in commands {
        assert!(reads(spec, text, Purpose::Restrict), "`{spec}` has to catch `{text}`");
    }
}

#[track_caller]
fn catches_not(spec: &str, commands: &[&str]) {
    for text in commands {
        assert!(!reads(spec, text, Purpose::Restrict), "`{spec}` must not catch `{text}`");
    }
}

#[test]
fn a_prefix_ends_at_a_word() {
    for spec in ["git diff:*", "git diff *"] {
        allows(spec, &["git diff", "git diff HEAD~1 -- a b", "git  diff\t'a b'", "git diff && git diff x"]);
        allows_not(spec, &["git difftool", "git", "git log", "xgit diff", "'git diff' x", "'git diff'"]);
    }
    allows("./run:*", &["./run all"]);
    allows_not("./run:*", &["./run all; touch leak", "./run $(touch leak2)", "./runaway"]);
    allows("./run*", &["./runaway"]);
}

#[test]
fn a_rule_without_a_star_is_the_whole_command() {
    allows("cargo test", &["cargo test", "cargo  'test'", "cargo test # all"]);
    allows_not("cargo test", &["cargo test -q", "cargo", "cargo testx"]);
    allows_not("cargo.test", &["cargo test"]);
}

#[test]
fn stars_stand_for_anything_within_one_command() {
    allows("npm run *:lint", &["npm run web:lint"]);
    allows_not("npm run *:lint", &["npm run web:lint --fix", "npm run a:lint; rm x"]);
    allows("* --version", &["node --version"]);
    allows("*", &["anything $(at all) > f", "case x in y) z;; esac"]);
    allows_not("", &["a", "''"]);
}

#[test]
fn hostile_commands_never_match_a_prefix() {
    allows_not(
        "git diff:*",
        &[
            "git diff; rm -rf /",
            "git diff && rm x",
            "git diff || rm x",
            "git diff | sh",
            "git diff & rm x",
            "git diff\nrm x",
            "git diff $(rm x)",
            "git diff `rm x`",
            "git diff \"$(rm x)\"",
            "git diff <(rm x)",
            "git diff >(sh)",
            "git diff > ~/.bashrc",
            "git diff >> .git/hooks/post-commit",
            "git diff < /etc/shadow",
            "git diff <<E\nx\nE",
            "git diff $X",
            "git diff ${X}",
            "git diff $'\\x2d\\x2doutput'",
            "git diff {a,--output=b}",
            "GIT_EXTERNAL_DIFF=./evil git diff",
            "LD_PRELOAD=./evil.so git diff",
            "$X git diff",
            "g?t diff",
            "(git diff; rm x)",
            "{ git diff; rm x; }",
            "! git diff",
            "git diff 'unterminated",
            "git diff --ext-diff",
            "time git diff",
            "git -c diff.external=./evil diff",
        ],
    );
    allows("git *", &["git status", "git --no-pager log -c"]);
    allows_not(
        "git *",
        &[
            "git -c alias.x='!sh' x",
            "git -calias.x='!sh' x",
            "git --exec-path=/evil status",
            "git --exec-path /evil status",
            "git -C /evil status",
            "git --git-dir=evil status",
            "git --attr-source HEAD -c core.pager=evil log",
            "git --no-pager -c core.pager=evil log",
            "git * x",
            "git fetch --upload-pack=./evil",
            "git fetch --upload-p=./evil",
            "git rebase --exec ./evil",
            "git rebase -x ./evil",
            "git grep --open-files-in-pager=./evil x",
        ],
    );
    allows("git -c core.pager=cat *", &["git -c core.pager=cat log"]);
    allows_not("find *", &["find . -exec rm {} +", "find . -delete", "find . -ok rm", "find *"]);
    allows("find *", &["find . -name '*.rs'"]);
    allows("find . -exec ls *", &["find . -exec ls {} +"]);
    allows_not("rg *", &["rg --pre=./evil x", "rg --pre ./evil x"]);
    allows_not(
        "tar *",
        &["tar -xf a --to-command=sh", "tar -I ./evil -xf a", "tar --use-compress-prog=x -xf a"],
    );
    allows_not("sort *", &["sort --compress-program=./evil x", "sort --co=./evil x"]);
}

#[test]
fn a_restriction_finds_its_command_wherever_the_shell_would_run_it() {
    catches(
        "rm *",
        &[
            "rm",
            "rm -rf x",
            "a; rm x",
            "a | rm x",
            "/bin/rm x",
            "r'm' x",
            "\\rm x",
            "echo $(rm x)",
            "echo \"`rm x`\"",
            "cat <(rm x)",
            "(rm x)",
            "{ rm x; }",
            "if true; then rm x; fi",
            "while rm x; do :; done",
            "A=1 rm x",
            "! A=1 rm x",
            "if A=1 B+=2 rm x; then :; fi",
            "rm x > f",
            "sudo rm x",
            "sudo -n rm x",
            "env A=1 rm x",
            "timeout 5 rm x",
            "nohup nice -n 5 rm x",
            "xargs rm",
            "ls | xargs -I{} rm {}",
            "find . -exec rm {} +",
            "sh -c 'rm x'",
            "bash -ec \"a; rm x\"",
            "sudo sh -c 'rm x'",
            "eval 'rm x'",
            "eval rm x",
            "sh -c \"sh -c 'rm x'\"",
            "cat <<E\n$(rm x)\nE",
        ],
    );
    catches_not("rm *", &["echo rm", "rmdir x", "git rm x", "cat rm", "echo $HOME", "grep -r rm ."]);
    catches(
        "git push *",
        &["git push", "git -C x push", "git -c a=b --no-pager push -f", "git $X", "git pus?"],
    );
    catches_not("git push *", &["git pull", "git -C push status", "gitpush"]);
}

#[test]
fn what_is_unclear_is_caught_by_every_restriction() {
    catches(
        "rm *",
        &[
            "$X x",
            "`x` y",
            "sh -c \"$X\"",
            "sudo $X",
            "case x in y) z;; esac",
            "a 'b",
            "eval \"a 'b\"",
            "r* x",
        ],
    );
    catches("", &["anything"]);
    catches("rm *", &[&format!("xargs {}", "a ".repeat(300))]);
}

#[test]
fn a_text_on_standard_input_is_allowed_to_what_takes_it_for_data() {
    allows("cat:*", &["cat <<'EOF'\nrm -rf x\nEOF", "cat <<< \"a & b\"", "cat - <<E\n$HOME\nE"]);
    allows_not("cat:*", &["cat <<E\n$(rm x)\nE", "cat <<E > f\nx\nE"]);
    allows_not("sh", &["sh <<E\nrm x\nE"]);
    allows_not("python3:*", &["python3 <<< 'import os'", "python3 - <<'E'\nx\nE"]);
}
