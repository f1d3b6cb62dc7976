//! The volumes of a live card: their table behind a lock, and the requests that are in flight to each extent.
//!
//! Clients look at the table side by side. A client that needs room for a first write, or gives room back, has the table
//! alone, and waits for the card meanwhile: an extent's owner is durable before anything is written to it.

use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use session::{Layout, ReplyError, TableDisk, VolumeTable};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// In the use of an extent: one request that was begun; the lower half counts those in flight.
const BEGUN: u64 = 1 << 32;

/// See the module.
pub(crate) struct Volumes {
    table: RwLock<VolumeTable>,
    layout: Layout,
    /// The uses of each extent of the card: requests that were begun (upper half), and those in flight.
    uses: Vec<AtomicU64>,
    disk: Mutex<Disk>,
    /// The clients of each volume.
    clients: Mutex<BTreeMap<u32, usize>>,
}

/// A trim of all of an extent, after which the extent is the card's again unless somebody has asked for it since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    pub volume: u32,
    pub extent: u32,
    place: u32,
    begun: u64,
}

impl Volumes {
    pub fn new(table: VolumeTable, disk: Box<dyn TableDisk + Send>) -> Volumes {
        let layout = *table.layout();
        let uses = (0..layout.extents).map(|_| AtomicU64::new(0)).collect();
        Volumes { table: RwLock::new(table), layout, uses, disk: Mutex::new(Disk(disk)), clients: Mutex::default() }
    }

    /// The table, if it can be had without waiting.
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, VolumeTable>> {
        self.table.try_read()
    }

    /// The table, to be looked at.
    pub fn read(&self) -> RwLockReadGuard<'_, VolumeTable> {
        self.table.read()
    }

    /// The table, with places for all of these extents of a volume.
    pub fn with_places(&self, id: u32, extents: &[u32]) -> Result<RwLockReadGuard<'_, VolumeTable>, ReplyError> {
        let mut table = self.table.write();
        let mut disk = self.disk.lock();
        for extent in extents {
            // A volume can be deleted only when it has no clients.
            table.allocate(&mut *disk, id, *extent)?.ok_or(ReplyError::NoSpace)?;
        }
        Ok(RwLockWriteGuard::downgrade(table))
    }

    /// The table, when all that has failed of it was written.
    pub fn settled(&self) -> Result<RwLockReadGuard<'_, VolumeTable>, ReplyError> {
        let mut table = self.table.write();
        table.settle(&mut *self.disk.lock())?;
        Ok(RwLockWriteGuard::downgrade(table))
    }

    /// The address of an extent of the card.
    pub fn extent_at(&self, place: u32) -> u64 {
        self.layout.extent_at(place)
    }

    /// Nothing is in flight to an extent of the card. A client that went may have left something there.
    pub fn is_at_rest(&self, place: u32) -> bool {
        self.uses[place as usize].load(Ordering::Acquire).is_multiple_of(BEGUN)
    }

    /// A request to an extent of the card begins.
    pub fn begin(&self, place: u32) {
        self.uses[place as usize].fetch_add(BEGUN + 1, Ordering::AcqRel);
    }

    /// A trim of all of an extent begins. `Some`: nothing else is in flight to it.
    pub fn begin_trim(&self, volume: u32, extent: u32, place: u32) -> Option<Leaving> {
        let before = self.uses[place as usize].fetch_add(BEGUN + 1, Ordering::AcqRel);
        before.is_multiple_of(BEGUN).then(|| Leaving { volume, extent, place, begun: before / BEGUN + 1 })
    }

    /// A request to an extent of the card has ended.
    pub fn end(&self, place: u32) {
        self.uses[place as usize].fetch_sub(1, Ordering::AcqRel);
    }

    /// Takes extents back that have been trimmed, and for which nobody has asked since.
    pub fn take_back(&self, leaving: impl Iterator<Item = Leaving>) {
        let mut table = self.table.write();
        for Leaving { volume, extent, place, begun } in leaving {
            let uses = self.uses[place as usize].load(Ordering::Acquire);
            let is_left = (uses / BEGUN, uses % BEGUN) == (begun % BEGUN, 0);
            if is_left && table.place(volume, extent) == Some(place) {
                table.free(volume, extent);
            }
        }
    }

    /// A client of a volume comes (1) or goes (-1).
    pub fn count(&self, id: u32, change: isize) {
        let mut clients = self.clients.lock();
        let count = clients.entry(id).or_default();
        *count = count.saturating_add_signed(change);
    }

    /// Changes the table, which nobody looks at meanwhile.
    pub fn change<T>(&self, change: impl FnOnce(&mut VolumeTable, &mut Disk) -> T) -> T {
        change(&mut self.table.write(), &mut self.disk.lock())
    }

    /// The number of clients of a volume.
    pub fn clients(&self, id: u32) -> usize {
        self.clients.lock().get(&id).copied().unwrap_or(0)
    }
}

/// The card as the table asks it.
pub(crate) struct Disk(Box<dyn TableDisk + Send>);

impl TableDisk for Disk {
    fn read(&mut self, offset_bytes: u64, len_bytes: u32) -> Result<Vec<u8>, ReplyError> {
        self.0.read(offset_bytes, len_bytes)
    }

    fn write(&mut self, pieces: &[(u64, &[u8])]) -> Result<(), ReplyError> {
        self.0.write(pieces)
    }

    fn clear(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), ReplyError> {
        self.0.clear(offset_bytes, len_bytes)
    }
}
