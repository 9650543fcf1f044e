//! What flow brings along: files of this repository, compiled in.

/// A file that is part of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shipped {
    /// An agent's file name, a workflow's name.
    pub(super) name: &'static str,
    /// Its content.
    pub(super) text: &'static str,
}

macro_rules! agents {
    ($($name:literal),+ $(,)?) => {
        &[$(Shipped { name: $name, text: include_str!(concat!("../../../../agents/", $name)) }),+]
    };
}

/// The agent definitions of `agents/`.
pub(super) const AGENTS: &[Shipped] = agents![
    "Explore.md",
    "Plan.md",
    "claude-code-guide.md",
    "general-purpose.md",
    "guide.md",
    "kimi-coder.md",
    "kimi-explore.md",
    "kimi-plan.md",
    "statusline-setup.md",
    "verification.md",
];

/// The workflows that `flow run NAME` knows without a file. A plan of the project with the same name wins.
pub(super) const WORKFLOWS: &[Shipped] =
    &[Shipped { name: "tour", text: include_str!("../../../../workflows/tour.yaml") }];

#[cfg(test)]
#[path = "shipped_tests.rs"]
mod tests;
