//! What a person sees: everything here goes through the built program.

mod bad_input;
mod cases;
mod conditions;
mod crash;
mod examples;
mod models;
mod newcomer;
mod providers;
mod retries;
mod support;
