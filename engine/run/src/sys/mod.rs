//! The operating system: process groups, signals, locks, atomic writes, the clock. Knows nothing of plans.
