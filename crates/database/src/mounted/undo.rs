//! Undoing, from the directory's name alone.

use crate::mounted::MountedError;
use crate::mounted::programs::unmount;
use crate::mounted::work::Names;
use attach::Records;
use rustix::mount::UnmountFlags;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long processes have to end.
const ENDS_WITHIN: Duration = Duration::from_secs(20);
/// How long a file system may stay in use after its processes were killed.
const FREE_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Ends, unmounts, detaches and removes everything that lies in a work directory, whoever made it and in whatever state.
/// A step that does not work adds to the errors that are returned; the steps after it are done all the same.
pub fn undo(work: &Path) -> Vec<MountedError> {
    let names = Names::of(work);
    let mut errors = Vec::new();
    let mut note = |done: Result<(), MountedError>| errors.extend(done.err());
    crate::end_all_in(&names.data, || true);
    for point in mounts_below(&names.data) {
        note(unmount_for_good(&point));
    }
    let records = Records::default();
    for device in loop_devices_on(&names.card) {
        note(attach::detach(&device, &records).map(drop).map_err(MountedError::from));
    }
    end_server(&names.server, work);
    for point in mounts_below(&names.card) {
        // Its server is gone: nobody can be asked.
        let gone = rustix::mount::unmount(&point, UnmountFlags::DETACH);
        note(gone.map_err(|error| MountedError::io(&point)(error.into())));
    }
    for file in names.files() {
        note(ignore_absent(fs::remove_file(file)).map_err(MountedError::io(file)));
    }
    // Empty by now; if they are not, what is in them is kept.
    for dir in [&names.card, &names.data, work] {
        note(ignore_absent(fs::remove_dir(dir)).map_err(MountedError::io(dir)));
    }
    errors
}

fn ignore_absent(done: io::Result<()>) -> io::Result<()> {
    done.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Mounts at a directory or below it, the last one first.
fn mounts_below(dir: &Path) -> Vec<PathBuf> {
    identify::mount_points().into_iter().rev().map(|mount| mount.point).filter(|point| point.starts_with(dir)).collect()
}

/// Unmounts a file system, if need be while it is in use: then it is gone when nobody uses it any more.
pub(crate) fn unmount_for_good(point: &Path) -> Result<(), MountedError> {
    let began = Instant::now();
    loop {
        match unmount(point) {
            Ok(()) => return Ok(()),
            Err(error) if began.elapsed() > FREE_WITHIN => {
                let detached = rustix::mount::unmount(point, UnmountFlags::DETACH);
                return if detached.is_ok() { Ok(()) } else { Err(error) };
            }
            Err(_) => std::thread::sleep(LOOK_EVERY),
        }
    }
}

fn loop_devices_on(dir: &Path) -> Vec<PathBuf> {
    let on =
        |device: &identify::Device| device.backing_file.as_deref().is_some_and(|file| Path::new(file).starts_with(dir));
    identify::block_devices().into_iter().filter(on).map(|device| device.node()).collect()
}

/// Has the card's server end in order, or at last by force. A process that only has its number is left alone.
fn end_server(file: &Path, work: &Path) {
    let number = fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
    let Some(pid) = number.and_then(Pid::from_raw) else { return };
    let is_ours = || {
        let command = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        let work = work.as_os_str().as_encoded_bytes();
        command.windows(work.len()).any(|part| part == work)
    };
    for signal in [Signal::TERM, Signal::KILL] {
        if !is_ours() {
            return;
        }
        let _ = kill_process(pid, signal);
        let began = Instant::now();
        // A child that has ended is there until it was waited for, without a command.
        while test_kill_process(pid).is_ok() && is_ours() && began.elapsed() < ENDS_WITHIN {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}
