//! Disks in memory with a volatile cache, whose power can be cut: what was written and not synced stays or is gone, 512
//! bytes at a time, and what is under way may be torn.

use device::Rng;
use files::{Buffer, Disks, Done, Files, FilesError, Handle, Io, IoKind, Lender, Make, Opened, Options};
use media::{BlockAt, Payload, SPARE_BYTES, SectorState, Shape, Unit, UnitAt};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECTOR: usize = 512;

#[derive(Clone, Debug, Default)]
pub struct Disk {
    live: Vec<u8>,
    durable: Vec<u8>,
    /// Sectors of which `durable` may be old.
    unsynced: BTreeSet<usize>,
}

#[derive(Debug)]
pub struct World {
    pub disks: BTreeMap<PathBuf, Disk>,
    /// Writes that had payloads where they lay.
    pub gathered: u64,
    open: Vec<Option<PathBuf>>,
    queue: Vec<Io>,
    done: Vec<Done>,
    rng: Rng,
    unique: u64,
    /// Requests that have ended.
    pub ended: u64,
    /// Power goes when so many have ended.
    pub cut_at: Option<u64>,
    /// The contents of the disks when power went.
    pub left: Option<BTreeMap<PathBuf, Disk>>,
    /// Requests to this path fail.
    pub broken: BTreeMap<PathBuf, Broken>,
    /// The disk at this path says that it has done writes, and has lost or misplaced so many percent of them.
    pub lying: Option<(PathBuf, u64)>,
    /// Writes that were lost or misplaced.
    pub lies: u64,
    /// Places that were discarded.
    pub discards: u64,
    /// How often each frame of a unit was read by itself: reads of one sector, by file and offset.
    pub frames_read: BTreeMap<(PathBuf, u64), u32>,
}

/// The requests of a broken disk that fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    All(i32),
    Writes(i32),
    Syncs(i32),
    /// Reads that touch this byte.
    Place(u64),
}

#[derive(Clone, Debug)]
pub struct Sim(pub Arc<Mutex<World>>);

impl Sim {
    pub fn new(seed: u64) -> Sim {
        Sim(Arc::new(Mutex::new(World {
            disks: BTreeMap::new(),
            gathered: 0,
            open: Vec::new(),
            queue: Vec::new(),
            done: Vec::new(),
            rng: Rng::stream(seed, "disks"),
            unique: seed << 8,
            ended: 0,
            cut_at: None,
            left: None,
            broken: BTreeMap::new(),
            lying: None,
            lies: 0,
            discards: 0,
            frames_read: BTreeMap::new(),
        })))
    }

    pub fn with<T>(&self, what: impl FnOnce(&mut World) -> T) -> T {
        what(&mut self.0.lock().unwrap())
    }

    pub fn boxed(&self) -> Box<dyn Disks> {
        Box::new(self.clone())
    }

    /// Power goes now, unless it has gone.
    pub fn cut(&self) {
        self.with(World::cut);
    }

    /// Power is back: what was left is there, and nobody has it open.
    pub fn power_on(&self) {
        self.with(|world| {
            world.cut();
            world.disks = world.left.take().unwrap();
            world.open.clear();
            world.queue.clear();
            world.done.clear();
            world.cut_at = None;
        });
    }

    /// The bytes of a file.
    pub fn bytes(&self, path: &Path) -> Vec<u8> {
        self.with(|world| world.disks[path].live.clone())
    }

    pub fn set_bytes(&self, path: &Path, bytes: Vec<u8>) {
        self.with(|world| {
            let disk = Disk { live: bytes.clone(), durable: bytes, unsynced: BTreeSet::new() };
            world.disks.insert(path.into(), disk);
        });
    }
}

impl World {
    fn cut(&mut self) {
        if self.left.is_some() {
            return;
        }
        let mut left = self.disks.clone();
        // Nothing, everything, or any part of the requests that are not durable is lost.
        let percent = [0, 100, 50, 90][self.rng.below(4) as usize];
        for disk in left.values_mut() {
            for sector in std::mem::take(&mut disk.unsynced) {
                if self.rng.below(100) < percent {
                    let range = sector * SECTOR..(sector + 1) * SECTOR;
                    disk.durable[range.clone()].copy_from_slice(&disk.live[range]);
                }
            }
        }
        for io in &self.queue {
            let Some(path) = &self.open[io.handle.0] else { continue };
            if let (IoKind::Discard { bytes }, Some(disk)) = (io.kind, left.get_mut(path)) {
                let place = &mut disk.durable[io.offset as usize..][..bytes as usize];
                place.chunks_mut(SECTOR).filter(|_| self.rng.below(100) < percent).for_each(|sector| sector.fill(0));
            }
            if let (IoKind::Write { .. }, Some(disk)) = (io.kind, left.get_mut(path)) {
                for (number, bytes) in bytes_of(&io.buffer).chunks(SECTOR).enumerate() {
                    if self.rng.below(100) < percent {
                        disk.durable[io.offset as usize + number * SECTOR..][..bytes.len()].copy_from_slice(bytes);
                    }
                }
            }
        }
        left.values_mut().for_each(|disk| disk.live.clone_from(&disk.durable));
        self.left = Some(left);
    }

    /// The place that a write really goes to; `None`: it is lost. Tables, headers and records are left alone: there are
    /// two copies of each, and a disk that spoils both is no disk.
    fn place_of_write(&mut self, path: &Path, offset: usize, len: usize) -> Option<usize> {
        let Some(percent) = self.lying.as_ref().filter(|(of, _)| of == path).map(|(_, percent)| *percent) else {
            return Some(offset);
        };
        if self.rng.below(100) >= percent {
            return Some(offset);
        }
        self.lies += 1;
        // Units are neighbours, so a misplaced one lies where another one should be.
        let end = self.disks[path].live.len();
        match self.rng.below(3) {
            0 => Some(offset + len).filter(|place| place + len < end * 9 / 10),
            1 => Some(offset - len).filter(|place| *place > end / 10),
            _ => None,
        }
    }

    fn carry_out(&mut self, mut io: Io) {
        let path = self.open[io.handle.0].clone().unwrap_or_default();
        let (offset, len) = (io.offset as usize, io.buffer.request_bytes());
        let place = match io.kind {
            IoKind::Write { durable: false } if len > 4096 => self.place_of_write(&path, offset, len),
            _ => Some(offset),
        };
        let error = self.broken.get(&path).and_then(|broken| match (*broken, io.kind) {
            (Broken::All(error), _)
            | (Broken::Writes(error), IoKind::Write { .. })
            | (Broken::Syncs(error), IoKind::Sync) => Some(-error),
            (Broken::Place(at), IoKind::Read) if (offset..offset + len).contains(&(at as usize)) => Some(-libc_eio()),
            _ => None,
        });
        let result = error.unwrap_or_else(|| {
            let Some(disk) = self.disks.get_mut(&path) else { return -libc_eio() };
            assert!(offset % SECTOR == 0 && len % SECTOR == 0, "{offset} + {len} is not aligned");
            match io.kind {
                IoKind::Sync => {
                    for sector in std::mem::take(&mut disk.unsynced) {
                        let range = sector * SECTOR..(sector + 1) * SECTOR;
                        disk.durable[range.clone()].copy_from_slice(&disk.live[range]);
                    }
                    0
                }
                IoKind::Discard { bytes } => {
                    let place = offset..offset + bytes as usize;
                    disk.live[place.clone()].fill(0);
                    disk.unsynced.extend(place.start / SECTOR..place.end / SECTOR);
                    self.discards += 1;
                    0
                }
                IoKind::Read => {
                    if len == SECTOR {
                        *self.frames_read.entry((path.clone(), io.offset)).or_default() += 1;
                    }
                    let there = len.min(disk.live.len().saturating_sub(offset));
                    io.buffer.bytes_mut()[..there].copy_from_slice(&disk.live[offset..offset + there]);
                    there as i32
                }
                IoKind::Write { .. } if place.is_none() => len as i32,
                IoKind::Write { durable } => {
                    let offset = place.expect("not lost");
                    let there = len.min(disk.live.len().saturating_sub(offset));
                    let bytes = &bytes_of(&io.buffer)[..there];
                    disk.live[offset..offset + there].copy_from_slice(bytes);
                    let sectors = offset / SECTOR..(offset + there) / SECTOR;
                    if durable {
                        disk.durable[offset..offset + there].copy_from_slice(bytes);
                        disk.unsynced.retain(|sector| !sectors.contains(sector));
                    } else {
                        disk.unsynced.extend(sectors);
                    }
                    there as i32
                }
            }
        });
        self.done.push(Done { tag: io.tag, result, buffer: io.buffer });
        self.ended += 1;
        if self.cut_at.is_some_and(|at| self.ended >= at) {
            self.cut();
        }
    }

    fn opened(&mut self, path: &Path, is_zero: bool) -> Opened {
        self.open.push(Some(path.into()));
        let bytes = self.disks[path].live.len() as u64;
        Opened { handle: Handle(self.open.len() - 1), bytes, align_bytes: 512, is_zero, can_discard: true, note: None }
    }
}

fn libc_eio() -> i32 {
    5
}

/// The bytes of a write.
fn bytes_of(buffer: &Buffer) -> Vec<u8> {
    [&buffer.lead().concat()[..], buffer.bytes()].concat()
}

impl Disks for Sim {
    fn open(&mut self, path: &Path) -> Result<Opened, FilesError> {
        self.with(|world| {
            if world.open.iter().flatten().any(|open| open == path) {
                return Err(FilesError::InUse { path: path.into() });
            }
            match world.disks.contains_key(path) {
                true => Ok(world.opened(path, false)),
                false => {
                    Err(FilesError::Io { path: path.into(), action: "open it", error: io::ErrorKind::NotFound.into() })
                }
            }
        })
    }

    fn align_bytes(&mut self, _path: &Path) -> Result<u32, FilesError> {
        Ok(512)
    }

    fn make(&mut self, path: &Path, how: Make) -> Result<Opened, FilesError> {
        self.with(|world| {
            if world.disks.contains_key(path) {
                return Err(FilesError::Exists { path: path.into() });
            }
            let bytes = vec![0; how.bytes as usize];
            world.disks.insert(path.into(), Disk { live: bytes.clone(), durable: bytes, unsynced: BTreeSet::new() });
            Ok(world.opened(path, true))
        })
    }

    fn unmake(&mut self, path: &Path) {
        self.with(|world| drop(world.disks.remove(path)));
    }

    fn close(&mut self, handle: Handle) {
        self.with(|world| {
            // The requests in flight are carried out, and the file is free then.
            let (of_file, queue) = std::mem::take(&mut world.queue).into_iter().partition(|io| io.handle == handle);
            world.queue = queue;
            Vec::into_iter(of_file).for_each(|io| world.carry_out(io));
            world.open[handle.0] = None;
        });
    }

    fn begin(&mut self, io: Io) {
        self.with(|world| {
            world.gathered += u64::from(!io.buffer.lead().is_empty());
            world.queue.push(io);
        });
    }

    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self, _timeout: Option<Duration>) -> io::Result<()> {
        self.with(|world| {
            assert!(!world.queue.is_empty() || !world.done.is_empty(), "nothing is under way, and somebody waits");
            while world.done.is_empty() || (!world.queue.is_empty() && world.rng.below(2) == 0) {
                let at = world.rng.below(world.queue.len() as u64) as usize;
                let io = world.queue.swap_remove(at);
                world.carry_out(io);
            }
            Ok(())
        })
    }

    fn reap(&mut self, done: &mut Vec<Done>) {
        self.with(|world| done.append(&mut world.done));
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn gathers(&self, _handle: Handle) -> bool {
        true
    }

    fn unique(&mut self) -> u64 {
        self.with(|world| {
            world.unique += 1;
            world.unique
        })
    }
}

/// Two modules of three dies: ten sectors of 600 bytes make two parts of a frame.
pub const SHAPE: Shape = Shape {
    modules: 2,
    dies_per_module: 3,
    blocks_per_die: 4,
    rows_per_block: 4,
    unit_sectors: 10,
    payload_bytes: 600,
    rows_sharing_cells: 1,
};

pub fn paths(modules: u32) -> Vec<PathBuf> {
    (0..modules).map(|slot| PathBuf::from(format!("module-{slot}"))).collect()
}

pub fn some(paths: &[PathBuf]) -> Vec<Option<PathBuf>> {
    paths.iter().cloned().map(Some).collect()
}

pub fn create(sim: &Sim, shape: Shape) -> Files {
    Files::create_on(sim.boxed(), shape, &paths(shape.modules), &Options::default()).unwrap()
}

pub fn open(sim: &Sim, shape: Shape) -> Files {
    Files::open_on(sim.boxed(), &some(&paths(shape.modules))).unwrap()
}

pub fn block(module: u32, die: u32, block: u32) -> BlockAt {
    BlockAt { module, die, block }
}

/// A unit that says which it is: every sector has a version, its place, and a checksum of its payload.
pub fn unit(shape: &Shape, at: UnitAt, version: u64) -> Unit {
    let mut unit = Unit::new(shape);
    for sector in 0..unit.sectors() {
        let salt = version * 31 + sector as u64 * 7 + u64::from(at.row) + u64::from(at.block.die) * 13;
        for (number, byte) in unit.payload_mut(sector).iter_mut().enumerate() {
            *byte = (salt + number as u64 * 3 + 1) as u8;
        }
        let crc = format::payload_crc(unit.payload(sector));
        let spare = unit.spare_mut(sector);
        spare[..8].copy_from_slice(&version.to_le_bytes());
        spare[8..20].copy_from_slice(&[at.block.die, at.block.block, at.row].map(u32::to_le_bytes).concat());
        spare[20..24].copy_from_slice(&crc.to_le_bytes());
        spare[SPARE_BYTES - 1] = sector as u8;
    }
    // A disk takes payloads of whole pages from where they lie.
    if version % 2 == 1 && shape.payload_bytes.is_multiple_of(4096) {
        lie_in_one_piece(&mut unit);
    }
    unit
}

/// Has the payloads of a unit be parts of a long write.
fn lie_in_one_piece(unit: &mut Unit) {
    let payloads: Vec<u8> = (0..unit.sectors()).flat_map(|sector| unit.payload(sector).to_vec()).collect();
    let mut memory = Lender::for_bytes(1).take(payloads.len()).unwrap();
    memory.bytes_mut().copy_from_slice(&payloads);
    let (write, payload_bytes) = (memory.freeze(), unit.payload(0).len());
    for sector in 0..unit.sectors() {
        let payload = Payload::part(write.slice(sector * payload_bytes..(sector + 1) * payload_bytes));
        unit.set_payload(sector, &payload, format::payload_crc(&payload));
    }
}

/// The contents of a sector that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    Erased,
    /// The medium or the sector's checksum says that it is damaged.
    Damaged,
    Version(u64),
}

/// The contents of the sectors of a unit that was read.
pub fn holds(shape: &Shape, at: UnitAt, read: &Unit) -> Vec<Holds> {
    let look = |sector: usize| match read.state(sector) {
        SectorState::Erased => Holds::Erased,
        SectorState::Uncorrectable => Holds::Damaged,
        SectorState::Good => {
            let spare = read.spare(sector);
            let version = u64::from_le_bytes(spare[..8].try_into().unwrap());
            let expected = unit(shape, at, version);
            assert_eq!(spare, expected.spare(sector), "the spare area of another sector: {at:?}");
            let is_whole = read.payload(sector) == expected.payload(sector);
            if is_whole { Holds::Version(version) } else { Holds::Damaged }
        }
    };
    (0..read.sectors()).map(look).collect()
}
