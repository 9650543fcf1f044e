//! A scratch folder, the built program in it, and what came out.

mod asker;
mod flow;
mod gates;
pub mod model_server;
mod transcript;
mod world;

pub use flow::{Flow, Ran, Running};
pub use transcript::Transcript;
pub use world::{alive, git, signal, wait_until};
