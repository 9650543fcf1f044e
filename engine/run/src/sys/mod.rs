//! The operating system: process groups, signals, locks, atomic writes, the clock. Knows nothing of plans.

pub mod clock;
pub mod files;
pub mod lock;
pub mod process;
pub mod signals;
pub mod stop;
