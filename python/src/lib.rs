//! How does a notebook ask?
//!
//! The extension has two ways in: `command` is the program `flashrig`, and `call` carries out one command within the
//! interpreter. Everything that Python sees as a function is made of words for `call`, so the command line's definitions and
//! checks are the only ones there are, and the JSON is the same byte for byte.

mod call;
mod page;
mod words;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

/// Flashrig's functions; the package beside this module makes Python of them.
#[pymodule(gil_used = false)]
mod _flashrig {
    #[pymodule_export]
    use super::call::call;
    #[pymodule_export]
    use super::command;
    #[pymodule_export]
    use super::page::page;
    #[pymodule_export]
    use super::program_is;
    #[pymodule_export]
    use super::read;
    #[pymodule_export]
    use super::words::options;
}

/// The program, with the streams of this process. Its exit code is returned; a second Ctrl-C ends the process.
#[pyfunction]
fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| {
        let code = cli::number(cli::command(words));
        // A reader that has gone away has seen enough.
        let _ = std::io::stdout().flush();
        code
    })
}

/// Reads a result of any kind as `flashrig compare` does, and returns it as a review's JSON.
///
/// Raises ValueError where it is none.
#[pyfunction]
fn read(py: Python<'_>, word: &str) -> PyResult<String> {
    py.detach(|| cli::read(word)).map_err(PyValueError::new_err)
}

/// Names the script that is this program: databases are guarded, and cards served, by starting it again.
#[pyfunction]
fn program_is(program: PathBuf) {
    cli::program_is(program);
}
