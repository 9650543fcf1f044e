//! Words, numbers, lengths of time and sizes: from what was written to types that can't be wrong.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::findings::{Findings, Mark, Written};
use crate::diagnostic::{Code, Spanned};
use crate::graph::EdgeKind;
use crate::model::{Isolation, Merge, Reason};
use crate::plan::OnLost;
use crate::syntax::{Node, NodeKind, Text};
use crate::text::parse_duration;

pub(super) const ISOLATIONS: &[(&str, Isolation)] = &[
    ("none", Isolation::None),
    ("worktree", Isolation::Worktree),
    ("copy", Isolation::Copy),
    ("fork", Isolation::Fork),
];

pub(super) const MERGES: &[(&str, Merge)] = &[
    ("none", Merge::None),
    ("branch", Merge::Branch),
    ("patch", Merge::Patch),
    ("apply", Merge::Apply),
    ("squash", Merge::Squash),
    ("cherry_pick", Merge::CherryPick),
];

pub(super) const EDGES: &[(&str, EdgeKind)] = &[
    ("success", EdgeKind::Success),
    ("completed", EdgeKind::Completed),
    ("failure", EdgeKind::Failure),
    ("done", EdgeKind::Done),
];

/// Units of sizes. `kB` is the standard spelling, `KB` what many write.
const SIZES: &[(&str, u64)] = &[
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
    ("", 1),
];

/// Reports a `${{` in a text that is taken as it is. True when the text is literal.
pub(super) fn literal<'a>(findings: &mut Findings, key: &str, text: impl Into<Written<'a>>) -> bool {
    let written: Written<'_> = text.into();
    let Some(start) = written.text.find("${{").or_else(|| written.text.find("${%")) else { return true };
    let mark = hole(findings, written, start);
    let message = format!("`{key}` is taken as written: it holds no templates");
    let finding = findings.at_mark(Code::TemplatePlace, mark, message).help(
        "templates stand in `run`, `prompt`, `checks`, `setup`, `env`, `dir`, `base`, `artifacts`, `for_each`, `matrix`, `key`, \
         `lock`, `outputs` and a task's `description`",
    );
    findings.push(finding);
    false
}

/// The place of a hole that begins at a byte of the value.
pub(super) fn hole(findings: &Findings, written: Written<'_>, start: usize) -> Mark {
    let end = written.text[start..].find('}').map(|brace| start + brace);
    let end = end.map_or(written.text.len(), |brace| {
        brace + written.text[brace..].bytes().take_while(|byte| *byte == b'}').count()
    });
    findings.mark(written, start..end)
}

pub(super) const ON_LOST: &[(&str, OnLost)] = &[("retry", OnLost::Retry), ("fail", OnLost::Fail)];

/// Reads one word of a table.
pub(super) fn word<T: Copy>(
    findings: &mut Findings,
    key: &str,
    text: &Text,
    table: &[(&str, T)],
) -> Option<T> {
    if let Some((_, value)) = table.iter().find(|(word, _)| *word == text.value) {
        return Some(*value);
    }
    if literal(findings, key, text) {
        let message = format!("`{key}` can't be `{}`", text.value);
        let help = findings.instead(&text.value, table.iter().map(|(word, _)| *word));
        findings.push(findings.at(Code::BadValue, text.span, message).maybe_help(help));
    }
    None
}

/// Reads a length of time.
pub(super) fn length(findings: &mut Findings, key: &str, text: &Text) -> Option<Duration> {
    match parse_duration(&text.value) {
        Ok(length) => Some(length),
        Err(_) if text.value.starts_with('-') => {
            let message = format!("`{key}` can't be `{}`: it takes 0s or more", text.value);
            findings.push(findings.at(Code::BadValue, text.span, message));
            None
        }
        Err(why) => {
            if literal(findings, key, text) {
                let message = format!("`{key}` can't be `{}`: {why}", text.value);
                let help = "write a number with a unit, such as `500ms`, `30s`, `5m`, `1h` or `1d`";
                findings.push(findings.at(Code::BadValue, text.span, message).help(help));
            }
            None
        }
    }
}

/// Reads a length of time that must not be zero.
pub(super) fn positive_length(findings: &mut Findings, key: &str, text: &Text) -> Option<Duration> {
    // The error of what is less than nothing names the least of its own.
    let negative = text.value.starts_with('-');
    let length = if negative { Duration::ZERO } else { length(findings, key, text)? };
    if length.is_zero() {
        let message = format!("`{key}` can't be `{}`: it takes 1ms or more", text.value);
        findings.push(findings.at(Code::BadValue, text.span, message));
        return None;
    }
    Some(length)
}

/// Checks the range of a whole number.
pub(super) fn whole(
    findings: &mut Findings,
    key: &str,
    number: &Spanned<i64>,
    range: RangeInclusive<u32>,
) -> Option<u32> {
    let value = u32::try_from(number.value).ok().filter(|value| range.contains(value));
    if value.is_none() {
        let (least, most) = range.into_inner();
        let takes = match most {
            u32::MAX => format!("{least} or more"),
            _ => format!("{least} to {most}"),
        };
        let message = format!("`{key}` can't be {}: it takes {takes}", number.value);
        findings.push(findings.at(Code::BadValue, number.span, message));
    }
    value
}

/// Checks a number of things at once: 1 or more.
pub(super) fn at_least_one(findings: &mut Findings, key: &str, number: &Spanned<i64>) -> Option<NonZeroU32> {
    whole(findings, key, number, 1..=u32::MAX).and_then(NonZeroU32::new)
}

/// Reads `retry.on`.
pub(super) fn reasons(findings: &mut Findings, words: &[Text]) -> Vec<Reason> {
    let table: Vec<(&str, Reason)> = Reason::ALL.iter().map(|reason| (reason.as_str(), *reason)).collect();
    let mut reasons = Vec::with_capacity(words.len());
    for text in words {
        if let Some((_, reason)) = table.iter().find(|(word, _)| *word == text.value) {
            reasons.push(*reason);
        } else if literal(findings, "retry.on", text) {
            let message = format!("`retry.on` knows no reason `{}`", text.value);
            // There are too many reasons to list them all; these are the ones that another attempt can mend.
            let common = "for example `exit_code`, `timeout`, `rate_limit`, `overloaded`, `invalid_output`";
            let help = match findings.near(&text.value, table.iter().map(|(word, _)| *word)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => common.to_owned(),
            };
            findings.push(findings.at(Code::BadValue, text.span, message).help(help));
        }
    }
    reasons
}

/// Reads a size: bytes, or a number with a unit.
pub(super) fn size(findings: &mut Findings, key: &str, node: &Node) -> Option<u64> {
    let read = match &node.kind {
        NodeKind::Int(bytes) => u64::try_from(*bytes).ok(),
        NodeKind::Text { value, .. } => {
            if !literal(findings, key, Written { text: value, span: node.span, file: None }) {
                return None;
            }
            parse_size(value)
        }
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Float(_) | NodeKind::List(_) | NodeKind::Map(_) => {
            None
        }
    };
    if read == Some(0) || matches!(node.kind, NodeKind::Int(bytes) if bytes < 0) {
        let message = format!("`{key}` can't be {}: it takes 1 byte or more", findings.written(node.span));
        findings.push(findings.at(Code::BadValue, node.span, message));
        return None;
    }
    if read.is_none() {
        let message = format!("`{key}` is no size");
        let help = "write bytes, or a number with a unit: `512KiB`, `10MB`, `64MiB`, `1GiB`";
        findings.push(findings.at(Code::BadValue, node.span, message).help(help));
    }
    read
}

fn parse_size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (_, factor) = SIZES.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}
