//! Executors: one attempt from launch to outcome.

mod stop;

pub use stop::{Progress, StopOrder, StopSignal, StopSwitch, stop_pair};
