//! Where one attempt works.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::model::{Outcome, Reason};
use flow_core::values::AttemptPacket;

use super::host::Host;
use crate::workspace::PrivateTree;

/// The end of an attempt of which nothing ever lived.
pub(super) type Refused = Box<Outcome>;

pub(super) fn refused(reason: Reason, message: impl Into<String>) -> Refused {
    Box::new(Outcome::failed(reason, message))
}

pub(super) fn unusable(error: std::io::Error) -> Refused {
    refused(Reason::Resource, format!("can't use the task's folder: {error}"))
}

/// An attempt on its way to its start: what it is, and where it works.
#[derive(Clone)]
pub(super) struct Site<'a> {
    pub(super) host: &'a Host,
    pub(super) packet: &'a AttemptPacket,
    /// Its own tree, if it has one.
    pub(super) tree: Option<Arc<PrivateTree>>,
    /// The folder that it begins in.
    pub(super) dir: PathBuf,
    /// Files of the run that it is told to read, by every path that leads to them.
    pub(super) opened: Vec<PathBuf>,
}

impl<'a> Site<'a> {
    /// The place of an attempt. A folder that leads out of a private tree is refused.
    pub(super) fn of(
        host: &'a Host,
        packet: &'a AttemptPacket,
        tree: Option<Arc<PrivateTree>>,
    ) -> Result<Self, Refused> {
        let base = tree.as_ref().map_or_else(|| host.root(), |tree| tree.dir());
        let dir = match &packet.work.dir {
            None => base.to_owned(),
            Some(wanted) => {
                let dir = base.join(wanted).canonicalize().map_err(|error| {
                    refused(Reason::Spawn, format!("the folder `{wanted}` (`dir`) can't be used: {error}"))
                })?;
                if tree.as_ref().is_some_and(|tree| !dir.starts_with(tree.path())) {
                    let message = format!("`dir: {wanted}` leads out of the task's own tree");
                    return Err(refused(Reason::Isolation, message));
                }
                dir
            }
        };
        Ok(Site { host, packet, tree, dir, opened: Vec::new() })
    }

    /// The tree that it works in, its own or the project.
    pub(super) fn tree_path(&self) -> &Path {
        self.tree.as_ref().map_or_else(|| self.host.root(), |tree| tree.path())
    }

    /// Makes the task's own folder in the run.
    pub(super) fn make_folder(&self) -> std::io::Result<PathBuf> {
        self.host.folder.make_task(&self.packet.address)
    }

    /// Writes the files that its values are in.
    pub(super) fn write_files(&self) -> Result<(), Refused> {
        for (path, value) in &self.packet.work.files {
            let text = self.host.open(value)?;
            let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            folder.and_then(|()| std::fs::write(path, text)).map_err(|error| {
                refused(Reason::Resource, format!("can't write `{}`: {error}", path.display()))
            })?;
        }
        Ok(())
    }
}
