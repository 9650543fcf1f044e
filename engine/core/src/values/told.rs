//! What an agent is told and may do, once it is known where it works.

use std::path::PathBuf;

use super::work::{AgentRules, ForkOf, NewConversation};
use crate::converse::{Differences, OutputForm, directive};
use crate::model::PermissionMode;
use crate::policy::Permissions;

/// Where an agent works; every folder absolute and free of links.
#[derive(Clone, Debug)]
pub struct Workplace {
    /// Its own tree.
    pub tree: PathBuf,
    /// The folder in it where it starts.
    pub dir: PathBuf,
    /// The project, which it may read.
    pub project: PathBuf,
    /// The person's home.
    pub home: Option<PathBuf>,
    /// Whether the tree is its own alone.
    pub private_tree: bool,
}

/// Where and when an agent works, as it is told.
#[derive(Clone, Copy, Debug)]
pub struct Whereabouts<'a> {
    /// The folder in which it starts.
    pub dir: &'a str,
    /// The operating system.
    pub platform: &'a str,
    /// The day.
    pub date: &'a str,
}

impl Whereabouts<'_> {
    fn lines(&self) -> String {
        let Whereabouts { dir, platform, date } = self;
        format!("Working folder: {dir}\nPlatform: {platform}\nDate: {date}")
    }
}

impl AgentRules {
    /// The rules over its calls.
    pub fn at(&self, place: Workplace) -> Permissions {
        Permissions {
            mode: self.mode.unwrap_or_else(|| PermissionMode::unsaid(place.private_tree)),
            mode_source: self.mode_source,
            tree: place.tree,
            dir: place.dir,
            home: place.home,
            readable: vec![place.project],
            private_tree: place.private_tree,
            layers: self.layers.clone(),
            task: self.task.clone(),
            definition: self.definition.clone(),
            disallowed: self.disallowed.clone(),
        }
    }
}

impl NewConversation {
    /// The system prompt. A definition of a person's is its body byte for byte; a built-in one also names the place.
    pub fn system(&self, place: Whereabouts<'_>) -> String {
        match self.system_has_place {
            true => format!("{}\n\n# Place\n\n{}\n", self.body.trim_end(), place.lines()),
            false => self.body.clone(),
        }
    }

    /// The first message: the place where the system prompt doesn't name it, the run's briefing, what has happened so far,
    /// the definition's own opening, then the prompt.
    pub fn first_message(&self, place: Whereabouts<'_>, prompt: &str) -> String {
        let place = (!self.system_has_place).then(|| format!("<place>\n{}\n</place>", place.lines()));
        // No file can end the element that it stands in.
        let whole = |text: &str| text.trim_end().replace("</briefing", "&lt;/briefing");
        let briefing = self.briefing.as_deref();
        let briefing = briefing.map(|text| format!("<briefing>\n{}\n</briefing>", whole(text)));
        let own = self.known.iter().chain(&self.opening).cloned().chain([prompt.to_owned()]);
        place.into_iter().chain(briefing).chain(own).collect::<Vec<_>>().join("\n\n")
    }
}

impl ForkOf {
    /// What it is told: what differs from what its conversation says, then the prompt.
    pub fn directive(&self, here: &str, branch: Option<&str>, output: &OutputForm, prompt: &str) -> String {
        let there = self.dir.as_deref().filter(|there| *there != here);
        let schema = match output {
            OutputForm::Schema(schema) => Some(&**schema),
            OutputForm::Text | OutputForm::Json | OutputForm::Lines => None,
        };
        directive(&Differences { dirs: there.map(|there| (here, there)), branch, schema }, prompt)
    }
}

#[cfg(test)]
#[path = "told_tests.rs"]
mod tests;
