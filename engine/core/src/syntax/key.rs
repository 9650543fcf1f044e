//! The texts of keys. Nearly all keys of a file are the same few words, so its entries share them.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::ids::Address;

/// A key's text; cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Arc<str>>> From<T> for Key {
    fn from(text: T) -> Self {
        Key(text.into())
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.as_str().to_owned()
    }
}

/// A task's key is its address; they are one text.
impl From<Key> for Address {
    fn from(key: Key) -> Self {
        Address::from(key.0)
    }
}

impl Deref for Key {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Key {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for Key {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The keys of one file while it is read.
#[derive(Default)]
pub(crate) struct KeyTable {
    shared: HashSet<Key>,
}

impl KeyTable {
    /// Words that repeat come early; the names of 100,000 tasks would only fill the table.
    const MOST: usize = 256;

    /// The key with a text.
    pub(crate) fn key(&mut self, text: &str) -> Key {
        if let Some(key) = self.shared.get(text) {
            return key.clone();
        }
        let key = Key::from(text);
        if self.shared.len() < Self::MOST {
            self.shared.insert(key.clone());
        }
        key
    }
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
