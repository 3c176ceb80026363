//! The `warpath` command.
fn main() {}
