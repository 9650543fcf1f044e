//! Random scripts: the same promises where nobody thought of the script.

use std::fs;
use std::path::Path;
use std::process::Command;

use flow_core::template::{Script, ShellFamily};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::{PRELUDE, context, folder, run};

const TOKENS: &[&str] = &[
    "${{ v }}",
    "${{ v }}",
    "${{ v }}",
    "${{ n }}",
    " ",
    " ",
    "\n",
    "\t",
    ";",
    "&",
    "|",
    "&&",
    "'",
    "'",
    "\"",
    "\"",
    "\\",
    "$",
    "$(",
    "$((",
    "))",
    ")",
    "(",
    "((",
    "${",
    "}",
    "{",
    "`",
    "#",
    "<<EOF\n",
    "EOF\n",
    "<<'E'\n",
    "E\n",
    "<<<",
    "<(",
    ">",
    "/dev/null",
    "case x in ",
    "x)",
    ";;",
    "esac",
    "if :; then ",
    "fi",
    "for i in ",
    "do ",
    "done",
    "[[ ",
    " ]]",
    "==",
    "=~",
    "-eq",
    "[ ",
    " ]",
    ":",
    "echo ",
    "true ",
    "x=",
    "a=(",
    "$x",
    "$'",
    "$\"",
    "${x:-",
    "%",
    "!",
    "*",
    "@(",
    "é",
    "local ",
    "function f ",
    "f() ",
    "eval ",
    "[",
    "]",
    "=",
    "time ",
    "2",
    "1",
    "+",
];

fn tokens() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(TOKENS), 1..24).prop_map(|tokens| tokens.concat())
}

fn bash_accepts(text: &str) -> bool {
    let output = Command::new("bash").args(["-n", "-c", text]).output().unwrap();
    output.status.success()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Lowering never panics; it keeps a script as right or wrong as it is with plain words in the holes; and
    /// whatever the script is, a hostile value in it does not run.
    #[test]
    fn random_scripts_stay_what_they_are(source in tokens()) {
        for family in [ShellFamily::Bash, ShellFamily::Sh, ShellFamily::Zsh, ShellFamily::Ksh] {
            let lowered = Script::lower(&source, family);
            let Ok((script, _)) = lowered else { continue };
            let mut context = context(&json!("a[$(touch LEAK)]`touch LEAK`$(touch LEAK)'\"; touch LEAK\n"));
            context.set("n", json!(3));
            let Ok(rendered) = script.render(&context) else { continue };
            if family != ShellFamily::Bash {
                continue;
            }
            let plain = source.replace("${{ v }}", "word").replace("${{ n }}", "3");
            if bash_accepts(&plain) {
                prop_assert!(bash_accepts(&rendered.text), "{:?} became {:?}", source, rendered.text);
            }
            let folder = folder("random");
            let text = format!("ulimit -t 2; ulimit -f 100; {}", rendered.text);
            let mut command = Command::new("timeout");
            command.args(["-s", "KILL", "3", "bash", "--noprofile", "--norc", "-r", "-c", &text]);
            command.current_dir(&folder).env("x", "1").envs(rendered.env);
            command.stdin(std::process::Stdio::null()).output().unwrap();
            prop_assert!(!folder.join("LEAK").exists(), "{:?} ran a value as {:?}", source, rendered.text);
        }
    }
}

/// A part of a word, with commands in it where the depth allows.
fn part(depth: u32) -> BoxedStrategy<String> {
    let leaf = prop::sample::select(vec![
        "${{ v }}",
        "lit",
        "'q ${{ v }} q'",
        "\"d ${{ v }} d\"",
        "'\"'",
        "\"'\"",
        "\"$x\"",
        "\\ ",
        "\"${x:-d}\"",
        "$'a\\'${{ v }}'",
        "\"\\\"${{ v }}\"",
        "$(( 1 + ${{ n }} ))",
        "\"`printf %s b`\"",
        "-",
        "=",
        "\"${y%'}'}\"",
        "$\"${{ v }}\"",
        "{a,",
        "é",
    ])
    .prop_map(str::to_owned);
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = commands(depth - 1);
    prop_oneof![4 => leaf, 1 => inner.prop_map(|inner| format!("\"<$({inner}\n)>\""))].boxed()
}

fn word(depth: u32) -> BoxedStrategy<String> {
    prop::collection::vec(part(depth), 1..4).prop_map(|parts| parts.concat()).boxed()
}

fn one_command(depth: u32) -> BoxedStrategy<String> {
    let words = || (word(depth), word(depth));
    let simple = prop_oneof![
        words().prop_map(|(a, b)| format!("emit2 w{a} {b}")),
        word(depth).prop_map(|a| format!("emit2 ${{{{ v }}}} {a}")),
        word(depth).prop_map(|a| format!("printf '<%s>' {a}")),
        word(depth).prop_map(|a| format!("y={a}; emit \"$y\"")),
        word(depth).prop_map(|a| format!("y={a} given")),
        words().prop_map(|(a, b)| format!("for i in {a} ${{{{ v }}}} {b}; do emit \"$i\"; done")),
        words().prop_map(|(a, b)| format!("case {a} in (p|{b}) emit 1;; {a}) emit 2;; *) emit 3; esac")),
        words().prop_map(|(a, b)| format!(
            "if [[ {a} == {b} || x{a} =~ ^x{a}$ ]]; then emit 4; else emit 5; fi"
        )),
        words().prop_map(|(a, b)| format!("if [ x{a} = x{b} ]; then emit 6; fi")),
        words().prop_map(|(a, b)| format!("a=( {a} {b} ); emit2 \"${{a[@]}}\"")),
        words().prop_map(|(a, b)| format!("keep <<< {a}; emit {b}")),
        words().prop_map(|(a, b)| format!(
            "keep <<E1; keep <<'E2'; emit x{b}\nA ${{{{ v }}}} '\" $x {a}\nE1\n$( ` {a}\nE2"
        )),
        word(depth).prop_map(|a| format!("# ${{{{ v }}}} ' \" ` $(\nemit z{a} # it's")),
    ];
    if depth == 0 {
        return simple.boxed();
    }
    let inner = || commands(depth - 1);
    prop_oneof![
        6 => simple,
        1 => inner().prop_map(|inner| format!("{{ {inner}\n}}")),
        1 => inner().prop_map(|inner| format!("( {inner}\n)")),
        1 => inner().prop_map(|inner| format!("f() {{ {inner}\n}}\nf")),
        1 => inner().prop_map(|inner| format!("if true\nthen {inner}\nfi && emit 7")),
        1 => inner().prop_map(|inner| format!("case x in x) {inner}\n;; esac")),
        1 => inner().prop_map(|inner| format!("keep < <( {inner}\n)")),
        1 => inner().prop_map(|inner| format!("x=$( {inner}\n)")),
        1 => inner().prop_map(|inner| format!("while :; do {inner}\nbreak; done | keep")),
    ]
    .boxed()
}

fn commands(depth: u32) -> BoxedStrategy<String> {
    prop::collection::vec(one_command(depth), 1..3).prop_map(|commands| commands.join("\n")).boxed()
}

/// What a script wrote when its holes hold `value`; `None`: the script isn't accepted.
fn written(source: &str, value: &str, folder: &Path) -> Option<String> {
    let (script, _) = Script::lower(source, ShellFamily::Bash).ok()?;
    let mut context = context(&json!(value));
    context.set("n", json!(3));
    let rendered = script.render(&context).unwrap();
    let _ = fs::remove_file(folder.join("out"));
    let text = format!("{PRELUDE}x='1 2'\n{}", rendered.text);
    let output = run("timeout 5 bash --noprofile --norc", folder, &text, &rendered.env, "");
    assert!(!folder.join("LEAK").exists(), "{source:?} ran a value as {:?}", rendered.text);
    let out = fs::read(folder.join("out")).unwrap_or_default();
    let all = [output.stdout, out].concat();
    Some(format!("{:?} {}", output.status.code(), String::from_utf8(all).unwrap()))
}

/// A script does with a hostile value what it does with a harmless one.
#[test]
fn a_hostile_value_is_as_good_as_any() {
    let folder = folder("same");
    let harmless = "TOKEN";
    let hostile = "a[$(touch LEAK)]`touch LEAK`$(touch LEAK)'\"; touch LEAK\n *  ~ \\ ${x} %s\\";
    let config = ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() };
    let accepted = std::cell::Cell::new(0);
    let result = TestRunner::new(config).run(&commands(2), |source| {
        if let Some(expected) = written(&source, harmless, &folder) {
            accepted.set(accepted.get() + 1);
            let found = written(&source, hostile, &folder).unwrap();
            prop_assert_eq!(found, expected.replace(harmless, hostile), "{}", source);
        }
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
    // Were most scripts refused, this would show nothing.
    assert!(accepted.get() > 30, "only {} scripts were accepted", accepted.get());
}
