//! All agent definitions there are, and which of each name counts.
//!
//! 1. A later file replaces an earlier one of its name whole, also when it can't be used: falling back to a weaker
//!    definition in silence would run another agent than the one the person wrote.
//! 2. Two files of one name in one folder replace each other in no order that anybody chose, so neither counts.
//! 3. What a file lacks is a warning until a plan names its agent.
//! 4. A file that can't be read stands for the agent that its name says.
//! 5. No file is parsed before somebody asks for a definition: most plans have no agents, and the built-in ones alone take
//!    longer than a plan of shell tasks.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use super::agent_def::agent_def;
use crate::diagnostic::{Code, Diagnostic, SourceFile, Span};
use crate::import::{Import, import};
use crate::model::{AgentDef, AgentSource};
use crate::text::{file_stem, one_line, visible};

/// An agent file as it was found.
#[derive(Clone, Debug)]
pub struct AgentText {
    /// Where it comes from.
    pub source: AgentSource,
    /// The folder that it stands in.
    pub folder: String,
    /// The file.
    pub file: Arc<SourceFile>,
    /// Why it can't be read, where it can't.
    pub unreadable: Option<Diagnostic>,
}

impl AgentText {
    /// A file that could be read.
    pub fn new(source: AgentSource, folder: impl Into<String>, file: Arc<SourceFile>) -> Self {
        AgentText { source, folder: folder.into(), file, unreadable: None }
    }
}

/// The definitions by name.
#[derive(Debug, Default)]
pub struct AgentRegistry {
    files: Vec<AgentText>,
    read: OnceLock<Definitions>,
    disabled: Vec<String>,
    /// The folders that were looked through, for people who miss an agent.
    pub searched: Vec<String>,
}

/// What the files say.
#[derive(Debug, Default)]
struct Definitions {
    agents: BTreeMap<String, Slot>,
    /// Files in agent folders that define nothing, by stem.
    prose: BTreeMap<String, Vec<Diagnostic>>,
}

/// Everything of one name.
#[derive(Debug)]
struct Slot {
    winner: Candidate,
    /// What the winner replaces, the strongest first.
    shadowed: Vec<AgentDef>,
}

#[derive(Debug)]
enum Candidate {
    Usable(Box<AgentDef>, Vec<Diagnostic>),
    /// With at least one error.
    Broken(Vec<Diagnostic>),
}

impl Candidate {
    fn found(&self) -> &[Diagnostic] {
        match self {
            Candidate::Usable(_, found) | Candidate::Broken(found) => found,
        }
    }
}

/// Where a finding is, to sort by.
fn place(found: &Diagnostic) -> Option<(&str, Span)> {
    found.labels.first().map(|label| (label.file.name.as_str(), label.span))
}

/// A file that defines something.
struct Found {
    file: Arc<SourceFile>,
    /// Where it says its name.
    name: Span,
    candidate: Candidate,
}

/// The definitions in all files, the weakest source first; which one of each name counts is settled when one is asked for.
pub fn agent_registry(files: Vec<AgentText>, disabled: &[String], searched: Vec<String>) -> AgentRegistry {
    AgentRegistry { files, read: OnceLock::new(), disabled: disabled.to_vec(), searched }
}

impl AgentRegistry {
    /// The files it was made of, the weakest source first.
    pub fn files(&self) -> &[AgentText] {
        &self.files
    }

    /// The names that the settings take out.
    pub fn disabled(&self) -> &[String] {
        &self.disabled
    }

    /// The definition of a name that can be used.
    pub fn get(&self, name: &str) -> Option<&AgentDef> {
        match &self.slot(name)?.winner {
            Candidate::Usable(agent, _) => Some(agent),
            Candidate::Broken(_) => None,
        }
    }

    /// Why a name that has a file can't be used.
    pub fn broken(&self, name: &str) -> Option<&[Diagnostic]> {
        match self.slot(name).map(|slot| &slot.winner) {
            Some(Candidate::Broken(found)) => Some(found),
            Some(Candidate::Usable(..)) => None,
            None if self.is_disabled(name) => None,
            None => self.definitions().prose.get(name).map(Vec::as_slice),
        }
    }

    /// What is odd about the definition of a name that can be used.
    pub fn warnings(&self, name: &str) -> &[Diagnostic] {
        match self.slot(name).map(|slot| &slot.winner) {
            Some(Candidate::Usable(_, warnings)) => warnings,
            Some(Candidate::Broken(_)) | None => &[],
        }
    }

    /// Whether the settings take this name out.
    pub fn is_disabled(&self, name: &str) -> bool {
        self.disabled.iter().any(|disabled| disabled == name)
    }

    /// Every name that can be used, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.winners().map(|agent| agent.name.as_str())
    }

    /// Every definition that can be used, sorted by name.
    pub fn winners(&self) -> impl Iterator<Item = &AgentDef> {
        self.definitions().agents.keys().filter_map(|name| self.get(name))
    }

    /// What the definition of a name replaces, the strongest first.
    pub fn shadowed(&self, name: &str) -> &[AgentDef] {
        self.definitions().agents.get(name).map_or(&[], |slot| &slot.shadowed)
    }

    /// Every name whose definition can't be used, sorted.
    pub fn broken_names(&self) -> impl Iterator<Item = &str> {
        let broken = |slot: &Slot| matches!(slot.winner, Candidate::Broken(_));
        self.slots().filter(move |(_, slot)| broken(slot)).map(|(name, _)| name)
    }

    /// Everything that is odd or wrong about the definitions that count, by file and place.
    pub fn findings(&self) -> Vec<&Diagnostic> {
        let mut all: Vec<&Diagnostic> = self.slots().flat_map(|(_, slot)| slot.winner.found()).collect();
        all.sort_by_key(|found| place(found));
        all
    }

    fn slots(&self) -> impl Iterator<Item = (&str, &Slot)> {
        let counts = |(name, _): &(&String, &Slot)| !self.is_disabled(name);
        self.definitions().agents.iter().filter(counts).map(|(name, slot)| (name.as_str(), slot))
    }

    fn slot(&self, name: &str) -> Option<&Slot> {
        self.definitions().agents.get(name).filter(|_| !self.is_disabled(name))
    }

    /// The same for who names none of them: warnings all.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let as_warning = |name: &str, found: &Diagnostic| match found.is_error() {
            true => cannot_be_used(name, found),
            false => found.clone(),
        };
        let mut all: Vec<Diagnostic> = self
            .slots()
            .flat_map(|(name, slot)| slot.winner.found().iter().map(move |found| as_warning(name, found)))
            .collect();
        all.sort_by(|one, other| place(one).cmp(&place(other)));
        all
    }

    /// The files that can't be read, as warnings. Any of them may define any agent.
    pub fn unreadable(&self) -> Vec<Diagnostic> {
        let why =
            |text: &AgentText| Some(cannot_be_used(file_stem(&text.file.name), text.unreadable.as_ref()?));
        self.files.iter().filter_map(why).collect()
    }

    fn definitions(&self) -> &Definitions {
        self.read.get_or_init(|| Definitions::read(&self.files))
    }
}

impl Definitions {
    fn read(files: &[AgentText]) -> Self {
        let mut definitions = Definitions::default();
        // By folder and name, in the order of the files: the second of a name in a folder is no successor but a clash.
        let mut order: Vec<(String, Vec<Found>)> = Vec::new();
        let mut seen: HashMap<(AgentSource, &str, String), usize> = HashMap::new();
        for text in files {
            let Some((name, found)) = definitions.read_one(text) else { continue };
            let place = (text.source, text.folder.as_str(), name.clone());
            let at = *seen.entry(place).or_insert_with(|| {
                order.push((name, Vec::new()));
                order.len() - 1
            });
            order[at].1.push(found);
        }
        for (name, mut candidates) in order {
            let candidate = match candidates.len() {
                1 => candidates.pop().map(|found| found.candidate),
                _ => Some(Candidate::Broken(vec![clash(&name, &candidates)])),
            };
            if let Some(candidate) = candidate {
                definitions.add(name, candidate);
            }
        }
        definitions
    }

    /// What a file comes to, by its name. Prose defines nothing.
    fn read_one(&mut self, text: &AgentText) -> Option<(String, Found)> {
        let stem = file_stem(&text.file.name);
        if let Some(why) = &text.unreadable {
            let candidate = Candidate::Broken(vec![why.clone()]);
            let found = Found { file: Arc::clone(&text.file), name: Span::default(), candidate };
            return Some((stem.to_owned(), found));
        }
        let Import { agent, mut found } = import(&text.file)?;
        let Some(agent) = agent else {
            if found.is_empty() {
                let message = format!("`{}` has no front matter, so it defines no agent", text.file.name);
                let problem = Diagnostic::new(Code::FrontMatter, &text.file, Span::default(), message)
                    .help("begin it with `---`, `name:` and `description:` lines, and `---`");
                self.prose.insert(stem.to_owned(), vec![problem]);
                return None;
            }
            let name = said_name(&text.file.text).unwrap_or(stem).to_owned();
            if name != stem {
                // Whoever goes by the file's name learns it too.
                self.prose.insert(stem.to_owned(), found.clone());
            }
            let candidate = Candidate::Broken(found);
            return Some((name, Found { file: Arc::clone(&text.file), name: Span::default(), candidate }));
        };
        let name = agent.identity().to_owned();
        let span = agent.name.as_ref().map_or(Span::default(), |name| name.span);
        if name.trim().is_empty() || visible(&name) != name || name.contains(['\n', '\t']) {
            let message = format!("`{}` can't name an agent", visible(&one_line(&name, 60)));
            let problem = Diagnostic::new(Code::BadName, &agent.file, span, message)
                .help("a name stands on one line and has letters that everybody can see");
            found.push(problem);
        }
        let file = Arc::clone(&agent.file);
        let def = agent_def(agent, text, &mut found);
        let broken = found.iter().any(Diagnostic::is_error);
        let candidate =
            if broken { Candidate::Broken(found) } else { Candidate::Usable(Box::new(def), found) };
        Some((name, Found { file, name: span, candidate }))
    }

    fn add(&mut self, name: String, candidate: Candidate) {
        let shadowed = match self.agents.remove(&name) {
            None => Vec::new(),
            Some(Slot { winner: Candidate::Usable(agent, _), mut shadowed }) => {
                shadowed.insert(0, *agent);
                shadowed
            }
            Some(Slot { winner: Candidate::Broken(_), shadowed }) => shadowed,
        };
        self.agents.insert(name, Slot { winner: candidate, shadowed });
    }
}

/// The name that a file says which is no definition as it stands: plans that want it have to learn why there is none.
fn said_name(text: &str) -> Option<&str> {
    let said = text.lines().take(40).find_map(|line| line.strip_prefix("name:"))?;
    let name = said.trim().trim_matches(['"', '\'']);
    (!name.is_empty() && visible(name) == name).then_some(name)
}

/// An error of a file whose agent nobody has named yet.
fn cannot_be_used(name: &str, error: &Diagnostic) -> Diagnostic {
    let message = format!("agent `{}` can't be used: {}", visible(name), error.message);
    Diagnostic { code: Code::BrokenAgent, message, ..error.clone() }
}

fn clash(name: &str, candidates: &[Found]) -> Diagnostic {
    let paths: Vec<String> = candidates.iter().map(|found| format!("`{}`", found.file.name)).collect();
    let message = format!("agent `{}` is defined twice in one folder: {}", visible(name), paths.join(", "));
    let mut clash = Diagnostic { code: Code::DuplicateAgent, message, labels: Vec::new(), help: None };
    for (at, found) in candidates.iter().enumerate() {
        clash = clash.label(&found.file, found.name, if at == 0 { "" } else { "and here" });
    }
    clash.help("rename one of them")
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
