//! The driver: one loop that feeds the scheduler and does what it says.
