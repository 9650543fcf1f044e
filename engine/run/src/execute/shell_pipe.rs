//! Output of a command that knows a secret: through pipes and the mask into its files.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;

use super::shell_mask::{Mask, MaskedCopy};
use crate::store::{SlotFile, SlotFiles};
use crate::sys::process::Leader;

/// The two copies that run beside the command.
#[derive(Debug)]
pub(super) struct MaskedOutput(Vec<JoinHandle<io::Result<()>>>);

impl MaskedOutput {
    /// Begins to copy what the command prints.
    pub(super) fn start(leader: &mut Leader, files: &SlotFiles, mask: &Arc<Mask>) -> MaskedOutput {
        let (stdout, stderr) = leader.take_pipes();
        let streams =
            [(stdout.map(OwnedFd::from), &files.stdout), (stderr.map(OwnedFd::from), &files.stderr)];
        let copy = |(pipe, file): (Option<OwnedFd>, &SlotFile)| {
            let (pipe, file, mask) = (pipe?, file.shared(), Arc::clone(mask));
            Some(tokio::spawn(async move { copy(pipe, &file, &mask).await }))
        };
        MaskedOutput(streams.into_iter().filter_map(copy).collect())
    }

    /// Waits for the end of both pipes, but not for ever.
    pub(super) async fn finish(self, patience: Duration) -> io::Result<()> {
        let mut result = Ok(());
        for mut copy in self.0 {
            match tokio::time::timeout(patience, &mut copy).await {
                Ok(Ok(end)) => result = result.and(end),
                Ok(Err(failed)) => result = result.and(Err(io::Error::other(failed))),
                Err(_) => copy.abort(),
            }
        }
        result
    }
}

async fn copy(pipe: OwnedFd, mut file: &File, mask: &Mask) -> io::Result<()> {
    let mut pipe = pipe::Receiver::from_owned_fd(pipe)?;
    let mut masked = MaskedCopy::new(mask);
    let mut piece = vec![0; 64 * 1024];
    let mut out = Vec::new();
    loop {
        let count = pipe.read(&mut piece).await?;
        out.clear();
        if count == 0 {
            masked.finish(&mut out);
        } else {
            masked.push(&piece[..count], &mut out);
        }
        file.write_all(&out)?;
        if count == 0 {
            return Ok(());
        }
    }
}
