//! The compiler wrapper `rompcc`.
fn main() {}
