//! Masking secrets in what a command prints, in every form in which programs like to print them.

use std::borrow::Cow;
use std::fmt::Write;

use aho_corasick::{AhoCorasick, MatchKind};
use flow_core::compile::SHORTEST_MASKED;
use flow_core::text::escape_xml;
use serde_json::Value;

/// What stands for a secret.
const MASKED: &[u8] = b"***";

/// The secrets of a run, ready to be looked for.
#[derive(Debug)]
pub struct Mask {
    /// `None`: there is nothing to look for.
    automaton: Option<AhoCorasick>,
    needles: Vec<Vec<u8>>,
}

impl Mask {
    /// A mask for these values and their usual encodings. Values under 6 characters are not masked.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Mask {
        let mut needles = Vec::new();
        for secret in secrets {
            for part in [secret, secret.trim()].into_iter().chain(secret.lines().map(str::trim)) {
                if part.chars().count() >= SHORTEST_MASKED {
                    add_forms(part, &mut needles);
                }
            }
        }
        needles.sort();
        needles.dedup();
        // Building fails for gigabytes of secrets only.
        let automaton = match needles.is_empty() {
            true => None,
            false => AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&needles).ok(),
        };
        Mask { automaton, needles }
    }

    /// The text without secrets.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(automaton) = self.automaton.as_ref().filter(|automaton| automaton.is_match(text)) else {
            return Cow::Borrowed(text);
        };
        let mut out = Vec::with_capacity(text.len());
        copy(automaton, text.as_bytes(), text.len(), &mut out);
        Cow::Owned(String::from_utf8_lossy(&out).into_owned())
    }

    /// Hides secrets in every text of a value.
    pub fn apply_within(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.apply(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply_within(item)),
            Value::Object(entries) => entries.values_mut().for_each(|item| self.apply_within(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Where the part of a text begins that the next bytes could turn into a secret.
    fn undecided_from(&self, bytes: &[u8]) -> usize {
        let longest = self.needles.iter().map(Vec::len).max().unwrap_or(0);
        let first = (bytes.len() + 1).saturating_sub(longest);
        let begins = |from: &usize| {
            let rest = &bytes[*from..];
            self.needles.iter().any(|needle| needle.len() > rest.len() && needle.starts_with(rest))
        };
        (first..bytes.len()).find(begins).unwrap_or(bytes.len())
    }
}

/// A mask that is laid over a stream, piece by piece.
#[derive(Debug)]
pub(super) struct MaskedCopy<'a> {
    mask: &'a Mask,
    /// The end of the last piece, as long as it may be the beginning of a secret.
    held: Vec<u8>,
}

impl<'a> MaskedCopy<'a> {
    pub(super) fn new(mask: &'a Mask) -> Self {
        MaskedCopy { mask, held: Vec::new() }
    }

    /// Takes the next piece; adds to `out` what is decided.
    pub(super) fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let Some(automaton) = &self.mask.automaton else { return out.extend_from_slice(piece) };
        self.held.extend_from_slice(piece);
        let decided = self.mask.undecided_from(&self.held);
        let copied = copy(automaton, &self.held, decided, out);
        self.held.drain(..copied);
    }

    /// Adds what was held back: the stream is over.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        match &self.mask.automaton {
            Some(automaton) => drop(copy(automaton, &held, held.len(), out)),
            None => out.extend_from_slice(&held),
        }
    }
}

/// Copies bytes up to a place, secrets that begin before it masked; returns how many it took.
fn copy(automaton: &AhoCorasick, bytes: &[u8], to: usize, out: &mut Vec<u8>) -> usize {
    let mut at = 0;
    for found in automaton.find_iter(bytes).take_while(|found| found.start() < to) {
        out.extend_from_slice(&bytes[at..found.start()]);
        out.extend_from_slice(MASKED);
        at = found.end();
    }
    let end = to.max(at);
    out.extend_from_slice(&bytes[at..end]);
    end
}

fn add_forms(secret: &str, needles: &mut Vec<Vec<u8>>) {
    let json = serde_json::Value::from(secret).to_string();
    let hex = secret.bytes().fold(String::new(), |mut out, byte| {
        // Writing to a string can't fail.
        let _ = write!(out, "{byte:02x}");
        out
    });
    needles.push(secret.as_bytes().to_vec());
    needles.push(json.as_bytes()[1..json.len() - 1].to_vec());
    needles.push(escape_xml(secret).into_bytes());
    needles.push(secret.replace('\'', r"'\''").into_bytes());
    needles.push(hex.to_uppercase().into_bytes());
    needles.push(hex.into_bytes());
    needles.push(url_encoded(secret, "%20").into_bytes());
    needles.push(url_encoded(secret, "+").into_bytes());
    for shift in 0..3 {
        let plain = base64_at(secret.as_bytes(), shift);
        let url: Vec<u8> = plain
            .iter()
            .map(|c| match c {
                b'+' => b'-',
                b'/' => b'_',
                c => *c,
            })
            .collect();
        needles.extend([plain, url]);
    }
}

fn url_encoded(text: &str, blank: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push_str(blank),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
        out
    })
}

/// The part of a base64 text that is the same whatever stands around the secret, when `shift` bytes stand before it in
/// its group of three.
fn base64_at(secret: &[u8], shift: usize) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bit = |at: usize| secret[at / 8] >> (7 - at % 8) & 1;
    // A digit holds six bits; the first whole one of ours begins where the shifted stream allows it.
    let skipped = (6 - shift * 8 % 6) % 6;
    let digits = (secret.len() * 8 - skipped) / 6;
    let digit = |index: usize| (0..6).fold(0, |value, place| value << 1 | bit(skipped + index * 6 + place));
    (0..digits).map(|index| DIGITS[usize::from(digit(index))]).collect()
}

#[cfg(test)]
#[path = "mask_tests.rs"]
mod tests;
