//! The command `romp`.
fn main() {}
