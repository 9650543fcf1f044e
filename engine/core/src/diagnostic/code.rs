//! Every kind of finding, with its code and severity. `F01xx` the file itself, `F02xx` keys and values, `F03xx` names and
//! references, `F04xx` templates and shell text, `F05xx` agents, `F06xx` inputs and settings; `W` in place of `F`: a warning.

use std::fmt;

/// Whether a finding stops the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The text can be used, but probably not as meant.
    Warning,
    /// The text can't be used.
    Error,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal, $severity:ident;)+) => {
        /// A kind of finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Code {
            /// Every kind, in the order of the reference.
            pub const ALL: &'static [Code] = &[$(Code::$name),+];

            /// The stable code, such as `F0201`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code,)+ }
            }

            /// Error or warning.
            pub fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity,)+ }
            }

            /// What the kind means, for the reference.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$name => concat!($($doc),+),)+ }
            }
        }
    };
}

codes! {
    /// The file can't be read: missing, a folder, not a regular file, no permission.
    Unreadable = "F0101", Error;
    /// The file is larger than its limit.
    TooLarge = "F0102", Error;
    /// The file isn't UTF-8 text, or holds a NUL.
    NotText = "F0103", Error;
    /// The file isn't well-formed YAML (or TOML, or JSON).
    Malformed = "F0104", Error;
    /// A limit that keeps a hostile file from using up the machine: depth, nodes, aliases.
    Limit = "F0105", Error;
    /// A YAML tag; flow has none.
    Tag = "F0106", Error;
    /// The same key twice in one mapping.
    DuplicateKey = "F0107", Error;
    /// The plan has no tasks.
    NoTasks = "F0108", Error;
    /// Front matter that is never closed, or missing.
    FrontMatter = "F0109", Error;

    /// A key that flow doesn't know here.
    UnknownKey = "F0201", Error;
    /// A value of another type than the key takes.
    WrongType = "F0202", Error;
    /// A value outside its range or list.
    BadValue = "F0203", Error;
    /// A key that must be there and isn't.
    MissingKey = "F0204", Error;
    /// Keys that exclude each other, or a key that this kind of task doesn't take.
    KeyConflict = "F0205", Error;
    /// A task or input name that isn't an identifier, or clashes with another.
    BadName = "F0206", Error;
    /// An expansion beyond its limit, or with two instances of one key.
    Expansion = "F0207", Error;
    /// A JSON Schema that isn't one.
    BadSchema = "F0208", Error;

    /// A task that doesn't exist.
    UnknownTask = "F0301", Error;
    /// Tasks that wait for each other.
    Cycle = "F0302", Error;
    /// A name in an expression that doesn't exist there.
    UnknownReference = "F0303", Error;
    /// A value of a task that such a task doesn't have.
    UnknownField = "F0304", Error;

    /// A template or expression that can't be parsed.
    TemplateSyntax = "F0401", Error;
    /// A `${{ }}` where a bare expression or a literal belongs.
    TemplatePlace = "F0402", Error;
    /// A hole at a place of a shell script where no value can stand safely.
    UnsafeHole = "F0403", Error;
    /// A filter, test or function that doesn't exist.
    UnknownFilter = "F0404", Error;
    /// A comparison that comes out one way whatever happens.
    NeverTrue = "F0405", Error;

    /// An agent that no source defines.
    UnknownAgent = "F0501", Error;
    /// Two definitions of one name in one folder.
    DuplicateAgent = "F0502", Error;
    /// A tool that doesn't exist.
    UnknownTool = "F0503", Error;
    /// A model alias that no settings define.
    UnknownModel = "F0504", Error;
    /// A definition that contradicts itself or asks for what only a person may give.
    AgentConflict = "F0505", Error;

    /// An input that is missing, unknown or of the wrong type.
    BadInput = "F0601", Error;
    /// A declared secret that the environment doesn't have.
    MissingSecret = "F0602", Error;
    /// The place lacks what the plan needs: a git repository, a commit, a shell.
    BadPlace = "F0603", Error;

    /// A key that is unknown, or without effect, and is kept and ignored.
    IgnoredKey = "W0201", Warning;
    /// Text that probably isn't what was meant (a comment that cuts a value, a large expansion).
    Suspicious = "W0202", Warning;
    /// An output that may be null and has no `default`.
    MaybeNull = "W0301", Warning;
    /// A value that becomes program text of another language.
    ProgramText = "W0401", Warning;
    /// An agent file that had to be recovered or corrected.
    Recovered = "W0501", Warning;
    /// A tool name that grants nothing.
    IgnoredTool = "W0502", Warning;
    /// A tool that would always ask where nobody can be asked.
    AlwaysDenied = "W0503", Warning;
    /// Agents that may write to one tree at the same time.
    SharedWriters = "W0504", Warning;
    /// An agent file that can't be used; an error as soon as a plan names its agent.
    BrokenAgent = "W0505", Warning;
    /// A model of an agent's definition that can't be used here, so that the default answers.
    OtherModel = "W0506", Warning;
    /// A written model that answers in place of a real one.
    WrittenModel = "W0507", Warning;
    /// A setting that this layer may not set and that is ignored.
    IgnoredSetting = "W0601", Warning;
    /// A secret too short to be masked.
    ShownSecret = "W0602", Warning;
    /// A variable that the environment here lacks; an error when the plan is run.
    UnsetVariable = "W0603", Warning;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
#[path = "code_tests.rs"]
mod tests;
