use super::*;
use crate::diagnostic::testing::short;

fn import_of(text: &str) -> Import {
    read(&Arc::new(SourceFile::new("agents/a.md", text)))
}

/// A file with this front matter and a prompt.
fn agent(front: &str) -> String {
    format!("---\n{front}\n---\nBe good.\n")
}

macro_rules! check {
    ($front:expr, @$expected:literal) => {
        insta::assert_snapshot!(short(&import_of(&agent($front)).found), @$expected)
    };
}

fn names(texts: &[Text]) -> Vec<&str> {
    texts.iter().map(|text| text.value.as_str()).collect()
}

fn tools_of(front: &str) -> Vec<String> {
    match import_of(&agent(front)).agent.unwrap().tools.unwrap().value {
        ToolsFile::All => vec!["*".to_owned()],
        ToolsFile::Only(words) => words.into_iter().map(|word| word.value).collect(),
    }
}

#[test]
fn every_key_of_the_format_is_read() {
    let front = "name: n\ndescription: d\ntools: Read\ndisallowedTools: Write, Bash(rm *)\nmodel: haiku\neffort: low\n\
        permissionMode: plan\nmaxTurns: 20\nisolation: worktree\nbackground: true\nmemory: project\nskills: one, two\n\
        mcpServers: [{docs: {type: stdio}}]\nhooks: {PreToolUse: x}\ncolor: '#fff'\ninitialPrompt: Begin.\nversion: 1.0\n\
        flow: {when_to_use: w, supports_background: false, version: 1.10, extends: ./b.md, template: true, x-mine: 1}";
    for field in KEYS {
        assert!(front.contains(&format!("{}: ", field.name)), "`{}` is missing from this test", field.name);
    }
    let import = import_of(&agent(front));
    assert_eq!(
        short(&import.found),
        "19:67 [extends] W0201 `extends` has no effect yet; take it out until this program knows it\n\
         19:84 [template] W0201 `template` has no effect yet; take it out until this program knows it"
    );
    let agent = import.agent.unwrap();
    assert_eq!(names(&agent.disallowed_tools), ["Write", "Bash(rm *)"]);
    assert_eq!(names(&agent.skills), ["one", "two"]);
    assert_eq!(agent.version.as_ref().unwrap().value, "1.10");
    // Debug shows every field, so a key that is read into nothing shows as `None` or `[]`.
    let debug = format!("{:?}", AgentFile { hooks: None, mcp_servers: None, ..agent });
    assert_eq!(debug.matches("None").count(), 2, "{debug}");
    assert!(!debug.contains("[]"), "{debug}");
}

#[test]
fn tools_are_split_in_every_form() {
    assert_eq!(tools_of("tools: Read, Bash(git diff:*, git log:*)"), ["Read", "Bash(git diff:*, git log:*)"]);
    assert_eq!(tools_of("tools:\n  - Read  # n\n  - 'Bash(npm test:*)'"), ["Read", "Bash(npm test:*)"]);
    assert_eq!(tools_of("tools: ['Read, Grep', Glob]"), ["Read", "Grep", "Glob"]);
    assert_eq!(tools_of("tools: '*'"), ["*"]);
    assert_eq!(tools_of("tools: *"), ["*"]);
    assert_eq!(tools_of("tools: [Read, '*']"), ["*"]);
    assert_eq!(tools_of("tools: []"), Vec::<String>::new());
    assert_eq!(tools_of("tools:"), Vec::<String>::new());
    // What can't be read grants nothing.
    assert_eq!(tools_of("tools: {read: true}"), Vec::<String>::new());
    assert_eq!(tools_of("tools: true"), Vec::<String>::new());
}

#[test]
fn a_misspelt_list_of_tools_never_widens_the_set() {
    for key in ["allowed-tools", "allowedTools", "allowed_tools", "tool", "Tools"] {
        assert_eq!(tools_of(&format!("name: a\n{key}: Read")), ["Read"], "{key}");
    }
    check!("name: a\ndescription: d\nallowed-tools: Read", @"4:1 [allowed-tools] W0501 `allowed-tools` is read as `tools`; write `tools`");
    check!("name: a\ndescription: d\ntools: Read\nallowed-tools: Read, Bash", @"5:1 [allowed-tools] F0205 `allowed-tools` beside `tools`: which of the two limits the agent?; keep `tools`");
}

#[test]
fn a_near_miss_of_a_limiting_key_is_an_error_and_other_unknown_keys_are_not() {
    check!("name: a\ndescription: d\nisolaton: worktree\ndisalowedTools: Bash\npermisionMode: plan\nmaxTurn: 3", @r"
    4:1 [isolaton] F0201 unknown key `isolaton`; it looks like one that limits the agent; did you mean `isolation`? a key of your own would be `x-isolaton`
    5:1 [disalowedTools] F0201 unknown key `disalowedTools`; it looks like one that limits the agent; did you mean `disallowedTools`? a key of your own would be `x-disalowedTools`
    6:1 [permisionMode] F0201 unknown key `permisionMode`; it looks like one that limits the agent; did you mean `permissionMode`? a key of your own would be `x-permisionMode`
    7:1 [maxTurn] F0201 unknown key `maxTurn`; it looks like one that limits the agent; did you mean `maxTurns`? a key of your own would be `x-maxTurn`
    ");
    check!("name: a\ndescription: d\ndisallowed_tools: Bash\nmax-turns: 3\nIsolation: worktree\npermissions: x", @r"
    4:1 [disallowed_tools] F0201 unknown key `disallowed_tools`; it looks like one that limits the agent; did you mean `disallowedTools`? a key of your own would be `x-disallowed_tools`
    5:1 [max-turns] F0201 unknown key `max-turns`; it looks like one that limits the agent; did you mean `maxTurns`? a key of your own would be `x-max-turns`
    6:1 [Isolation] F0201 unknown key `Isolation`; it looks like one that limits the agent; did you mean `isolation`? a key of your own would be `x-Isolation`
    7:1 [permissions] F0201 unknown key `permissions`; it looks like one that limits the agent; did you mean `permissionMode`? a key of your own would be `x-permissions`
    ");
    check!("name: a\ndescription: d\nmodle: x\nzebra: y\nx-mine: z\nflow: {whento_use: a}", @r"
    7:8 [whento_use] W0201 unknown key `whento_use` under `flow` is ignored; did you mean `when_to_use`?
    4:1 [modle] W0201 unknown key `modle` is ignored; did you mean `model`?
    5:1 [zebra] W0201 unknown key `zebra` is ignored; take it out, or call it `x-zebra`
    ");
    check!("name: a\ndescription: Use it: always\nisolaton: worktree", @r"
    3:1 [description] W0501 `description` is read as plain text: `: ` inside a value without quotes; write `description: 'Use it: always'`
    4:1 [isolaton] F0201 unknown key `isolaton`; it looks like one that limits the agent; did you mean `isolation`? a key of your own would be `x-isolaton`
    ");
}

#[test]
fn values_of_the_wrong_type_are_errors() {
    check!("name: [a]\ndescription: d\nmaxTurns: many\nbackground: yes\nisolation:\npermissionMode: 3\ntools: 5", @r"
    2:7 [[a]] F0202 `name` takes text, not a list; write one text, without brackets or `- `
    4:11 [many] F0202 `maxTurns` takes a whole number, not text
    5:13 [yes] F0202 `background` takes `true` or `false`, not text; write `true`
    6:1 [isolation] F0202 `isolation` has no value; it takes text; write a value, or take the key out
    7:17 [3] F0202 `permissionMode` takes text, not a number; quote it: `'3'`
    8:8 [5] F0202 `tools` takes a list, not a number; put it in brackets: `[5]`
    ");
    check!("name: [a]\ndescription: {x: y}", @r"
    2:7 [[a]] F0202 `name` takes text, not a list; write one text, without brackets or `- `
    3:14 [{x: y}] F0202 `description` takes text, not a mapping
    ");
    check!("name:\ndescription: &x d\nmaxTurns: '20'", @r"
    3:14 [&x] W0202 `&x` names a part of the file, so it isn't part of `description`; quote it: `description: '&x d'`, or write `description: |` and the text on the next line, indented
    4:11 [\'20\'] F0202 `maxTurns` takes a whole number, not text; write it without quotes: `20`
    2:1 [] W0501 no `name`, so the file's name stands in: `a`; write `name: a`
    ");
    check!("name: a\ndescription: d\ntools: {read: true, write: false}", @"4:8 [{read: true, write: false}] F0202 `tools` takes names of tools, not a mapping; write all that it may use, such as `tools: Read, Grep`");
    check!("- a\n- b", @"2:1 [- a] F0202 front matter is a mapping of keys; write `name: …` and `description: …`");
    check!("name: a\ndescription: d\nname: b", @"4:1 [name] F0107 `name` is written twice (2:1 first here); take one of them out");
    check!("name: a\ndescription: !x d", @"3:14 [!x] F0106 `!x` is a YAML tag, and flow has no tags; quote it: `description: '!x d'`, or write `description: |` and the text on the next line, indented");
}

#[test]
fn what_a_definition_lacks_is_said() {
    insta::assert_snapshot!(short(&import_of("---\n---\n").found), @r#"
    2:1 [] W0501 no `name`, so the file's name stands in: `a`; write `name: a`
    2:1 [] W0202 no `description`, so nobody can tell when to use it; write one sentence that begins with "Use"
    3:1 [] W0202 the system prompt is empty; write it below the front matter
    "#);
    insta::assert_snapshot!(short(&import_of("\u{feff}\n---\nname: a\ndescription: d\n---\n \n").found), @r"
    2:1 [---] W0501 the front matter doesn't begin on the first line; take out what stands above it: other programs don't look further
    6:1 [] W0202 the system prompt is empty; write it below the front matter
    ");
}

#[test]
fn a_line_that_is_no_yaml_costs_a_warning_with_the_quoted_form() {
    check!("name: a\ndescription: Use for X: yes\ntools: [Read, Grep]", @"3:1 [description] W0501 `description` is read as plain text: `: ` inside a value without quotes; write `description: 'Use for X: yes'`");
    check!("name: a\ndescription: `cmd` runner", @"3:1 [description] W0501 `description` is read as plain text: a value can't begin with a backtick without quotes; write `description: '`cmd` runner'`");
    check!("description: Use for X. Examples:\n<example>\nuser: hi\n</example>\nname: a\ncolor: red", @"2:1 [description] W0501 `description` is read as plain text: `: ` inside a value without quotes; write `description: |` and the whole text below it, indented");
    check!("junk here\nname: a\ndescription: x: y", @r"
    2:1 [junk here] W0501 what stands above the first key belongs to none and is left out; take it out
    4:1 [description] W0501 `description` is read as plain text: `: ` inside a value without quotes; write `description: 'x: y'`
    ");
    check!("name: a\ndescription: x: y\nname: b", @r"
    3:1 [description] W0501 `description` is read as plain text: `: ` inside a value without quotes; write `description: 'x: y'`
    4:1 [name] F0107 `name` is written twice (2:1 first here); take one of them out
    ");
    check!("name: a\n description: d\ntools: Read", @r#"
    2:1 [name] W0501 `name` is read as plain text: this line is indented deeper than `name` above, so it continues its text; write `name` on one line, and begin every key at the left margin
    2:1 [] W0202 no `description`, so nobody can tell when to use it; write one sentence that begins with "Use"
    "#);
    check!("one: two: three\n", @"2:9 [:] F0104 `: ` inside a value without quotes; quote it: `one: 'two: three'`, or write `one: |` and the text on the next line, indented");
}

#[test]
fn recovered_text_is_what_was_written() {
    let description = |front: &str| import_of(&agent(front)).agent.unwrap().description.unwrap().value;
    assert_eq!(description("description: a: b # c\nname: x"), "a: b # c");
    assert_eq!(description("description: \"C:\\work\"\nname: x"), "C:\\work");
    assert_eq!(description("description: \"Hi\", she said\nname: x"), "\"Hi\", she said");
    assert_eq!(description("description: a: b\\nc\nname: x"), "a: b\nc");
    assert_eq!(description("description: fix #12, #é # not this\nname: x"), "fix #12, #é");
    assert_eq!(description("description: fix #\nname: x"), "fix");
    assert_eq!(description("description: 'fix' #12\nname: x"), "fix");
    assert_eq!(description("description:   a: b\n  c: d\n\nname: x"), "a: b\n  c: d");
    let file = import_of(&agent("description: a: b\ntools: Read, Bash(x: y)\nname: n")).agent.unwrap();
    let ToolsFile::Only(words) = &file.tools.as_ref().unwrap().value else { panic!("all tools") };
    for word in words {
        assert_eq!(file.file.slice(word.span), word.value);
    }
}

#[test]
fn quotes_that_enclose_all_of_a_value_are_no_part_of_it() {
    let description = |written: &str| {
        let import = import_of(&agent(&format!("name: a\ndescription: {written}\ntools: Read")));
        assert_eq!(import.found.len(), 1, "{written}");
        import.agent.unwrap().description.unwrap().value
    };
    for (written, read) in [
        ("'Use when it's late'", "Use when it's late"),
        ("\"Say \"hi\" to all\"", "Say \"hi\" to all"),
        ("\"One.\\nTwo \\\"q\\\" in C:\\work\"", "One.\nTwo \"q\" in C:\\work"),
        ("\"D:\\\"", "D:\\"),
        ("'it''s 'so''", "it's 'so'"),
        ("\"one\" and \"two\"", "\"one\" and \"two\""),
        ("'one', 'two'", "'one', 'two'"),
        ("\"never closed", "never closed"),
        (
            "\"Examples:\n<example>\nuser: \"hi\"\n</example>\"",
            "Examples:\n<example>\nuser: \"hi\"\n</example>",
        ),
    ] {
        assert_eq!(description(written), read, "{written}");
    }
}

#[test]
fn tools_with_quotes_of_their_own_are_meant_without() {
    for written in ["\"Read\", \"Grep\"", "'Read', 'Grep'", "Read, \"Grep\""] {
        assert_eq!(tools_of(&format!("name: a\ntools: {written}")), ["Read", "Grep"], "{written}");
    }
    check!("name: a\ndescription: d\ntools: \"Read\", \"Grep\"", @r#"4:1 [tools] W0501 `tools` is read as plain text: a value that begins with `"` ends at the next `"`, and more follows; write `tools: Read, Grep`"#);
}

#[test]
fn a_list_that_cuts_a_rule_at_its_comma_is_put_together() {
    assert_eq!(tools_of("tools: [Bash(a b:*, c d:*), Read]"), ["Bash(a b:*, c d:*)", "Read"]);
    assert_eq!(tools_of("tools: [Read, Bash(a, b, c)]"), ["Read", "Bash(a, b, c)"]);
    // What is never closed takes nothing along.
    assert_eq!(tools_of("tools: [Bash(a, Read]"), ["Bash(a", "Read"]);
    assert_eq!(tools_of("tools:\n  - Bash(a\n  - b)"), ["Bash(a", "b)"]);
    check!("name: a\ndescription: d\ntools: [Bash(a:*, b:*)]\ndisallowedTools: [Bash(c, d)]", @r#"
    4:9 [Bash(a:*, b:*)] W0501 the list is cut at the comma in `Bash(a:*, b:*)`, which is read as one; write `"Bash(a:*, b:*)"`
    5:19 [Bash(c, d)] W0501 the list is cut at the comma in `Bash(c, d)`, which is read as one; write `"Bash(c, d)"`
    "#);
}

#[test]
fn a_tab_that_indents_counts_as_a_blank() {
    assert_eq!(tools_of("name: a\ntools:\n\t- Read\n\t- 'Bash(x\ty)'"), ["Read", "Bash(x\ty)"]);
    check!("name: a\ndescription: d\ntools:\n\t- Read\nflow:\n\twhen_to_use: w\n\twhento: x", @r"
    5:1 [\t] W0501 a tab indents a line of `tools`, and is read as a blank; indent with blanks: YAML allows no tabs there
    7:1 [\t] W0501 a tab indents a line of `flow`, and is read as a blank; indent with blanks: YAML allows no tabs there
    8:2 [whento] W0201 unknown key `whento` under `flow` is ignored; known keys: `when_to_use`, `version`, `supports_background`, `extends`, `template`, `args`, `backend`, `output`, `timeout`, `retry`, `budget`, `checks`
    ");
    check!("name: a\ndescription:\n\tUse for X: yes\n\tand no\ntools: Read", @"3:1 [description] W0501 `description` is read as plain text: a tab can't indent YAML; write `description: |` and the whole text below it, indented");
}

#[test]
fn a_key_in_another_spelling_is_read_unless_it_limits_or_starts_programs() {
    let import = import_of(&agent("Name: n\n\u{a0}description: d\ninitial-prompt: p"));
    insta::assert_snapshot!(short(&import.found), @r"
    2:1 [Name] W0501 `Name` is read as `name`; write `name`
    3:1 [\u{a0}description] W0501 ` description` is read as `description`; write `description`
    4:1 [initial-prompt] W0501 `initial-prompt` is read as `initialPrompt`; write `initialPrompt`
    ");
    let file = import.agent.unwrap();
    let name = file.identity().to_owned();
    assert_eq!(
        (name.as_str(), file.description.unwrap().value, file.initial_prompt.unwrap().value),
        ("n", "d".to_owned(), "p".to_owned())
    );
    check!("name: a\nName: b\ndescription: d\nMCPServers: {x: y}\nHooks: {x: y}\nmode: subagent\nMaxTurns: 3", @r"
    3:1 [Name] W0201 unknown key `Name` is ignored; did you mean `name`?
    5:1 [MCPServers] W0201 unknown key `MCPServers` is ignored; did you mean `mcpServers`?
    6:1 [Hooks] W0201 unknown key `Hooks` is ignored; did you mean `hooks`?
    7:1 [mode] W0201 unknown key `mode` is ignored; take it out, or call it `x-mode`
    8:1 [MaxTurns] F0201 unknown key `MaxTurns`; it looks like one that limits the agent; did you mean `maxTurns`? a key of your own would be `x-MaxTurns`
    ");
    for key in EXACT {
        assert!(known(key), "{key}");
    }
}

#[test]
fn an_error_is_not_lost_behind_a_thousand_warnings() {
    let front: String = (0..3_000).map(|n| format!("zebra{n}: 1\n")).collect();
    let found = import_of(&agent(&format!("name: a\n{front}isolaton: worktree"))).found;
    assert!(found.iter().any(Diagnostic::is_error) && found.len() < 2_000, "{}", found.len());
}

#[test]
fn toml_front_matter_has_the_same_keys() {
    let import = import_of("+++\nname = 'a'\ndescription = 'd'\ntools = ['Read']\nmaxTurn = 3\n+++\nB\n");
    insta::assert_snapshot!(short(&import.found), @"5:1 [maxTurn] F0201 unknown key `maxTurn`; it looks like one that limits the agent; did you mean `maxTurns`? a key of your own would be `x-maxTurn`");
    assert_eq!(import.agent.unwrap().body, "B\n");
    insta::assert_snapshot!(short(&import_of("+++\nname = a\n+++\nB\n").found), @"2:8 [a] F0104 this isn't TOML: string values must be quoted, expected literal string");
}

#[test]
fn pages_are_no_agents() {
    assert!(!takes("agents/README.md") && !takes("Contributing.md"));
    assert!(takes("agents/readme-writer.md") && takes("--agents (a)"));
}
