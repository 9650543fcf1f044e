//! `flow report`, and the reports that every run leaves.

use std::fs::OpenOptions;
use std::io::{self, Write};

use flow_core::model::Cause;
use flow_core::report::{FORMATS, Format, RunReport, github_outputs, page_within};
use flow_core::text::{did_you_mean, list_some};
use flow_run::engine::{Engine, Run, random_u32};

use crate::args::ReportArgs;
use crate::exit::Failure;
use crate::ui;

pub(super) fn run(engine: &Engine, args: &ReportArgs) -> anyhow::Result<u8> {
    let format = format(&args.format)?;
    ui::print(&engine.find_run(&args.run)?.render(format)?)?;
    Ok(Cause::Success.code())
}

/// The format of a name.
pub(super) fn format(name: &str) -> anyhow::Result<&'static Format> {
    let names = FORMATS.iter().map(|format| format.name);
    Format::find(name).ok_or_else(|| {
        let known = list_some(names.clone(), 9);
        let help = match did_you_mean(name, names) {
            Some(meant) => format!("did you mean `{meant}`? known: {known}"),
            None => format!("known: {known}"),
        };
        Failure::new(Cause::Usage, format!("unknown report format `{name}`")).help(help).into()
    })
}

/// The most that GitHub Actions takes as the summary of a step is 1 MiB.
const LONGEST_SUMMARY: usize = 1_000_000;

/// Annotations of failed tasks on standard error, the report on the page of the job, the outputs for later steps.
pub(super) fn tell_github(run: &Run, report: &RunReport) -> anyhow::Result<()> {
    let texts = run.texts();
    // Nobody can be told that standard error is gone.
    let _ = write!(std::io::stderr(), "{}", (format("github")?.render)(report, &texts));
    append("GITHUB_STEP_SUMMARY", || Ok(page_within(report, &texts, LONGEST_SUMMARY) + "\n"));
    if let Some(outputs) = &report.outputs {
        append("GITHUB_OUTPUT", || {
            let mut mark = "flow_".to_owned();
            for _ in 0..4 {
                mark.push_str(&format!("{:08x}", random_u32()?));
            }
            let (lines, left) = github_outputs(outputs, &mark);
            if !left.is_empty() {
                let names = list_some(left.iter().map(String::as_str), 8);
                ui::warning(&format!("`GITHUB_OUTPUT` can't hold these outputs: {names}"));
            }
            Ok(lines)
        });
    }
    Ok(())
}

/// Appends to the file that a variable names. A step without it is a step without it, and no run fails for it.
fn append(variable: &str, text: impl FnOnce() -> io::Result<String>) {
    let Some(path) = std::env::var_os(variable).filter(|path| !path.is_empty()) else { return };
    let written = text().and_then(|text| {
        OpenOptions::new().append(true).create(true).open(&path)?.write_all(text.as_bytes())
    });
    if let Err(error) = written {
        ui::warning(&format!("can't write `{}` (`{variable}`): {error}", path.display()));
    }
}
