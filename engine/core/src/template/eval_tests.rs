use proptest::prelude::*;
use serde_json::json;

use super::*;

/// What a template ends in: its text's length, or the message.
fn outcome(source: &str, context: &Context) -> Result<usize, String> {
    let template = Template::text(source).map_err(|errors| errors[0].message.clone())?;
    template.render(context).map(|text| text.len()).map_err(|error| error.message)
}

fn check_bounded(source: &str, expected: &str) {
    let mut context = Context::new();
    context.set("x", json!("a"));
    context.set("long", json!("y".repeat(1 << 20)));
    context.set("list", json!(vec![json!("z"); 1000]));
    assert_eq!(outcome(source, &context), Err(expected.to_owned()), "{source}");
}

const LONG: &str = "the text grows past 1 MiB; hand it on as a file: `| file`";
const WORK: &str = "the template does more work than is allowed";

#[test]
fn doubling_ends_early() {
    check_bounded(
        "${% set n = namespace(s='a') %}${% for i in range(40) %}${% set n.s = n.s ~ n.s %}${% endfor %}",
        LONG,
    );
    check_bounded(
        "${% set n = namespace(s='a') %}${% for i in range(40) %}${% set n.s = n.s + n.s %}${% endfor %}",
        LONG,
    );
    check_bounded(
        &format!("${{% set a = x %}}{}${{{{ a | length }}}}", "${% set a = a ~ a %}".repeat(40)),
        LONG,
    );
    check_bounded(
        &format!("${{% set a = x %}}{}", "${% set a %}${{ a }}${{ a }}${% endset %}".repeat(40)),
        LONG,
    );
    check_bounded(
        "${% macro m(t) %}${{ t }}${{ t }}${% endmacro %}${% set n = namespace(s='a') %}${% for i in range(40) %}${% set n.s = m(n.s) %}${% endfor %}",
        LONG,
    );
    check_bounded(
        "${% set n = namespace(s=[1]) %}${% for i in range(40) %}${% set n.s = n.s + n.s %}${% endfor %}",
        "the list grows past a million items",
    );
    check_bounded("${{ 'ab' * 1000000000 }}", LONG);
    check_bounded("${{ long | replace('y', long) }}", WORK);
    check_bounded("${{ x | indent(2000000000) }}", WORK);
    check_bounded("${{ list | join(long) }}", "the joined text grows past 16 MiB");
    check_bounded("${% for i in range(2000) %}${{ 'x' * 1000 }}${% endfor %}", LONG);
}

#[test]
fn endless_work_ends() {
    check_bounded("${% for a in range(90000) %}${% for b in range(90000) %}${% endfor %}${% endfor %}", WORK);
    check_bounded("${% for a in range(10 ** 9) %}${% endfor %}", "range has too many elements");
    let nested = outcome("${% macro m() %}${{ m() }}${% endmacro %}${{ m() }}", &Context::new());
    assert!(nested.is_err_and(|message| message.contains("recursion")));
}

#[test]
fn honest_loops_have_room() {
    let mut context = Context::new();
    context.set(
        "items",
        json!((0..10_000).map(|n| json!({"name": format!("n{n}"), "tags": ["a", "b"]})).collect::<Vec<_>>()),
    );
    let source = "${% for item in items if item.name != 'x' %}- ${{ loop.index }} ${{ item.name | upper }}: ${{ item.tags | join(', ') }}\n${% endfor %}";
    let lines = (0..10_000).map(|n| format!("- {} N{n}: a, b\n", n + 1).len());
    assert_eq!(outcome(source, &context), Ok(lines.sum()));
    context.set("text", json!("t".repeat(5 << 20)));
    assert_eq!(outcome("a ${{ text }} b", &context), Ok((5 << 20) + 4));
}

#[test]
fn what_is_too_long_or_deep_is_refused_before_it_is_parsed() {
    let refused = |source: String| Template::text(&source).unwrap_err()[0].message.clone();
    let long = "the expression is too long";
    assert_eq!(refused(format!("${{{{ 1{} }}}}", " + 1".repeat(10_000))), long);
    assert_eq!(refused(format!("${{{{ {}1 }}}}", "not ".repeat(10_000))), long);
    assert_eq!(refused(format!("${{{{ {}1 }}}}", "(".repeat(10_000))), long);
    assert_eq!(refused(format!("${{{{ x{} }}}}", ".y".repeat(10_000))), long);
    assert_eq!(refused(format!("${{{{ x{} }}}}", " | upper".repeat(10_000))), long);
    assert_eq!(refused(format!("${{{{ 1{} }}}}", " if x else 2".repeat(10_000))), long);
    assert_eq!(refused(format!("${{% if x %}}{}${{% endif %}}", "${% elif y %}".repeat(10_000))), long);
    assert_eq!(refused("${% if x %}".repeat(10_000)), "template exceeds maximum recursion limits");
    let list = format!("${{{{ [{}] | length }}}}", "1, ".repeat(10_000));
    assert_eq!(outcome(&list, &Context::new()), Ok(5));
    for within in [" + 1".repeat(249), " ~ 'a'".repeat(249), " | string".repeat(249)] {
        assert!(outcome(&format!("${{{{ 1{within} }}}}"), &Context::new()).is_ok());
    }
}

#[test]
fn messages_never_show_values() {
    let mut context = Context::new();
    context.set("secret", json!({"deep": "hunter2", "list": ["hunter2"]}));
    for source in [
        "${{ secret + 1 }}",
        "${{ secret.deep | int }}",
        "${{ secret.deep | fromjson }}",
        "${{ secret.deep.x }}",
        "${{ secret | abs }}",
        "${{ secret.deep - 1 }}",
        "${{ secret.deep | round }}",
        "${{ range(secret.deep) }}",
        "${{ secret.list | sum }}",
        "${{ secret.list[0].y }}",
        "${{ secret.list | map(secret.deep) | list }}",
        "${{ secret | batch(secret.deep) }}",
        "${{ secret.deep < 1 }}${{ missing }}",
        "${{ secret.deep | bool | x }}",
        "${{ secret.deep % 3 }}",
        "${{ -secret.deep }}",
        "${{ secret.list | join(3) }}",
        "${{ '%d' | format(secret.deep) }}",
    ] {
        if let Err(message) = outcome(source, &context) {
            assert!(!message.contains("hunter2"), "{source}: {message}");
        }
    }
}

const TOKENS: &[&str] = &[
    "${{",
    "}}",
    "${%",
    "%}",
    "${{#",
    "#}}",
    " ",
    "\n",
    "tasks",
    ".a",
    ".output",
    "[0]",
    "['k']",
    "|",
    "default",
    "(",
    ")",
    "x",
    "'",
    "\"",
    "if ",
    "for i in ",
    "set ",
    "end",
    "endif",
    "endfor",
    "else",
    "macro m",
    "+",
    "~",
    "-",
    "not ",
    " and ",
    " is ",
    "none",
    "é",
    ",",
    "{",
    "}",
    ":",
    "1",
    "1.5",
    "==",
    "\\",
    "$",
    "%",
    "join",
    "loop",
    "=",
    "raw",
    "endraw",
    "[",
    "]",
    "&&",
    "!",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// No text makes the reader or the evaluation panic, and every place is one of whole characters in the text.
    #[test]
    fn every_text_has_an_answer(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..40)) {
        let source = tokens.concat();
        let mut context = Context::new();
        context.set("tasks", json!({"a": {"output": null}}));
        context.set("x", json!(["y", 2]));
        for result in [Template::text(&source), Template::text_without_blocks(&source), Template::expression(&source)] {
            match result {
                Err(errors) => for error in errors {
                    prop_assert!(source.get(error.at.clone()).is_some(), "{:?}: {:?}", source, error);
                },
                Ok(template) => {
                    for reference in &template.references {
                        let text = source.get(reference.at.clone()).unwrap_or_default();
                        prop_assert!(text.starts_with(reference.root()), "{:?}: {:?}", source, reference);
                    }
                    if let Err(EvalError { at: Some(at), .. }) = template.value(&context) {
                        prop_assert!(source.get(at.clone()).is_some(), "{:?}: {:?}", source, at);
                    }
                }
            }
        }
    }
}

#[test]
fn text_is_never_compared_with_a_number_in_silence() {
    let mut context = Context::new();
    context.set("inputs", json!({ "ten": "10", "n": 10, "word": "auto", "none": null }));
    let says = |expression: &str| match Template::expression(expression).unwrap().value(&context) {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    };
    for (expression, value) in [
        ("inputs.n > 9", "true"),
        ("inputs.ten | int > 9", "true"),
        ("1 < inputs.n <= 10", "true"),
        ("10 < inputs.n < 20", "false"),
        ("inputs.ten == '10'", "true"),
        ("'a' < 'b'", "true"),
        // A word is no number, and says so honestly.
        ("inputs.word == 10", "false"),
        ("inputs.word != 10", "true"),
        ("inputs.none == 10", "false"),
    ] {
        assert_eq!(says(expression), value, "{expression}");
    }
    for (expression, what) in [
        ("inputs.ten > 9", "is neither less nor more"),
        ("9 <= inputs.ten", "is neither less nor more"),
        ("1 < inputs.ten < 20", "is neither less nor more"),
        ("inputs.ten == 10", "is never equal to it"),
        ("10 != inputs.ten", "is never equal to it"),
    ] {
        let said = says(expression);
        assert_eq!(
            said,
            format!("text is compared with a number and {what}; write `| int` or `| float` after the text"),
            "{expression}"
        );
    }
}

#[test]
fn a_text_that_says_no_is_no_condition() {
    let truth = |text: &str| {
        let mut context = Context::new();
        context.set("inputs", json!({ "word": text }));
        Template::expression("inputs.word").unwrap().truth(&context).map_err(|error| error.to_string())
    };
    for (text, value) in [("", false), ("true", true), ("yes", true), ("nothing", true), ("00501", true)] {
        assert_eq!(truth(text), Ok(value), "{text}");
    }
    for text in ["false", " False\n", "no", "0", "off", "null"] {
        let error = truth(text).unwrap_err();
        assert!(error.starts_with("it is a text that says no"), "{text}: {error}");
    }
}

#[test]
fn a_variable_that_is_not_set_is_null_to_a_condition_and_an_error_to_others() {
    let mut context = Context::new();
    context.set("env", json!({}));
    let text = |source: &str| {
        Template::text(source).expect("a template").render(&context).map_err(|error| error.message)
    };
    assert_eq!(text("${{ env.X or 'y' }}"), Ok("y".to_owned()));
    assert_eq!(text("${{ 'a' if env.X else 'b' }}"), Ok("b".to_owned()));
    assert!(text("${{ env.X }}").is_err());
}
