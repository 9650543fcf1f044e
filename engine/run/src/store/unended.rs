//! Output of commands that have not ended: what the journal will say of it once they have.
//!
//! One attempt at a time writes to a slot's files, to the newest pair, behind what the attempts before it left there.

use flow_core::ids::Address;
use flow_core::model::OutputSlice;
use flow_core::report::Fold;

use super::run_folder::RunFolder;

/// What a command has printed so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unended {
    /// The task.
    pub task: Address,
    /// Standard output.
    pub stdout: OutputSlice,
    /// Standard error.
    pub stderr: OutputSlice,
}

/// What commands without an end have printed, be it that they run or that their engine died. Those of an engine before
/// the last one are not among them: their files can't be told from later ones.
pub fn unended(folder: &RunFolder, run: &Fold) -> Vec<Unended> {
    let ends = run.written();
    let mut all: Vec<_> = run
        .live_commands()
        .filter_map(|(task, attempt)| {
            let stem = newest_pair(folder, attempt.slot?)?;
            let slice = |extension: &str| {
                let file = format!("out/{stem}.{extension}");
                let start = ends.get(file.as_str()).copied().unwrap_or(0);
                let length = std::fs::metadata(folder.path().join(&file)).map_or(0, |file| file.len());
                OutputSlice::new(file, start, length.saturating_sub(start))
            };
            Some(Unended { task: task.address.clone(), stdout: slice("out"), stderr: slice("err") })
        })
        .collect();
    all.sort_by(|a, b| a.task.cmp(&b.task));
    all
}

/// `0`, `0.1`, `0.2`: the last one that there is.
fn newest_pair(folder: &RunFolder, slot: u32) -> Option<String> {
    let stems = std::iter::once(format!("{slot}")).chain((1..).map(|number| format!("{slot}.{number}")));
    stems.take_while(|stem| folder.out().join(format!("{stem}.err")).exists()).last()
}

#[cfg(test)]
#[path = "unended_tests.rs"]
mod tests;
