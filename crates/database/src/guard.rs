//! A process that undoes what is left when this one is gone, however it went.

use std::io::{self, Read, stdin};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// The first word of a command line that makes a process a guard. No person types it.
pub const GUARD_WORD: &str = "undo-when-standard-input-ends";

/// The guard: it waits for the end of its standard input, which this process has the other end of, and then undoes.
/// Dropping it lets it go, and waits for what it does.
#[derive(Debug)]
pub struct Guard {
    child: Child,
    input: Option<ChildStdin>,
}

impl Guard {
    /// Starts it: `program` with [`GUARD_WORD`], `what` and the paths calls [`wait_for_the_end`] and then undoes `what`.
    pub fn start(program: &Path, what: &str, paths: &[&Path]) -> io::Result<Guard> {
        let mut child = Command::new(program)
            .arg(GUARD_WORD)
            .arg(what)
            .args(paths)
            // It is not to stand in the way of an unmount.
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            // The guard has a process group of its own: a Ctrl-C at the terminal is for the others.
            .process_group(0)
            .spawn()?;
        let input = child.stdin.take();
        Ok(Guard { child, input })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.input.take());
        // It ends by itself.
        let _ = self.child.wait();
    }
}

/// Waits for the end of whoever has the other end of standard input.
pub fn wait_for_the_end() {
    // Nothing is ever sent; an error is an end as well.
    let _ = stdin().read_to_end(&mut Vec::new());
}
