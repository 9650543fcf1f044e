//! What holds a run back: which limit is reached, in the words in which it can be changed.

use std::num::NonZeroU32;

use flow_core::ids::{Address, Millis};
use flow_core::plan::Plan;
use flow_core::text::format_duration;
use indexmap::IndexMap;

use super::view::{RunningTask, View};

/// How much of what may run at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Tasks at once; the journal says it as well.
    pub concurrency: Option<u32>,
    /// Pools and who takes a slot of them.
    pub pools: Vec<Pool>,
    /// `max_parallel` of tasks that become many.
    pub max_parallel: IndexMap<Address, u32>,
    /// Whether some task becomes many: instances have names that nobody knows beforehand.
    pub expands: bool,
}

/// A pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// Its slots.
    pub slots: u32,
    /// The plan tasks that take one.
    pub tasks: Vec<Address>,
}

impl Limits {
    /// The limits of a plan.
    pub fn of(plan: &Plan, concurrency: u32) -> Self {
        let members = |pool: usize| {
            let own = plan.tasks.iter().filter(move |task| task.pool == Some(pool));
            own.map(|task| task.address.clone()).collect()
        };
        let pools = plan.pools.iter().enumerate().map(|(number, (name, slots))| Pool {
            name: name.clone(),
            slots: slots.get(),
            tasks: members(number),
        });
        let most = |task: &flow_core::plan::Task| task.expansion.as_ref()?.max_parallel.map(NonZeroU32::get);
        Limits {
            concurrency: Some(concurrency),
            pools: pools.collect(),
            expands: plan.tasks.iter().any(|task| task.expansion.is_some()),
            max_parallel: plan
                .tasks
                .iter()
                .filter_map(|task| Some((task.address.clone(), most(task)?)))
                .collect(),
        }
    }
}

impl View {
    /// The limit that holds now, if one does: how many are at work of how many that could be, and why.
    pub fn held(&self, now: Millis) -> Option<String> {
        self.held_by_provider(now).or_else(|| self.held_by_run()).or_else(|| self.held_by_task())
    }

    fn held_by_provider(&self, now: Millis) -> Option<String> {
        let mut models: IndexMap<&str, (u32, usize, usize)> = IndexMap::new();
        for task in self.running.values() {
            let Some((model, most)) = model_of(task) else { continue };
            let (at_once, all, waiting) = models.entry(model).or_default();
            (*at_once, *all, *waiting) = (most, *all + 1, *waiting + usize::from(task.waiting));
        }
        let (model, (most, all, waiting)) = models
            .into_iter()
            .filter(|(_, (.., waiting))| *waiting > 0)
            .max_by_key(|(_, (.., waiting))| *waiting)?;
        let provider = model.split_once('/').map_or(model, |(provider, _)| provider);
        if let Some((until, reason)) = self.parked.get(model).filter(|(until, _)| *until > now) {
            let more = format_duration(until.since(now));
            return Some(format!(
                "{waiting} of {all} waiting: provider {provider} asks for {more} ({reason})"
            ));
        }
        Some(match (all - waiting >= most as usize, self.parked.contains_key(model)) {
            (true, _) => {
                format!("{most} of {all} at once: provider {provider} allows {most} (max_concurrent)")
            }
            (false, true) => {
                format!("{waiting} of {all} waiting: provider {provider} refused some, so fewer go at once")
            }
            (false, false) => format!("{waiting} of {all} waiting for provider {provider}"),
        })
    }

    fn held_by_run(&self) -> Option<String> {
        let most = self.limits.concurrency?;
        let (running, queued) = (self.running.len(), self.queued());
        let holds = queued > 0 && running >= most as usize;
        holds.then(|| {
            format!("{running} of {} at once: the run allows {most} (concurrency)", running + queued)
        })
    }

    fn held_by_task(&self) -> Option<String> {
        let pool = self.limits.pools.iter().find_map(|pool| {
            let (running, queued) = self.members(&pool.tasks);
            let holds = queued > 0 && running >= pool.slots as usize;
            let Pool { name, slots, .. } = pool;
            holds.then(|| {
                format!("{running} of {} at once: pool {name} allows {slots} (pools)", running + queued)
            })
        });
        pool.or_else(|| {
            self.limits.max_parallel.iter().find_map(|(task, most)| {
                let group = self.groups.get(task)?;
                let (running, queued) = (group.running, group.queued());
                let holds = queued > 0 && running >= *most as usize;
                let all = running + queued;
                holds.then(|| format!("{running} of {all} at once: {task} allows {most} (max_parallel)"))
            })
        })
    }

    /// How many of these tasks and of their instances run, and how many could.
    fn members(&self, tasks: &[Address]) -> (usize, usize) {
        tasks.iter().fold((0, 0), |(running, queued), task| match self.groups.get(task) {
            Some(group) => (running + group.running, queued + group.queued()),
            None => (
                running + usize::from(self.running.contains_key(task)),
                queued + usize::from(self.ready.contains(task)),
            ),
        })
    }
}

/// The model of a running agent, and how many requests its provider takes at once.
fn model_of(task: &RunningTask) -> Option<(&str, u32)> {
    let agent = task.launch.as_ref()?.agent.as_ref()?;
    Some((&agent.model, agent.at_once?))
}

#[cfg(test)]
#[path = "held_tests.rs"]
mod tests;
