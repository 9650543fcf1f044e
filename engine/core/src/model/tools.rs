//! The tools an agent can have, by the names that Claude Code gave them: one row a tool.
//!
//! What is decided by the name of a tool is a column here, so a new tool is its implementation and its row. Of a name
//! without a row nothing is known: it may change something, no specifier of a rule tells its calls apart, and where no
//! rule speaks of it, it asks.

/// A tool as every layer knows it.
#[derive(Debug)]
pub struct ToolInfo {
    /// The name on the wire, exact case.
    pub name: &'static str,
    /// Whether an agent can have it.
    pub state: ToolState,
    /// What a call of it can do.
    pub effect: ToolEffect,
    /// What the specifiers of rules tell its calls apart by.
    pub subject: ToolSubject,
    /// The argument by which people tell its calls apart.
    pub label: Option<&'static str>,
    /// The tool whose rules with a specifier speak of this one as well.
    pub ruled_by: Option<&'static str>,
    /// What becomes of a call of which no rule speaks, where the call itself doesn't decide it.
    pub unruled: Unruled,
    /// Whether an agent in the background can have it: not one that speaks with a person, starts others or looks after
    /// them.
    pub in_background: bool,
    /// What other programs call it, in small letters.
    pub elsewhere: &'static [&'static str],
}

/// Whether an agent can have a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolState {
    /// A definition or a task may name it.
    Offered,
    /// The loop offers it by itself.
    OfLoop,
    /// Definitions in the field name it, and this version doesn't have it: it grants nothing.
    Later,
}

/// What a call of a tool can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEffect {
    /// It looks only.
    Looks,
    /// It changes files.
    Edits,
    /// It runs commands, of which some only look.
    Runs,
    /// Something else, such as an order to the engine.
    Other,
}

/// How calls of one turn go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolClass {
    /// Looks only; several run at once.
    Reader,
    /// May change something; one at a time, in order.
    Writer,
}

/// What a call is about, by the arguments that say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSubject {
    /// A shell text.
    Command(&'static str),
    /// The file of a path.
    File(&'static str),
    /// The file or folder of a path; the working folder where there is none.
    Folder(&'static str),
    /// The files that match a pattern.
    Files {
        /// Where the pattern begins; the working folder where there is none.
        folder: &'static str,
        /// The pattern.
        pattern: &'static str,
    },
    /// A name, such as `worker` in `Agent(worker, researcher)`.
    Name(&'static str),
    /// The host of an address, as in `WebFetch(domain:example.com)`.
    Host(&'static str),
    /// No specifier tells its calls apart.
    Nothing,
}

/// What becomes of a call of which no rule speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unruled {
    /// It passes.
    Allow,
    /// It asks.
    Ask,
}

/// The tool that reads a file: rules that keep files from being read are rules of this one.
pub const READ: &str = "Read";

/// The tool that changes a file: its rules speak of every other way to do so.
const EDIT: &str = "Edit";

/// The tool by which an agent hands in an answer of a declared form.
pub const HAND_IN: &str = "StructuredOutput";

/// How the names of the tools of servers begin.
pub const OF_SERVER: &str = "mcp__";

/// A tool that agents can have, in the background too, and that asks where no rule speaks of it.
const fn offered(
    name: &'static str,
    effect: ToolEffect,
    subject: ToolSubject,
    label: &'static str,
) -> ToolInfo {
    ToolInfo {
        state: ToolState::Offered,
        effect,
        subject,
        label: Some(label),
        in_background: true,
        ..later(name)
    }
}

/// A tool of which no more is known than a name.
const fn later(name: &'static str) -> ToolInfo {
    ToolInfo {
        name,
        state: ToolState::Later,
        effect: ToolEffect::Other,
        subject: ToolSubject::Nothing,
        label: None,
        ruled_by: None,
        unruled: Unruled::Ask,
        in_background: false,
        elsewhere: &[],
    }
}

/// A later tool that starts and steers work of the agent's own.
const fn own_work(name: &'static str) -> ToolInfo {
    ToolInfo { unruled: Unruled::Allow, ..later(name) }
}

/// Every tool: those that agents can have in the order in which they are offered, then the others by name.
pub const TOOLS: &[ToolInfo] = &[
    ToolInfo {
        elsewhere: &["readfile", "read_file", "view"],
        ..offered(READ, ToolEffect::Looks, ToolSubject::File("file_path"), "file_path")
    },
    ToolInfo {
        ruled_by: Some(READ),
        elsewhere: &["glob_search", "find_files", "file_search"],
        ..offered(
            "Glob",
            ToolEffect::Looks,
            ToolSubject::Files { folder: "path", pattern: "pattern" },
            "pattern",
        )
    },
    ToolInfo {
        ruled_by: Some(READ),
        elsewhere: &["grep_search", "search", "search/codebase", "codebase_search"],
        ..offered("Grep", ToolEffect::Looks, ToolSubject::Folder("path"), "pattern")
    },
    ToolInfo {
        ruled_by: Some(EDIT),
        elsewhere: &["writefile", "write_file", "create_file"],
        ..offered("Write", ToolEffect::Edits, ToolSubject::File("file_path"), "file_path")
    },
    ToolInfo {
        elsewhere: &["strreplacefile", "replace", "editfiles", "edit/editfiles", "str_replace"],
        ..offered(EDIT, ToolEffect::Edits, ToolSubject::File("file_path"), "file_path")
    },
    ToolInfo {
        elsewhere: &["shell", "run_shell_command", "execute", "runcommands", "runincommandline", "terminal"],
        ..offered("Bash", ToolEffect::Runs, ToolSubject::Command("command"), "command")
    },
    ToolInfo { subject: ToolSubject::Name("subagent_type"), ..own_work("Agent") },
    later("AskUserQuestion"),
    later("BashOutput"),
    later("EnterPlanMode"),
    later("ExitPlanMode"),
    later("KillBash"),
    later("KillShell"),
    later("LS"),
    later("LSP"),
    later("ListMcpResourcesTool"),
    ToolInfo { effect: ToolEffect::Edits, ..later("MultiEdit") },
    ToolInfo { effect: ToolEffect::Edits, in_background: true, ..later("NotebookEdit") },
    later("NotebookRead"),
    later("ReadMcpResourceTool"),
    ToolInfo { in_background: true, ..later("SendMessage") },
    ToolInfo { subject: ToolSubject::Name("skill"), ..later("Skill") },
    own_work("Sleep"),
    later("SlashCommand"),
    ToolInfo { state: ToolState::OfLoop, effect: ToolEffect::Looks, in_background: true, ..later(HAND_IN) },
    later("Task"),
    ToolInfo { elsewhere: &["taskget"], ..own_work("TaskList") },
    own_work("TaskOutput"),
    later("TaskStop"),
    ToolInfo { in_background: true, ..own_work("TeamTask") },
    ToolInfo { in_background: true, elsewhere: &["taskcreate", "taskupdate"], ..own_work("TodoWrite") },
    ToolInfo { subject: ToolSubject::Host("url"), in_background: true, ..later("WebFetch") },
    later("WebSearch"),
];

impl ToolInfo {
    /// How its calls go together with others of the same turn.
    pub fn class(&self) -> ToolClass {
        match self.effect {
            ToolEffect::Looks => ToolClass::Reader,
            ToolEffect::Edits | ToolEffect::Runs | ToolEffect::Other => ToolClass::Writer,
        }
    }

    /// Whether an agent can have it.
    fn is_offered(&self) -> bool {
        match self.state {
            ToolState::Offered => true,
            ToolState::OfLoop | ToolState::Later => false,
        }
    }
}

/// The tools that a definition or a task may name, in the order in which they are offered.
pub fn offered_tools() -> impl Iterator<Item = &'static ToolInfo> {
    TOOLS.iter().filter(|tool| tool.is_offered())
}

/// The tool that an agent can have by this name, exact case.
pub fn tool(name: &str) -> Option<&'static ToolInfo> {
    known_tool(name).filter(|tool| tool.is_offered())
}

/// What is known of a name, exact case, whether or not this version has such a tool.
pub fn known_tool(name: &str) -> Option<&'static ToolInfo> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Whether an agent in the background can have a tool.
pub fn in_background(name: &str) -> bool {
    known_tool(name).map_or(name.starts_with(OF_SERVER), |tool| tool.in_background)
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
