//! The volumes of a live card: their table behind a lock, and the requests that are in flight to each extent.
//!
//! Clients look at the table side by side. A client that needs room for a first write, or gives room back, has the table
//! alone, and waits for the card meanwhile: an extent's owner is durable before anything is written to it.

use crate::live::Live;
use crate::port::Port;
use crate::reply::{Bell, Reply};
use format::CardId;
use parking_lot::{Condvar, Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use session::{Layout, ReplyError, Request, TableDisk, VolumeError, VolumeTable};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most bytes of one trim.
const TRIM_BYTES: u64 = 1 << 30;
/// In the use of an extent: one request that was begun; the lower half counts those in flight.
const BEGUN: u64 = 1 << 32;

/// A volume of a card, for an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeStatus {
    /// Its number, which no other volume of the card will have.
    pub id: u32,
    /// The name that people gave it.
    pub name: String,
    /// The bytes that a host sees.
    pub size_bytes: u64,
    /// The bytes that it has on the card, in whole extents.
    pub allocated_bytes: u64,
    /// The UUID by which hosts know it.
    pub uuid: [u8; 16],
    /// The clients that are connected to it.
    pub clients: usize,
}

/// The volumes of a card, for an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumesStatus {
    /// The volumes, in the order in which they were made.
    pub volumes: Vec<VolumeStatus>,
    /// The bytes of an extent: room is handed out and taken back in such pieces.
    pub extent_bytes: u64,
    /// The bytes that no volume has.
    pub free_bytes: u64,
}

/// See the module.
pub(crate) struct Volumes {
    table: RwLock<VolumeTable>,
    layout: Layout,
    /// Of each extent of the card: the requests that were begun (upper half) and those in flight.
    uses: Vec<AtomicU64>,
    disk: Mutex<Own>,
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
    fn new(table: VolumeTable, disk: Own) -> Volumes {
        let layout = *table.layout();
        let uses = (0..layout.extents).map(|_| AtomicU64::new(0)).collect();
        Volumes { table: RwLock::new(table), layout, uses, disk: Mutex::new(disk), clients: Mutex::default() }
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
    fn is_at_rest(&self, place: u32) -> bool {
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
}

impl Live {
    /// Divides a card that holds nothing into volumes, of which there are none yet.
    pub fn format_volumes(&mut self, card: CardId) -> Result<(), VolumeError> {
        let mut disk = Own::new(self);
        let table = VolumeTable::format(&mut disk, card, self.size_bytes())?;
        self.volumes = Some(Arc::new(Volumes::new(table, disk)));
        Ok(())
    }

    /// Finds the volumes that a card was divided into.
    pub fn load_volumes(&mut self, card: CardId) -> Result<(), VolumeError> {
        let mut disk = Own::new(self);
        let table = VolumeTable::load(&mut disk, card, self.size_bytes())?;
        self.volumes = Some(Arc::new(Volumes::new(table, disk)));
        Ok(())
    }

    /// Whether any sector holds something.
    pub fn is_empty(&self) -> bool {
        let port = self.port(Arc::new(Gate::default()));
        let mut at = 0;
        while at < self.size_bytes() {
            let found = port.extents(at, self.size_bytes() - at, 1 << 10);
            if found.iter().any(|(_, is_written)| *is_written) {
                return false;
            }
            at += found.iter().map(|(len, _)| len).sum::<u64>().max(1);
        }
        true
    }

    /// The volumes of the card; `None`: it is not divided.
    pub fn volumes(&self) -> Option<VolumesStatus> {
        let volumes = self.volumes.as_ref()?;
        let table = volumes.table.read();
        let clients = volumes.clients.lock();
        let status = |volume: session::VolumeStatus| VolumeStatus {
            id: volume.record.id,
            clients: clients.get(&volume.record.id).copied().unwrap_or(0),
            name: volume.record.name,
            size_bytes: volume.record.size_bytes,
            allocated_bytes: volume.allocated_bytes,
            uuid: volume.record.uuid,
        };
        Some(VolumesStatus {
            volumes: table.volumes().map(status).collect(),
            extent_bytes: table.layout().extent_bytes,
            free_bytes: table.free_bytes(),
        })
    }

    /// Makes a volume. Its number.
    pub fn create_volume(&self, name: &str, size_bytes: u64, uuid: [u8; 16]) -> Result<u32, VolumeChange> {
        let volumes = self.divided_into()?;
        Ok(volumes.table.write().create(&mut *volumes.disk.lock(), name, size_bytes, uuid)?)
    }

    /// Gives a volume more addresses.
    pub fn grow_volume(&self, name: &str, size_bytes: u64) -> Result<(), VolumeChange> {
        let volumes = self.divided_into()?;
        Ok(volumes.table.write().grow(&mut *volumes.disk.lock(), name, size_bytes)?)
    }

    /// Deletes a volume that no client has, and trims what it had on the card.
    pub fn delete_volume(&self, name: &str) -> Result<(), VolumeChange> {
        let volumes = self.divided_into()?;
        let mut table = volumes.table.write();
        let id = table.volumes().find(|volume| volume.record.name == name).map(|volume| volume.record.id);
        let clients = id.and_then(|id| volumes.clients.lock().get(&id).copied()).unwrap_or(0);
        if clients > 0 {
            return Err(VolumeChange::InUse { name: name.into(), clients });
        }
        let extent_bytes = table.layout().extent_bytes;
        let mut disk = volumes.disk.lock();
        let extents = table.delete(&mut *disk, name, |place| volumes.is_at_rest(place))?;
        drop(table);
        // Collection need not move it any longer. An extent that is handed out is cleared before, so this is no promise.
        for at in extents {
            disk.clear(at, extent_bytes).map_err(VolumeError::from)?;
        }
        Ok(())
    }

    fn divided_into(&self) -> Result<&Volumes, VolumeChange> {
        self.volumes.as_deref().ok_or(VolumeChange::NotDivided)
    }

    /// Writes what the table on the card does not know yet: extents that were given back.
    pub(crate) fn settle_volumes(&self) {
        if let Some(volumes) = &self.volumes {
            // A card that takes no more writes finds them in use when it starts again, and trimmed.
            drop(volumes.settled());
        }
    }
}

/// Why the volumes of a card were not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VolumeChange {
    /// The card is one disk.
    #[error("the card is not divided into volumes")]
    NotDivided,
    /// Clients are connected to the volume.
    #[error("volume {name:?} has {clients} clients: disconnect them first")]
    InUse {
        /// The volume's name.
        name: Box<str>,
        /// The number of its clients.
        clients: usize,
    },
    /// The table does not allow it, or the card does not.
    #[error(transparent)]
    Table(#[from] VolumeError),
}

/// The card as the table of its volumes asks it: one question after the other.
struct Own {
    port: Port,
    gate: Arc<Gate>,
}

/// Opens when there are replies.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opens: Condvar,
}

impl Bell for Gate {
    fn ring(&self) {
        *self.is_open.lock() = true;
        self.opens.notify_one();
    }
}

impl Own {
    fn new(live: &Live) -> Own {
        let gate = Arc::new(Gate::default());
        Own { port: live.port(Arc::clone(&gate) as Arc<dyn Bell>), gate }
    }

    /// Has all of these done. The replies, in the order of the requests.
    fn ask(&mut self, requests: &[Request]) -> Result<Vec<Reply>, ReplyError> {
        let mut replies = Vec::new();
        self.port.submit(requests, &mut replies);
        while replies.len() < requests.len() {
            let mut is_open = self.gate.is_open.lock();
            while !*is_open {
                self.gate.opens.wait(&mut is_open);
            }
            *is_open = false;
            drop(is_open);
            self.port.replies(&mut replies);
        }
        replies.sort_by_key(|reply| reply.tag);
        match replies.iter().find_map(|reply| reply.result.as_ref().err()) {
            Some(error) => Err(*error),
            None => Ok(replies),
        }
    }
}

impl TableDisk for Own {
    fn read(&mut self, offset_bytes: u64, len_bytes: u32) -> Result<Vec<u8>, ReplyError> {
        let replies = self.ask(&[Request::read(0, offset_bytes, len_bytes)])?;
        Ok(replies.into_iter().filter_map(|reply| reply.result.ok()).flat_map(|data| data.to_vec()).collect())
    }

    fn write(&mut self, pieces: &[(u64, &[u8])]) -> Result<(), ReplyError> {
        let requests: Vec<Request> =
            (0..).zip(pieces).map(|(tag, (at, bytes))| Request::write(tag, *at, bytes).with_fua(true)).collect();
        self.ask(&requests).map(drop)
    }

    fn clear(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), ReplyError> {
        let mut from = offset_bytes;
        while from < offset_bytes + len_bytes {
            let len = (offset_bytes + len_bytes - from).min(TRIM_BYTES);
            self.ask(&[Request::write_zeroes(0, from, len as u32, false)])?;
            from += len;
        }
        self.ask(&[Request::flush(0)]).map(drop)
    }
}
