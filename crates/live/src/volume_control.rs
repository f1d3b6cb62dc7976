//! The volumes of a card, as their owner makes, lists, grows and deletes them.

use crate::live::Live;
use crate::port::Port;
use crate::reply::{Bell, Reply};
use crate::volumes::Volumes;
use format::CardId;
use parking_lot::{Condvar, Mutex};
use session::{ReplyError, Request, TableDisk, VolumeError, VolumeName, VolumeTable};
use std::sync::Arc;

/// The most bytes of one trim.
const TRIM_BYTES: u64 = 1 << 30;

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

impl Live {
    /// Divides a card that holds nothing into volumes, of which there are none yet.
    pub fn format_volumes(&mut self, card: CardId) -> Result<(), VolumeError> {
        let mut disk = Own::new(self);
        let table = VolumeTable::format(&mut disk, card, self.size_bytes())?;
        self.volumes = Some(Arc::new(Volumes::new(table, Box::new(disk))));
        Ok(())
    }

    /// Finds the volumes that a card was divided into.
    pub fn load_volumes(&mut self, card: CardId) -> Result<(), VolumeError> {
        let mut disk = Own::new(self);
        let table = VolumeTable::load(&mut disk, card, self.size_bytes())?;
        self.volumes = Some(Arc::new(Volumes::new(table, Box::new(disk))));
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
        let table = volumes.read();
        let status = |volume: session::VolumeStatus| VolumeStatus {
            id: volume.record.id,
            clients: volumes.clients(volume.record.id),
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

    /// The bytes that a volume has, and those that it has on the card; `None`: there is none of this number.
    pub fn volume_bytes(&self, id: u32) -> Option<(u64, u64)> {
        let table = self.volumes.as_ref()?.read();
        let volume = table.volumes().find(|volume| volume.record.id == id)?;
        Some((volume.record.size_bytes, volume.allocated_bytes))
    }

    /// Makes a volume. Its number.
    pub fn create_volume(&self, name: &str, size_bytes: u64, uuid: [u8; 16]) -> Result<u32, VolumeChange> {
        let volumes = self.divided_into()?;
        Ok(volumes.change(|table, disk| table.create(disk, name, size_bytes, uuid))?)
    }

    /// Gives a volume more addresses.
    pub fn grow_volume(&self, name: &str, size_bytes: u64) -> Result<(), VolumeChange> {
        let volumes = self.divided_into()?;
        Ok(volumes.change(|table, disk| table.grow(disk, name, size_bytes))?)
    }

    /// Deletes a volume that no client has, and trims what it had on the card.
    pub fn delete_volume(&self, name: &str) -> Result<(), VolumeChange> {
        let volumes = self.divided_into()?;
        volumes.change(|table, disk| {
            let id = table.volumes().find(|volume| volume.record.name == name).map(|volume| volume.record.id);
            // Clients come while the table is looked at only: none does now.
            let clients = id.map_or(0, |id| volumes.clients(id));
            if clients > 0 {
                return Err(VolumeChange::InUse { name: name.into(), clients });
            }
            let extent_bytes = table.layout().extent_bytes;
            let extents = table.delete(disk, name, |place| volumes.is_at_rest(place))?;
            // Collection need not move it any longer. This is no promise: the volume is gone whether it works or not, and an
            // extent that is handed out is cleared before.
            let _ = extents.into_iter().try_for_each(|at| disk.clear(at, extent_bytes));
            Ok(())
        })
    }

    fn divided_into(&self) -> Result<&Volumes, VolumeChange> {
        self.volumes.as_deref().ok_or(VolumeChange::NotDivided)
    }
}

/// Why the volumes of a card were not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VolumeChange {
    /// The card is one disk.
    #[error("the card is not divided into volumes")]
    NotDivided,
    /// Clients are connected to the volume.
    #[error("volume {name} has {clients} clients: disconnect them first")]
    InUse {
        /// The volume's name.
        name: VolumeName,
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
