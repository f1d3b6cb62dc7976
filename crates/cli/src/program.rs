//! The program that this process is: what is started again as a guard, or as a server.

use crate::error::StreamFailure;
use std::path::PathBuf;
use std::sync::OnceLock;

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Names the program where it is not the file that the kernel runs: a script whose interpreter has loaded this library.
/// The first name counts.
pub fn is(program: PathBuf) {
    let _ = PROGRAM.set(program);
}

/// This program, as the kernel has it open: it may have been replaced on the disk.
pub fn path() -> Result<PathBuf, StreamFailure> {
    match PROGRAM.get() {
        Some(program) => Ok(program.clone()),
        None => std::env::current_exe()
            .map_err(|source| StreamFailure::Unreadable { path: "/proc/self/exe".into(), source }),
    }
}
