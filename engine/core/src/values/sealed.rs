//! Values that may hold secrets, as an attempt carries them from the driver to whoever runs it.
//!
//! 1. What is written down of an attempt has no secret in it: a secret is its name, and whoever runs the attempt puts the
//!    value in its place.
//! 2. With the same secrets at hand it opens to what its template rendered to, byte for byte.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// Stands before and after the name of a secret. No variable can hold it, so a value can't be taken for a name.
const MARK: char = '\0';

/// A text that may hold secrets.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sealed {
    /// One without.
    Plain(String),
    /// One in which secrets stand by name.
    Named(String),
    /// One that is made from a secret by more than putting it in its place. It can't be written down.
    #[serde(serialize_with = "refuse", skip_deserializing)]
    Computed(String),
}

/// A secret that whoever runs an attempt doesn't have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the secret `{0}` is not set where this runs")]
pub struct MissingSecret(pub String);

impl Sealed {
    /// What stands for a secret in a text of names.
    pub(super) fn name(secret: &str) -> String {
        format!("{MARK}{secret}{MARK}")
    }

    /// A value that speaks of secrets. `named`: what its template rendered to with names in place of secrets, if it did.
    pub(super) fn of<'s>(
        value: String,
        named: Option<String>,
        secret: impl Fn(&str) -> Option<&'s str>,
    ) -> Sealed {
        let named = named.map(Sealed::Named);
        let same = |named: &Sealed| named.open(secret).is_ok_and(|opened| opened == value);
        named.filter(same).unwrap_or(Sealed::Computed(value))
    }

    /// The text as far as it can be written down; `None`: not at all.
    pub(super) fn written(&self) -> Option<&str> {
        match self {
            Sealed::Plain(text) | Sealed::Named(text) => Some(text),
            Sealed::Computed(_) => None,
        }
    }

    /// The text, if no secret is in it.
    pub fn plain(&self) -> Option<&str> {
        match self {
            Sealed::Plain(text) => Some(text),
            Sealed::Named(_) | Sealed::Computed(_) => None,
        }
    }

    /// The text with every secret in its place.
    pub fn open<'s>(&self, secret: impl Fn(&str) -> Option<&'s str>) -> Result<Cow<'_, str>, MissingSecret> {
        let named = match self {
            Sealed::Plain(text) | Sealed::Computed(text) => return Ok(Cow::Borrowed(text)),
            Sealed::Named(text) => text,
        };
        let mut opened = String::with_capacity(named.len());
        for (number, part) in named.split(MARK).enumerate() {
            // Text and names take turns.
            match number % 2 {
                0 => opened.push_str(part),
                _ => opened.push_str(secret(part).ok_or_else(|| MissingSecret(part.to_owned()))?),
            }
        }
        Ok(Cow::Owned(opened))
    }
}

fn refuse<S: Serializer>(_: &str, _: S) -> Result<S::Ok, S::Error> {
    Err(serde::ser::Error::custom(
        "a value that is computed from a secret can't be carried by the secret's name",
    ))
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sealed::Plain(text) => f.debug_tuple("Plain").field(text).finish(),
            Sealed::Named(text) => f.debug_tuple("Named").field(text).finish(),
            Sealed::Computed(_) => f.write_str("Computed(***)"),
        }
    }
}

#[cfg(test)]
#[path = "sealed_tests.rs"]
mod tests;
