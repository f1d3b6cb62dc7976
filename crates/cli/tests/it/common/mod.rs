//! Runs the command as a person does, without a terminal.

pub mod cable;
pub mod disks;
pub mod nbd;
pub mod reviews;
pub mod served;
pub mod server;
pub mod shelf;
pub mod small_card;
pub mod versions;

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The command, in an empty environment as far as its output is concerned.
pub fn command() -> Command {
    let program = std::env::var_os("FLASHRIG").unwrap_or(env!("CARGO_BIN_EXE_flashrig").into());
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("COLUMNS");
    command
}

/// Runs the command to its end.
pub fn run(arguments: &[&str]) -> Output {
    command().args(arguments).output().expect("the command starts")
}

/// Runs it in a directory.
pub fn run_in(dir: &Path, arguments: &[&str]) -> Output {
    command().current_dir(dir).args(arguments).output().expect("the command starts")
}

/// Its output, which must be a success.
pub fn succeed(arguments: &[&str]) -> String {
    let output = run(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    assert_eq!(stderr, "", "{arguments:?}");
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

/// Its JSON output.
pub fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&succeed(arguments)).unwrap_or_else(|e| panic!("{arguments:?}: {e}"))
}
