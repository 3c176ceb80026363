//! The `warpath` command. Everything is in the library part of this crate, so that it can be tested and documented.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpath_cli::main()
}
