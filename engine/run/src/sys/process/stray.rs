//! Finding and ending what escaped its process group.

use std::io;
use std::time::Duration;

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, kill_process, pidfd_open, pidfd_send_signal,
    set_child_subreaper, waitid,
};
use tokio::time::Instant;

use super::group::{Pause, is_live_leader};
use super::procfs::{self, State};

/// The variable by which a process says whose it is: tags from the outermost engine inwards, parted by blanks.
pub const ATTEMPT_VARIABLE: &str = "FLOW_ATTEMPT";

/// How long a stray may take to obey TERM.
const GRACE: Duration = Duration::from_millis(200);

/// How long a killed process may take to vanish: one stuck in the kernel must not hang the engine.
const PATIENCE: Duration = Duration::from_secs(2);

/// Makes orphans among our descendants our children, so that they can be found and reaped.
pub fn become_subreaper() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// The value of `FLOW_ATTEMPT` for a child with this tag: an engine that runs inside an attempt adds to that one's, so
/// that the outer engine still knows what the inner one may leave behind.
pub fn tag_value(tag: &str) -> String {
    match std::env::var(ATTEMPT_VARIABLE) {
        Ok(outer) => format!("{outer} {tag}"),
        Err(_) => tag.to_owned(),
    }
}

/// What was found of an attempt that is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Whether processes of it had escaped; they were ended.
    pub escaped: bool,
    /// Whether children of ours live that nobody answers for and whose mark says nothing: they may be of it all the same.
    pub strangers: bool,
}

/// Ends and reaps every orphan of ours that carries the tag. Costs one read when there are no orphans at all. Call it when
/// the tagged group itself is gone.
pub async fn sweep(tag: &str) -> Swept {
    const ROUNDS: usize = 4;
    for round in 0..ROUNDS {
        let orphans = settled_orphans(tag).await;
        if !orphans.contains(&Orphan::Tagged) {
            let strange = |orphan: &Orphan| matches!(orphan, Orphan::Nameless | Orphan::Unmarked);
            return Swept { escaped: round > 0, strangers: orphans.iter().any(strange) };
        }
        // Where one escaped, others may have: also such as are no children of ours yet.
        sweep_everywhere(tag).await;
    }
    Swept { escaped: true, strangers: true }
}

/// The orphans, once it is clear whose they are.
async fn settled_orphans(tag: &str) -> Vec<Orphan> {
    let mut pauses = [1, 2, 4, 8].into_iter().map(Duration::from_millis);
    loop {
        let orphans = orphans(tag);
        // One that is just executing a program has no environment to look at, for a moment.
        match pauses.next() {
            Some(pause) if !orphans.contains(&Orphan::Tagged) && orphans.contains(&Orphan::Nameless) => {
                tokio::time::sleep(pause).await;
            }
            _ => return orphans,
        }
    }
}

/// Ends every process that carries the tag, or a tag below it (`tag/...`), whoever its parent is; says whether there
/// were any. For runs whose engine is gone. Never touches this process or what it runs under.
pub async fn sweep_everywhere(tag: &str) -> bool {
    let mut asked: Vec<Pid> = Vec::new();
    let mut dying: Vec<Pid> = Vec::new();
    let start = Instant::now();
    let mut pause = Pause::new();
    loop {
        let found = processes_with(tag);
        let parents = dying.clone();
        dying.retain(|pid| !is_over(*pid, &parents));
        if found.is_empty() && dying.is_empty() || start.elapsed() > GRACE + PATIENCE {
            return !asked.is_empty();
        }
        let insist = start.elapsed() > GRACE;
        for (pid, pidfd) in found {
            if insist {
                let _ = pidfd_send_signal(&pidfd, Signal::KILL);
            }
            if !asked.contains(&pid) {
                let _ = pidfd_send_signal(&pidfd, Signal::TERM);
                // A stopped process would never get to hear it.
                let _ = pidfd_send_signal(&pidfd, Signal::CONT);
                asked.push(pid);
                dying.push(pid);
            }
        }
        pause.sleep().await;
    }
}

/// The processes that carry the tag, or a tag below it; never this process or what it runs under.
pub fn processes_tagged(tag: &str) -> Vec<i32> {
    processes_with(tag).into_iter().map(|(pid, _)| pid.as_raw_pid()).collect()
}

/// Ends and reaps every orphan of ours that runs in a session of its own, tagged or not: a daemon that cleared its
/// environment can't be told from any other, so this is for the end of an engine, when none may live. Says whether
/// there were any.
pub async fn sweep_orphans() -> bool {
    let start = Instant::now();
    let mut pause = Pause::new();
    let mut asked: Vec<Pid> = Vec::new();
    loop {
        let children = procfs::children_of_main_thread().unwrap_or_default();
        let orphans: Vec<Pid> = children.into_iter().filter(|pid| is_foreign(*pid)).collect();
        if orphans.is_empty() || start.elapsed() > GRACE + PATIENCE {
            return !asked.is_empty();
        }
        for pid in orphans {
            // Nobody but us reaps it, so the number is still its own.
            if start.elapsed() > GRACE {
                let _ = kill_process(pid, Signal::KILL);
            }
            if !asked.contains(&pid) {
                let _ = kill_process(pid, Signal::TERM);
                let _ = kill_process(pid, Signal::CONT);
                asked.push(pid);
            }
        }
        pause.sleep().await;
    }
}

/// Whether a child of ours lives in another session. No module of ours starts one, so it is an orphan that fell to us.
/// A dead one is reaped on the way.
fn is_foreign(pid: Pid) -> bool {
    !reap_foreign_session(pid) && procfs::stat(pid).is_ok_and(|stat| in_foreign_session(&stat))
}

/// Whose a living orphan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Orphan {
    /// It carries the tag.
    Tagged,
    /// It has no environment, or we may not see it.
    Nameless,
    /// It has no mark.
    Unmarked,
    /// Its mark is that of another attempt.
    Other,
}

/// Our children that no `Leader` answers for. Dead ones are reaped on the way.
fn orphans(tag: &str) -> Vec<Orphan> {
    let children = procfs::children_of_main_thread().unwrap_or_default();
    let living = children.into_iter().filter(|pid| !is_live_leader(*pid) && !reap_foreign_session(*pid));
    living.map(|pid| whose(pid, tag)).collect()
}

fn whose(pid: Pid, tag: &str) -> Orphan {
    match procfs::environment(pid) {
        None => Orphan::Nameless,
        Some(environment) => match procfs::value_in(&environment, ATTEMPT_VARIABLE) {
            Some(value) if names_tag(value, tag.as_bytes()) => Orphan::Tagged,
            Some(_) => Orphan::Other,
            None => Orphan::Unmarked,
        },
    }
}

fn processes_with(tag: &str) -> Vec<(Pid, std::os::fd::OwnedFd)> {
    let ancestors = ancestors();
    let strange = |pid: &Pid| !ancestors.contains(pid) && !is_live_leader(*pid);
    let pids = procfs::all_processes().unwrap_or_default();
    // The pidfd comes first: what the environment says afterwards is then said of the process that it names.
    let open = |pid: Pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?));
    pids.into_iter()
        .filter(strange)
        .filter_map(open)
        .filter(|(pid, _)| whose(*pid, tag) == Orphan::Tagged)
        .collect()
}

/// This process and what it runs under.
fn ancestors() -> Vec<Pid> {
    let mut chain = vec![getpid()];
    while let Some(parent) = chain.last().and_then(|pid| Pid::from_raw(procfs::stat(*pid).ok()?.parent)) {
        chain.push(parent);
    }
    chain
}

/// Whether the tag, or one below it, stands in the value.
fn names_tag(value: &[u8], tag: &[u8]) -> bool {
    let begins = |at: usize| at == 0 || value[at - 1] == b' ';
    let ends = |at: usize| matches!(value.get(at), None | Some(b' ' | b'/'));
    let mut places = value.windows(tag.len().max(1)).enumerate().filter(|(_, window)| *window == tag);
    places.any(|(at, _)| begins(at) && ends(at + tag.len()))
}

/// Reaps an orphan that died. Its environment is gone, but no module of ours starts a session: a dead child in another
/// one is nobody's, and whoever waits for a child of its own is not robbed. Says whether the process was dead.
fn reap_foreign_session(pid: Pid) -> bool {
    let Ok(stat) = procfs::stat(pid) else { return true };
    if stat.state == State::Dead && in_foreign_session(&stat) {
        reap(pid);
    }
    stat.state == State::Dead
}

/// Whether a process is of another session than ours. Ours is 0 where its leader is outside of our container, and so
/// is that of everything that we start.
fn in_foreign_session(stat: &procfs::Stat) -> bool {
    procfs::stat(getpid()).is_ok_and(|ours| ours.session != stat.session)
}

/// Whether a process has ended and is reaped, or left to a parent that is neither us nor about to leave it to us.
fn is_over(pid: Pid, dying: &[Pid]) -> bool {
    reap(pid);
    let Ok(stat) = procfs::stat(pid) else { return true };
    let parent = Pid::from_raw(stat.parent);
    stat.state == State::Dead && parent.is_none_or(|parent| parent != getpid() && !dying.contains(&parent))
}

/// Reaps a process if it is a dead child of ours.
fn reap(pid: Pid) {
    let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
}

#[cfg(test)]
#[path = "stray_tests.rs"]
mod tests;
