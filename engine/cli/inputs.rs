//! Inputs as they stand on the command line: `k=v`, `k=@file`, `k:=json`.

use std::path::Path;

use flow_core::compile::{GivenInput, GivenValue, Purpose};
use flow_core::model::Cause;
use flow_core::text::parse_json;
use flow_run::engine::{Engine, PlanRequest};

use crate::args::InputArgs;
use crate::exit::Failure;

/// What is asked of a plan.
pub fn plan_request(
    engine: &Engine,
    plan: &str,
    inputs: &InputArgs,
    purpose: Purpose,
) -> anyhow::Result<PlanRequest> {
    let here = &engine.project().here;
    Ok(PlanRequest {
        plan: plan.to_owned(),
        inputs: inputs.input.iter().map(|text| given(here, text)).collect::<anyhow::Result<_>>()?,
        inputs_file: inputs.inputs_file.clone(),
        purpose,
    })
}

fn given(here: &Path, text: &str) -> anyhow::Result<GivenInput> {
    let usage = |message: String| {
        Failure::new(Cause::Usage, message).help("write `-i name=text`, `-i name=@file` or `-i name:=json`")
    };
    let Some((name, value)) = text.split_once('=') else {
        return Err(usage(format!("`-i {text}` has no `=`")).into());
    };
    if name.trim_end_matches(':').is_empty() {
        return Err(usage(format!("`-i {text}` names no input")).into());
    }
    if let Some(name) = name.strip_suffix(':') {
        let value =
            parse_json(value).map_err(|error| usage(format!("`-i {name}:=` is not JSON: {error}")))?;
        return Ok(GivenInput { name: name.to_owned(), value: GivenValue::Json(value), place: None });
    }
    let value = match value.strip_prefix('@') {
        None => value.to_owned(),
        Some(path) => std::fs::read_to_string(here.join(path))
            .map_err(|error| usage(format!("`-i {name}=@{path}` can't be read: {error}")))?,
    };
    Ok(GivenInput { name: name.to_owned(), value: GivenValue::Text(value), place: None })
}
