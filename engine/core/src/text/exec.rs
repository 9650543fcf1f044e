//! What the kernel takes for a program that starts. It refuses more without naming what it was.

/// The longest argument, and the longest value of a variable; the kernel's limit is 128 KiB, for a variable with its name.
pub const LONGEST_ARGUMENT: usize = 120 << 10;

/// The most that all variables of a program may hold together.
pub const LARGEST_ENVIRONMENT: usize = 1 << 20;
