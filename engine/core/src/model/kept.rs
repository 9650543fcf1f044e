//! What a run keeps in files, and how it knows later that they still are what was written.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A part of a file of the run folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputSlice {
    /// The path relative to the run folder.
    pub file: String,
    /// The first byte.
    pub start: u64,
    /// How many bytes.
    pub len: u64,
    /// What its bytes were when they were written. Older journals don't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Digest>,
}

impl OutputSlice {
    /// A part of a file of which nothing but its place is known.
    pub fn new(file: impl Into<String>, start: u64, len: u64) -> Self {
        OutputSlice { file: file.into(), start, len, hash: None }
    }

    /// The same with the hash of its bytes.
    #[must_use]
    pub fn with_hash(self, hash: Digest) -> Self {
        OutputSlice { hash: Some(hash), ..self }
    }
}

/// A file of a task that its run keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its path in the task's folder.
    pub path: String,
    /// The copy, relative to the run folder.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// What it held when it was kept. Older journals don't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Digest>,
}

impl Artifact {
    /// The whole copy.
    pub fn slice(&self) -> OutputSlice {
        OutputSlice { hash: self.hash, ..OutputSlice::new(self.file.clone(), 0, self.bytes) }
    }
}

/// The hash of some bytes: the first half of their BLAKE3. It finds what was changed by chance or by mistake.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest([u8; 16]);

impl Digest {
    /// Of bytes that are at hand.
    pub fn of(bytes: &[u8]) -> Self {
        blake3::hash(bytes).into()
    }
}

impl From<blake3::Hash> for Digest {
    fn from(hash: blake3::Hash) -> Self {
        let mut half = [0; 16];
        half.copy_from_slice(&hash.as_bytes()[..16]);
        Digest(half)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = (text.len() == 32 && text.is_ascii()).then_some(text).and_then(|text| {
            let mut half = [0; 16];
            for (at, byte) in half.iter_mut().enumerate() {
                *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
            }
            Some(half)
        });
        bytes.map(Digest).ok_or("a hash has 32 hexadecimal digits")
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
