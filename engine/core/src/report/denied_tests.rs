use super::super::testing::{Journal, What, said};
use super::*;
use crate::compile::testing::Trial;
use crate::model::Outcome;

/// The lines of one refused call of the task `t`.
fn lines(trial: Trial, tool: &str, call: &str, reason: DenialReason) -> Vec<String> {
    let mut journal = Journal::of(&["t"]);
    let text = journal.text("t", "done");
    journal.run("t", 1, What::Agent, refused(said(text), &[(tool, call, reason)]));
    denied_lines(&journal.report(), &trial.compile().plan.unwrap())
}

fn refused(outcome: Outcome, calls: &[(&str, &str, DenialReason)]) -> Outcome {
    let denials = calls.iter().map(|(tool, call, reason)| Denial {
        tool: (*tool).into(),
        call: (*call).into(),
        reason: *reason,
        why: None,
    });
    Outcome { denials: denials.collect(), ..outcome }
}

fn plan(keys: &str) -> Trial {
    Trial::of(&format!("tasks:\n  t:\n    prompt: p\n{keys}")).agent("reader.md", "name: reader\ntools: Read")
}

#[test]
fn a_call_that_would_ask_names_the_rule_that_grants_it() {
    let asks = |tool, call| lines(plan(""), tool, call, DenialReason::NobodyToAsk);
    assert_eq!(asks("Write", "foo.md"), ["Write foo.md; grant `permissions: { allow: [Write] }` (task `t`)"]);
    assert_eq!(
        asks("Bash", "make all"),
        ["Bash make all; grant `permissions: { allow: [Bash(make *)] }` (task `t`)"]
    );
    // A rule by the program would not cover it, or the program is not the first word.
    for call in ["make all && rm x", "FOO=1 make"] {
        let line = format!("Bash {call}; grant `permissions: {{ allow: [Bash] }}` (task `t`)");
        assert_eq!(asks("Bash", call), [line]);
    }
}

#[test]
fn a_tool_that_the_agent_lacks_names_who_keeps_it_away() {
    let lacks = |keys: &str| lines(plan(keys), "Write", "x", DenialReason::NotAvailable);
    assert_eq!(
        lacks("    agent: reader\n"),
        ["Write x; agent `reader` doesn't have it (agents/reader.md) (task `t`)"]
    );
    assert_eq!(lacks("    tools: [Read]\n"), ["Write x; grant `tools: [Read, Write]` (task `t`)"]);
    assert_eq!(
        lacks("    disallowed_tools: [Write]\n"),
        ["Write x; `disallowed_tools` takes it away (task `t`)"]
    );
    let unknown = lines(plan(""), "WebFetch", "{}", DenialReason::UnknownTool);
    assert_eq!(unknown, ["WebFetch {}; flow has no such tool (task `t`)"]);
}

#[test]
fn equal_calls_are_one_line_that_counts_them() {
    let mut journal = Journal::of(&["t"]);
    journal.expand("t", &["a", "b", "c", "d", "e"]);
    for key in ["a", "b", "c", "d", "e"] {
        let text = journal.text("t", "done");
        let call = ("Write", "x", DenialReason::NobodyToAsk);
        journal.run(&format!("t[{key}]"), 1, What::Agent, refused(said(text), &[call, call]));
    }
    let plan = plan("    for_each: [a, b, c, d, e]\n").compile().plan.unwrap();
    assert_eq!(
        denied_lines(&journal.report(), &plan),
        [
            "Write x; grant `permissions: { allow: [Write] }` (tasks `t[a]`, `t[b]`, `t[c]` and 2 more, 10 times)"
        ]
    );
}
