//! What goes into the compiler and what comes out.

use std::sync::Arc;

use serde_json::Value;

use super::AgentRegistry;
use crate::diagnostic::{Diagnostic, SourceFile, Span};
use crate::model::Settings;
use crate::plan::Plan;

/// A manifest and everything that decides what it means.
pub struct CompileInput<'a> {
    /// The manifest.
    pub file: Arc<SourceFile>,
    /// The agents that it may name.
    pub agents: &'a AgentRegistry,
    /// `flow.toml`, all layers.
    pub settings: &'a Settings,
    /// The inputs that were given; the last of one name counts.
    pub inputs: &'a [GivenInput],
    /// The outside.
    pub place: &'a dyn Place,
    /// What the plan is for.
    pub purpose: Purpose,
}

/// What a plan is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be run: inputs without a default and secrets must be there.
    Run,
    /// To be judged or drawn: what only a run has to be given may be absent. An absent input is null.
    Look,
}

/// An input that was given for this run.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenInput {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: GivenValue,
    /// Where it stands, when a file gives it.
    pub place: Option<(Arc<SourceFile>, Span)>,
}

/// The value of a given input.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenValue {
    /// `-i name=text` or `-i name=@file`: read as the input's type says.
    Text(String),
    /// `-i name:=json` or an inputs file: has a type already.
    Json(Value),
}

/// The outside, asked only for what a plan needs.
pub trait Place {
    /// A variable of the environment.
    fn env(&self, name: &str) -> Option<String>;
    /// The text of a file; the path is relative to the manifest. The error is a fragment for people.
    fn read(&self, path: &str) -> Result<String, String>;
    /// What git has to offer at the project root.
    fn git(&self) -> GitPlace;
    /// How many folders the project root is below the top of what private trees are made of.
    fn depth(&self) -> usize;
    /// Whether there is something at a path relative to the project root.
    fn exists(&self, path: &str) -> bool;
    /// Whether a program is found on the `PATH`.
    fn has_program(&self, name: &str) -> bool;
}

/// What git has to offer at the project root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitPlace {
    /// No repository.
    None,
    /// A repository without a commit.
    NoCommits,
    /// A repository without a checkout: worktrees can be made of it, and nothing can be brought home to files.
    Bare,
    /// A repository that worktrees can be made of.
    Ready,
}

/// A compiled manifest.
#[derive(Debug)]
pub struct Compiled {
    /// The plan; absent when there are errors.
    pub plan: Option<Plan>,
    /// Errors and warnings, sorted by place.
    pub diagnostics: Vec<Diagnostic>,
}
