//! A disk that a server makes of its card, from the driver's command to its end.

use crate::ublk::error::DiskError;
use crate::ublk::journal::{Change, JOURNAL_BYTES, Journal, Kind};
use crate::ublk::lane::{Lane, QueueBell};
use crate::ublk::limits::{REQUEST_BYTES, Shape, limits};
use crate::ublk::mark::{journal_path, mark};
use crate::ublk::translate::Bounds;
use live::{Bell, Hearer, Live, Port, Request};
use parking_lot::Mutex;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};
use ublk::{Control, DeviceInfo, DeviceState, Queue, UblkError, Wanted, block_path, places};

/// The directory of the changes that outlive a server.
pub(in crate::ublk) const JOURNALS: &str = "/run/flashrig/ublk";
/// Requests that each queue has at once.
const DEPTH: u16 = 128;
/// Bound on the time in which the driver notices that the server of a disk has died.
const NOTICED_WITHIN: Duration = Duration::from_secs(10);

/// The card or volume that becomes a disk.
#[derive(Clone, Debug)]
pub struct Options {
    /// The UUID of the card or volume.
    pub id: [u8; 16],
    /// The number of the volume; `None`: the whole card.
    pub volume: Option<u32>,
    /// Nothing can be written.
    pub read_only: bool,
    /// The contents outlive the server, and so the disk does: it waits for the next one.
    pub outlives_server: bool,
}

/// A disk. Dropped, it is removed, unless it [waits](Disk::leave).
pub struct Disk {
    info: DeviceInfo,
    bells: Vec<Arc<QueueBell>>,
    threads: Vec<JoinHandle<()>>,
    journal: Option<PathBuf>,
    /// Changes that were repeated, of a disk that has waited.
    repeated: Option<u64>,
    is_left: bool,
}

/// Makes a disk of a card, or takes back the one that waits for it.
pub fn serve(live: &Arc<Live>, options: &Options) -> Result<Disk, DiskError> {
    let mut control = Control::open()?;
    let mark = mark(options.id);
    let size_bytes = match options.volume {
        None => live.size_bytes(),
        Some(id) => live.volume_bytes(id).ok_or(DiskError::NoVolume)?.0,
    };
    let waiting = waiting(&mut control, mark)?;
    let path = options.outlives_server.then(|| journal_path(Path::new(JOURNALS), mark));
    let mut repeated = None;
    if let (Some(info), Some(path)) = (&waiting, &path) {
        let device = block_path(info.number);
        let lost = |source| DiskError::Lost { device: device.clone(), path: path.clone(), source };
        let left = Journal::left(path, options.id).map_err(lost)?;
        if bytes_of(info.number) > size_bytes {
            return Err(DiskError::Smaller { device });
        }
        repeat(live, options.volume, &left, &device)?;
        repeated = Some(left.len() as u64);
    }
    let journal = path
        .as_ref()
        .map(|path| {
            let failed = |source| DiskError::Journal { path: path.clone(), source };
            Journal::make(path, options.id, nonce(), JOURNAL_BYTES).map_err(failed)
        })
        .transpose()?
        .map(|journal| Arc::new(Mutex::new(journal)));
    let is_back = waiting.is_some();
    let info = match waiting {
        Some(info) => {
            control.begin_recovery(info.number)?;
            info
        }
        None => {
            let queues = live.shards().try_into().unwrap_or(u16::MAX);
            let waits_for_server = options.outlives_server;
            let wanted = Wanted { queues, depth: DEPTH, request_bytes: REQUEST_BYTES, waits_for_server, mark };
            control.add(&wanted)?
        }
    };
    let mut disk = Disk { info, bells: Vec::new(), threads: Vec::new(), journal: path, repeated, is_left: false };
    let shape = Shape { size_bytes, has_volatile_cache: live.has_volatile_cache(), read_only: options.read_only };
    let bounds = Bounds { size_bytes, request_bytes: info.request_bytes, read_only: options.read_only };
    let begun = match is_back {
        true => Ok(()),
        false => control.describe(info.number, &limits(&shape)).map_err(DiskError::from),
    };
    let started =
        begun.and_then(|()| disk.serve_queues(live, options.volume, bounds, journal.as_ref())).and_then(|()| {
            match is_back {
                true => Ok(control.end_recovery(info.number)?),
                false => Ok(control.start(info.number)?),
            }
        });
    match started {
        Ok(()) => Ok(disk),
        // A disk that has waited goes on waiting.
        Err(error) if is_back => {
            disk.leave();
            Err(error)
        }
        Err(error) => Err(error),
    }
}

/// The disk that waits for the card of this mark. The remains of a server that died
/// while it made one are removed on the way.
fn waiting(control: &mut Control, mark: u64) -> Result<Option<DeviceInfo>, DiskError> {
    let began = Instant::now();
    loop {
        let Some(info) = control.all().into_iter().find(|info| info.mark == mark) else { return Ok(None) };
        match info.state {
            DeviceState::Dead if !is_alive(info.server_pid) => control.remove(info.number)?,
            DeviceState::Waiting => return Ok(Some(info)),
            // The driver notices a death a moment later.
            _ if !is_alive(info.server_pid) && began.elapsed() < NOTICED_WITHIN => {
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => return Err(DiskError::Taken { device: block_path(info.number), pid: info.server_pid }),
        }
    }
}

fn is_alive(pid: i32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Bytes of a disk as the kernel has it.
fn bytes_of(number: u32) -> u64 {
    let size = fs::read_to_string(format!("/sys/block/ublkb{number}/size")).unwrap_or_default();
    size.trim().parse().map_or(0, |units: u64| units.saturating_mul(512))
}

/// A number that no other journal has.
fn nonce() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

/// Wakes the thread that waits for an answer.
struct Wakes(Thread);

impl Bell for Wakes {
    fn ring(&self) {
        self.0.unpark();
    }
}

/// Repeats the changes of a server that has died, in their order, and makes them durable.
fn repeat(live: &Live, volume: Option<u32>, left: &[Change], device: &Path) -> Result<(), DiskError> {
    if left.is_empty() {
        return Ok(());
    }
    let mut port = port(live, volume, Arc::new(Wakes(std::thread::current())))?;
    let mut replies = Vec::new();
    let changes = left.iter().map(|Change { kind, offset_bytes, len_bytes, bytes }| match kind {
        Kind::Write => Request::write(0, *offset_bytes, bytes),
        Kind::Trim => Request::trim(0, *offset_bytes, *len_bytes),
        Kind::Zero => Request::write_zeroes(0, *offset_bytes, *len_bytes, false),
        Kind::ZeroKeepingRoom => Request::write_zeroes(0, *offset_bytes, *len_bytes, true),
    });
    for request in changes.chain([Request::flush(0)]) {
        port.submit(&[request], &mut replies);
        loop {
            if let Some(reply) = replies.pop() {
                let _ = reply.result.map_err(|error| DiskError::Repeat { device: device.to_owned(), error })?;
                break;
            }
            std::thread::park();
            port.replies(&mut replies);
        }
    }
    Ok(())
}

fn port(live: &Live, volume: Option<u32>, bell: Arc<dyn Bell>) -> Result<Port, DiskError> {
    match volume {
        None => Ok(live.port(bell)),
        Some(id) => live.volume_port(id, bell).ok_or(DiskError::NoVolume),
    }
}

impl Disk {
    /// Starts a thread for each queue, and waits until each has its queue.
    fn serve_queues(
        &mut self,
        live: &Arc<Live>,
        volume: Option<u32>,
        bounds: Bounds,
        journal: Option<&Arc<Mutex<Journal>>>,
    ) -> Result<(), DiskError> {
        let (has_begun, begun) = channel::<Result<(), UblkError>>();
        let info = self.info;
        for (number, place) in places(&info)?.into_iter().enumerate() {
            let bell = QueueBell::new().map_err(DiskError::System)?;
            let mut port = port(live, volume, Arc::clone(&bell) as Arc<dyn Bell>)?;
            let ears = port.listen(Hearer::new());
            let lane = Lane { port, ears: ears.clone(), bell: Arc::clone(&bell), bounds, journal: journal.cloned() };
            let mut watched = vec![bell.watched().map_err(DiskError::System)?];
            for ear in ears {
                watched.push(ear.as_fd().try_clone_to_owned().map_err(DiskError::System)?);
            }
            let has_begun = has_begun.clone();
            let thread = std::thread::Builder::new().name(format!("ublkb{}-{number}", info.number)).spawn(move || {
                // The driver takes a queue from one thread only.
                match Queue::open(place, watched) {
                    Ok(queue) => {
                        let _ = has_begun.send(Ok(()));
                        if let Err(error) = lane.serve(queue) {
                            eprintln!("flashrig: {}: {error}", block_path(info.number).display());
                        }
                    }
                    Err(error) => {
                        let _ = has_begun.send(Err(error));
                    }
                }
            });
            self.bells.push(bell);
            self.threads.push(thread.map_err(DiskError::System)?);
        }
        drop(has_begun);
        for _ in 0..info.queues {
            let ended = || DiskError::System(io::ErrorKind::UnexpectedEof.into());
            begun.recv().map_err(|_| ended())??;
        }
        Ok(())
    }

    /// The path of the disk.
    pub fn path(&self) -> PathBuf {
        block_path(self.info.number)
    }

    /// Changes that were repeated, of a disk that has waited for its server; `None`: it is new.
    pub fn repeated(&self) -> Option<u64> {
        self.repeated
    }

    /// Somebody has detached it.
    pub fn is_gone(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    /// It waits for the next server when this one ends.
    pub fn outlives_server(&self) -> bool {
        self.journal.is_some()
    }

    /// Leaves the disk to the next server: what is asked of it waits.
    pub fn leave(mut self) {
        self.is_left = true;
        self.end_threads();
    }

    fn end_threads(&mut self) {
        for bell in &self.bells {
            bell.stop();
        }
        for thread in self.threads.drain(..) {
            // A panic of the thread is its own message.
            let _ = thread.join();
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.is_left {
            return;
        }
        // Others may have removed it; and a disk is stopped before its threads end, because it still asks.
        if let Ok(mut control) = Control::open() {
            let _ = control.stop(self.info.number);
            self.end_threads();
            let _ = control.remove(self.info.number);
        }
        if let Some(journal) = &self.journal {
            let _ = fs::remove_file(journal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use card::CardConfig;
    use live::{ReplyError, Start, Timing};
    use media::{Flash, Physics};
    use profile::Profile;

    fn live() -> Live {
        let config: CardConfig = Profile::builtin("memory-16").unwrap().with_contents(Some(16 << 20)).unwrap();
        let flash = Flash::new(card::shape(&config), Physics::IDEAL, 1);
        let start = Start { config, timing: Timing::None, id: Some(format::CardId([7; 16])), seed: 1, explains: false };
        Live::format(flash, start).unwrap()
    }

    fn change(kind: Kind, offset_bytes: u64, len_bytes: u32, byte: u8) -> Change {
        let bytes = if kind == Kind::Write { vec![byte; len_bytes as usize] } else { Vec::new() };
        Change { kind, offset_bytes, len_bytes, bytes }
    }

    fn read(live: &Live, offset_bytes: u64, len_bytes: u32) -> Vec<u8> {
        let mut port = live.port(Arc::new(Wakes(std::thread::current())));
        let mut replies = Vec::new();
        port.submit(&[Request::read(1, offset_bytes, len_bytes)], &mut replies);
        while replies.is_empty() {
            std::thread::park();
            port.replies(&mut replies);
        }
        replies.pop().unwrap().result.unwrap().to_vec()
    }

    #[test]
    fn changes_of_a_dead_server_are_repeated_in_their_order() {
        let live = live();
        let device = Path::new("/dev/ublkb0");
        let left = [
            change(Kind::Write, 0, 8192, 1),
            change(Kind::Write, 4096, 512, 2),
            change(Kind::Trim, 0, 4096, 0),
            change(Kind::Write, 16384, 4096, 3),
            change(Kind::ZeroKeepingRoom, 16384, 512, 0),
            change(Kind::Zero, 20480, 4096, 0),
            change(Kind::Write, 20480, 4096, 4),
        ];
        repeat(&live, None, &left, device).unwrap();
        let wanted = [vec![0; 4096], vec![2; 512], vec![1; 3584]].concat();
        assert_eq!(read(&live, 0, 8192), wanted);
        assert_eq!(read(&live, 16384, 8192), [vec![0; 512], vec![3; 3584], vec![4; 4096]].concat());
    }

    #[test]
    fn a_card_that_does_not_take_them_gets_no_disk() {
        let live = live();
        let beyond = change(Kind::Write, live.size_bytes(), 4096, 1);
        let refused = repeat(&live, None, &[beyond], Path::new("/dev/ublkb7")).unwrap_err();
        assert!(matches!(refused, DiskError::Repeat { error: ReplyError::OutOfRange, .. }), "{refused}");
        assert!(refused.to_string().contains("/dev/ublkb7"), "{refused}");
    }
}
