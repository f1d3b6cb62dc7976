//! Why a device can't be recorded, and what to do about it. Every message is one line.

use load::Given;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why there is no trace.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The kernel traces for root only.
    #[error("recording needs root: run it with sudo")]
    NotRoot,
    /// Nothing that has requests.
    #[error("{} is no block device", .path.display())]
    NotADevice {
        /// The file that was named as the device.
        path: PathBuf,
    },
    /// A program that is not there.
    #[error("{program} is missing: install the package blktrace (apt install blktrace)")]
    Missing {
        /// The program that no folder has.
        program: &'static str,
    },
    /// The kernel's place for traces.
    #[error("debugfs is not mounted: mount -t debugfs none /sys/kernel/debug")]
    NoDebugfs,
    /// A kernel that hides its inside.
    #[error("the kernel is locked down ({mode}), which forbids tracing: boot it without lockdown")]
    LockedDown {
        /// The kernel's lockdown mode.
        mode: Given,
    },
    /// One of the programs failed.
    #[error("{program} ended by itself: {said}")]
    Ended {
        /// The program that ended.
        program: &'static str,
        /// Its last words.
        said: Given,
    },
    /// A program that can't be run.
    #[error("can't run {program}: {source}")]
    Program {
        /// The program that was to be run.
        program: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The trace's file.
    #[error("can't write {}: {source}", .path.display())]
    Unwritable {
        /// The file that the trace was to become.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}
