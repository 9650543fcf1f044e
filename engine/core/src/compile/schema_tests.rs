use insta::assert_snapshot;

use crate::compile::testing::{Trial, check};

const SCHEMA: &str = "{ type: object, required: [areas], properties: { areas: { type: array, items: { $ref: \"#/$defs/area\" } }, note: { type: string }, more: { type: object }, open: { type: object, properties: { a: {} }, additionalProperties: true } }, $defs: { area: { type: object, properties: { id: { type: string } } } } }";

/// What is found where `b` reads the output of `a`, whose form is given.
fn read(form: &str, path: &str) -> String {
    check(&format!(
        "tasks:\n  a: {{ run: echo, output: {form} }}\n  b:\n    run: echo ${{{{ tasks.a.output{path} }}}}\n"
    ))
}

#[test]
fn paths_that_a_schema_has_are_accepted() {
    for good in [
        "",
        ".areas",
        ".areas[0].id",
        ".note",
        ".more.anything.at.all",
        ".open.a",
        ".open.other",
        ".areas | length",
    ] {
        assert_eq!(read(SCHEMA, good), "", "{good}");
    }
    assert_eq!(read("json", ".a[0].b"), "");
    assert_eq!(read("lines", "[0]"), "");
    assert_eq!(read("{ anyOf: [{ type: object }] }", ".a"), "");
    assert_eq!(read("{ type: [object, \"null\"], properties: { a: {} } }", ".a"), "");
}

#[test]
fn paths_that_a_schema_rules_out_are_found() {
    assert_snapshot!(read(SCHEMA, ".aeras"), @r"
    error[F0304]: `tasks.a.output` has no `aeras`
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.output.aeras }}
      |                   ^^^^^^^^^^^^^^^^^^^^
      |
      = help: did you mean `areas`? available: `areas`, `note`, `more`, `open`
    ");
    assert_snapshot!(read(SCHEMA, ".areas[0].name"), @r"
    error[F0304]: `tasks.a.output.areas[0]` has no `name`
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.output.areas[0].name }}
      |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: available: `id`
    ");
    assert_snapshot!(read(SCHEMA, ".areas.id"), @r"
    error[F0304]: `tasks.a.output.areas` is a list and has no fields
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.output.areas.id }}
      |                   ^^^^^^^^^^^^^^^^^^^^^^^
    ");
    assert_snapshot!(read(SCHEMA, ".note.x"), @r"
    error[F0304]: `tasks.a.output.note` has no fields
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.output.note.x }}
      |                   ^^^^^^^^^^^^^^^^^^^^^
    ");
    assert_snapshot!(read(SCHEMA, "[0]"), @r"
    error[F0304]: `tasks.a.output` is no list
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.output[0] }}
      |                   ^^^^^^^^^^^^^^^^^
    ");
    assert_snapshot!(read("text", ".files"), @r"
    error[F0304]: `tasks.a.output` is text and has no fields
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.output.files }}
      |                   ^^^^^^^^^^^^^^^^^^^^
      |
      = help: give the task `output: json`, or a JSON Schema
    ");
    assert_snapshot!(read("lines", ".first"), @r"
    error[F0304]: `tasks.a.output` is a list of lines and has no fields
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.output.first }}
      |                   ^^^^^^^^^^^^^^^^^^^^
    ");
}

#[test]
fn a_schema_file_is_read_beside_the_plan() {
    let plan = "tasks:\n  a: { run: echo, output: { $ref: ./x.json } }\n  b: { run: \"echo ${{ tasks.a.output.nope }}\" }\n";
    let with = |text: &str| Trial::of(plan).file("./x.json", text).report();
    assert_snapshot!(with("{\"type\": \"object\", \"properties\": {\"yes\": {}}}"), @r#"
    error[F0304]: `tasks.a.output` has no `nope`
     --> plan.yaml:4:23
      |
    4 |   b: { run: "echo ${{ tasks.a.output.nope }}" }
      |                       ^^^^^^^^^^^^^^^^^^^
      |
      = help: available: `yes`
    "#);
    assert_snapshot!(Trial::of(plan).report(), @r"
    error[F0208]: can't read the schema `./x.json`: no such file
     --> plan.yaml:3:35
      |
    3 |   a: { run: echo, output: { $ref: ./x.json } }
      |                                   ^^^^^^^^
    ");
    assert_snapshot!(with("{"), @r"
    error[F0208]: the schema `./x.json` is no JSON: EOF while parsing an object at line 1 column 1; it begins with `{`
     --> plan.yaml:3:35
      |
    3 |   a: { run: echo, output: { $ref: ./x.json } }
      |                                   ^^^^^^^^
    ");
}

#[test]
fn what_is_no_schema_is_refused() {
    assert_snapshot!(check("tasks:\n  a: { run: echo, output: { type: objekt } }\n"), @r#"
    error[F0208]: this is no good JSON Schema at `/type`: "objekt" is not valid under any of the schemas listed in the 'anyOf' keyword
     --> plan.yaml:3:35
      |
    3 |   a: { run: echo, output: { type: objekt } }
      |                                   ^^^^^^
      |
      = help: a type is one of `object`, `array`, `string`, `number`, `integer`, `boolean`, `null`
    "#);
    assert_snapshot!(check("tasks:\n  a: { run: echo, output: { verdict: string } }\n"), @r"
    error[F0208]: this is no JSON Schema: none of its keys is one of a schema
     --> plan.yaml:3:29
      |
    3 |   a: { run: echo, output: { verdict: string } }
      |                             ^^^^^^^
      |
      = help: a schema looks like `{ type: object, required: [verdict], properties: { verdict: { type: string } } }`
    ");
    assert_snapshot!(check("tasks:\n  a: { run: echo, output: { type: object, properties: { a: { pattern: \"(\" } } } }\n"), @r#"
    error[F0208]: this is no good JSON Schema at `/properties/a/pattern`: "(" is not a "regex"
     --> plan.yaml:3:71
      |
    3 |   a: { run: echo, output: { type: object, properties: { a: { pattern: "(" } } } }
      |                                                                       ^^^
    "#);
    assert_snapshot!(check("tasks:\n  a: { run: echo, output: { $ref: \"#/nope\" } }\n"), @r##"
    error[F0208]: this is no good JSON Schema: Pointer '/nope' does not exist
     --> plan.yaml:3:29
      |
    3 |   a: { run: echo, output: { $ref: "#/nope" } }
      |                             ^^^^
      |
      = help: a schema looks like `{ type: object, required: [verdict], properties: { verdict: { type: string } } }`
    "##);
    assert_snapshot!(check("tasks:\n  a: { run: echo, output: [text] }\n"), @r"
    error[F0202]: `output` takes `text`, `json`, `lines`, `pairs` or a JSON Schema, not a list
     --> plan.yaml:3:27
      |
    3 |   a: { run: echo, output: [text] }
      |                           ^^^^^^
    ");
}

#[test]
fn a_misspelt_word_of_a_schema_is_an_error_at_any_depth() {
    let form = |schema: &str| check(&format!("tasks:\n  a: {{ run: echo, output: {schema} }}\n"));
    assert_snapshot!(form("{ type: object, propertes: { a: { type: string } } }"), @r"
    error[F0208]: `propertes` is no word of a JSON Schema
     --> plan.yaml:3:43
      |
    3 |   a: { run: echo, output: { type: object, propertes: { a: { type: string } } } }
      |                                           ^^^^^^^^^
      |
      = help: did you mean `properties`?
    ");
    let deep = "{ type: object, properties: { a: { type: array, items: { anyOf: [{ type: string, minLenght: 3 }] } } } }";
    assert_snapshot!(form(deep), @r"
    error[F0208]: `minLenght` is no word of a JSON Schema
     --> plan.yaml:3:108
      |
    3 |   a: { run: echo, output: { type: object, properties: { a: { type: array, items: { anyOf: [{ type: string, minLenght: 3 }] } } } } }
      |                                                                                                            ^^^^^^^^^
      |
      = help: did you mean `minLength`?
    ");
    assert_snapshot!(form("{ type: string, nullable: true }"), @r#"
    error[F0208]: `nullable` is no word of a JSON Schema
     --> plan.yaml:3:43
      |
    3 |   a: { run: echo, output: { type: string, nullable: true } }
      |                                           ^^^^^^^^
      |
      = help: write `type: [string, "null"]`
    "#);
    // What tells people something is no error, and what a person calls a property is none of ours.
    assert!(form("{ type: string, describtion: x }").starts_with("warning[W0201]"));
    assert!(form("{ type: string, whatever: x }").starts_with("warning[W0201]"));
    let fine = "{ $comment: x, x-own: 1, title: t, type: object, properties: { propertes: {}, minLenght: { enum: [{ whatever: 1 }] } } }";
    assert_eq!(form(fine), "");
}

#[test]
fn a_required_name_that_no_property_has_is_an_error() {
    let form = |schema: &str| check(&format!("tasks:\n  a: {{ run: echo, output: {schema} }}\n"));
    assert_snapshot!(form("{ type: object, required: [verdict, nots], properties: { verdict: {}, notes: {} } }"), @r"
    error[F0208]: `required` names `nots`, which `properties` lacks
     --> plan.yaml:3:63
      |
    3 |   a: { run: echo, output: { type: object, required: [verdict, nots], properties: { verdict: {}, notes: {} } } }
      |                                                               ^^^^
      |
      = help: did you mean `notes`?
    ");
    for fine in [
        "{ type: object, required: [a] }",
        "{ type: object, required: [a], properties: { b: {} }, additionalProperties: { type: string } }",
        "{ type: object, required: [a], properties: { b: {} }, allOf: [{ properties: { a: {} } }] }",
    ] {
        assert_eq!(form(fine), "", "{fine}");
    }
}

#[test]
fn an_empty_schema_is_an_error() {
    assert_snapshot!(check("tasks:\n  a: { run: echo, output: {} }\n"), @r"
    error[F0208]: this schema is empty: it says nothing of the output
     --> plan.yaml:3:27
      |
    3 |   a: { run: echo, output: {} }
      |                           ^^
      |
      = help: write `output: json` where any JSON will do, else say what it is: `{ type: object, required: [verdict], properties: { verdict: { type: string } } }`
    ");
}

#[test]
fn a_slip_in_a_file_of_a_schema_names_the_file_and_the_place() {
    let text = "tasks:\n  a: { run: echo, output: { $ref: s.json } }\n";
    let file = "{\"type\": \"object\", \"properties\": {\"a\": {\"typ\": \"string\"}}}";
    assert_snapshot!(Trial::of(text).file("s.json", file).report(), @r"
    error[F0208]: `typ` is no word of a JSON Schema (`s.json` at `/properties/a/typ`)
     --> plan.yaml:3:35
      |
    3 |   a: { run: echo, output: { $ref: s.json } }
      |                                   ^^^^^^
      |
      = help: did you mean `type`?
    ");
}
