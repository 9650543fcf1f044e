use std::path::Path;

use super::super::{command, path::resolve};
use super::*;

fn passes(text: &str, guarded: bool, moved: bool) -> bool {
    let may_read = |path: &str| {
        resolve(Path::new("/w/tree"), path)
            .is_some_and(|path| path.starts_with("/w/tree") && !path.starts_with("/w/tree/secret"))
    };
    let place = Place { may_read: &may_read, guarded, moved };
    let parts = command::parse(text).unwrap_or_default();
    !parts.is_empty() && parts.iter().all(|part| is_read_only(part, &place))
}

#[track_caller]
fn looks(commands: &[&str]) {
    for text in commands {
        assert!(passes(text, false, false), "`{text}` only looks");
    }
}

#[track_caller]
fn may_do_more(commands: &[&str]) {
    for text in commands {
        assert!(!passes(text, false, false), "`{text}` is not in the table");
    }
}

#[test]
fn commands_that_only_look_pass() {
    looks(&[
        "ls",
        "ls -la src",
        "ls --color=never -- src",
        "cat a b | head -20",
        "head -n 5 a; tail -n+3 b",
        "tail -c 100 a",
        "wc -l src/*.rs",
        "sort -t, -k2 a | uniq -c | cut -d: -f1",
        "tr a-z A-Z",
        "echo hi 2>&1",
        "pwd",
        "grep -rn --include='*.rs' 'fn main' src",
        "grep -e a -e b file",
        "grep -A3 -B 2 x f",
        "rg -n 'a b' src -g '*.rs'",
        "rg --files src",
        "find . -name '*.rs' -not -path './target/*' -type f",
        "find src \\( -name a -o -name b \\) -print",
        "git status --short",
        "git --no-pager log --oneline -5",
        "git log -n 3 --format='%h %s' -- src",
        "git diff HEAD~1..HEAD --stat",
        "git show HEAD:src/lib.rs",
        "git blame -L 1,5 src/lib.rs",
        "git ls-files src | wc -l",
        "cat /w/tree/a",
        "cat src/../a 2>/dev/null",
        "(ls; cat a)",
        "cat <<'EOF'\ntouch leak; rm -rf x\nEOF",
        "cat <<EOF | wc -l\n$(ls) $HOME\nEOF",
        "grep -c a <<< 'a & b'",
    ]);
}

#[test]
fn a_text_on_standard_input_is_judged_by_what_reads_it_and_what_it_runs() {
    may_do_more(&[
        "cat <<EOF\n$(rm x)\nEOF",
        "cat <<EOF > f\nx\nEOF",
        "sh <<EOF\nrm x\nEOF",
        "<<EOF\nx\nEOF",
        "python3 <<< 'print(1)'",
    ]);
}

#[test]
fn options_that_write_run_or_hide_a_path_are_not_in_the_table() {
    may_do_more(&[
        "sort -o out a",
        "sort -oout a",
        "sort --output=out a",
        "sort --outp=out a",
        "sort -T /tmp a",
        "sort --compress-program=./x a",
        "sort --files0-from=/etc/x",
        "uniq a b",
        "find . -delete",
        "find . -exec rm {} +",
        "find . -fprintf out x",
        "find . -name *.rs",
        "find -L .",
        "find . -newer /etc/passwd",
        "rg --pre ./x a",
        "rg -z a",
        "rg -f /etc/passwd a",
        "rg -L a",
        "grep -f /etc/passwd a",
        "grep -R a",
        "git -c core.pager=x log",
        "git -C /evil log",
        "git --git-dir=x log",
        "git diff --output=x",
        "git diff --outpu=x",
        "git diff --no-index /etc/passwd x",
        "git diff --ext-diff",
        "git log --textconv",
        "git diff -O/etc/passwd",
        "git blame --contents /etc/passwd a",
        "git branch x",
        "git commit -m x",
        "tail -f a",
        "ls --hyperlink",
        "sed -i s/a/b/ f",
        "sed -n p f",
        "awk 1 f",
        "python -c 1",
        "ln a b",
        "mv a b",
        "tee a",
        "./ls",
        "/bin/ls",
    ]);
}

#[test]
fn what_leads_out_of_the_tree_or_is_not_certain_does_not_pass() {
    may_do_more(&[
        "cat /etc/passwd",
        "cat ../x",
        "cat src/../../x",
        "cat ~/.ssh/id",
        "cat secret/key",
        "cat $X",
        "cat $(echo /etc/passwd)",
        "cat < a",
        "cat a > b",
        "echo x > b",
        "cat a | tee b",
        "X=1 cat a",
        "cat *",
        "cat -- *",
        "cat src/*/../../../x",
        "cat {a,/etc/passwd}",
        "ls /",
        "ls -- /etc",
        "grep x /etc/passwd",
        "grep -e x /etc/passwd",
        "grep --regexp=x /etc/passwd",
        "grep --regexp x /etc/passwd",
        "grep -ie x /etc/passwd",
        "rg -e x /etc",
        "rg --files /etc",
        "find /",
        "find . /etc -name x",
        "git diff /etc/passwd a",
        "git diff ../../x a",
        "git show \"$X\"",
        "wc -l /etc/*",
        "echo /etc/*",
        "(cat /etc/passwd)",
        "c?t a",
        "",
    ]);
}

#[test]
fn where_files_are_guarded_nothing_goes_through_whole_folders() {
    for text in ["rg x src", "grep -r x src", "git diff", "git show HEAD", "cat src/*.rs", "git log -p"] {
        assert!(passes(text, false, false) && !passes(text, true, false), "{text}");
    }
    for text in ["cat a", "grep x a", "ls src", "find . -name a", "git status", "git ls-files"] {
        assert!(passes(text, true, false), "{text}");
    }
}

#[test]
fn git_is_not_trusted_in_another_folder() {
    assert!(!passes("git status", false, true));
    assert!(passes("cat a", false, true));
}
