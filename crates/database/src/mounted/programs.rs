//! Programs that make file systems and mount them.

use crate::mounted::MountedError;
use std::path::Path;

fn run(program: &'static str, package: &'static str, words: &[&str]) -> Result<(), MountedError> {
    attach::run(program, package, words)?;
    Ok(())
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
