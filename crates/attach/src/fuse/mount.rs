//! Mounting and unmounting.

use crate::fuse::answers::Answers;
use crate::fuse::disk::Disk;
use crate::fuse::{FILE, FuseError, KIND};
use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use live::Live;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant, SystemTime};

/// How a card is mounted.
#[derive(Clone, Debug)]
pub struct Options {
    /// The source of the mount in `/proc/mounts`.
    pub name: String,
    /// Threads that take requests from the kernel; `None`: as many as was found best.
    pub threads: Option<usize>,
    /// Nothing can be written.
    pub read_only: bool,
    /// The number of the volume that is the file; `None`: the whole card is.
    pub volume: Option<u32>,
}

impl Default for Options {
    fn default() -> Options {
        Options { name: "flashrig".into(), threads: None, read_only: false, volume: None }
    }
}

/// Most threads that take requests from the kernel.
const MAX_THREADS: usize = 64;
/// How long the session's threads have to end after they were cut off.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

/// A card that is mounted. Dropped, it is unmounted; if somebody still uses it, they get errors from then on.
#[derive(Debug)]
pub struct Mounted {
    mountpoint: PathBuf,
    session: Option<BackgroundSession>,
}

/// Mounts a card: `mountpoint` is a directory, in which there is the file [`FILE`] afterwards.
pub fn mount(live: Arc<Live>, mountpoint: &Path, options: &Options) -> Result<Mounted, FuseError> {
    let at = |source| FuseError::Mountpoint { mountpoint: mountpoint.to_owned(), source };
    if matches!(rustix::fs::statfs(mountpoint), Err(Errno::NOTCONN)) {
        return Err(FuseError::Dead { mountpoint: mountpoint.to_owned() });
    }
    let there = mountpoint.canonicalize().map_err(at)?;
    if !there.is_dir() {
        return Err(at(io::ErrorKind::NotADirectory.into()));
    }
    if is_mounted(&there) {
        return Err(FuseError::Taken { mountpoint: there });
    }
    let device = File::options().read(true).write(true).open("/dev/fuse").map_err(FuseError::NoFuse)?;
    let refused = |source| FuseError::Mount { mountpoint: there.clone(), source };

    let threads = options.threads.unwrap_or_else(default_threads).clamp(1, MAX_THREADS);
    let disk = Disk {
        answers: Answers::new(&live, options.volume, threads).map_err(refused)?,
        live: Arc::downgrade(&live),
        size_bytes: options.volume.map_or(Some(live.size_bytes()), |id| Some(live.volume_bytes(id)?.0)).unwrap_or(0),
        volume: options.volume,
        read_only: options.read_only,
        since: SystemTime::now(),
        next_lane: AtomicUsize::new(0),
    };
    drop(live);
    let mut config = Config::default();
    config.acl = SessionACL::Owner;
    config.n_threads = Some(threads);
    config.clone_fd = threads > 1;

    let session = match mount_as_root(&device, &there, options) {
        Ok(()) => Session::from_fd(disk, OwnedFd::from(device), SessionACL::Owner, config)
            .and_then(Session::spawn)
            .inspect_err(|_| {
                // The first error is the one to tell.
                let _ = cut_off(&there);
            }),
        Err(Errno::PERM) => {
            // Others have fusermount do it.
            config.mount_options =
                vec![MountOption::FSName(options.name.clone()), MountOption::Subtype(subtype().into())];
            config.mount_options.push(if options.read_only { MountOption::RO } else { MountOption::RW });
            Session::new(disk, &there, &config).and_then(Session::spawn)
        }
        Err(error) => Err(error.into()),
    };
    let session = session.map_err(refused)?;
    Ok(Mounted { mountpoint: there, session: Some(session) })
}

/// More threads than cores only wait for each other.
fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(4)
}

fn subtype() -> &'static str {
    KIND.split_once('.').expect("it has a kind of its own").1
}

/// Without libraries and programs. The session's own way to unmount is not used: it does so once too often, and whatever
/// else is mounted there would go.
fn mount_as_root(device: &File, mountpoint: &Path, options: &Options) -> Result<(), Errno> {
    use rustix::process::{getgid, getuid};
    let data = format!(
        "fd={},rootmode=40000,user_id={},group_id={},subtype={}",
        device.as_raw_fd(),
        getuid().as_raw(),
        getgid().as_raw(),
        subtype()
    );
    let data = CString::new(data).expect("no NUL in it");
    let mut flags = MountFlags::NODEV | MountFlags::NOSUID | MountFlags::NOEXEC | MountFlags::NOATIME;
    if options.read_only {
        flags |= MountFlags::RDONLY;
    }
    rustix::mount::mount(options.name.as_str(), mountpoint, "fuse", flags, Some(data.as_c_str()))
}

/// Whether something is mounted at just this directory.
fn is_mounted(directory: &Path) -> bool {
    identify::mount_points().iter().any(|mount| mount.point == directory)
}

/// Takes the mount away at once; who uses it gets errors.
fn cut_off(mountpoint: &Path) -> Result<(), Errno> {
    rustix::mount::unmount(mountpoint, UnmountFlags::FORCE | UnmountFlags::DETACH)
}

impl Mounted {
    /// The directory that the card is mounted on.
    pub fn mountpoint(&self) -> &Path {
        &self.mountpoint
    }

    /// The file of the card's size, [`FILE`] in the mounted directory.
    pub fn file(&self) -> PathBuf {
        self.mountpoint.join(FILE)
    }

    /// Somebody else has unmounted it.
    pub fn is_gone(&self) -> bool {
        self.session.as_ref().is_none_or(|session| session.guard.is_finished())
    }

    /// Unmounts it, unless it is in use: then it stays as it is, and may be asked again.
    pub fn unmount(&mut self) -> Result<(), FuseError> {
        if !self.is_gone() {
            let mountpoint = self.mountpoint.clone();
            match rustix::mount::unmount(&mountpoint, UnmountFlags::empty()) {
                Ok(()) => {}
                Err(Errno::BUSY) => return Err(FuseError::Busy { mountpoint }),
                Err(Errno::PERM) => self.by_fusermount(),
                Err(error) => return Err(FuseError::Unmount { mountpoint, source: error.into() }),
            }
        }
        self.end();
        Ok(())
    }

    fn by_fusermount(&self) {
        // Its messages go to standard error; the session's end shows whether it worked.
        let _ = Command::new("fusermount3").args(["-u", "-z", "--"]).arg(&self.mountpoint).status();
    }

    /// Waits for the session's threads, which are cut off from the kernel.
    fn end(&mut self) {
        let Some(session) = self.session.take() else { return };
        let began = Instant::now();
        while !session.guard.is_finished() {
            if began.elapsed() > ENDS_WITHIN {
                // Somebody has unmounted it lazily and still holds the file: its threads end when that is closed.
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = session.join();
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.session.is_none() {
            return;
        }
        if !self.is_gone() {
            // Other errors say that it is gone already.
            if cut_off(&self.mountpoint) == Err(Errno::PERM) {
                self.by_fusermount();
            }
        }
        self.end();
    }
}
