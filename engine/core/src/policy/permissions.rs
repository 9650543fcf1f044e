//! The decision over one call.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::command::{self, Form, Part};
use super::path::{Roots, before_wildcards, resolve};
use super::read_only::{Place, is_read_only};
use super::rule::{Purpose, covers, is_bare, speaks_of};
use super::subject::{Subject, host};
use crate::model::{
    DenialReason, FLOW_DIR, GIT_DIR, PermissionMode, PermissionRules, READ, SettingsLayer, ToolEffect,
    ToolPolicy, ToolRule, ToolSubject, Unruled, known_tool, tool,
};

/// The most commands in one shell text.
const MOST_PARTS: usize = 50;

/// Folders and files inside a tree that no mode opens for edits: what stands in them runs or decides later.
pub(super) const PROTECTED: &[&str] = &[GIT_DIR, FLOW_DIR, ".claude", ".vscode", ".envrc"];

/// Everything that decides over the calls of one agent.
#[derive(Clone, Debug)]
pub struct Permissions {
    /// What happens when no rule matches.
    pub mode: PermissionMode,
    /// Who chose the mode.
    pub mode_source: ModeSource,
    /// The agent's own tree, absolute and free of links: where the patterns of rules begin.
    pub tree: PathBuf,
    /// The folder in it in which the tools work: where the paths of calls begin.
    pub dir: PathBuf,
    /// The person's home, for patterns that begin with `~/`.
    pub home: Option<PathBuf>,
    /// Further folders whose files may be read without asking, absolute: the project of an agent that works elsewhere.
    pub readable: Vec<PathBuf>,
    /// Whether the tree is private (worktree), so that edits inside it pass in mode `acceptEdits`.
    pub private_tree: bool,
    /// Rules of flow.toml, by layer.
    pub layers: Vec<PermissionRules>,
    /// `permissions` of the task, and what its `tools` grant.
    pub task: PermissionRules,
    /// What the definition's `tools` say: names limit, specifiers also allow.
    pub definition: ToolPolicy,
    /// `disallowedTools` of the definition and `disallowed_tools` of the task.
    pub disallowed: Vec<ToolRule>,
}

/// Who chose a permission mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeSource {
    /// The agent's definition, or nobody.
    Definition,
    /// The person: the task of a plan, a flag.
    Person,
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is made.
    Allow,
    /// The person decides.
    Ask,
    /// It is refused, for this reason; the text is for the model and the report.
    Deny(DenialReason, String),
}

/// How strong a source is: the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Definition,
    Repository,
    Task,
    User,
    Flag,
    Policy,
}

impl Permissions {
    /// Decides over a call. Pure: paths are compared as text, so a tool has to check where links lead.
    pub fn decide(&self, tool_name: &str, input: &Value) -> Verdict {
        if let Some(refused) = self.taken_away(tool_name) {
            return refused;
        }
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        let known = known_tool(tool_name);
        let unruled = known.map_or(Unruled::Ask, |tool| tool.unruled);
        let about = |subject| self.weigh(tool_name, subject, unruled);
        let verdict = match known.map_or(ToolSubject::Nothing, |tool| tool.subject) {
            ToolSubject::Command(key) => self.decide_command(tool_name, text(key).unwrap_or_default()),
            ToolSubject::File(key) => self.decide_path(tool_name, text(key)),
            ToolSubject::Folder(key) => self.decide_path(tool_name, Some(text(key).unwrap_or("."))),
            ToolSubject::Files { folder, pattern } => {
                self.decide_path(tool_name, glob_root(text(folder), text(pattern)).as_deref())
            }
            ToolSubject::Name(key) => about(text(key).map_or(Subject::Unclear, Subject::Name)),
            ToolSubject::Host(key) => about(text(key).and_then(host).map_or(Subject::Unclear, Subject::Host)),
            ToolSubject::Nothing => about(Subject::Plain),
        };
        self.settle(verdict)
    }

    /// Whether a file may be read without asking: for tools that come upon files on their way.
    pub fn may_read(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.decide_path(READ, Some(path)) == Verdict::Allow)
    }

    /// What is special about the place that a call names, where a rule for the whole tool would grant more than it: for
    /// people who read that it was refused.
    pub fn special_place(&self, tool_name: &str, input: &Value) -> Option<&'static str> {
        let tool = tool(tool_name)?;
        let ToolSubject::File(key) = tool.subject else { return None };
        let path = resolve(&self.dir, input.get(key)?.as_str()?)?;
        if !path.starts_with(&self.tree) {
            return Some("it lies outside of the agent's tree");
        }
        (tool.effect == ToolEffect::Edits && is_protected(&path, &self.tree))
            .then_some("what runs or decides later is closed to edits")
    }

    /// Tools that the agent doesn't have.
    fn taken_away(&self, tool_name: &str) -> Option<Verdict> {
        let kept = self.definition.names(tool_name) && !ToolRule::any_names(&self.disallowed, tool_name);
        let text = format!("the agent doesn't have the tool `{tool_name}`");
        (!kept).then_some(Verdict::Deny(DenialReason::NotAvailable, text))
    }

    /// `dontAsk` turns a question into a refusal.
    fn settle(&self, verdict: Verdict) -> Verdict {
        match (verdict, self.mode) {
            (Verdict::Ask, PermissionMode::DontAsk) => {
                let text = "no rule allows this call, and the mode `dontAsk` refuses what would ask";
                Verdict::Deny(DenialReason::Mode, text.to_owned())
            }
            (verdict, _) => verdict,
        }
    }

    /// The rules of persons and the repository, strongest first.
    fn sources(&self) -> Vec<(Strength, &PermissionRules)> {
        let layers = self.layers.iter().map(|rules| {
            let strength = match rules.layer {
                SettingsLayer::User => Strength::User,
                SettingsLayer::Repository => Strength::Repository,
                SettingsLayer::Flag => Strength::Flag,
                SettingsLayer::Policy => Strength::Policy,
            };
            (strength, rules)
        });
        let mut sources: Vec<_> = layers.chain([(Strength::Task, &self.task)]).collect();
        sources.sort_by_key(|(strength, _)| std::cmp::Reverse(*strength));
        sources
    }

    fn roots(&self) -> Roots<'_> {
        Roots { tree: &self.tree, home: self.home.as_deref() }
    }

    /// Weighs all sources over one subject.
    fn weigh(&self, tool_name: &str, subject: Subject<'_>, unruled: Unruled) -> Verdict {
        let sources = self.sources();
        let find = |rules: &[ToolRule], purpose| {
            rules.iter().position(|rule| speaks_of(rule, tool_name, subject, purpose, self.roots()))
        };
        for (_, rules) in &sources {
            if let Some(at) = find(&rules.deny, Purpose::Restrict) {
                return denied_by(&rules.deny[at], subject);
            }
        }
        let granted_by_definition = match self.definition_says(tool_name, subject) {
            Ok(granted) => granted,
            Err(refused) => return refused,
        };
        if self.mode == PermissionMode::BypassPermissions {
            return Verdict::Allow;
        }
        let looks = matches!(unruled, Unruled::Allow)
            || tool(tool_name).is_some_and(|tool| tool.effect == ToolEffect::Looks);
        if self.mode == PermissionMode::Plan && tool(tool_name).is_some() && !looks {
            let text = format!("`{tool_name}` could change something here, and the mode `plan` only looks");
            return Verdict::Deny(DenialReason::Mode, text);
        }
        let mut allowed = granted_by_definition.then_some(Strength::Definition);
        let mut asked = None;
        // Strongest first, so the first one found is the one that counts.
        for (strength, rules) in &sources {
            if asked.is_none() && find(&rules.ask, Purpose::Restrict).is_some() {
                asked = Some(*strength);
            }
            let grants = *strength != Strength::Repository && find(&rules.allow, Purpose::Grant).is_some();
            if grants && allowed.is_none_or(|allowed| allowed < *strength) {
                allowed = Some(*strength);
            }
        }
        match (asked, allowed) {
            (Some(asked), Some(allowed)) if allowed > asked => Verdict::Allow,
            (Some(_), _) => Verdict::Ask,
            (None, Some(_)) => Verdict::Allow,
            (None, None) => match unruled {
                Unruled::Allow => Verdict::Allow,
                Unruled::Ask => Verdict::Ask,
            },
        }
    }

    /// Whether the definition's specifiers cover the call and so grant it. An error where they leave it out.
    fn definition_says(&self, tool_name: &str, subject: Subject<'_>) -> Result<bool, Verdict> {
        let ToolPolicy::Only(rules) = &self.definition else { return Ok(false) };
        let own: Vec<&ToolRule> = rules.iter().filter(|rule| rule.names(tool_name)).collect();
        let specific = |rule: &&&ToolRule| rule.spec.is_some();
        if own.iter().filter(specific).any(|rule| covers(rule, subject, Purpose::Grant, self.roots())) {
            return Ok(true);
        }
        if own.is_empty() || own.iter().any(|rule| rule.spec.is_none()) {
            return Ok(false);
        }
        let listed: Vec<String> = own.iter().map(|rule| format!("`{rule}`")).collect();
        let text = format!("the agent's definition allows only {}", listed.join(", "));
        Err(Verdict::Deny(DenialReason::Rule, text))
    }

    fn decide_path(&self, tool_name: &str, path: Option<&str>) -> Verdict {
        let Some(path) = path.and_then(|path| resolve(&self.dir, path)) else {
            return self.weigh(tool_name, Subject::Unclear, Unruled::Ask);
        };
        let inside = path.starts_with(&self.tree);
        let passes = match tool(tool_name).map(|tool| tool.effect) {
            Some(ToolEffect::Looks) => inside || self.readable.iter().any(|folder| path.starts_with(folder)),
            Some(ToolEffect::Edits) => inside && self.edits_pass() && !is_protected(&path, &self.tree),
            Some(ToolEffect::Runs | ToolEffect::Other) | None => false,
        };
        let unruled = if passes { Unruled::Allow } else { Unruled::Ask };
        self.weigh(tool_name, Subject::Path(&path), unruled)
    }

    fn edits_pass(&self) -> bool {
        let own = self.private_tree || self.mode_source == ModeSource::Person;
        match self.mode {
            PermissionMode::AcceptEdits => own,
            PermissionMode::Default
            | PermissionMode::Plan
            | PermissionMode::DontAsk
            | PermissionMode::BypassPermissions
            | PermissionMode::Auto
            | PermissionMode::Bubble => false,
        }
    }

    /// Every command of the text has to pass; the harshest verdict over one of them is that over all.
    fn decide_command(&self, tool_name: &str, text: &str) -> Verdict {
        let parts = match command::parse(text) {
            Ok(parts) => parts,
            Err(command::Unreadable) => return self.weigh(tool_name, Subject::Unclear, Unruled::Ask),
        };
        if parts.len() > MOST_PARTS {
            let text = format!("more than {MOST_PARTS} commands in one call are not checked; split it up");
            return Verdict::Deny(DenialReason::Rule, text);
        }
        if parts.is_empty() {
            return self.weigh(tool_name, Subject::Unclear, Unruled::Ask);
        }
        // After `cd inside && ...` what follows runs there, or here where an operator lets it go on after a failure.
        let entered = self.entered(&parts);
        let may_read = |path: &str| {
            let from = |base: &Path| resolve(base, path).is_some_and(|path| self.may_read(&path));
            from(&self.dir) && entered.as_deref().is_none_or(from)
        };
        let place = Place { may_read: &may_read, guarded: self.guards_reading(), moved: entered.is_some() };
        let mut worst = Verdict::Allow;
        for (at, part) in parts.iter().enumerate() {
            let passes = (at == 0 && entered.is_some()) || is_read_only(part, &place);
            let unruled = if passes { Unruled::Allow } else { Unruled::Ask };
            match (self.weigh(tool_name, Subject::Part(part), unruled), &worst) {
                (refused @ Verdict::Deny(..), _) => return refused,
                (Verdict::Ask, _) => worst = Verdict::Ask,
                (Verdict::Allow, _) => {}
            }
        }
        worst
    }

    /// The folder that the first command enters for all that follow, if it lies in the tree.
    fn entered(&self, parts: &[Part]) -> Option<PathBuf> {
        let first = parts.first()?;
        let [cd, folder] = first.words.as_slice() else { return None };
        let plain = first.and_then
            && !first.nested
            && !first.assigns
            && !first.redirects
            && !first.fed
            && cd.text == "cd";
        let certain =
            cd.form == Form::Literal && folder.form == Form::Literal && !folder.text.starts_with('-');
        let folder = resolve(&self.dir, &folder.text).filter(|_| plain && certain)?;
        folder.starts_with(&self.tree).then_some(folder)
    }

    /// Whether any rule keeps some files from being read.
    fn guards_reading(&self) -> bool {
        let limits = |rule: &ToolRule| rule.tool == READ && !is_bare(rule);
        let by_rule = self.sources().iter().any(|(_, rules)| rules.deny.iter().chain(&rules.ask).any(limits));
        let by_definition = match &self.definition {
            ToolPolicy::Inherit => false,
            ToolPolicy::Only(rules) => rules.iter().any(limits),
        };
        by_rule || by_definition
    }
}

fn denied_by(rule: &ToolRule, subject: Subject<'_>) -> Verdict {
    let text = match subject {
        Subject::Unclear => {
            format!("this call can't be checked against the rule `{rule}`; write it more plainly")
        }
        Subject::Path(_) | Subject::Part(_) | Subject::Name(_) | Subject::Host(_) | Subject::Plain => {
            format!("the rule `{rule}` denies this call")
        }
    };
    Verdict::Deny(DenialReason::Rule, text)
}

/// Whether a path of the tree lies in what no mode opens for edits. Disks that ignore case know it by other names.
fn is_protected(path: &Path, tree: &Path) -> bool {
    let Ok(below) = path.strip_prefix(tree) else { return true };
    below.components().any(|part| {
        let name = part.as_os_str().to_string_lossy().to_lowercase();
        PROTECTED.contains(&name.as_str())
    })
}

/// The folder that a `Glob` call looks through, or `None` where its pattern could lead anywhere.
fn glob_root(path: Option<&str>, pattern: Option<&str>) -> Option<String> {
    let below = before_wildcards(pattern.unwrap_or("."))?;
    Some(if below.starts_with('/') { below } else { format!("{}/{below}", path.unwrap_or(".")) })
}

#[cfg(test)]
#[path = "permissions_tests.rs"]
mod tests;
