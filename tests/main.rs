//! What a person sees: everything here goes through the built program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unreachable_pub,
    reason = "a test fails by panicking"
)]

mod agent_files;
mod answers;
mod askers;
mod attach;
mod bad_input;
mod cases;
mod ci_files;
mod comfort;
mod conditions;
mod conversation;
mod cookbook;
mod crash;
mod docs;
mod engine;
mod examples;
mod fork;
mod gc;
mod git_surroundings;
mod github;
mod habits;
mod isolation;
mod keys;
mod logs;
mod models;
mod newcomer;
mod old_runs;
mod outputs;
mod providers;
mod refused;
mod retries;
mod screens;
mod stranger;
mod support;
mod thrift;
mod told;
mod trees;
mod verbs;
