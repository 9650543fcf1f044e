//! What a command prints through pipes, on its way to those who take it.

use std::convert::Infallible;
use std::io;
use std::os::fd::OwnedFd;

use futures_util::future::join_all;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

use super::command::{Output, Taker};

/// How much is read at once.
const PIECE: usize = 64 * 1024;

/// The most that a pipe may hold, unless root has raised it.
const HELD: usize = 1024 * 1024;

/// The read ends of a command's output; none where it prints into files.
pub(super) struct Pipes<'a>(Vec<Pipe<'a>>);

struct Pipe<'a> {
    /// `None` once it is over.
    from: Option<Receiver>,
    to: Taker<'a>,
    taken: io::Result<()>,
}

impl<'a> Pipes<'a> {
    /// These pipes, as many as the output asked for.
    pub(super) fn new(pipes: Vec<OwnedFd>, output: Output<'a>) -> io::Result<Self> {
        let takers = match output {
            Output::Files(_) => Vec::new(),
            Output::Apart(takers) => takers.into(),
            Output::Joined(taker) => vec![taker],
        };
        let pipe = |(pipe, to)| Ok(Pipe { from: Some(Receiver::from_owned_fd(pipe)?), to, taken: Ok(()) });
        pipes.into_iter().zip(takers).map(pipe).collect::<io::Result<_>>().map(Pipes)
    }

    /// Takes what is printed until something else is over.
    pub(super) async fn taken_while<T>(&mut self, other: impl Future<Output = T>) -> T {
        if self.0.is_empty() {
            return other.await;
        }
        tokio::select! {
            biased;
            over = other => over,
            never = self.take() => match never {},
        }
    }

    async fn take(&mut self) -> Infallible {
        join_all(self.0.iter_mut().map(Pipe::take)).await;
        std::future::pending().await
    }

    /// Takes what is in the pipes. Whoever wrote to them has ended; a process that is none of the command's may hold them
    /// open, so their ends are not waited for.
    pub(super) fn finish(self) -> io::Result<()> {
        self.0.into_iter().map(Pipe::finish).fold(Ok(()), io::Result::and)
    }
}

impl Pipe<'_> {
    async fn take(&mut self) {
        let mut piece = vec![0; PIECE];
        while let Some(pipe) = &mut self.from {
            let read = pipe.read(&mut piece).await;
            self.took(read, &piece);
        }
    }

    fn finish(mut self) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        for _ in 0..HELD / PIECE {
            let Some(pipe) = &self.from else { break };
            match rustix::io::read(pipe, &mut piece) {
                Err(rustix::io::Errno::AGAIN) => break,
                read => self.took(read.map_err(io::Error::from), &piece),
            }
        }
        self.taken
    }

    fn took(&mut self, read: io::Result<usize>, piece: &[u8]) {
        match read {
            Ok(0) => self.from = None,
            Ok(count) => self.taken = (self.to)(&piece[..count]),
            Err(error) => self.taken = Err(error),
        }
        if self.taken.is_err() {
            self.from = None;
        }
    }
}
