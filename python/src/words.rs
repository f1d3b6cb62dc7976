//! The command line's own definitions, for tests that hold Python's signatures against them.

use clap::CommandFactory;
use cli::args::Cli;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The options of a command: for each its name without dashes, whether it takes a value, whether it may be given again, and its
/// help. Arguments without dashes have an empty name first.
///
/// Raises ValueError where there is no such command.
#[pyfunction]
pub fn options(command: &str) -> PyResult<Vec<(String, bool, bool, String)>> {
    let whole = Cli::command();
    let found = whole.find_subcommand(command);
    let found = found.ok_or_else(|| PyValueError::new_err(format!("there is no command {command}")))?;
    let described = found.get_arguments().map(|arg| {
        let again = matches!(arg.get_action(), clap::ArgAction::Append);
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        (arg.get_long().unwrap_or_default().to_owned(), arg.get_action().takes_values(), again, help)
    });
    Ok(described.collect())
}
