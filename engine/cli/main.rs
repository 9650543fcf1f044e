//! flow.
fn main() {}
