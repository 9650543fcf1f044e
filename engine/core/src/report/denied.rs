//! What was refused to agents, a line each: which call, and what the person writes so that it passes.

use indexmap::{IndexMap, IndexSet};

use super::RunReport;
use crate::ids::Address;
use crate::model::{AgentDef, Denial, DenialReason, ToolPolicy, ToolRule, ToolSubject, tool};
use crate::plan::{AgentTask, Plan};

/// The most lines; a run in which more was refused has a report.
const MOST: usize = 20;

/// The most tasks that a line names.
const NAMED: usize = 3;

/// The refused calls of a run, equal ones once: ``Write foo.md; grant `…` (task `w`)``.
pub fn denied_lines(report: &RunReport, plan: &Plan) -> Vec<String> {
    let mut found: IndexMap<String, (usize, IndexSet<&Address>)> = IndexMap::new();
    for task in report.counted() {
        for denial in &task.denials {
            let line = format!("{}; {}", denial.line(), advice(denial, &task.address, plan));
            let (times, tasks) = found.entry(line).or_default();
            *times += 1;
            tasks.insert(&task.address);
        }
    }
    let more = found.len().saturating_sub(MOST);
    let shown = found.iter().take(MOST).map(|(line, (times, tasks))| {
        let names: Vec<String> = tasks.iter().take(NAMED).map(|task| format!("`{task}`")).collect();
        let others = match tasks.len() - names.len() {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        let word = if tasks.len() == 1 { "task" } else { "tasks" };
        let times = if *times == tasks.len() { String::new() } else { format!(", {times} times") };
        format!("{line} ({word} {}{others}{times})", names.join(", "))
    });
    let rest = (more > 0).then(|| format!("{more} more, see the report"));
    shown.chain(rest).collect()
}

/// Why it was refused where nothing helps, else what to write.
fn advice(denial: &Denial, task: &Address, plan: &Plan) -> String {
    let own = task.without_keys();
    let agent =
        plan.tasks.iter().find(|task| task.address.as_str() == own).and_then(|task| task.kind.agent());
    let name = &denial.tool;
    match denial.reason {
        DenialReason::NobodyToAsk | DenialReason::AsyncAgent => {
            match (&denial.why, agent.is_some_and(|agent| names(&agent.permissions.allow, name))) {
                (Some(why), _) => why.clone(),
                (None, true) => "a rule asks first, and there is nobody to ask".to_owned(),
                (None, false) => format!("grant `permissions: {{ allow: [{}] }}`", rule_for(denial)),
            }
        }
        DenialReason::Mode => "its permission mode refuses it; choose another `permission_mode`".to_owned(),
        DenialReason::Rule => denial.why.clone().unwrap_or_else(|| "a rule denies it".to_owned()),
        DenialReason::NotAvailable | DenialReason::UnknownTool if tool(name).is_none() => {
            "flow has no such tool".to_owned()
        }
        DenialReason::NotAvailable | DenialReason::UnknownTool => match agent {
            Some(agent) => lacking(name, agent, &plan.agents[agent.agent]),
            None => "the agent doesn't have the tool".to_owned(),
        },
    }
}

/// Who keeps a tool from an agent.
fn lacking(name: &str, task: &AgentTask, agent: &AgentDef) -> String {
    let defined = match &agent.tools {
        ToolPolicy::Inherit => true,
        ToolPolicy::Only(rules) => names(rules, name),
    };
    if !defined || names(&agent.disallowed_tools, name) {
        return format!("agent `{}` doesn't have it ({})", agent.name, agent.path);
    }
    if names(&task.disallowed_tools, name) {
        return "`disallowed_tools` takes it away".to_owned();
    }
    match &task.tools {
        Some(rules) if !names(rules, name) => {
            let all: Vec<String> = rules.iter().map(ToString::to_string).chain([name.to_owned()]).collect();
            format!("grant `tools: [{}]`", all.join(", "))
        }
        Some(_) | None => "its conversation began without it".to_owned(),
    }
}

fn names(rules: &[ToolRule], tool: &str) -> bool {
    rules.iter().any(|rule| rule.tool == tool || rule.tool == "*")
}

/// The narrowest rule that one can be sure of: a plain command by its program, all else by its tool.
fn rule_for(denial: &Denial) -> String {
    let plain = |text: &str| {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || b" ./_=-".contains(&byte);
        !text.is_empty() && text.bytes().all(word)
    };
    let is_command = matches!(tool(&denial.tool).map(|tool| tool.subject), Some(ToolSubject::Command(_)));
    match denial.call.split(' ').next() {
        Some(program) if is_command && plain(&denial.call) && !program.contains('=') => {
            format!("{}({program} *)", denial.tool)
        }
        Some(_) | None => denial.tool.clone(),
    }
}

#[cfg(test)]
#[path = "denied_tests.rs"]
mod tests;
