//! The name of the lock that a run takes before it begins.

use super::context::{Facts, Scope};
use super::preview::NoTexts;
use crate::ids::Attempt;
use crate::plan::Plan;
use crate::report::Fold;
use indexmap::IndexMap;

/// Renders `lock`. `None`: the plan has none. The error is for people.
pub fn lock_name(plan: &Plan, facts: &Facts) -> Result<Option<String>, String> {
    let Some(lock) = &plan.lock else { return Ok(None) };
    let run = Fold::default();
    let scope = |env| Scope {
        plan,
        run: &run,
        facts,
        texts: &NoTexts,
        task: None,
        instance: None,
        attempt: Attempt::FIRST,
        env,
    };
    let mut env = IndexMap::new();
    for (name, template) in &plan.env {
        let own = scope(env.clone());
        let value = template.render(&own.context(&template.references));
        env.insert(name.clone(), value.map_err(|error| format!("`env.{name}`: {error}"))?);
    }
    let name =
        lock.render(&scope(env).context(&lock.references)).map_err(|error| format!("`lock`: {error}"))?;
    match name.trim() {
        "" => Err("`lock` is empty".to_owned()),
        name => Ok(Some(name.to_owned())),
    }
}
