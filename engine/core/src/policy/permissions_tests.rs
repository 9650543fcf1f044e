use serde_json::json;

use super::*;

/// Permissions of an agent in `/w/tree`, with rules as text.
fn agent() -> Permissions {
    let nothing =
        PermissionRules { layer: SettingsLayer::Flag, allow: Vec::new(), ask: Vec::new(), deny: Vec::new() };
    Permissions {
        mode: PermissionMode::Default,
        mode_source: ModeSource::Definition,
        tree: PathBuf::from("/w/tree"),
        dir: PathBuf::from("/w/tree"),
        home: Some(PathBuf::from("/home/me")),
        readable: Vec::new(),
        private_tree: false,
        layers: Vec::new(),
        task: nothing,
        definition: ToolPolicy::Inherit,
        disallowed: Vec::new(),
    }
}

fn rules(texts: &[&str]) -> Vec<ToolRule> {
    texts.iter().map(|text| ToolRule::parse(text)).collect()
}

impl Permissions {
    fn mode(mut self, mode: PermissionMode) -> Self {
        self.mode = mode;
        self
    }

    fn layer(mut self, layer: SettingsLayer, allow: &[&str], ask: &[&str], deny: &[&str]) -> Self {
        self.layers.push(PermissionRules { layer, allow: rules(allow), ask: rules(ask), deny: rules(deny) });
        self
    }

    fn task(mut self, allow: &[&str]) -> Self {
        self.task.allow = rules(allow);
        self
    }

    fn definition(mut self, tools: &[&str]) -> Self {
        self.definition = ToolPolicy::Only(rules(tools));
        self
    }
}

/// A call in short: `Bash ls`, `Read path`.
fn verdict(permissions: &Permissions, call: &str) -> &'static str {
    let (name, argument) = call.split_once(' ').unwrap_or((call, ""));
    let input = match name {
        "Bash" => json!({ "command": argument }),
        "Grep" => json!({ "pattern": "x", "path": argument }),
        "Glob" => json!({ "pattern": argument }),
        "Agent" => json!({ "subagent_type": argument }),
        "Skill" => json!({ "skill": argument }),
        "WebFetch" => json!({ "url": argument }),
        _ => json!({ "file_path": argument }),
    };
    match permissions.decide(name, &input) {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny(DenialReason::Rule, _) => "rule",
        Verdict::Deny(DenialReason::Mode, _) => "mode",
        Verdict::Deny(DenialReason::NotAvailable, _) => "missing",
        Verdict::Deny(
            DenialReason::NobodyToAsk | DenialReason::AsyncAgent | DenialReason::UnknownTool,
            _,
        ) => "other",
    }
}

#[track_caller]
fn check(permissions: &Permissions, cases: &[(&str, &str)]) {
    for (call, expected) in cases {
        assert_eq!(verdict(permissions, call), *expected, "{call}");
    }
}

#[test]
fn without_rules_looking_inside_the_tree_passes_and_the_rest_asks() {
    check(
        &agent(),
        &[
            ("Read src/lib.rs", "allow"),
            ("Read /w/tree/src", "allow"),
            ("Read src/../../x", "ask"),
            ("Read /etc/hostname", "ask"),
            ("Read /w/tree2/x", "ask"),
            ("Grep .", "allow"),
            ("Grep ..", "ask"),
            ("Glob src/**/*.rs", "allow"),
            ("Glob /etc/*", "ask"),
            ("Glob */../../*", "ask"),
            ("Write a", "ask"),
            ("Edit a", "ask"),
            ("Bash ls -la", "allow"),
            ("Bash cat /etc/passwd", "ask"),
            ("Bash rm x", "ask"),
            ("Bash", "ask"),
            ("Bash ls; rm x", "ask"),
            ("TodoWrite", "allow"),
            ("WebFetch", "ask"),
            ("mcp__docs__search", "ask"),
        ],
    );
    let input = json!({ "pattern": "*.rs", "path": "/etc" });
    assert_eq!(agent().decide("Glob", &input), Verdict::Ask);
    assert_eq!(agent().decide("Read", &json!({})), Verdict::Ask);
    assert_eq!(agent().decide("Read", &json!({ "file_path": 7 })), Verdict::Ask);
}

#[test]
fn paths_begin_at_the_folder_and_patterns_at_the_tree() {
    let mut permissions =
        agent().task(&["Edit(src/**)"]).layer(SettingsLayer::User, &[], &[], &["Read(sub/secret/**)"]);
    permissions.dir = PathBuf::from("/w/tree/sub");
    check(
        &permissions,
        &[
            ("Read ../a", "allow"),
            ("Read ../../a", "ask"),
            ("Read secret/key", "rule"),
            ("Bash cat secret/key", "ask"),
            ("Grep secret/key", "rule"),
            ("Edit src/a", "ask"),
            ("Edit ../src/a", "allow"),
            ("Write ../src/a", "allow"),
            ("Write ../src/../a", "ask"),
        ],
    );
    assert!(
        permissions.may_read(Path::new("/w/tree/a"))
            && !permissions.may_read(Path::new("/w/tree/sub/secret/key"))
    );
    permissions.readable.push(PathBuf::from("/w/project"));
    check(&permissions, &[("Read /w/project/a", "allow"), ("Edit /w/project/a", "ask")]);
}

#[test]
fn modes_decide_where_no_rule_does() {
    let edits = agent().mode(PermissionMode::AcceptEdits);
    check(&edits, &[("Edit a", "ask"), ("Bash rm x", "ask")]);
    let private = Permissions { private_tree: true, ..edits.clone() };
    let chosen = Permissions { mode_source: ModeSource::Person, ..edits };
    for permissions in [private, chosen] {
        check(
            &permissions,
            &[
                ("Edit a", "allow"),
                ("Write a/b", "allow"),
                ("Write ../b", "ask"),
                ("Write .git/hooks/pre-commit", "ask"),
                ("Edit sub/.GIT/config", "ask"),
                ("Edit .envrc", "ask"),
                ("Edit .gitignore", "allow"),
                ("Bash rm x", "ask"),
            ],
        );
    }
    check(
        &agent().mode(PermissionMode::DontAsk).task(&["Bash(cargo test *)"]),
        &[("Edit a", "mode"), ("Read a", "allow"), ("Bash cargo test -q", "allow"), ("Bash rm x", "mode")],
    );
    check(
        &agent().mode(PermissionMode::Plan).task(&["Write", "Bash"]),
        &[
            ("Write a", "mode"),
            ("Bash rm x", "mode"),
            ("Bash ls", "allow"),
            ("Read a", "allow"),
            ("Read /x", "ask"),
        ],
    );
    check(
        &agent().mode(PermissionMode::BypassPermissions).layer(
            SettingsLayer::User,
            &[],
            &["Bash(git push *)"],
            &["Bash(rm *)"],
        ),
        &[
            ("Write /etc/x", "allow"),
            ("Bash git push", "allow"),
            ("Bash rm x", "rule"),
            ("Bash a $(rm x)", "rule"),
        ],
    );
    for mode in [PermissionMode::Auto, PermissionMode::Bubble] {
        check(&agent().mode(mode), &[("Edit a", "ask"), ("Read a", "allow")]);
    }
}

#[test]
fn a_deny_of_any_source_stands() {
    let permissions = agent().task(&["Bash"]).layer(SettingsLayer::Policy, &["Bash"], &[], &[]).layer(
        SettingsLayer::Repository,
        &[],
        &[],
        &["Bash(curl *)"],
    );
    check(&permissions, &[("Bash curl x", "rule"), ("Bash a; curl x", "rule"), ("Bash rm x", "allow")]);
    let policy = agent().layer(SettingsLayer::Policy, &[], &[], &["Read(.env)"]).task(&["Read(.env)"]);
    check(
        &policy,
        &[("Read .env", "rule"), ("Read a/.env", "rule"), ("Grep .env", "rule"), ("Read a", "allow")],
    );
}

#[test]
fn an_ask_is_settled_by_a_stronger_allow_alone() {
    let all = [SettingsLayer::Repository, SettingsLayer::User, SettingsLayer::Flag, SettingsLayer::Policy];
    for (asks, asking) in all.iter().enumerate() {
        for (allows, allowing) in all.iter().enumerate() {
            let permissions =
                agent().layer(*asking, &[], &["Edit"], &[]).layer(*allowing, &["Edit"], &[], &[]);
            let expected = if allows > asks { "allow" } else { "ask" };
            assert_eq!(verdict(&permissions, "Edit a"), expected, "{asking:?} asks, {allowing:?} allows");
        }
    }
    check(
        &agent().task(&["Edit"]).layer(SettingsLayer::Repository, &[], &["Edit"], &[]),
        &[("Edit a", "allow")],
    );
    check(&agent().task(&["Edit"]).layer(SettingsLayer::User, &[], &["Edit"], &[]), &[("Edit a", "ask")]);
    let defined =
        agent().definition(&["Bash(a *)"]).layer(SettingsLayer::Repository, &[], &["Bash(a *)"], &[]);
    check(&defined, &[("Bash a", "ask")]);
    check(&agent().layer(SettingsLayer::User, &[], &["Read"], &[]), &[("Read a", "ask")]);
}

#[test]
fn a_repository_grants_nothing() {
    let permissions = agent().layer(SettingsLayer::Repository, &["Bash", "Edit", "*"], &[], &[]);
    check(&permissions, &[("Bash rm x", "ask"), ("Edit a", "ask"), ("Read /etc/x", "ask")]);
}

#[test]
fn a_definition_limits_by_names_and_grants_by_specifiers() {
    check(
        &agent().definition(&["Bash(./run:*)", "Read"]),
        &[
            ("Bash ./run all", "allow"),
            ("Bash ./run all; touch leak", "rule"),
            ("Bash ./run $(touch leak2)", "rule"),
            ("Bash ./runaway", "rule"),
            ("Bash ls", "rule"),
            ("Read a", "allow"),
            ("Read /etc/x", "ask"),
            ("Write a", "missing"),
            ("Grep a", "missing"),
        ],
    );
    check(
        &agent().definition(&["Bash(cargo test *)", "Bash", "Edit(src/**)"]),
        &[
            ("Bash cargo test", "allow"),
            ("Bash rm x", "ask"),
            ("Edit src/a", "allow"),
            ("Edit a", "rule"),
            ("Write src/a", "missing"),
        ],
    );
    check(&agent().definition(&["Bash(a *)"]).task(&["Bash"]), &[("Bash b", "rule"), ("Bash a", "allow")]);
    check(&agent().definition(&["*"]), &[("Read a", "allow"), ("Bash rm", "ask")]);
    check(&agent().definition(&[]), &[("Read a", "missing")]);
    let mut without = agent().task(&["Bash"]);
    without.disallowed = rules(&["Bash(rm *)", "mcp__docs"]);
    check(&without, &[("Bash ls", "missing"), ("mcp__docs__x", "missing"), ("Read a", "allow")]);
    let without = Permissions { mode: PermissionMode::BypassPermissions, ..without };
    check(&without, &[("Bash ls", "missing")]);
}

#[test]
fn every_command_of_a_text_has_to_pass() {
    let permissions =
        agent().task(&["Bash(cargo test *)"]).layer(SettingsLayer::User, &["Bash(cargo fmt)"], &[], &[]);
    check(
        &permissions,
        &[
            ("Bash cargo test && cargo fmt | head -5", "allow"),
            ("Bash cargo test && rm x", "ask"),
            ("Bash cargo test > out", "ask"),
            ("Bash (cargo test)", "allow"),
        ],
    );
    let fifty = vec!["ls"; 50].join("; ");
    check(&agent(), &[(&format!("Bash {fifty}"), "allow"), (&format!("Bash {fifty}; ls"), "rule")]);
    check(&agent().task(&["Bash"]), &[(&format!("Bash {fifty}; ls"), "rule")]);
}

#[test]
fn a_bare_grant_covers_what_cannot_be_taken_apart_unless_a_rule_restricts() {
    let intricate = "Bash case x in y) z;; esac";
    check(&agent(), &[(intricate, "ask")]);
    check(&agent().task(&["Bash"]), &[(intricate, "allow"), ("Bash a $(b) > c", "allow")]);
    check(&agent().task(&["Bash(*)"]), &[(intricate, "allow")]);
    check(&agent().task(&["Bash(case *)"]), &[(intricate, "ask")]);
    let asked = agent().task(&["Bash"]).layer(SettingsLayer::User, &[], &["Bash(rm *)"], &[]);
    check(&asked, &[(intricate, "ask"), ("Bash a $(b)", "allow"), ("Bash $X", "ask")]);
    let denied = agent().task(&["Bash"]).layer(SettingsLayer::User, &[], &[], &["Bash(rm *)"]);
    check(&denied, &[(intricate, "rule"), ("Bash a $(b)", "allow"), ("Bash $X", "rule")]);
}

#[test]
fn entering_a_folder_of_the_tree_first_is_looking() {
    check(
        &agent().task(&["Bash(cargo test *)"]),
        &[
            ("Bash cd src && cat a", "allow"),
            ("Bash cd src && cargo test", "allow"),
            ("Bash cd src && cat ../a", "ask"),
            ("Bash cd src && cat ../../a", "ask"),
            ("Bash cd src; cat a", "ask"),
            ("Bash cd src || cat a", "ask"),
            ("Bash cat a && cd src", "ask"),
            ("Bash cd .. && cat a", "ask"),
            ("Bash cd /etc && cat passwd", "ask"),
            ("Bash cd - && cat a", "ask"),
            ("Bash cd $X && cat a", "ask"),
            ("Bash cd && cat a", "ask"),
            ("Bash (cd src && cat a)", "ask"),
            ("Bash cd src && git status", "ask"),
            ("Bash git status", "allow"),
        ],
    );
    let mut deeper = agent();
    deeper.dir = PathBuf::from("/w/tree/sub");
    check(&deeper, &[("Bash cd .. && cat ../x", "ask"), ("Bash cd .. && cat a", "allow")]);
}

#[test]
fn a_refusal_says_which_rule() {
    let text = |permissions: &Permissions, command: &str| match permissions
        .decide("Bash", &json!({ "command": command }))
    {
        Verdict::Deny(_, text) => text,
        other => panic!("{other:?}"),
    };
    let denied = agent().layer(SettingsLayer::User, &[], &[], &["Bash(rm *)"]);
    assert_eq!(text(&denied, "rm x"), "the rule `Bash(rm *)` denies this call");
    assert_eq!(
        text(&denied, "a 'b"),
        "this call can't be checked against the rule `Bash(rm *)`; write it more plainly"
    );
    assert_eq!(
        text(&agent().definition(&["Bash(./run:*)"]), "ls"),
        "the agent's definition allows only `Bash(./run:*)`"
    );
}

#[test]
fn a_place_for_which_a_rule_of_the_whole_tool_would_be_too_much_is_named() {
    let place = |tool: &str, path: &str| agent().special_place(tool, &json!({ "file_path": path }));
    let outside = Some("it lies outside of the agent's tree");
    for path in ["/w/x", "../x", "/w/tree/../x"] {
        assert_eq!((place("Write", path), place("Read", path)), (outside, outside), "{path}");
    }
    assert_eq!(place("Edit", ".git/config"), Some("what runs or decides later is closed to edits"));
    assert_eq!(place("Read", ".git/config"), None);
    assert_eq!(place("Write", "/w/tree/a"), None);
    assert_eq!(agent().special_place("Bash", &json!({ "command": "rm /x" })), None);
}

#[test]
fn a_specifier_grants_the_names_that_it_lists_and_a_definition_refuses_the_others() {
    let listed = agent().definition(&["Agent(worker, researcher)", "WebFetch(domain:docs.rs)"]);
    check(
        &listed,
        &[
            ("Agent worker", "allow"),
            ("Agent researcher", "allow"),
            ("Agent reviewer", "rule"),
            ("Agent work", "rule"),
            ("WebFetch https://docs.rs/regex", "allow"),
            ("WebFetch https://docs.rs.evil.org", "rule"),
            ("WebFetch https://docs.rs@evil.org", "rule"),
        ],
    );
    let unnamed = json!({ "prompt": "p" });
    assert!(matches!(listed.decide("Agent", &unnamed), Verdict::Deny(DenialReason::Rule, _)));
    let task = agent().task(&["Skill(review)"]);
    check(&task, &[("Skill review", "allow"), ("Skill reviews", "ask")]);
}

#[test]
fn a_rule_that_denies_names_catches_them_and_what_names_nothing() {
    let denied =
        agent().layer(SettingsLayer::User, &[], &[], &["Agent(worker)", "WebFetch(domain:evil.org)"]);
    check(
        &denied,
        &[
            ("Agent worker", "rule"),
            ("Agent researcher", "allow"),
            ("WebFetch https://EVIL.org/x", "rule"),
            ("WebFetch https://docs.rs", "ask"),
            ("WebFetch evil.org", "rule"),
        ],
    );
    assert!(matches!(denied.decide("Agent", &json!({})), Verdict::Deny(DenialReason::Rule, _)));
}
