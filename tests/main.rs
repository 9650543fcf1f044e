//! What a person sees: everything here goes through the built program.

mod bad_input;
mod cases;
mod crash;
mod examples;
mod gc;
mod isolation;
mod newcomer;
mod providers;
mod support;
