//! The steps of an attempt on this machine.

use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;

use flow_core::event::{Launch, LaunchAgent};
use flow_core::model::{Outcome, Reason};
use flow_core::values::{AttemptPacket, NamedOutput, WorkKind};

use super::host::Host;
use super::judge::Checks;
use super::setup::run_setup;
use super::site::{Refused, Site, refused, unusable};
use crate::execute::executor::{Attempting, Executor};
use crate::execute::has_conversation;
use crate::execute::sink::{NotWritten, Sink};
use crate::store::{OutputError, SlotFiles, give_own_file};
use crate::sys::stop::StopSignal;
use crate::workspace::{PrivateTree, WorkspaceError};

/// Work of some kind that is ready to run: what is special to the kind.
pub(super) trait Ready: Sized + Send + 'static {
    /// Makes ready what will run; nothing of it begins yet. `checks` may be told what the kind wants to be asked at the end.
    fn of(site: &Site<'_>, checks: &mut Checks) -> Result<Self, Refused>;

    /// What the journal says of its agent, if it is one.
    fn agent(&self) -> Option<LaunchAgent>;

    /// What people are to be told of it once in a run.
    fn note(&self) -> Option<String>;

    /// Whether it prints to the output files of its slot.
    fn prints(&self) -> bool;

    /// Runs it. There are `files` where it prints or something was set up.
    fn run(
        self,
        files: Option<SlotFiles>,
        stop: StopSignal,
        sink: &Sink,
    ) -> impl Future<Output = Outcome> + Send;
}

/// Runs attempts of a kind on this machine.
pub(super) struct Local<R> {
    host: Arc<Host>,
    kind: PhantomData<fn() -> R>,
}

impl<R> Local<R> {
    pub(super) fn new(host: Arc<Host>) -> Self {
        Local { host, kind: PhantomData }
    }
}

impl<R: Ready> Executor for Local<R> {
    fn run(self: Arc<Self>, packet: Box<AttemptPacket>, sink: Sink, stop: StopSignal) -> Attempting {
        Box::pin(async move {
            let ended = attempt::<R>(&self.host, packet, sink, stop).await;
            ended.unwrap_or_else(|outcome| outcome)
        })
    }
}

/// All steps in order; the error is the end of an attempt whose work never began.
async fn attempt<R: Ready>(
    host: &Arc<Host>,
    packet: Box<AttemptPacket>,
    mut sink: Sink,
    stop: StopSignal,
) -> Result<Box<Outcome>, Refused> {
    let (packet, tree) = make_tree(host, packet).await?;
    if let Some(tree) = &tree {
        sink.tree(Arc::clone(tree)).await.map_err(not_written)?;
    }
    let opened = open_named(host, &packet).await?;
    let site = Site { opened, ..Site::of(host, &packet, tree)? };
    site.write_files()?;
    let mut checks = Checks::of(&site);
    let ready = R::of(&site, &mut checks)?;
    // In a folder that an earlier attempt worked in it has been done.
    let setup =
        if site.tree.as_ref().is_some_and(|tree| tree.is_set_up()) { Vec::new() } else { site.setup()? };
    let work = &packet.work;
    let launch = Launch {
        kind: work.kind().info().word.to_owned(),
        description: work.description.clone(),
        dir: site.dir.display().to_string(),
        background: work.background,
        agent: ready.agent(),
    };
    let prints = ready.prints() || !setup.is_empty();
    sink.launch(launch, ready.note()).await.map_err(not_written)?;
    let files = prints.then(|| host.output_files(packet.slot)).transpose()?;
    let outcome = match checks.begin().await {
        Err(outcome) => outcome,
        Ok(()) => match run_setup(setup, files, &stop).await {
            Err(outcome) => *outcome,
            Ok(files) => ready.run(files, stop, &sink).await,
        },
    };
    Ok(Box::new(checks.judge(outcome).await))
}

/// Gives every output that the prompt of an agent names a file of its own, if it has none.
async fn open_named(host: &Host, packet: &AttemptPacket) -> Result<Vec<PathBuf>, Refused> {
    let named = match &packet.work.kind {
        WorkKind::Agent(agent) if !agent.named.is_empty() => agent.named.clone(),
        WorkKind::Agent(_) | WorkKind::Shell(_) => return Ok(Vec::new()),
    };
    let folder = Arc::clone(&host.folder);
    let open = move || {
        let mut opened = Vec::new();
        for NamedOutput { slice, file } in &named {
            let path = give_own_file(&folder, slice, file)?;
            // By its name in the prompt, and where that leads.
            opened.extend(path.canonicalize().ok().filter(|real| *real != path));
            opened.push(path);
        }
        Ok(opened)
    };
    match tokio::task::spawn_blocking(open).await {
        Ok(opened) => opened.map_err(|error: OutputError| {
            refused(Reason::Resource, format!("an output that the prompt names can't be read: {error}"))
        }),
        Err(error) => Err(refused(Reason::Internal, format!("bug: copying an output panicked: {error}"))),
    }
}

/// Makes the tree that an attempt asks for. A conversation is gone on with in its own tree, or not at all.
async fn make_tree(
    host: &Arc<Host>,
    mut packet: Box<AttemptPacket>,
) -> Result<(Box<AttemptPacket>, Option<Arc<PrivateTree>>), Refused> {
    if let Some(earlier) = &packet.earlier {
        let there = has_conversation(&host.folder.task(&packet.address), &earlier.agent_id);
        if !there.map_err(unusable)? {
            packet.earlier = None;
        }
    }
    if packet.tree.is_none() {
        return Ok((packet, None));
    }
    let trees = Arc::clone(&host.trees);
    let make = move || {
        let Some(order) = &packet.tree else { return Ok((packet, None)) };
        let left = packet.earlier.as_ref().and_then(|earlier| earlier.tree.as_ref());
        let resumed = left.map(|left| trees.resume(left, order)).transpose()?.flatten();
        let tree = match resumed {
            Some(tree) => tree,
            None => {
                packet.earlier = None;
                trees.make(&packet.address, packet.attempt, order)?
            }
        };
        Ok((packet, Some(Arc::new(tree))))
    };
    match tokio::task::spawn_blocking(make).await {
        Ok(made) => made.map_err(|error: WorkspaceError| Box::new(tree_failure(&error))),
        Err(error) => {
            Err(refused(Reason::Internal, format!("bug: making the private tree panicked: {error}")))
        }
    }
}

/// A tree that could not be made, as the end of an attempt.
fn tree_failure(error: &WorkspaceError) -> Outcome {
    Outcome::failed(error.reason(), error.one_line())
}

fn not_written(error: NotWritten) -> Refused {
    refused(Reason::Internal, error.to_string())
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
