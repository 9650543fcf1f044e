//! The name of the lock that a run takes before it begins.

use super::context::{Facts, Scope};
use super::preview::NoTexts;
use crate::ids::Attempt;
use crate::plan::Plan;
use crate::report::Fold;

/// Renders `lock`. `None`: the plan has none. The error is for people.
pub fn lock_name(plan: &Plan, facts: &Facts) -> Result<Option<String>, String> {
    let Some(lock) = &plan.lock else { return Ok(None) };
    let run = Fold::default();
    let scope = Scope {
        plan,
        run: &run,
        facts,
        texts: &NoTexts,
        task: None,
        instance: None,
        attempt: Attempt::FIRST,
        env: None,
        files: None,
    };
    let name = lock.render(&scope.context(&lock.references)).map_err(|error| format!("`lock`: {error}"))?;
    match name.trim() {
        "" => Err("`lock` is empty".to_owned()),
        name => Ok(Some(name.to_owned())),
    }
}
