//! What goes into the scheduler and what comes out.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::event::{Event, Instance};
use crate::graph::{Edge, EdgeKind};
use crate::ids::{Address, Attempt, NodeId, TaskId};
use crate::model::{Outcome, Reason, RunStatus};
use crate::plan::{ConditionAt, InstanceLimit, OnLost, Plan, RetryPolicy, Selected};

/// What the scheduler needs to know of a plan task, or of what an agent started.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSpec {
    /// Its address.
    pub address: Address,
    /// What it waits for.
    pub needs: Vec<Edge>,
    /// Of whom its `if`, if there is one, is asked. With status functions in it the edges are `Done` already.
    pub condition: Option<ConditionAt>,
    /// Whether it becomes many.
    pub expands: bool,
    /// `max_parallel` of its instances.
    pub max_parallel: Option<NonZeroU32>,
    /// Whether the first failed instance stops its siblings.
    pub fail_fast: bool,
    /// `retry`.
    pub retry: RetryPolicy,
    /// Whether there is a `retry.if` to ask for.
    pub asks_retry: bool,
    /// `timeout.run`.
    pub timeout: Option<Duration>,
    /// `continue_on_error`.
    pub continue_on_error: bool,
    /// Whether it takes part in the run.
    pub selected: bool,
    /// Which of its instances do; each must hold.
    pub limits: Vec<InstanceLimit>,
    /// `pool`.
    pub pool: Option<PoolSpec>,
    /// Whether it runs again when its engine died while it ran.
    pub retries_lost: bool,
}

/// A pool that tasks take one slot of while an attempt lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolSpec {
    /// Which one, from 0.
    pub number: usize,
    /// How many slots it has.
    pub slots: NonZeroU32,
}

/// What bounds a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Tasks at once.
    pub concurrency: NonZeroU32,
    /// Whether the first failure that is not allowed stops the run.
    pub fail_fast: bool,
    /// Decides jitter.
    pub seed: u64,
}

/// Something that happened outside.
#[derive(Clone, Debug)]
pub enum Input {
    /// Begin, or go on after `RunResumed` was applied.
    Start,
    /// The answer to an `Effect::Ask`.
    Answered {
        /// The node asked about.
        node: NodeId,
        /// The answer, or why the expression failed.
        answer: Result<Answer, String>,
    },
    /// The attempt's templates are rendered and its process or first request is about to start.
    Running {
        /// The node.
        node: NodeId,
        /// Which try.
        attempt: Attempt,
        /// What is being run.
        launch: Box<crate::event::Launch>,
    },
    /// The attempt is over and nothing of it lives.
    Ended {
        /// The node.
        node: NodeId,
        /// Which try.
        attempt: Attempt,
        /// How.
        outcome: Box<Outcome>,
    },
    /// The attempt waits for something that is not its own doing (a provider's limit): its clock stops, or goes on.
    Waiting {
        /// The node.
        node: NodeId,
        /// Which try.
        attempt: Attempt,
        /// Whether it waits.
        waiting: bool,
    },
    /// The person, or a signal, wants the run to end.
    Cancel(Cancel),
    /// The person wants one node to end.
    StopTask(NodeId, Cancel),
    /// A moment that `next_wake` named has come.
    Tick,
}

/// How a run is told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancel {
    /// Start nothing more, ask what runs to end.
    Gently,
    /// Kill what runs, now.
    Now,
}

/// What the driver has to do, after it has written the events of the same decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Evaluate an expression and come back with `Input::Answered`.
    Ask {
        /// Of which node.
        node: NodeId,
        /// Which one.
        question: Question,
    },
    /// Start an attempt; `Input::Ended` must follow, whatever happens.
    Launch {
        /// Of which node.
        node: NodeId,
        /// Which try.
        attempt: Attempt,
        /// The slot: from 0 to concurrency - 1, no two live attempts share one.
        slot: u32,
    },
    /// Make an attempt end: ask (then insist after its grace), or kill at once.
    Stop {
        /// Of which node.
        node: NodeId,
        /// Which try.
        attempt: Attempt,
        /// What its outcome has to say.
        reason: Reason,
        /// Whether without grace.
        force: bool,
    },
    /// The run is over: nothing lives, nothing will start.
    Finish {
        /// How.
        status: RunStatus,
    },
}

/// An expression that the scheduler needs the value of.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// `if`, of a task or of an instance. The status functions see what the ancestors did.
    Condition {
        /// An ancestor failed (allowed failures are none), was killed or lost.
        ancestor_failed: bool,
        /// The run or an ancestor was cancelled.
        cancelled: bool,
    },
    /// `for_each` or `matrix`, and the keys.
    Expansion,
    /// `retry.if`, for the attempt that has just ended.
    Retry {
        /// Which try.
        attempt: Attempt,
    },
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To a condition.
    Yes(bool),
    /// To an expansion: instances in item order, keys unique.
    Instances(Vec<Instance>),
}

/// What a call of `handle` decided: first the events are written, then the effects happen, both in order.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// To be written. They are applied already.
    pub events: Vec<Event>,
    /// To be done.
    pub effects: Vec<Effect>,
}

impl NodeSpec {
    /// The specs of a plan's tasks, in order.
    pub fn of(plan: &Plan) -> Vec<NodeSpec> {
        plan.tasks
            .iter()
            .map(|task| {
                let expansion = task.expansion.as_ref();
                let condition = task.condition.as_ref();
                let status = condition.is_some_and(|condition| condition.expression.asks_status());
                let mut needs = plan.graph.needs[task.id.index()].clone();
                if status {
                    needs.iter_mut().for_each(|edge| edge.kind = EdgeKind::Done);
                }
                NodeSpec {
                    address: task.address.clone(),
                    needs,
                    condition: condition.map(|condition| condition.at),
                    expands: expansion.is_some(),
                    max_parallel: expansion.and_then(|expansion| expansion.max_parallel),
                    fail_fast: expansion.is_some_and(|expansion| expansion.fail_fast),
                    retry: task.retry.policy.clone(),
                    asks_retry: task.retry.condition.is_some(),
                    timeout: task.timeout.run,
                    continue_on_error: task.continue_on_error,
                    selected: true,
                    limits: Vec::new(),
                    pool: task.pool.and_then(|number| {
                        let (_, slots) = plan.pools.get_index(number)?;
                        Some(PoolSpec { number, slots: *slots })
                    }),
                    retries_lost: task.on_lost == OnLost::Retry,
                }
            })
            .collect()
    }

    /// The spec of what an agent started: it waits for nothing, runs once, and nothing of the plan rests on it.
    pub(super) fn of_child(address: Address, timeout: Option<Duration>, on_lost: OnLost) -> NodeSpec {
        NodeSpec {
            address,
            needs: Vec::new(),
            condition: None,
            expands: false,
            max_parallel: None,
            fail_fast: false,
            retry: RetryPolicy { max: 0, ..RetryPolicy::default() },
            asks_retry: false,
            timeout,
            continue_on_error: false,
            selected: true,
            limits: Vec::new(),
            pool: None,
            retries_lost: on_lost == OnLost::Retry,
        }
    }

    /// Leaves tasks out of a run: they are skipped at once, and what needs them starts as if they were not there.
    pub fn leave_out(specs: &mut [NodeSpec], selected: &Selected) {
        let is_in = |task: TaskId| selected.tasks.get(task.index()).copied().unwrap_or(true);
        for (at, spec) in specs.iter_mut().enumerate() {
            spec.selected = is_in(TaskId::at(at));
            let keeps_needs = spec.selected;
            spec.needs.retain(|edge| keeps_needs && is_in(edge.from));
            let limits = selected.limits.iter().filter(|limit| limit.task == spec.address);
            spec.limits = limits.cloned().collect();
        }
    }
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
