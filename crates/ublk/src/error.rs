//! Why the driver does not do what it is asked for, in one line that says what to do.

use rustix::io::Errno;
use std::fmt;
use std::io;

/// The thing that the driver was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An io_uring for commands.
    Ring,
    /// A new disk.
    Add,
    /// The parameters of a disk.
    Describe,
    /// The start of a disk.
    Start,
    /// The state of a disk.
    Look,
    /// The end of a disk.
    Stop,
    /// The removal of a disk.
    Remove,
    /// The return of a disk to a new server.
    Recover,
    /// The queue of a disk.
    Queue,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Ring => "make an io_uring",
            Step::Add => "add a disk",
            Step::Describe => "describe the disk",
            Step::Start => "start the disk",
            Step::Look => "look at the disk",
            Step::Stop => "stop the disk",
            Step::Remove => "remove the disk",
            Step::Recover => "take the disk back",
            Step::Queue => "take the disk's requests",
        })
    }
}

/// Why there is no disk.
#[derive(Debug, thiserror::Error)]
pub enum UblkError {
    /// The kernel has no such driver, or it is not loaded.
    #[error("this kernel has no ublk driver loaded (modprobe ublk_drv; Linux 6.5 or later with CONFIG_BLK_DEV_UBLK)")]
    NoDriver,
    /// Only root may use it.
    #[error("/dev/ublk-control may not be opened: only root may make ublk disks")]
    NotAllowed,
    /// The driver is one of the first.
    #[error("this kernel's ublk driver is too old: Linux 6.5 or later is needed")]
    TooOld,
    /// The system forbids io_uring.
    #[error("this system forbids io_uring, which ublk needs: see sysctl kernel.io_uring_disabled")]
    NoRing,
    /// The driver says no.
    #[error("ublk: can't {step}: {source}")]
    Refused {
        /// The thing that was asked for.
        step: Step,
        /// The answer of the system.
        source: io::Error,
    },
}

impl UblkError {
    pub(crate) fn of(step: Step) -> impl FnOnce(io::Error) -> UblkError {
        move |source| {
            let errno = Errno::from_io_error(&source);
            match (step, errno) {
                (Step::Ring, Some(Errno::PERM | Errno::NOSYS)) => UblkError::NoRing,
                (Step::Add, Some(Errno::PERM | Errno::ACCESS)) => UblkError::NotAllowed,
                _ => UblkError::Refused { step, source },
            }
        }
    }

    /// The disk is not there, or no longer.
    pub fn is_gone(&self) -> bool {
        let UblkError::Refused { source, .. } = self else { return false };
        matches!(Errno::from_io_error(source), Some(Errno::NODEV | Errno::NOENT))
    }
}
