//! What a person sees: everything here goes through the built program.

mod bad_input;
mod cases;
mod comfort;
mod crash;
mod examples;
mod newcomer;
mod providers;
mod support;
mod verbs;
