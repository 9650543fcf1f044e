//! The filter `file`: a value as a file, for what is too long for an argument or a variable.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::{Error, ErrorKind, State, Value};

use super::lookup::root;
use super::values::text_of;

/// Where files of values go, and those that were named. Clones share both, so that each value of an attempt has a file of its
/// own, whichever template names it. Core writes none of them.
#[derive(Clone, Debug)]
pub struct ValueFiles {
    dir: PathBuf,
    named: Arc<Mutex<Named>>,
}

#[derive(Debug, Default)]
struct Named {
    count: usize,
    waiting: Vec<(PathBuf, String)>,
}

impl ValueFiles {
    /// Files in this folder.
    pub fn within(dir: PathBuf) -> Self {
        ValueFiles { dir, named: Arc::default() }
    }

    /// One that names files as this one does from here on, and shares nothing with it.
    #[must_use]
    pub(crate) fn twin(&self) -> Self {
        let count = self.named.lock().unwrap_or_else(PoisonError::into_inner).count;
        let named = Named { count, waiting: Vec::new() };
        ValueFiles { dir: self.dir.clone(), named: Arc::new(Mutex::new(named)) }
    }

    /// The files that `file` has named since the last call, with what they are to hold.
    pub fn take(&self) -> Vec<(PathBuf, String)> {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut named.waiting)
    }

    fn add(&self, text: String) -> PathBuf {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.count += 1;
        let path = self.dir.join(format!("value-{}", named.count));
        named.waiting.push((path.clone(), text));
        path
    }
}

/// `value | file`: the path of a file that holds the value, byte for byte.
pub(super) fn file(state: &mut State<'_, '_>, value: &Value) -> Result<String, Error> {
    let text = text_of(state, value)?;
    let root = root(state)?;
    let files = root.shared.files.as_ref();
    let files = files
        .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "`file` has no folder to write to here"))?;
    let path = files.add(text).into_os_string().into_string();
    path.map_err(|_| Error::new(ErrorKind::InvalidOperation, "the run's folder has a name that isn't UTF-8"))
}
