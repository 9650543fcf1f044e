use serde_json::json;

use super::super::files::ValueFiles;
use super::*;

fn context() -> Context {
    let mut context = Context::new();
    context.set("v", json!("a b"));
    context.set("w", json!("x"));
    context.set("n", json!(-3));
    context.set("list", json!(["a b", 1, null]));
    context.set("empty", json!([]));
    context
}

fn lower(source: &str) -> Script {
    let (script, _) =
        Script::lower(source, ShellFamily::Bash).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
    script
}

/// The text that a script becomes.
fn check(source: &str, expected: &str) {
    let rendered = lower(source).render(&context()).unwrap_or_else(|error| panic!("{source}: {error}"));
    assert_eq!(rendered.text, expected, "{source}");
}

/// What is wrong, the text that it points at, and what to do.
fn refusals(source: &str, family: ShellFamily) -> Vec<(String, String, String)> {
    let errors = Script::lower(source, family).map(|_| ()).expect_err(source);
    let shown =
        |error: TemplateError| (error.message, source[error.at].to_owned(), error.help.unwrap_or_default());
    errors.into_iter().map(shown).collect()
}

fn refused(source: &str, message: &str, help: &str) {
    let expected = [(message.to_owned(), "${{ v }}".to_owned(), help.to_owned())];
    assert_eq!(refusals(source, ShellFamily::Bash), expected, "{source}");
}

fn refused_by(family: ShellFamily, source: &str, start: &str) {
    let found = refusals(source, family);
    assert!(
        found.iter().all(|(message, at, _)| message.starts_with(start) && at == "${{ v }}"),
        "{source}: {found:?}"
    );
}

#[test]
fn a_script_without_holes_is_one_text() {
    let source = "awk '{print $1}' <<EOF | docker ps -f '{{.Names}}'\n${#arr[@]} ${p##*/} `x`\nEOF\n\"";
    let script = lower(source);
    assert_eq!(script.parts, [ScriptPart::Text(source.into())]);
    assert_eq!(script.render(&Context::new()).unwrap(), RenderedScript { text: source.into(), env: vec![] });
}

#[test]
fn the_place_decides_the_reference() {
    check("echo ${{ v }}", "echo \"${FLOW_1}\"");
    check("echo \"a ${{ v }}\"", "echo \"a ${FLOW_1}\"");
    check("echo 'a ${{ v }}'", "echo 'a '\"${FLOW_1}\"''");
    check("echo $'a\\t${{ v }}'", "echo $'a\\t'\"${FLOW_1}\"$''");
    check("x=${{ v }} y", "x=\"${FLOW_1}\" y");
    check("cat <<E\n${{ v }}\nE", "cat <<E\n${FLOW_1}\nE");
    check("echo $(( 1 - ${{ n }} ))", "echo $(( 1 -  ${FLOW_1} ))");
    check("echo \"$(cmd ${{ v }})\"", "echo \"$(cmd \"${FLOW_1}\")\"");
    check("[[ $a == ${{ v }} ]]", "[[ $a == \"${FLOW_1}\" ]]");
}

#[test]
fn equal_holes_are_one_variable() {
    let rendered = lower("a ${{ v }} '${{ v }}' ${{ w }}").render(&context()).unwrap();
    assert_eq!(rendered.text, "a \"${FLOW_1}\" ''\"${FLOW_1}\"'' \"${FLOW_2}\"");
    assert_eq!(rendered.env, [("FLOW_1".into(), "a b".into()), ("FLOW_2".into(), "x".into())]);
}

#[test]
fn names_keep_clear_of_the_script() {
    check("FLOW_1=x; echo ${{ v }} $FLOW_V_2", "FLOW_1=x; echo \"${FLOW_V_V_1}\" $FLOW_V_2");
    check("echo $FLOW_OUTPUT ${{ v }}", "echo $FLOW_OUTPUT \"${FLOW_1}\"");
}

#[test]
fn a_bare_list_is_a_word_for_each_element() {
    check("cmd ${{ list }} end", "cmd \"${FLOW_1}\" \"${FLOW_2}\" \"${FLOW_3}\" end");
    check("cmd ${{ empty }} end", "cmd  end");
    check(
        "for i in ${{ list }}; do :; done",
        "for i in \"${FLOW_1}\" \"${FLOW_2}\" \"${FLOW_3}\"; do :; done",
    );
    check("a=(${{ list }})", "a=(\"${FLOW_1}\" \"${FLOW_2}\" \"${FLOW_3}\")");
    for whole in [
        "x=${{ list }}",
        "cmd --x=${{ list }}",
        "cmd \"${{ list }}\"",
        "cat < ${{ list }}",
        "[ -n ${{ list }} ]",
        "export x=${{ list }}",
        "case ${{ list }} in x) ;; esac",
        "[[ ${{ list }} == x ]]",
    ] {
        let rendered = lower(whole).render(&context()).unwrap();
        assert_eq!(rendered.env, [("FLOW_1".to_owned(), "[\"a b\",1,null]".to_owned())], "{whole}");
    }
}

#[test]
fn comments_stay_as_they_are_and_make_no_reference() {
    let source = "a # ${{ tasks.x.output\n}} ${{ broken\nb ${{ v }} # ${% if %} ${{ }}\nc ${{# gone\n#}}d";
    let script = lower(source);
    assert_eq!(script.references().iter().map(ToString::to_string).collect::<Vec<_>>(), ["v"]);
    check(source, "a # ${{ tasks.x.output }} ${{ broken\nb \"${FLOW_1}\" # ${% if %} ${{ }}\nc d");
}

#[test]
fn references_have_places_in_the_script() {
    let source = "é '${{ tasks.a.output }}'\n\"$(x ${{ v | default(w) }})\"";
    let references = lower(source).references();
    let shown: Vec<_> = references.iter().map(|r| (&source[r.at.clone()], r.defaulted)).collect();
    assert_eq!(shown, [("tasks.a.output", false), ("v", true), ("w", false)]);
}

#[test]
fn what_evaluates_its_arguments_takes_no_holes() {
    let source_help = "name the file itself, or pass the value as an argument of a script";
    refused("eval ${{ v }}", "`eval` evaluates what it is given", "write the command itself, without `eval`");
    refused(
        "command eval \"x ${{ v }}\"",
        "`eval` evaluates what it is given",
        "write the command itself, without `eval`",
    );
    refused("builtin source ${{ v }}", "`source` evaluates what it is given", source_help);
    refused("x=1 . ./${{ v }}", "`.` evaluates what it is given", source_help);
    for command in [
        "ev\\al",
        "'eval'",
        "trap",
        "let",
        "declare",
        "typeset",
        "local",
        "export",
        "readonly",
        "read -r",
        "unset",
        "mapfile",
        "wait",
        "getopts ab",
        "alias",
        "compgen -W",
        "command -p eval",
        "2>&1 eval",
        "time -p eval",
        "! eval",
        "if eval",
        "{ eval",
        "x && eval",
        "local -a",
        "readonly -A",
    ] {
        let source = format!("{command} ${{{{ v }}}}");
        let errors = Script::lower(&source, ShellFamily::Bash).map(|_| ()).expect_err(&source);
        assert!(
            errors.iter().any(|error| error.kind == TemplateErrorKind::UnsafeHole),
            "{source}: {errors:?}"
        );
    }
    for source in [
        "(eval ${{ v }})",
        "x $(eval ${{ v }})",
        "eval \"$(x ${{ v }})\"",
        "case x in x) eval ${{ v }};; esac",
    ] {
        refused(source, "`eval` evaluates what it is given", "write the command itself, without `eval`");
    }
    for fine in [
        "export A=${{ v }}",
        "readonly -r A=${{ v }} B=1",
        "local x=$(cmd ${{ v }})",
        "command -v ${{ v }}",
        "echo eval ${{ v }}",
        "x=eval; y ${{ v }}",
    ] {
        lower(fine);
    }
}

#[test]
fn names_that_evaluate_their_value_take_no_holes() {
    let declared = "`x` is declared so that the shell evaluates its value";
    let help = "leave the declaration out, or use another name";
    refused("declare -i x\nx=${{ v }}", declared, help);
    refused("f() { x+=${{ v }}; }; local -xi x=1", declared, help);
    refused("typeset -n x=y; for x in a ${{ v }}; do :; done", declared, help);
    refused("declare -i x; export x=${{ v }}", declared, help);
    refused("RANDOM=${{ v }}", "the shell evaluates the value of `RANDOM`", "use another name");
    refused("PS4='${{ v }}' cmd", "the shell evaluates the value of `PS4`", "use another name");
    refused(
        "x=(1); local x=${{ v }}",
        "`x` is an array, and the value could be read as its elements",
        "assign to another name",
    );
    refused(
        "local -i x=${{ v }}",
        "`local -i` evaluates what it is given",
        "assign the value first: `name=${{ … }}`",
    );
    lower("declare -i x; y=${{ v }}; x=1");
}

#[test]
fn options_and_operators_can_not_come_from_values() {
    let printf = "`printf` reads options and a format here";
    refused("printf ${{ v }}", printf, "write `printf '%s\\n' ${{ … }}`");
    refused("printf ''\"${{ v }}\" x", printf, "write `printf '%s\\n' ${{ … }}`");
    refused("printf 2> x ${{ v }}", printf, "write `printf '%s\\n' ${{ … }}`");
    refused(
        "printf -v x %s ${{ v }}",
        "`printf -v` evaluates a name that it is given",
        "write `name=${{ … }}`",
    );
    refused("test -v ${{ v }}", "`test -v` evaluates a name that it is given", "write the name itself");
    refused("[ -v \"${{ v }}\" ]", "`[ -v` evaluates a name that it is given", "write the name itself");
    refused("[[ -v ${{ v }} ]]", "`[[ -v` evaluates a name that it is given", "write the name itself");
    refused(
        "[ ${{ w }} ${{ v }} ]",
        "`[` could read the value before this one as an operator",
        "put an operator between them: `[ ${{ … }} = ${{ … }} ]`",
    );
    refused(
        "[ -\"${{ w }}\" '${{ v }}' ]",
        "`[` could read the value before this one as an operator",
        "put an operator between them: `[ ${{ … }} = ${{ … }} ]`",
    );
    lower(
        "[ ${{ w }} = ${{ v }} -a -n ${{ v }} ] && printf '%s' ${{ v }} && printf -- ${{ v }} && printf %s%s ${{ v }}",
    );
}

#[test]
fn a_shell_within_takes_no_holes_as_its_script() {
    let message = "the shell after `-c` reads this as a script";
    let help = "use `env:` and read the variable there, in double quotes";
    for before in [
        "sh -c",
        "bash -ec",
        "/bin/bash -o pipefail -c",
        "sudo sh -c",
        "env X=1 dash -c",
        "xargs -0 zsh -c",
        "\"$SHELL\" -c",
        "exec bash --norc -c",
        "su root -c",
        "find . -exec sh x.sh {} \\; -exec sh -c",
    ] {
        refused(&format!("{before} ${{{{ v }}}}"), message, help);
        refused(&format!("{before} 'x ${{{{ v }}}}'"), message, help);
    }
    lower("bash ./script.sh -c ${{ v }}");
    // The arguments of a script that has no hole of its own.
    lower("bash -c 'echo \"$1\"' _ ${{ v }} -c ${{ v }}");
    lower("find . -exec sh -ec 'mv \"$2\" \"$1\"' _ ${{ v }} {} \\;");
    lower("printf '%s\\n' a | xargs sh -c -e 'echo \"$@\"' _ ${{ v }}");
    refused("fish -c 'echo $argv' ${{ v }}", message, help);
    let script = lower("bash ${{ v }} -c");
    let mut context = context();
    context.set("v", json!("-c"));
    assert_eq!(script.render(&context).unwrap_err().message, "`v` would be an option of the shell before it");
}

#[test]
fn a_command_from_a_value_is_checked_at_its_start() {
    let mut context = context();
    for (source, name, passes) in [
        ("${{ cmd }} ${{ v }}", "make", true),
        ("${{ cmd }} ${{ v }}", "./bin/x", true),
        ("${{ cmd }} ${{ v }}", "eval", false),
        ("\"${{ cmd }}\" ${{ v }}", "/bin/bash", false),
        ("command ${{ cmd }} ${{ v }}", ".", false),
        ("${{ [cmd, v] }}", "trap", false),
        ("./ci/${{ cmd }}.sh ${{ v }}", "eval", true),
    ] {
        context.set("cmd", json!(name));
        assert_eq!(lower(source).render(&context).is_ok(), passes, "{source} {name}");
    }
    refused(
        "ev${{ w }} ${{ v }}",
        "the name of this command is known at run time only",
        "write the name, or a path with `/`, around the hole",
    );
}

#[test]
fn places_without_a_safe_reference_are_refused() {
    refused(
        "echo ${x:-${{ v }}}",
        "a hole can't stand inside `${…}`",
        "put it in a variable first: `v=${{ … }}`, then `${v…}`",
    );
    refused(
        "echo \"${x#${{ v }}}\"",
        "a hole can't stand inside `${…}`",
        "put it in a variable first: `v=${{ … }}`, then `${v…}`",
    );
    refused("echo `x ${{ v }}`", "a hole can't stand inside backquotes", "write `$( … )`");
    refused("echo \"a `x \\` ${{ v }}`\"", "a hole can't stand inside backquotes", "write `$( … )`");
    refused(
        "a[${{ v }}]=1",
        "a hole can't stand in a subscript",
        "put it in a variable first; where no array is meant, quote the brackets",
    );
    refused(
        "m=( [${{ v }}]=1 )",
        "a hole can't stand in a subscript",
        "put it in a variable first; where no array is meant, quote the brackets",
    );
    refused(
        "echo \\${{ v }}",
        "a backslash stands just before a hole",
        "leave it out, or write `\\\\` for a backslash",
    );
    refused(
        "echo \"\\${{ v }}\"",
        "a backslash stands just before a hole",
        "leave it out, or write `\\\\` for a backslash",
    );
    refused("echo \"$${{ v }}\"", "a `$` stands just before a hole", "leave it out, or write `\\$`");
    refused(
        "cat <<'E'\n${{ v }}\nE",
        "a hole can't stand in a quoted here-document",
        "leave the quotes of its delimiter out, and escape every other `$`",
    );
    refused("cat <<${{ v }}\nx", "a hole can't end a here-document", "write the delimiter itself");
    refused("for ${{ v }} in a; do :; done", "a hole can't name a loop's variable", "write the name itself");
    lower("echo '\\${{ v }}' \"$$ ${{ v }}\" \"\\\\${{ v }}\"");
}

#[test]
fn blocks_and_open_quotes_are_refused() {
    let at = |source: &str| {
        refusals(source, ShellFamily::Bash)
            .into_iter()
            .map(|(message, at, _)| (message, at))
            .collect::<Vec<_>>()
    };
    let block = |at: &str| ("a block can't stand in a script".to_owned(), at.to_owned());
    assert_eq!(
        at("${% if x %}a${% endif %} '${% x %}' ${{ v }}"),
        [block("${%"), block("${%"), block("${%")]
    );
    assert_eq!(at("echo 'a ${{ v }}"), [("a `'` is never closed".to_owned(), "'".to_owned())]);
    assert_eq!(at("echo \"a ${{ v }}"), [("a `\"` is never closed".to_owned(), "\"".to_owned())]);
    assert_eq!(at("echo $(a ${{ v }}"), [("a `(` is never closed".to_owned(), "(".to_owned())]);
    assert_eq!(at("echo é ${{ v"), [("a hole is never closed".to_owned(), "${{".to_owned())]);
    assert_eq!(
        at("a ${{ x | uper }} ${{ y z }}"),
        [
            ("there is no filter `uper`".to_owned(), "uper".to_owned()),
            ("unexpected identifier, expected `}}`".to_owned(), "z".to_owned())
        ]
    );
}

#[test]
fn what_shells_read_differently_is_not_guessed_at() {
    refused_by(ShellFamily::Sh, "echo $'a' ${{ v }}", "it follows `$'`");
    refused_by(ShellFamily::Sh, "(( x )); echo ${{ v }}", "it follows `((`");
    refused_by(ShellFamily::Sh, "echo $[ 1 ] ${{ v }}", "it follows `$[`");
    refused_by(ShellFamily::Bash, "echo \"${x:-'}'}\" ${{ v }}", "it follows a `'` inside");
    refused_by(ShellFamily::Bash, "coproc x { a; }; b ${{ v }}", "it follows `coproc`");
    refused_by(ShellFamily::Bash, "echo $(cat <<E)\nx\nE\n${{ v }}", "it follows a here-document");
    refused_by(ShellFamily::Bash, "a ) b ${{ v }}", "it follows a `)` that closes nothing");
    refused_by(ShellFamily::Zsh, "echo $x[${{ v }}]", "a hole can't stand in a subscript");
}

#[test]
fn operands_are_integers_where_the_shell_evaluates_them() {
    let check = |family, source: &str, expected: bool| {
        let (script, _) =
            Script::lower(source, family).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
        assert_eq!(script.render(&context()).is_err(), expected, "{source}");
    };
    for family in [ShellFamily::Sh, ShellFamily::Zsh, ShellFamily::Ksh] {
        check(family, "[ ${{ v }} -eq 1 ]", true);
        check(family, "test 1 -lt \"${{ v }}\"", true);
        check(family, "exit ${{ v }}", true);
        check(family, "printf %d ${{ v }}", true);
        check(family, "printf '%s %5.1f' ${{ v }}", true);
        check(family, "printf '%s %-3b' ${{ v }}", false);
    }
    refused_by(ShellFamily::Zsh, "COLUMNS=${{ v }}", "the shell evaluates the value of `COLUMNS`");
    refused_by(ShellFamily::Zsh, "print -n ${{ v }}", "`print` reads options here");
    check(ShellFamily::Zsh, "print -r -- ${{ v }}; print x ${{ v }}", false);
    check(ShellFamily::Bash, "COLUMNS=${{ v }}", false);
    check(ShellFamily::Bash, "[ ${{ v }} -eq 1 ]; printf %d ${{ v }}", false);
    check(ShellFamily::Bash, "[[ ${{ v }} -eq 1 ]]", true);
    check(ShellFamily::Bash, "[[ 1 -gt 'a${{ v }}' ]]", true);
    check(ShellFamily::Bash, "[[ ${{ n }} -eq 1 && a == ${{ v }} ]]", false);
}

#[test]
fn programs_of_other_languages_are_warned_of() {
    let warned = |source: &str| {
        let (_, warnings) =
            Script::lower(source, ShellFamily::Bash).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
        warnings.into_iter().map(|warning| warning.message).collect::<Vec<_>>()
    };
    for (source, program) in [
        ("python3 -c 'print(\"${{ v }}\")'", "python -c"),
        ("node -e ${{ v }}", "node -e"),
        ("perl -ne 'x ${{ v }}' f", "perl -e"),
        ("awk -F, -v a=1 '/${{ v }}/' f", "awk"),
        ("sed -i 's/a/${{ v }}/' f", "sed"),
        ("jq --arg a ${{ w }} '.[\"${{ v }}\"]'", "jq"),
        ("ssh -p 22 host ls ${{ v }}", "ssh"),
        ("/usr/bin/gawk ${{ v }}", "awk"),
    ] {
        assert_eq!(warned(source), [format!("the value becomes program text of `{program}`")], "{source}");
    }
    for source in [
        "jq --arg a ${{ v }} '$a'",
        "jq . ${{ v }}",
        "awk -v a=${{ v }} '{print a}' ${{ w }}",
        "python3 x.py -c ${{ v }}",
        "ssh ${{ v }}",
        "sed -e x ${{ v }}",
        "echo ${{ v }}",
    ] {
        if source.contains("-c") {
            continue;
        }
        assert_eq!(warned(source), [""; 0], "{source}");
    }
}

#[test]
fn values_that_no_variable_can_hold_stop_the_script() {
    let mut context = context();
    let message = |context: &Context, source: &str| {
        let error = lower(source).render(context).unwrap_err();
        (error.message, error.at.map(|at| source[at].to_owned()).unwrap_or_default())
    };
    context.set("v", json!("a\0b"));
    assert_eq!(
        message(&context, "é ${{ v }}"),
        (
            "the value has a NUL byte, which no variable can hold; write `| file` to get a path".into(),
            "${{ v }}".into()
        )
    );
    context.set("v", json!("x".repeat(120 * 1024 + 1)));
    assert_eq!(
        message(&context, "é ${{ v }}").0,
        "the value has 122881 bytes, more than a variable can hold (122880); write `| file` to get a path"
    );
    context.set("v", json!("x".repeat(120 * 1024)));
    assert!(lower("a ${{ v }}").render(&context).is_ok());
    let many: String = (0..9).map(|n| format!(" ${{{{ v ~ {n} if false else v }}}}")).collect();
    assert_eq!(
        message(&context, &format!("a{many}")).0,
        "the values of this script pass 1 MiB together; write `| file` to get a path"
    );
    context.set_files(&ValueFiles::within("/run".into()));
    assert_eq!(
        lower("tail ${{ v | file }}").render(&context).unwrap().env,
        [("FLOW_1".to_owned(), "/run/value-1".to_owned())]
    );
    assert_eq!(
        message(&context, "é ${{ nothing.x }}"),
        ("`nothing` has no value here".into(), "nothing.x".into())
    );
}

#[test]
fn nesting_has_an_end() {
    for open in ["$(", "\"$(", "(", "${x:-", "$((", "x=(", "<(", "case x in x) ", "[[ ( ", "@("] {
        let source = format!("echo {} ${{{{ v }}}}", open.repeat(50_000));
        assert!(Script::lower(&source, ShellFamily::Bash).is_err(), "{open}");
    }
}

#[test]
fn only_a_script_without_holes_is_its_own_text() {
    let lowered = |text| Script::lower(text, ShellFamily::Bash).unwrap().0;
    assert_eq!(Script::plain("echo $x").literal(), Some("echo $x"));
    assert_eq!(lowered("echo hi").literal(), Some("echo hi"));
    assert_eq!(lowered("echo ${{ inputs.x }}").literal(), None);
    assert_eq!(lowered("${{ inputs.x }}").literal(), None);
}

#[test]
fn the_source_of_a_script_is_what_was_written() {
    let source = "echo \"${{ item }}\" '${{ item }}' > ${{ item }} # ${{ item }}\n";
    assert_eq!(lower(source).source(), source);
}
