//! Scripts with hostile values in their holes, run by real shells: nothing that a value says is executed, and every
//! value arrives byte for byte.
//!
//! A contained script writes what it was given to `out`, one field after another with a NUL between; the word `LEAK`
//! as a file means that a value was run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// The library is pure; what it promises about shells can be shown by shells only.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

mod places;
mod random;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flow_core::template::{Context, Script, ShellFamily};
use serde_json::{Value, json};

use places::{BASH, BASH_AND_SH, EVERYWHERE, HOSTILE, Place};

/// What the places call.
const PRELUDE: &str = "
emit() { printf '%s\\0' \"$1\" >> out; }
emit2() { printf '%s\\0' \"$@\" >> out; }
count() { printf '%s\\0' \"$#\" >> out; }
given() { emit \"$X\"; }
keep() { kept=$(cat; printf .); printf '%s\\0' \"${kept%.}\" >> out; }
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
    let mut words = shell.split(' ');
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
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
    let places: Vec<&Place> = EVERYWHERE.iter().chain(BASH_AND_SH).chain(BASH).collect();
    for value in HOSTILE {
        check("bash --noprofile --norc", ShellFamily::Bash, &places, value, &folder);
    }
}

#[test]
fn hostile_values_arrive_byte_for_byte_in_sh() {
    let folder = folder("sh");
    let places: Vec<&Place> = EVERYWHERE.iter().chain(BASH_AND_SH).collect();
    for value in HOSTILE {
        check("sh", ShellFamily::Sh, &places, value, &folder);
    }
}

/// `bash` and `sh` every machine has; these are asked where they are.
#[test]
fn hostile_values_arrive_byte_for_byte_in_other_shells() {
    let shells = [
        ("zsh -f", ShellFamily::Zsh),
        ("mksh", ShellFamily::Ksh),
        ("ksh93", ShellFamily::Ksh),
        ("dash", ShellFamily::Sh),
        ("busybox sh", ShellFamily::Sh),
        ("bash --posix", ShellFamily::Sh),
    ];
    let places: Vec<&Place> = EVERYWHERE.iter().collect();
    for (shell, family) in shells {
        let folder = folder(&shell.replace(' ', "-"));
        let found = Command::new(shell.split(' ').next().unwrap()).args(["-c", ":"]).output().is_ok();
        for value in HOSTILE.iter().step_by(5).filter(|_| found) {
            check(shell, family, &places, value, &folder);
        }
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
