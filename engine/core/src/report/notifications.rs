//! Notifications: what an agent is told of a task that has ended. Element names and their order are those that models
//! know from the tools they were made with.

use std::fmt::Write as _;

use super::format::{Format, Texts};
use super::run_report::{AttemptReport, LaunchReport, RunReport, TaskReport};
use crate::model::{OutputSlice, Reason, TaskState, Usage};
use crate::plan::{Kind, KindInfo};
use crate::text::{escape_xml, one_line};

pub(super) const FORMAT: Format = Format {
    name: "notifications",
    file: "notifications.xml",
    about: "one XML element a launch, as agents get them",
    render,
};

/// How much of an agent's text goes into `<result>`.
const MAX_RESULT: usize = 100 * 1024;

/// How much of a description or message goes into `<summary>`, in characters.
const MAX_SUMMARY: usize = 200;

/// The notification of a task's last launch that has ended. None: it never started, or it became its instances, each of
/// which has its own.
pub fn notification(task: &TaskReport, texts: &dyn Texts) -> Option<String> {
    let launch = task.launches.iter().rev().find(|launch| launch.state.is_some())?;
    of_launch(task, launch, texts)
}

fn render(report: &RunReport, texts: &dyn Texts) -> String {
    let mut out = String::from("<task-notifications>\n");
    for task in report.rows() {
        for launch in &task.launches {
            out.extend(of_launch(task, launch, texts));
        }
    }
    out.push_str("</task-notifications>\n");
    out
}

fn of_launch(task: &TaskReport, launch: &LaunchReport, texts: &dyn Texts) -> Option<String> {
    let state = launch.state?;
    let attempts: Vec<&AttemptReport> =
        task.attempts.iter().filter(|attempt| attempt.launch == launch.launch).collect();
    let last = attempts.last()?;
    // Unknown where it ended before anybody knew what it runs.
    let kind = task.kind.as_deref().and_then(Kind::of_word).map(Kind::info);
    let answers = kind.is_some_and(|kind| kind.answers);
    let agent_id = last.agent_id.as_deref().filter(|_| answers);
    let output = if answers { last.text.as_ref() } else { last.stdout.as_ref() };
    let file = output.map(|slice| texts.output_path(&task.address, last.attempt, slice));

    let mut out = String::from("<task-notification>\n");
    element(&mut out, "task_id", agent_id.unwrap_or(task.address.as_str()));
    if let Some(file) = &file {
        element(&mut out, "output_file", file);
    }
    element(&mut out, "status", status(state));
    element(&mut out, "summary", &summary(task, launch, last, kind));
    if answers {
        if let (Some(slice), Some(file)) = (output, &file) {
            element(&mut out, "result", &result(slice, file, texts));
        }
        usage(&mut out, &attempts);
        worktree(&mut out, last);
    }
    out.push_str("</task-notification>\n");
    Some(out)
}

fn element(out: &mut String, name: &str, text: &str) {
    // Writing to a string can't fail.
    let _ = writeln!(out, "<{name}>{}</{name}>", escape_xml(text));
}

fn status(state: TaskState) -> &'static str {
    match state {
        TaskState::Completed => "completed",
        TaskState::Killed => "killed",
        // A launch ends in no other way than these; one that was lost did not do what it was for.
        TaskState::Failed
        | TaskState::Lost
        | TaskState::Created
        | TaskState::Starting
        | TaskState::Running
        | TaskState::Skipped
        | TaskState::Blocked => "failed",
    }
}

fn summary(
    task: &TaskReport,
    launch: &LaunchReport,
    last: &AttemptReport,
    kind: Option<&KindInfo>,
) -> String {
    let description = task.description.as_deref().unwrap_or(task.address.as_str());
    let who = kind.map_or("task", |kind| kind.called);
    let answers = kind.is_some_and(|kind| kind.answers);
    let mut out = format!("{who} \"{}\" ", one_line(description, MAX_SUMMARY));
    match status(launch.state.unwrap_or(TaskState::Failed)) {
        "completed" => out.push_str("completed"),
        "killed" => {
            out.push_str("was stopped");
            return out;
        }
        _ => out.push_str("failed"),
    }
    if let Some(reason) = launch.reason.filter(|&reason| reason != Reason::ExitCode || answers) {
        let _ = write!(out, ": {}", reason.as_str());
    }
    let message = launch.message.as_deref().map(|message| one_line(message, MAX_SUMMARY));
    let code = last.exit_code.map(|code| format!("exit code {code}"));
    if let Some(detail) = code.or_else(|| last.signal.clone()).or(message) {
        let _ = write!(out, " ({detail})");
    }
    out
}

fn result(slice: &OutputSlice, file: &str, texts: &dyn Texts) -> String {
    let (mut text, total) = texts.text(slice, MAX_RESULT);
    if (text.len() as u64) < total {
        let shown = text.len();
        let _ = write!(text, "\n[cut after {shown} of {total} bytes; the whole text is in {file}]");
    }
    text
}

fn usage(out: &mut String, attempts: &[&AttemptReport]) {
    let mut sum = Usage::default();
    attempts.iter().filter_map(|attempt| attempt.usage.as_ref()).for_each(|usage| sum += usage);
    let duration: u64 = attempts.iter().map(|attempt| attempt.duration_ms).sum();
    let _ = writeln!(
        out,
        "<usage><total_tokens>{}</total_tokens><tool_uses>{}</tool_uses><duration_ms>{duration}</duration_ms></usage>",
        sum.total_tokens(),
        sum.tool_uses,
    );
}

fn worktree(out: &mut String, last: &AttemptReport) {
    let Some(tree) = &last.worktree else { return };
    let path = tree.path.as_deref().map(|path| ("worktree_path", path));
    let branch = tree.branch.as_deref().map(|branch| ("worktree_branch", branch));
    if path.is_some() || branch.is_some() {
        out.push_str("<worktree>");
        for (name, text) in path.into_iter().chain(branch) {
            let _ = write!(out, "<{name}>{}</{name}>", escape_xml(text));
        }
        out.push_str("</worktree>\n");
    }
}

#[cfg(test)]
#[path = "notifications_tests.rs"]
mod tests;
