//! Output files of a run folder, for templates and reports.

use std::path::Path;
use std::sync::Arc;

use flow_core::model::{Artifact, Digest, OutputSlice};
use flow_core::report::{Manifest, Texts};
use serde_json::Value;

use crate::store::{
    OutputError, RunFolder, check_artifact, check_slice, read_slice, read_whole, tail_of_slice,
};

/// A report shows a part of an output. Past this size it does not read all of it to be sure that it is the right one.
const MOST_CHECKED: u64 = 8 * 1024 * 1024;

/// Reads from a run folder.
#[derive(Clone, Debug)]
pub struct FolderTexts(pub Arc<RunFolder>);

impl FolderTexts {
    /// A part of an output for people; what it can't have it says in its place.
    fn shown(&self, slice: &OutputSlice, read: impl FnOnce() -> std::io::Result<Vec<u8>>) -> Vec<u8> {
        let remark = |why: String| format!("[can't be shown: {why}]").into_bytes();
        match check_slice(&self.0, slice, MOST_CHECKED) {
            Ok(()) => read().unwrap_or_else(|error| remark(error.to_string())),
            Err(error) => remark(error.to_string()),
        }
    }
}

impl FolderTexts {
    /// The manifest's path in the checkout that it lies in; without one, in the folder that holds the runs' own.
    fn manifest_path(&self) -> Option<String> {
        let kept: Value =
            serde_json::from_slice(&std::fs::read(self.0.path().join("kept.json")).ok()?).ok()?;
        let (dir, plan) = (Path::new(kept["dir"].as_str()?), Path::new(kept["plan"].as_str()?));
        let path = dir.join(plan.file_name()?);
        let checkout = dir.ancestors().find(|folder| folder.join(".git").exists());
        // `ROOT/.flow/runs/ID`
        let top = checkout.or_else(|| self.0.path().ancestors().nth(3))?;
        Some(path.strip_prefix(top).ok()?.display().to_string())
    }
}

impl Texts for FolderTexts {
    fn tail(&self, slice: &OutputSlice, lines: usize) -> String {
        let bytes = self.shown(slice, || tail_of_slice(&self.0, slice, lines));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn text(&self, slice: &OutputSlice, max_bytes: usize) -> (String, u64) {
        let most = u64::try_from(max_bytes).unwrap_or(u64::MAX).min(slice.len);
        let bytes = self.shown(slice, || read_slice(&self.0, slice, 0..most));
        // A cut in the middle of a character leaves a part of it behind.
        let whole = match std::str::from_utf8(&bytes) {
            Err(error) if error.error_len().is_none() && most < slice.len => error.valid_up_to(),
            Ok(_) | Err(_) => bytes.len(),
        };
        (String::from_utf8_lossy(&bytes[..whole]).into_owned(), slice.len)
    }

    fn whole(&self, slice: &OutputSlice) -> Result<String, String> {
        let bytes = read_whole(&self.0, slice).map_err(|error| error.to_string())?;
        Ok(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }

    fn json(&self, file: &str, hash: Option<Digest>) -> Result<Value, String> {
        let path = self.0.resolve(file).map_err(|error| error.to_string())?;
        let bytes = std::fs::read(&path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => OutputError::Gone { file: path.clone() }.to_string(),
            _ => OutputError::Io { file: path.clone(), source }.to_string(),
        })?;
        if hash.is_some_and(|hash| hash != Digest::of(&bytes)) {
            return Err(OutputError::Changed { file: path }.to_string());
        }
        serde_json::from_slice(&bytes).map_err(|error| format!("`{}` is no JSON: {error}", path.display()))
    }

    fn check(&self, slice: &OutputSlice) -> Result<(), String> {
        check_slice(&self.0, slice, u64::MAX).map_err(|error| error.to_string())
    }

    fn check_artifact(&self, artifact: &Artifact) -> Result<(), String> {
        check_artifact(&self.0, artifact).map_err(|error| error.to_string())
    }

    fn manifest(&self) -> Option<Manifest> {
        let text = std::fs::read_to_string(self.0.plan()).ok()?;
        Some(Manifest { path: self.manifest_path(), text })
    }

    fn path(&self, slice: &OutputSlice) -> String {
        self.0.path().join(&slice.file).display().to_string()
    }
}
