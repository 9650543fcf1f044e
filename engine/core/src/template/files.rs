//! The filter `file`: a value as a file, for what is too long for an argument or a variable.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::{Error, ErrorKind, State, Value};

use super::lookup::root;
use super::values::text_of;

/// Where files of values go, and those that were named. Core writes none of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    dir: Option<PathBuf>,
    named: Arc<Mutex<Named>>,
}

#[derive(Debug, Default)]
struct Named {
    count: usize,
    waiting: Vec<(PathBuf, Vec<u8>)>,
}

impl Files {
    pub(super) fn within(dir: PathBuf) -> Self {
        Files { dir: Some(dir), named: Arc::default() }
    }

    pub(super) fn take(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut named.waiting)
    }

    fn add(&self, bytes: Vec<u8>) -> Option<PathBuf> {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.count += 1;
        let path = self.dir.as_ref()?.join(format!("value-{}", named.count));
        named.waiting.push((path.clone(), bytes));
        Some(path)
    }
}

/// `value | file`: the path of a file that holds the value, byte for byte.
pub(super) fn file(state: &mut State<'_, '_>, value: &Value) -> Result<String, Error> {
    let text = text_of(state, value)?;
    let path = root(state)?.shared.files.add(text.into_bytes());
    let path =
        path.ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "`file` has no folder to write to here"))?;
    let path = path.into_os_string().into_string();
    path.map_err(|_| Error::new(ErrorKind::InvalidOperation, "the run's folder has a name that isn't UTF-8"))
}
