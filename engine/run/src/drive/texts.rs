//! Output files of a run folder, for templates and reports.

use std::sync::Arc;

use flow_core::model::OutputSlice;
use flow_core::report::Texts;
use serde_json::Value;

use crate::store::{RunFolder, read_slice, tail_of_slice};

/// Reads from a run folder. A file that can't be read is empty: the report of a run must never fail for it.
#[derive(Clone, Debug)]
pub struct FolderTexts(pub Arc<RunFolder>);

impl Texts for FolderTexts {
    fn tail(&self, slice: &OutputSlice, lines: usize) -> String {
        String::from_utf8_lossy(&tail_of_slice(&self.0, slice, lines).unwrap_or_default()).into_owned()
    }

    fn text(&self, slice: &OutputSlice, max_bytes: usize) -> (String, u64) {
        let most = u64::try_from(max_bytes).unwrap_or(u64::MAX).min(slice.len);
        let bytes = read_slice(&self.0, slice, 0..most).unwrap_or_default();
        // A cut in the middle of a character leaves a part of it behind.
        let whole = match std::str::from_utf8(&bytes) {
            Err(error) if error.error_len().is_none() && most < slice.len => error.valid_up_to(),
            Ok(_) | Err(_) => bytes.len(),
        };
        (String::from_utf8_lossy(&bytes[..whole]).into_owned(), slice.len)
    }

    fn json(&self, file: &str) -> Option<Value> {
        serde_json::from_slice(&std::fs::read(self.0.resolve(file).ok()?).ok()?).ok()
    }

    fn path(&self, slice: &OutputSlice) -> String {
        self.0.path().join(&slice.file).display().to_string()
    }
}
