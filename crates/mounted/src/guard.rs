//! The process that undoes what is left when this one is gone.

use crate::{MountedError, undo};
use std::io::{Read, stdin};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// The first word of a command line that makes a process a guard. No person types it.
pub const GUARD_WORD: &str = "undo-when-standard-input-ends";

/// The guard of a work directory. It ends when its standard input does.
pub(crate) struct Guard {
    child: Child,
    _input: ChildStdin,
}

impl Guard {
    /// Starts it: `program` with [`GUARD_WORD`] and the directory calls [`stand_guard`].
    pub fn start(program: &Path, work: &Path) -> Result<Guard, MountedError> {
        let mut child = Command::new(program)
            .arg(GUARD_WORD)
            .arg(work)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            // Of its own: a Ctrl-C at the terminal is for the others.
            .process_group(0)
            .spawn()
            .map_err(MountedError::io(program))?;
        let input = child.stdin.take().expect("it was asked for");
        Ok(Guard { child, _input: input })
    }

    /// Lets it go, and waits for what it does.
    pub fn end(self) {
        let Guard { mut child, _input } = self;
        drop(_input);
        // It ends by itself.
        let _ = child.wait();
    }
}

/// Waits for the end of whoever has the other end of standard input, and undoes what that has left.
pub fn stand_guard(work: &Path) -> Vec<MountedError> {
    // Nothing is ever sent; an error is an end as well.
    let _ = stdin().read_to_end(&mut Vec::new());
    if work.exists() { undo(work) } else { Vec::new() }
}
