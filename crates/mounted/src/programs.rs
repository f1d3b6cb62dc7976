//! Programs of the system.
//!
//! They run as processes of their own: a thread of ours that waited in the kernel for a card that is gone could not be
//! ended.

use crate::MountedError;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a program, and says what it said if that was a no.
pub(crate) fn run(program: &'static str, package: &'static str, words: &[&str]) -> Result<(), MountedError> {
    let command = || format!("{program} {}", words.join(" "));
    match Command::new(program).args(words).env("LC_ALL", "C").stdin(Stdio::null()).output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(MountedError::NoProgram { program, package }),
        Err(error) => Err(MountedError::Program { command: command(), said: error.to_string() }),
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            let said = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed without a word");
            Err(MountedError::Program { command: command(), said: said.trim().to_owned() })
        }
    }
}

/// Makes a file system on a device that nobody else has seen.
pub(crate) fn make_file_system(device: &Path) -> Result<(), MountedError> {
    run("mkfs.xfs", "xfsprogs", &["-q", "-f", &device.display().to_string()])
}

pub(crate) fn mount(device: &Path, point: &Path) -> Result<(), MountedError> {
    let words = ["-t", "xfs", "-o", "noatime", &device.display().to_string(), &point.display().to_string()];
    run("mount", "mount", &words)
}

pub(crate) fn unmount(point: &Path) -> Result<(), MountedError> {
    run("umount", "mount", &[&point.display().to_string()])
}
