//! Scripts with hostile values in their holes, run by real shells: nothing that a value says is executed, and every
//! value arrives byte for byte.
//!
//! A contained script writes what it was given to `out`, one field after another with a NUL between; the word `LEAK`
//! as a file means that a value was run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// The library is pure; what it promises about shells can be shown by shells only.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flow_core::template::{Context, Script, ShellFamily};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Values that a careless shell would run, split, match or lose.
const HOSTILE: &[&str] = &[
    "a[$(touch LEAK)]",
    "$(touch LEAK)",
    "`touch LEAK`",
    "; touch LEAK",
    "x; touch LEAK #",
    "' ; touch LEAK ; '",
    "\" ; touch LEAK ; \"",
    "'\"'\"\"'",
    "\ntouch LEAK\n",
    "line\nEOF\ntouch LEAK\n",
    "trailing\n",
    "*",
    "~",
    "-n",
    "-v a[$(touch LEAK)]",
    "-va[$(touch LEAK)]",
    "%s%d\\n",
    "\\",
    "end\\",
    "",
    "${IFS}",
    "${x:-$(touch LEAK)}",
    "!x",
    "ünï ✓",
    " \t two  blanks\t",
    "&& touch LEAK",
    "| touch LEAK",
    "> LEAK",
    "<(touch LEAK)",
    "($(touch LEAK))",
    "[0]=x",
    "a|b",
    ")",
    "esac; touch LEAK",
    "]] ; touch LEAK; [[ x",
    "#",
    "eval",
    "{a,b}",
    "$'\\x41'",
    "=(touch LEAK)",
];

/// A place for a hole. `expected` is what must arrive, with `{}` for the value; `None`: only that nothing leaks.
struct Place {
    script: &'static str,
    expected: Option<&'static str>,
}

const fn place(script: &'static str, expected: &'static str) -> Place {
    Place { script, expected: Some(expected) }
}

/// Places that every shell has. `RAW` is the value itself, through the environment.
const EVERYWHERE: &[Place] = &[
    place("emit ${{ v }}", "{}"),
    place("emit pre${{ v }}post", "pre{}post"),
    place("emit \"pre ${{ v }} post\"", "pre {} post"),
    place("emit 'pre ${{ v }} post'", "pre {} post"),
    place("emit 'a'\"b\"${{ v }}'c'\"d\"", "ab{}cd"),
    place("emit a\\ \"${{ v }}\"", "a {}"),
    place("x=${{ v }}; emit \"$x\"", "{}"),
    place("x=a${{ v }}b; emit \"$x\"", "a{}b"),
    place("X=${{ v }} given", "{}"),
    place("export E=${{ v }}; emit \"$E\"", "{}"),
    place("command export E2=${{ v }}; emit \"$E2\"", "{}"),
    place("readonly R=${{ v }}; emit \"$R\"", "{}"),
    place("f() { local l=${{ v }}; emit \"$l\"; }; f", "{}"),
    place("f() { emit \"$1\"; }; f ${{ v }}", "{}"),
    place("set -- ${{ v }} two; emit \"$1\"", "{}"),
    place("for i in ${{ v }}; do emit \"$i\"; done", "{}"),
    place("for i in a\ndo emit ${{ v }}; done", "{}"),
    place("case \"$RAW\" in ${{ v }}) emit same;; *) emit other;; esac", "same"),
    place("case \"$RAW\" in (a|${{ v }}) emit same;; *) emit other;; esac", "same"),
    place("case zzz in ${{ v }}) emit same;; *) emit other;; esac", "other"),
    place("case ${{ v }} in \"$RAW\") emit same;; *) emit other;; esac", "same"),
    place("case x in x) emit ${{ v }};; esac", "{}"),
    place("case x in y) : ;; x) emit \"$(case x in x) printf '%s.' ${{ v }};; esac)\" ;; esac", "{}."),
    place("if [ \"$RAW\" = ${{ v }} ]; then emit same; fi", "same"),
    place("if test x\"$RAW\" = x${{ v }}; then emit same; fi", "same"),
    place("x=$(printf '%s.' ${{ v }}); emit \"$x\"", "{}."),
    place("emit \"$(printf '%s.' ${{ v }})\"", "{}."),
    place("emit \"$(printf '%s.' \"a ${{ v }} b\")\"", "a {} b."),
    place("emit \"a$(printf '%s.' 'b ${{ v }}')c\"", "ab {}.c"),
    place("emit \"$(printf '%s.' \"$(printf '%s.' ${{ v }})\")\"", "{}.."),
    place("printf '%s.' ${{ v }} | keep", "{}."),
    place("{ printf '%s.' ${{ v }}; } | keep", "{}."),
    place("(emit ${{ v }})", "{}"),
    place("! emit ${{ v }} && :", "{}"),
    place("cat <<EOF | keep\nA ${{ v }} B\nEOF", "A {} B\n"),
    place("cat <<-EOF | keep\n\tA ${{ v }} \"B\n\tEOF", "A {} \"B\n"),
    place("cat <<EOF | keep\n$(printf '%s.' ${{ v }})\nEOF", "{}.\n"),
    place("cat <<A | keep; cat <<B | keep\n1${{ v }}\nA\n2${{ v }}\nB", "1{}\n\x002{}\n"),
    place("cat <<'Q' | keep # ${{ v }}\n$(touch NO) `\nQ\nemit ${{ v }}", "$(touch NO) `\n\0{}"),
    place("# ${{ v }} '\nemit ok", "ok"),
    place("emit ok # ${{ v }} \" `", "ok"),
    place("emit a#${{ v }}", "a#{}"),
    place("emit \"${x:-a}${{ v }}${y%'}'}\"", "a{}"),
    place("emit \"$x\"${{ v }}$x", "{}"),
    place("emit $(( 1 + 2 ))${{ v }}", "3{}"),
    place("emit \"`printf %s a`${{ v }}\"", "a{}"),
    place("emit \"\\$${{ v }}\"", "${}"),
    place("emit \"\\\"${{ v }}\\\"\"", "\"{}\""),
    place("emit 'a\\'${{ v }}", "a\\{}"),
    place("if true; then emit ${{ v }}; elif false; then :; else :; fi", "{}"),
    place("while :; do emit ${{ v }}; break; done", "{}"),
    place("true && emit ${{ v }} || emit no", "{}"),
    place("true & emit ${{ v }}; wait", "{}"),
    place("emit \\\n  ${{ v }}", "{}"),
    place("printf -- '%s.' ${{ v }} | keep", "{}."),
    place("command printf '%s.' ${{ v }} 2> /dev/null | keep", "{}."),
    place("emit ${{ [v, 'b c', '', 7, none] | tojson }}", "[{json},\"b c\",\"\",7,null]"),
    place("emit2 ${{ [v, 'b'] }}", "{}\0b"),
    place("count ${{ [] }} ${{ ['a', v] }} ${{ [] }}", "2"),
    place("for i in ${{ [v, v] }}; do emit \"$i\"; done", "{}\0{}"),
    place("emit \"${{ [v] }}\"", "[{json}]"),
    place("x=${{ [v] }}; emit \"$x\"", "[{json}]"),
    Place { script: "${{ v }} 2> /dev/null || :", expected: None },
    Place { script: "${{ v }} ${{ v }} 2> /dev/null || :", expected: None },
    Place { script: "printf '%s\\n' ${{ v }} > /dev/null", expected: None },
    Place { script: "cd ${{ v }} 2> /dev/null || :", expected: None },
    Place { script: "[ -n ${{ v }} ] || :", expected: None },
    Place { script: "[ ${{ v }} ] || :", expected: None },
    Place { script: "kill ${{ v }} 2> /dev/null || :", expected: None },
];

/// Places that bash has and not every `sh`.
const BASH: &[Place] = &[
    place("x=a; x+=${{ v }}; emit \"$x\"", "a{}"),
    place("a=( ${{ v }} y ); emit \"${a[0]}\"; emit \"${#a[@]}\"", "{}\x002"),
    place("a=(\n  # ${{ v }}\n  'q ${{ v }}'\n); emit \"${a[0]}\"", "q {}"),
    place("a=( ${{ [v, 'z'] }} ); emit \"${a[0]}\"; emit \"${#a[@]}\"", "{}\x002"),
    place("a[3]=${{ v }}; emit \"${a[3]}\"", "{}"),
    place("declare -A m; m=( [k]=${{ v }} ); emit \"${m[k]}\"", "{}"),
    place("cat <<< ${{ v }} | keep", "{}\n"),
    place("cat <<< \"a ${{ v }}\" | keep", "a {}\n"),
    place("if [[ \"$RAW\" == ${{ v }} ]]; then emit same; else emit other; fi", "same"),
    place("if [[ x$RAW = x${{ v }} ]]; then emit same; else emit other; fi", "same"),
    place("if [[ zzz == ${{ v }} ]]; then emit same; else emit other; fi", "other"),
    place("if [[ \"^$RAW.\" =~ ^\\^${{ v }}(\\.|x)$ ]]; then emit same; else emit other; fi", "same"),
    place("if [[ ( -n x && ${{ v }} == \"$RAW\" ) || a < b ]]; then emit same; fi", "same"),
    place("emit $'a\\t${{ v }}\\n.'", "a\t{}\n."),
    place("emit $'\\''${{ v }}", "'{}"),
    place("emit $\"a ${{ v }} b\"", "a {} b"),
    place("cat <(printf '%s.' ${{ v }}) | keep", "{}."),
    place("emit \"<(${{ v }})\"", "<({})"),
    place("case \"x$RAW\" in x@(zz|${{ v }})) emit same;; *) emit other;; esac", "same"),
    place("function g { emit ${{ v }}; }; g", "{}"),
    place("function g2() { emit ${{ v }}; }\ng2", "{}"),
    place("for ((i = 0; i < 1; i++)); do emit ${{ v }}; done", "{}"),
    place("(( x = 1 << 2 )); emit ${{ v }}", "{}"),
    place("emit $(( (1 + 2) * 3 ))${{ v }}$[ 1 ]", "9{}1"),
    place("time -p emit ${{ v }} 2> /dev/null", "{}"),
    place("emit ${{ v }} &> /dev/null", "{}"),
    place("coproc_ok=${{ v }}; emit \"$coproc_ok\"", "{}"),
    place("read -r x <<< ${{ v | tojson }}; emit \"$x\"", "{json}"),
    Place { script: "a=( ${{ v }} ); a+=( ${{ v }} )", expected: None },
    Place { script: "declare -A m; m=( ${{ v }} 1 )", expected: None },
    Place { script: "select x in ${{ v }}; do break; done < /dev/null", expected: None },
    Place { script: "shift ${{ v }} 2> /dev/null || :", expected: None },
];

/// What the places call.
const PRELUDE: &str = "
emit() { printf '%s\\0' \"$1\" >> out; }
emit2() { printf '%s\\0' \"$@\" >> out; }
count() { printf '%s\\0' \"$#\" >> out; }
given() { emit \"$X\"; }
keep() { cat >> out; printf '\\0' >> out; }
";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn context(value: &Value) -> Context {
    let mut context = Context::new();
    context.set("v", value.clone());
    context
}

fn run(shell: &str, folder: &Path, text: &str, env: &[(String, String)], raw: &str) -> Output {
    let mut command = Command::new(shell);
    if shell == "bash" {
        command.args(["--noprofile", "--norc"]);
    }
    command.args(["-c", text]).current_dir(folder).env("RAW", raw);
    command.envs(env.iter().map(|(name, value)| (name, value)));
    command.stdin(std::process::Stdio::null()).output().unwrap()
}

/// Runs every place with one value in one process, each place in a subshell, and compares what arrived.
fn check(shell: &str, family: ShellFamily, places: &[&Place], value: &str, folder: &Path) {
    let context = context(&json!(value));
    let mut text = PRELUDE.to_owned();
    if family == ShellFamily::Bash {
        text.push_str("shopt -s extglob\n");
    }
    let mut env = Vec::new();
    let mut expected = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let (script, warnings) = Script::lower(place.script, family)
            .unwrap_or_else(|errors| panic!("{shell} refuses {:?}: {errors:?}", place.script));
        assert!(warnings.is_empty(), "{:?}: {warnings:?}", place.script);
        let rendered = match script.render(&context) {
            Ok(rendered) => rendered,
            Err(error) if place.expected.is_none() => {
                assert!(error.message.contains("names a command"), "{:?}: {error}", place.script);
                continue;
            }
            Err(error) => panic!("{:?} with {value:?}: {error}", place.script),
        };
        let mut body = rendered.text;
        for (name, value) in rendered.env {
            let own = format!("P{number}_{name}");
            body = body.replace(&format!("${{{name}}}"), &format!("${{{own}}}"));
            env.push((own, value));
        }
        text.push_str(&format!("printf '#{number}\\0' >> out\n(\n{body}\n)\n"));
        expected.extend(format!("#{number}\0").bytes());
        if let Some(wanted) = place.expected {
            let arrived = wanted.replace("{json}", &json!(value).to_string()).replace("{}", value);
            expected.extend(arrived.bytes());
            expected.push(0);
        }
    }
    let output = run(shell, folder, &text, &env, value);
    let arrived = fs::read(folder.join("out")).unwrap_or_default();
    assert!(!folder.join("LEAK").exists(), "{shell} ran {value:?}");
    let (arrived, expected) = (by_place(&arrived), by_place(&expected));
    for (number, place) in places.iter().enumerate() {
        let of =
            |all: &[(String, Vec<String>)]| all.iter().find(|(at, _)| *at == format!("#{number}")).cloned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(of(&arrived), of(&expected), "{shell}: {:?} with {value:?}: {errors}", place.script);
    }
    fs::remove_file(folder.join("out")).unwrap();
}

/// The fields that each place wrote.
fn by_place(bytes: &[u8]) -> Vec<(String, Vec<String>)> {
    let mut places: Vec<(String, Vec<String>)> = Vec::new();
    for field in bytes.split(|byte| *byte == 0) {
        let field = String::from_utf8_lossy(field).into_owned();
        let is_mark =
            field.strip_prefix('#').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        match places.last_mut() {
            Some((_, fields)) if !is_mark => fields.push(field),
            _ => places.push((field, Vec::new())),
        }
    }
    places
}

#[test]
fn hostile_values_arrive_byte_for_byte_in_bash() {
    let folder = folder("bash");
    let places: Vec<&Place> = EVERYWHERE.iter().chain(BASH).collect();
    for value in HOSTILE {
        check("bash", ShellFamily::Bash, &places, value, &folder);
    }
}

#[test]
fn hostile_values_arrive_byte_for_byte_in_sh() {
    let folder = folder("sh");
    let places: Vec<&Place> = EVERYWHERE.iter().collect();
    for value in HOSTILE {
        check("sh", ShellFamily::Sh, &places, value, &folder);
    }
}

#[test]
fn redirections_write_to_the_very_name() {
    for (shell, family) in [("bash", ShellFamily::Bash), ("sh", ShellFamily::Sh)] {
        let folder = folder(&format!("redirect-{shell}"));
        for value in HOSTILE.iter().filter(|value| !value.is_empty() && !value.contains('/')) {
            let source =
                "mkdir -p d; printf ok > d/${{ v }}; printf ok 2> /dev/null >> d/${{ v }}; cat < d/${{ v }}";
            let (script, _) = Script::lower(source, family).unwrap();
            let rendered = script.render(&context(&json!(value))).unwrap();
            let output = run(shell, &folder, &rendered.text, &rendered.env, value);
            assert_eq!(String::from_utf8_lossy(&output.stdout), "okok", "{shell} {value:?}");
            assert!(!folder.join("LEAK").exists(), "{shell} ran {value:?}");
            assert!(folder.join("d").join(value).is_file(), "{shell} {value:?}");
        }
    }
}

/// Arithmetic takes integers, and nothing else starts.
#[test]
fn arithmetic_takes_integers_only() {
    let places = [
        ("bash", "printf %s $(( 1 + ${{ v }} ))", 8, -2),
        ("bash", "printf %s $(( -${{ v }} ))", -7, 3),
        ("bash", "x=1; printf %s $(( x-${{ v }} ))", -6, 4),
        ("bash", "(( x = 2 * ${{ v }} )); printf %s $x", 14, -6),
        ("bash", "printf %s $[ ${{ v }} ]", 7, -3),
        ("bash", "if [[ 1 -lt ${{ v }} ]]; then printf 1; else printf 0; fi", 1, 0),
        ("bash", "if [[ \"${{ v }}\" -ge 0 && x == x ]]; then printf 1; else printf 0; fi", 1, 0),
        ("bash", "for (( i = ${{ v }}; i < 9; i++ )); do :; done; printf %s $i", 9, 9),
        ("sh", "printf %s $(( 1 + ${{ v }} ))", 8, -2),
        ("sh", "printf %s $(( 2 * (${{ v }}) ))", 14, -6),
        ("bash", "printf %s $(( \"${{ v }}\" * (2) ))", 14, -6),
    ];
    let folder = folder("arithmetic");
    for (shell, source, seven, minus_three) in places {
        let family = if shell == "bash" { ShellFamily::Bash } else { ShellFamily::Sh };
        let (script, _) =
            Script::lower(source, family).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
        for (value, expected) in [(7, seven), (-3, minus_three)] {
            let rendered = script.render(&context(&json!(value))).unwrap();
            let output = run(shell, &folder, &rendered.text, &rendered.env, "");
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                expected.to_string(),
                "{source} with {value}"
            );
        }
        for value in
            HOSTILE.iter().map(|value| json!(value)).chain([json!(1.5), json!(null), json!([1]), json!("7")])
        {
            let error = script.render(&context(&value)).expect_err(source);
            assert!(error.message.contains("is no integer"), "{source}: {error}");
        }
    }
}

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
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

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
