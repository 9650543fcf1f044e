//! The keys of one mapping: each once, and `<<` folded in.

use std::collections::HashSet;
use std::sync::Arc;

use super::fields::MOST;
use super::key::Key;
use super::node::{Entry, Node, NodeKind};
use crate::diagnostic::{Code, Diagnostic, SourceFile};

/// Reports every key that was written before, and keeps the first of each.
pub(crate) fn report_duplicates(
    file: &Arc<SourceFile>,
    entries: &mut Vec<Entry>,
    problems: &mut Vec<Diagnostic>,
) {
    // Most mappings are tasks of a few keys; a table would cost more than it saves.
    let few = entries.len() <= 8;
    if few && (1..entries.len()).all(|at| entries[..at].iter().all(|other| other.key != entries[at].key)) {
        return;
    }
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|a, b| entries[*a].key.cmp(&entries[*b].key).then(a.cmp(b)));
    let mut later: Vec<(usize, usize)> = Vec::new();
    for group in order.chunk_by(|a, b| entries[*a].key == entries[*b].key) {
        later.extend(group[1..].iter().map(|second| (*second, group[0])));
    }
    if later.is_empty() {
        return;
    }
    later.sort_unstable();
    for (second, first) in later.iter().take(MOST) {
        let (second, first) = (&entries[*second], &entries[*first]);
        let message = format!("`{}` is written twice", second.key);
        problems.push(
            Diagnostic::new(Code::DuplicateKey, file, second.key_span, message)
                .label(file, first.key_span, "first here")
                .help("take one of them out"),
        );
    }
    let mut index = 0;
    entries.retain(|_| {
        index += 1;
        later.binary_search_by_key(&(index - 1), |(second, _)| *second).is_err()
    });
}

/// Puts what `<<` names in its place; keys of the mapping itself win, then earlier sources.
pub(crate) fn merge(
    file: &Arc<SourceFile>,
    entries: Vec<Entry>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<Entry> {
    let mut seen: HashSet<Key> = entries.iter().map(|entry| entry.key.clone()).collect();
    let mut merged = Vec::with_capacity(entries.len());
    for entry in entries {
        if entry.key != "<<" {
            merged.push(entry);
            continue;
        }
        for source in sources(file, entry, problems) {
            merged.extend(source.into_iter().filter(|entry| seen.insert(entry.key.clone())));
        }
    }
    merged
}

fn sources(file: &Arc<SourceFile>, entry: Entry, problems: &mut Vec<Diagnostic>) -> Vec<Box<[Entry]>> {
    let nodes = match entry.value.kind {
        NodeKind::List(items) => items,
        kind => Box::from([Node { span: entry.value.span, kind }]),
    };
    let mut found = Vec::new();
    for node in nodes {
        if let NodeKind::Map(entries) = node.kind {
            found.push(entries);
        } else {
            let message = "`<<` takes a mapping or a list of mappings";
            problems.push(
                Diagnostic::new(Code::WrongType, file, entry.key_span, message)
                    .help("name one with an alias: `<<: *name`"),
            );
        }
    }
    found
}
