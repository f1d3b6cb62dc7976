//! The command. Everything it does stands in the library of the same crate, where the fuzzer can reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
