use serde_json::json;

use super::super::context::Status;
use super::super::files::ValueFiles;
use super::super::reference::Segment;
use super::super::scan::{foreign_operator, in_our_words};
use super::*;

/// The context of every test here: a completed task `a`, one that is skipped, a group, and an item.
fn context() -> Context {
    let mut context = Context::new();
    context.set(
        "inputs",
        json!({"n": 3, "f": 1.5, "big": 18_446_744_073_709_551_615u64, "s": "x", "html": "<&'\">"}),
    );
    context.set(
        "tasks",
        json!({
            "a": {"status": "completed", "output": {"b": [1, true, null, 1.5], "n": null, "d": {"é": "ü"}},
                  "stdout": "one\ntwo\nthree\n", "notification": "<task a>"},
            "skipped": {"status": "skipped", "output": {"left": "over"}},
            "g": {"results": [
                {"key": "k", "status": "completed", "output": {"v": 1}, "notification": "<task g>"},
                {"key": "l", "status": "failed", "output": null, "notification": "<task h>"}]}
        }),
    );
    context.incomplete("skipped");
    context.set("item", json!({"id": "auth", "paths": ["p", "q"]}));
    context
}

fn check(source: &str, expected: &str) {
    let template = Template::text(source).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
    let rendered = template.render(&context()).unwrap_or_else(|error| panic!("{source}: {error:?}"));
    assert_eq!(rendered, expected, "{source}");
}

fn check_value(source: &str, expected: serde_json::Value) {
    let template = Template::expression(source).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
    assert_eq!(template.value(&context()), Ok(expected), "{source}");
}

/// The message of an evaluation and the text that it points at.
fn check_fails(source: &str, message: &str, at: &str) {
    let template = Template::text(source).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
    let error = template.render(&context()).expect_err(source);
    let place = error.at.clone().map(|range| &source[range]).unwrap_or_default();
    assert_eq!((error.message.as_str(), place), (message, at), "{source}");
}

/// What is wrong, the text that it points at, and what to do.
fn check_refused(
    result: Result<Template, Vec<TemplateError>>,
    source: &str,
    expected: &[(&str, &str, &str)],
) {
    let errors = result.map(|_| ()).expect_err(source);
    let found: Vec<_> = errors
        .iter()
        .map(|error| {
            (error.message.as_str(), &source[error.at.clone()], error.help.as_deref().unwrap_or_default())
        })
        .collect();
    assert_eq!(found, expected, "{source}");
}

fn text_refused(source: &str, message: &str, at: &str, help: &str) {
    check_refused(Template::text(source), source, &[(message, at, help)]);
}

fn expression_refused(source: &str, message: &str, at: &str, help: &str) {
    check_refused(Template::expression(source), source, &[(message, at, help)]);
}

#[test]
fn text_of_other_tools_passes_unchanged() {
    for text in
        ["", "plain é", "${#arr[@]} ${p##*/}", "{{ x }} {% y %} {# z #}", "$${x} $(y) ${", "a\n", "a\r\n\n"]
    {
        assert!(Template::text(text).unwrap().is_literal(), "{text}");
        check(text, text);
        check(&format!("{text}${{{{ inputs.n }}}}{text}"), &format!("{text}3{text}"));
    }
}

#[test]
fn values_become_text_by_json_rules() {
    check(
        "a${{ inputs.s }}b${{ inputs.n }}c${{ inputs.f }}d${{ inputs.big }}",
        "axb3c1.5d18446744073709551615",
    );
    check("${{ true }} ${{ false }} [${{ none }}] [${{ null }}] ${{ 2.0 }}", "true false [] [] 2.0");
    check("=${{ tasks.a.output }}", r#"={"b":[1,true,null,1.5],"n":null,"d":{"é":"ü"}}"#);
    check("${{ tasks.a.output.b | join(',') }}", "1,true,,1.5");
    check("${{ 'b: ' ~ true ~ tasks.a.output.b ~ null }}", "b: true[1,true,null,1.5]");
    check("${{ true | upper }} ${{ [1, none] | string }} <${{ null | trim }}>", "TRUE [1,null] <>");
    check("${{ inputs.html }} ${{ inputs.html | tojson }}", r#"<&'"> "<&'\">""#);
    check("${{ {'a': [1]} | tojson(2) }}", "{\n  \"a\": [\n    1\n  ]\n}");
    check(r#"${{ "${{" }} ${{ "}}" }} ${{ {"a": {"b": 1}}.a }}"#, r#"${{ }} {"b":1}"#);
    check("é${{# a note }} #}}ü", "éü");
}

#[test]
fn one_hole_keeps_its_json_type() {
    let one = |source: &str| {
        let template = Template::text(source).unwrap();
        (template.single_expression(), template.value(&context()).unwrap())
    };
    assert_eq!(one("${{ tasks.a.output.b }}"), (true, json!([1, true, null, 1.5])));
    assert_eq!(one("${{ inputs.big }}"), (true, json!(18_446_744_073_709_551_615u64)));
    assert_eq!(one("${{ inputs.n }} "), (false, json!("3 ")));
    assert_eq!(one("${{ inputs.n }}${{ inputs.n }}"), (false, json!("33")));
    assert_eq!(one("${{ 'a' }}${{# c #}}"), (false, json!("a")));
    assert_eq!(one("3"), (false, json!("3")));
    assert_eq!(one("${{ 'a' if false }}"), (true, json!(null)));
}

#[test]
fn blocks_leave_no_blank_lines() {
    check(
        "a\n  ${% for x in item.paths %}\n- ${{ x }}${{ loop.index }}\n  ${% endfor %}\nb\n",
        "a\n- p1\n- q2\nb\n",
    );
    check("${% if item.id == 'auth' %}yes${% else %}no${% endif %}", "yes");
    check(
        "${% set n = namespace(t=0) %}${% for x in [1, 2] %}${% set n.t = n.t + x %}${% endfor %}${{ n.t }}",
        "3",
    );
    check("${% macro m(x, y='d') %}<${{ x }}${{ y }}${{ item.id }}>${% endmacro %}${{ m('a') }}", "<adauth>");
    check("${% with a = 1, b = a %}${{ b }}${% endwith %}${% filter upper %}x${% endfilter %}", "1X");
    check("${% for k, v in {'a': 1}|items %}${{ k }}${{ v }}${% endfor %}", "a1");
    check("${% raw %}${{ x }}${% endraw %}", "${{ x }}");
}

#[test]
fn default_replaces_undefined_and_null() {
    check("${{ tasks.a.output.n | default('z') }}", "z");
    check("${{ tasks.a.output.missing.deep | default('z') }}${{ nothing | default('y') }}", "zy");
    check("${{ tasks.g.results[7].output | d('z') }}", "z");
    check("${{ '' | default('z') }}-${{ '' | default('z', true) }}-${{ false | default(1) }}", "-z-false");
    check(
        "${{ item.x is defined }} ${{ item.id is defined }} ${{ item.x.y is undefined }}",
        "false true true",
    );
}

#[test]
fn output_of_an_incomplete_task_is_null_through_every_field() {
    check("[${{ tasks.skipped.status }}][${{ tasks.skipped.output }}]", "[skipped][]");
    check("[${{ tasks.skipped.output.a.b[0].c }}]", "[]");
    check("${{ tasks.skipped.output.a | default('z') }} ${{ tasks.skipped.output.a is none }}", "z true");
    check("${{ tasks.skipped.output == none }} ${{ tasks.skipped.output.a.b == null }}", "true true");
    check("${{ tasks['skipped'].output[inputs.s].b == null }}", "true");
    check(
        "${% for r in tasks.g.results %}[${{ r.output.v.w | default('-') if r.output else r.output.v.w }}]${% endfor %}",
        "[-][]",
    );
    check_value("'y' if tasks.skipped.output.a else 'n'", json!("n"));
    check_value("{'a': tasks.skipped.output.b}", json!({"a": null}));
}

#[test]
fn a_missing_value_is_named_with_what_is_there() {
    check_fails("é ${{ item.ids }}", "`item` has no field `ids`; did you mean `id`?", "item.ids");
    check_fails(
        "${{ tasks.a.output.zzz.y }}",
        "`tasks.a.output` has no field `zzz`; it has `b`, `n`, `d`",
        "tasks.a.output.zzz.y",
    );
    check_fails(
        "${{ tasks.a.output.n.x }}",
        "`tasks.a.output.n` is null and has no field `x`",
        "tasks.a.output.n.x",
    );
    check_fails(
        "${{ tasks.a.stdout.x }}",
        "`tasks.a.stdout` is text and has no field `x`",
        "tasks.a.stdout.x",
    );
    check_fails("${{ item.paths[5] }}", "`item.paths` has no item 5: it is a list of 2", "item.paths[5]");
    check_fails("${{ missing }}", "`missing` has no value here", "missing");
    check_fails("${% if false %}${% set o = 1 %}${% endif %}${{ o }}", "`o` has no value", "o");
    check_fails("${{ item.paths[-1] ~ item.x }}", "`item` has no field `x`; it has `id`, `paths`", "item.x");
    check_fails(
        "${% for p in item.paths %}${{ p.x }}${% endfor %}",
        "the value has no field `x`: it is a string",
        "p.x",
    );
    check_fails("${{ inputs.s | fromjson }}", "the text is not JSON: line 1, column 1", "fromjson");
}

#[test]
fn conditions_are_true_for_what_is_not_empty() {
    let truth = |source: &str| Template::expression(source).unwrap().truth(&context()).unwrap();
    for (source, expected) in [
        ("true", true),
        ("null", false),
        ("0", false),
        ("0.0", false),
        ("1", true),
        ("''", false),
        ("'wrong'", true),
        ("[]", false),
        ("{}", false),
        ("item.paths", true),
        ("not item", false),
        ("'p' in item.paths", true),
        ("item.id is startingwith('au') and inputs.n > 2 or false", true),
        ("  inputs.n == 3\n", true),
        ("tasks.skipped.output", false),
    ] {
        assert_eq!(truth(source), expected, "{source}");
    }
}

#[test]
fn status_functions_ask_the_context() {
    let mut context = context();
    for (status, expected) in [
        (Status { failed: false, cancelled: false }, [true, false, false, true]),
        (Status { failed: true, cancelled: false }, [false, true, false, true]),
        (Status { failed: false, cancelled: true }, [false, false, true, true]),
    ] {
        context.set_status(status);
        let names = ["success()", "failure()", "cancelled()", "always()"];
        assert_eq!(names.map(|name| Template::expression(name).unwrap().truth(&context).unwrap()), expected);
    }
    let asks = |source| Template::expression(source).unwrap().asks_status();
    assert_eq!(
        [asks("success()"), asks("failure()"), asks("x and always()"), asks("not cancelled()")],
        [false, true, true, true]
    );
}

#[test]
fn filters_of_our_own() {
    check(
        "${{ tasks.a.stdout | tail(2) }}|${{ tasks.a.stdout | head(1) }}|${{ null | tail(1) }}|",
        "two\nthree|one||",
    );
    check("${{ '{\"a\": [1, 2]}' | fromjson | tojson }}", r#"{"a":[1,2]}"#);
    check("${{ [[1, 2], 3, [[4]]] | flatten }}", "[1,2,3,[4]]");
    check(
        "${{ tasks.a | notifications }};${{ tasks.g.results | notifications }}",
        "<task a>;<task g>\n<task h>",
    );
    check("${{ tasks.g.results | map(attribute='key') | join('-') }}", "k-l");
    check("${{ tasks.g.results | selectattr('status', 'eq', 'failed') | list | length }}", "1");
    check("${{ tasks.g.results | join(', ', attribute='key') }}", "k, l");
    check("${{ 'ab' * 2 }} ${{ 3 * 1.5 }} ${{ 4000000000 * 4000000000 }}", "abab 4.5 16000000000000000000");
}

#[test]
fn file_names_a_file_and_leaves_the_writing_to_the_caller() {
    let mut context = context();
    let template = Template::text("cat ${{ tasks.a.stdout | file }} ${{ item | file }}").unwrap();
    assert_eq!(template.render(&context).unwrap_err().message, "`file` has no folder to write to here");
    let files = ValueFiles::within("/run/files".into());
    context.set_files(&files);
    assert_eq!(template.render(&context).unwrap(), "cat /run/files/value-1 /run/files/value-2");
    let named = files.take();
    let paths: Vec<_> = named.iter().map(|(path, _)| path.to_str().unwrap()).collect();
    assert_eq!(paths, ["/run/files/value-1", "/run/files/value-2"]);
    assert_eq!(named[0].1, "one\ntwo\nthree\n");
    assert_eq!(named[1].1, r#"{"id":"auth","paths":["p","q"]}"#);
    assert!(files.take().is_empty());
}

#[test]
fn references_have_exact_places() {
    let found = |source: &str| -> Vec<(String, String, bool)> {
        let template = Template::text(source).unwrap();
        let shown = |r: &Reference| (r.to_string(), source[r.at.clone()].to_owned(), r.defaulted);
        template.references.iter().map(shown).collect()
    };
    let expect = |source: &str, expected: &[(&str, &str, bool)]| {
        let expected: Vec<_> =
            expected.iter().map(|(p, a, d)| ((*p).to_owned(), (*a).to_owned(), *d)).collect();
        assert_eq!(found(source), expected, "{source}");
    };
    expect(
        "é\nü ${{ tasks.a.output.x }}\n\n  ${{n}}",
        &[("tasks.a.output.x", "tasks.a.output.x", false), ("n", "n", false)],
    );
    expect(
        "${{ tasks['a-b'].output[0]['k'] }}",
        &[("tasks.a-b.output[0].k", "tasks['a-b'].output[0]['k']", false)],
    );
    expect("${{ tasks[item.k].output }}", &[("tasks", "tasks", false), ("item.k", "item.k", false)]);
    expect(
        "${{ tasks.a.output[i].x | d(inputs.y) }}",
        &[("tasks.a.output", "tasks.a.output", true), ("i", "i", false), ("inputs.y", "inputs.y", false)],
    );
    expect(
        "${{ x is none }}${{ y is not defined }}${{ z != null }}${{ (w) | default(1) }}",
        &[("x", "x", true), ("y", "y", true), ("z", "z", true), ("w", "w", true)],
    );
    expect("${% set t = tasks %}${{ t.a.output }}", &[("tasks", "tasks", false)]);
    expect(
        "${% for loop_ in loop.x %}${{ loop.index }}${{ loop_ }}${% else %}${{ loop_ }}${% endfor %}",
        &[("loop.x", "loop.x", false), ("loop_", "loop_", false)],
    );
    expect(
        "${% macro m(a, b=c) %}${{ a ~ b ~ d }}${% endmacro %}${{ m(e) }}",
        &[("c", "c", false), ("d", "d", false), ("e", "e", false)],
    );
    expect("${% with p = q, r = p %}${{ r }}${% endwith %}${{ p }}", &[("q", "q", false), ("p", "p", false)]);
    expect("${% set x %}${{ y }}${% endset %}${{ x }}", &[("y", "y", false)]);
    expect("${{ 'tasks.no' }}${% raw %}${{ no }}${% endraw %}${{# no #}}", &[]);
    expect("${{ x[-1] }}${{ f.range }}", &[("x[-1]", "x[-1]", false), ("f.range", "f.range", false)]);
    let path = &Template::expression("a[1].b").unwrap().references[0].path;
    assert_eq!(path, &[Segment::Name("a".into()), Segment::Index(1), Segment::Name("b".into())]);
}

#[test]
fn operators_of_other_languages_are_named() {
    expression_refused("a && b", "`&&` is no operator here", "&&", "write `and`");
    expression_refused("a || b", "`||` is no operator here", "||", "write `or`");
    expression_refused("é and !b", "`!` is no operator here", "!", "write `not`");
    text_refused("x ${{ 'a!' ~ b && c }} && y", "`&&` is no operator here", "&&", "write `and`");
    expression_refused(
        "contains(a, 'b')",
        "there is no function `contains`",
        "contains",
        "write `needle in haystack`",
    );
    expression_refused(
        "startsWith(a, b)",
        "there is no function `startsWith`",
        "startsWith",
        "write `text is startingwith(\"prefix\")`",
    );
}

#[test]
fn unknown_names_are_found_before_a_run() {
    text_refused("a ${{ x | uper }}", "there is no filter `uper`", "uper", "did you mean `upper`?");
    text_refused(
        "${{ x | safe }}",
        "there is no filter `safe`",
        "safe",
        "values are never escaped; leave it out",
    );
    text_refused("${{ x is defned }}", "there is no test `defned`", "defned", "did you mean `defined`?");
    text_refused("${{ x | map('uper') }}", "there is no filter `uper`", "'uper'", "did you mean `upper`?");
    text_refused("${{ debug() }}", "there is no function `debug`", "debug", "write `value | tojson`");
    text_refused(
        "${{ length(x) }}",
        "there is no function `length`",
        "length",
        "`length` is a filter: write `value | length`",
    );
    text_refused(
        "${{ x.split(',') }}",
        "there is no method `split`",
        "split",
        "`split` is a filter: write `value | split`",
    );
    text_refused("${{ (1)(2) }}", "a constant can't be called", "1", "");
    text_refused("${% filter shout %}x${% endfilter %}", "there is no filter `shout`", "shout", "");
    expression_refused("always", "`always` is a function", "always", "write `always(…)` with parentheses");
    check_refused(
        Template::text("${{ a | b1 }} ${{ c | b2 }}"),
        "${{ a | b1 }} ${{ c | b2 }}",
        &[("there is no filter `b1`", "b1", ""), ("there is no filter `b2`", "b2", "")],
    );
}

#[test]
fn syntax_errors_point_at_their_place() {
    text_refused(
        "a\né ${{ x",
        "a hole is never closed",
        "${{",
        "close it with `}}`, and every quote and bracket in it; the sign itself is `${{ \"${{\" }}`",
    );
    text_refused(
        "a ${% if x %}y",
        "a block is open at the end of the text",
        "${%",
        "end it, for example with `${% endif %}`",
    );
    text_refused("${{ 'a }}", "unexpected end of string", "${{", "close it with `}}`");
    text_refused("${{ x y }}", "unexpected identifier, expected `}}`", "y", "");
    text_refused("a ${{ }}", "the hole is empty", "${{ }}", "");
    text_refused(
        "${% include '/etc/passwd' %}",
        "`include` is no block of this language",
        "include",
        "templates can't load others; a sub-workflow or `prompt: { file: … }` can",
    );
    text_refused(
        "${% autoescape true %}${% endautoescape %}",
        "`autoescape` is no block of this language",
        "autoescape",
        "values are never escaped; leave it out",
    );
    expression_refused("  ", "the expression is empty", "  ", "");
    expression_refused("a b", "unexpected input after expression", "b", "");
    expression_refused("a }} b", "unexpected input after expression", "}}", "");
    expression_refused(
        "${{ run.ci }}",
        "this is an expression already",
        "${{ run.ci }}",
        "write it bare: `run.ci`",
    );
    expression_refused(
        "${{ a }} == 1",
        "this is an expression already",
        "${{ a }}",
        "write it without `${{ }}`",
    );
}

#[test]
fn blocks_can_be_refused() {
    let source = "a ${% if x %}b${% endif %} ${{ '${%' }}";
    let help = "only `${{ … }}` can; compute the rest in a task";
    let message = "a block can't stand here";
    check_refused(
        Template::text_without_blocks(source),
        source,
        &[(message, "${% if x %}", help), (message, "${% endif %}", help)],
    );
    let source = "${% raw %}x${% endraw %}";
    check_refused(
        Template::text_without_blocks(source),
        source,
        &[(message, "${% raw %}", help), (message, "${% endraw %}", help)],
    );
    assert!(Template::text_without_blocks("${{ x }} ${{ '${%' }}").is_ok());
}

/// What is said of a bare expression that can't be parsed: message and help.
fn said(source: &str) -> (String, String) {
    let errors = Template::expression(source).expect_err(source);
    assert_eq!(errors.len(), 1, "{source}: {errors:?}");
    (errors[0].message.clone(), errors[0].help.clone().unwrap_or_default())
}

#[test]
fn operators_of_other_languages_are_answered_with_ours() {
    for (source, operator, help) in [
        ("a && b", "&&", "write `and`"),
        ("a = 1", "=", "write `==`"),
        ("a ?? b", "??", "write `value | default(other)`"),
        ("a ? b : c", "?", "write `value if condition else other`"),
        ("a?.b", "?.", "write `value.field | default(other)`"),
        ("a =~ 'x'", "=~", "write `text is startingwith(\"prefix\")`"),
        ("a matches 'x'", "matches", "write `text is startingwith(\"prefix\")`"),
        ("a eq 'x'", "eq", "write `a == b`"),
    ] {
        assert_eq!(said(source), (format!("`{operator}` is no operator here"), help.to_owned()), "{source}");
    }
    assert_eq!(said("a == “x”").0, "`“` is no quote here");
    // An argument is named with `=`, and text may hold anything.
    assert_eq!(foreign_operator("f(a=1) + '='"), None);
    assert_eq!(in_our_words("a && !b('&&') || c != d"), "a and not b('&&') or c != d");
}

#[test]
fn a_test_of_the_shell_is_answered_with_an_expression() {
    for (source, help) in [
        ("[ \"$B\" = main ]", "write `env.B == \"main\"`"),
        ("[[ $B != \"x\" ]]", "write `env.B != \"x\"`"),
        ("$B == \"x\"", "write `env.B == \"x\"`"),
        ("[ -n \"$B\" ]", "write `env.B | default(\"\")`"),
        ("${B}", "write `env.B` for `$B`"),
    ] {
        assert_eq!(
            said(source),
            ("this is an expression, not shell".to_owned(), help.to_owned()),
            "{source}"
        );
    }
    assert!(said("test -f x").1.contains("belongs into a task"));
}

#[test]
fn a_hyphen_in_a_name_is_one_finding_and_a_difference_is_none() {
    let hyphen = |source: &str| {
        let (message, help) = said(source);
        assert_eq!(message, "a hyphen is a minus in expressions", "{source}");
        help
    };
    let blanks = "; for a difference put blanks around it";
    assert_eq!(hyphen("inputs.dry-run"), format!("names have none: `inputs.dry_run`{blanks}"));
    assert_eq!(hyphen("inputs.a-b-c == 1"), format!("names have none: `inputs.a_b_c`{blanks}"));
    assert_eq!(hyphen("tasks.a.output.my-key"), format!("write `tasks.a.output[\"my-key\"]`{blanks}"));
    for fine in ["inputs.a - b", "inputs.a-1", "inputs.a-inputs.b", "a-b", "task.x-attempt"] {
        assert!(Template::expression(fine).is_ok(), "{fine}");
    }
    assert!(Template::text("${% for n in l %}${{ inputs.a-n }}${% endfor %}").is_ok());
}
