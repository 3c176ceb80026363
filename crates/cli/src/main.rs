//! The `warpath` command. Everything is in the library part of this crate, so that it can be tested and documented.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: warpath_cli::out_of_memory::Allocator = warpath_cli::out_of_memory::Allocator;

fn main() -> ExitCode {
    warpath_cli::out_of_memory::end_with_code_3();
    ExitCode::from(warpath_cli::main(std::env::args_os()))
}
