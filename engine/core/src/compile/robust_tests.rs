//! No text may bring a reader down, and what a reader says of a text must be showable.

use std::sync::Arc;

use proptest::prelude::*;

use super::{AgentText, SettingsText, agent_registry, settings};
use crate::diagnostic::{Diagnostic, SourceFile, render};
use crate::import::import;
use crate::model::{AgentSource, SettingsLayer};
use crate::syntax::{NodeKind, parse_yaml, place_in, workflow};

const PLAN: &str = r#"flow: 1
name: audit
inputs:
  target: { type: path, default: ".", description: Directory to audit }
  max: { type: integer, default: 3, minimum: 1 }
secrets: [TOKEN]
env: { LANG: C.UTF-8 }
defaults: &d
  timeout: 10m
  retry: { max: 2, on: [rate_limit] }
tasks:
  inventory:
    run: |
      git ls-files -- ${{ inputs.target }}
        | jq -R .
    output: json
  lint:
    matrix: { tool: [clippy, fmt], exclude: [{ tool: fmt }] }
    run: "./ci/${{ matrix.tool }}.sh \"é\" \u00e9"
  review:
    for_each: ${{ tasks.inventory.output }}
    needs: { lint: done }
    if: 'not failure()' # 审查
    prompt: >-
      Review
      this

      one
    tools: Read, Bash(git diff:*, git log:*)
    permissions: { allow: [Read], deny: ["Bash(rm *)"] }
outputs: { n: "${{ tasks.review.text }}" }
"#;

const AGENT: &str = "\u{feff}<!-- x -->\n---\nname: a\ndescription: Use for X: yes é\ntools:\n  - Read\nflow:\n  version: 1.10\n---\nBody {{ x }}\n---\n";

const SETTINGS: &str = "concurrency = 3\n[models]\ndefault = ['a', { provider = \"script\", file = 'm' }]\n[providers.x]\nkind = 'openai'\n[permissions]\ndeny = ['Bash(rm *)']\n";

/// Pieces of text that mean something to one of the readers.
const PIECES: &[&str] = &[
    ": ",
    "\n",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&a ",
    "*a",
    "!x ",
    "|",
    ">",
    "\"",
    "'",
    "#",
    " #",
    "\t",
    "---\n",
    "+++\n",
    "...",
    "<<: *a",
    "%",
    "@",
    "`",
    "\\",
    "\\u",
    "${{",
    "}}",
    "é",
    "🔍",
    "\u{feff}",
    "\r\n",
    "\0",
    "? ",
    "~",
    "null",
    "1e999",
    "0x",
    "  ",
    ",",
    "=",
    "'''",
    "[[",
    "tasks:",
    "run:",
    "tools:",
    "x-a: ",
    "\u{2028}",
    "\u{85}",
    "\u{a0}",
    "\u{3000}",
    "description: ",
    "name: ",
    "Bash(a, ",
];

/// Reads a text in every way there is.
fn read_all(text: &str) {
    let file = Arc::new(SourceFile::new("dir/a.md", text));
    let found = [
        parse_yaml(&file).err().unwrap_or_default(),
        workflow(&file).1,
        import(&file).map(|import| import.found).unwrap_or_default(),
        settings(
            vec![SettingsText { layer: SettingsLayer::User, dir: String::new(), file: Arc::clone(&file) }],
            "flow.toml",
        )
        .1,
        agent_registry(vec![AgentText::new(AgentSource::Project, "", Arc::clone(&file))], &[], Vec::new())
            .diagnostics(),
    ];
    for diagnostic in found.iter().flatten() {
        showable(diagnostic);
    }
    if let Ok(node) = parse_yaml(&file) {
        let mut todo = vec![node];
        while let Some(node) = todo.pop() {
            let place = &file.text.get(node.span.range());
            assert!(place.is_some(), "{:?} of {text:?}", node.span);
            match node.kind {
                NodeKind::List(items) => todo.extend(items),
                NodeKind::Map(entries) => todo.extend(entries.into_iter().map(|entry| entry.value)),
                NodeKind::Text { value, .. } => {
                    let half = (0..=value.len() / 2).rev().find(|at| value.is_char_boundary(*at)).unwrap();
                    let place = place_in(&file, node.span, &value, half..value.len());
                    assert!(
                        place.start >= node.span.start && place.end <= node.span.end,
                        "{value:?} in {text:?}"
                    );
                }
                NodeKind::Null | NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) => {}
            }
        }
    }
}

fn showable(diagnostic: &Diagnostic) {
    for label in &diagnostic.labels {
        let place = label.file.text.get(label.span.range());
        assert!(place.is_some(), "{diagnostic:?}");
    }
    assert!(!render(diagnostic, false).is_empty());
}

#[test]
fn a_text_cut_anywhere_is_read_or_refused() {
    for whole in [PLAN, AGENT, SETTINGS] {
        for (at, _) in whole.char_indices() {
            read_all(&whole[..at]);
        }
        read_all(whole);
    }
}

/// Where to change a text, as a share of its length, and into what.
fn changes() -> impl Strategy<Value = Vec<(f64, Change)>> {
    let change = prop_oneof![
        proptest::sample::select(PIECES).prop_map(Change::Insert),
        (1usize..12).prop_map(Change::Delete),
        proptest::sample::select(PIECES).prop_map(Change::Replace),
    ];
    proptest::collection::vec((0.0..1.0, change), 1..8)
}

#[derive(Clone, Debug)]
enum Change {
    Insert(&'static str),
    Delete(usize),
    Replace(&'static str),
}

fn changed(text: &str, changes: &[(f64, Change)]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for (share, change) in changes {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let at = (share * chars.len() as f64) as usize;
        let (cut, put) = match change {
            Change::Insert(piece) => (0, *piece),
            Change::Delete(count) => (*count, ""),
            Change::Replace(piece) => (1, *piece),
        };
        let end = (at + cut).min(chars.len());
        chars.splice(at..end, put.chars());
    }
    chars.into_iter().collect()
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_changed_text_is_read_or_refused(which in 0usize..3, changes in changes()) {
        read_all(&changed([PLAN, AGENT, SETTINGS][which], &changes));
    }

    #[test]
    fn pieces_in_any_order_are_read_or_refused(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..40)) {
        read_all(&pieces.concat());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read_all(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_word_is_found_where_it_was_written(
        words in proptest::collection::vec("[a-zé]{1,6}", 1..12),
        breaks in proptest::collection::vec(1usize..4, 12),
        style in 0usize..5,
        indent in 1usize..5,
    ) {
        // Each word is unique, so that there is one right answer.
        let words: Vec<String> = words.iter().enumerate().map(|(at, word)| format!("{word}{at}x")).collect();
        let blanks = " ".repeat(indent);
        let mut lines = String::new();
        for (word, breaks) in words.iter().zip(&breaks) {
            if !lines.is_empty() {
                let more = if *breaks == 3 { format!("\n\n{blanks}") } else { format!("\n{blanks}") };
                lines += if *breaks == 1 { " " } else { &more };
            }
            lines += word;
        }
        let text = match style {
            0 => format!("k: {lines}\n"),
            1 => format!("k: '{lines} it''s'\n"),
            2 => format!("k: \"\\t\\\"\\u00e9 {lines}\"\n"),
            3 => format!("k: |\n{blanks}{lines}\n"),
            _ => format!("k: >\n\n{blanks}{lines}\n"),
        };
        let file = Arc::new(SourceFile::new("p.yaml", text));
        let NodeKind::Map(entries) = parse_yaml(&file).unwrap().kind else { panic!("no mapping") };
        let NodeKind::Text { value, .. } = &entries[0].value.kind else { panic!("no text") };
        for word in &words {
            let at = value.find(word.as_str()).unwrap();
            let place = place_in(&file, entries[0].value.span, value, at..at + word.len());
            prop_assert_eq!(file.slice(place), word, "in {:?}", file.text);
        }
    }
}
