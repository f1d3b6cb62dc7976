//! A card, a volume of one or a raw disk, as clients see it.

use crate::port::Port;
use crate::shelf::RawDisk;
use live::{Bell, Live};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The storage behind an export.
#[derive(Clone)]
pub enum Backing {
    /// A card, or a volume of it.
    Card {
        /// The card with all of its volumes.
        live: Arc<Live>,
        /// The number of the volume; `None`: the export is the whole card.
        volume: Option<u32>,
    },
    /// A file or drive as it is.
    Disk(Arc<RawDisk>),
}

/// The thing that clients may choose.
#[derive(Clone)]
pub struct Export {
    /// The name of the export. The empty name also chooses the first export.
    pub name: String,
    /// The UUID of the card, volume or disk, by which NVMe hosts know it.
    pub id: [u8; 16],
    /// The file in which reservations of NVMe hosts survive a loss of power; without it they end with the server.
    pub reservations: Option<PathBuf>,
    /// A description for people.
    pub description: String,
    /// The card or disk behind the export.
    pub backing: Backing,
    /// Clients may only read.
    pub read_only: bool,
}

impl Export {
    /// The bytes that clients can address.
    pub fn size_bytes(&self) -> u64 {
        match &self.backing {
            Backing::Card { live, volume: None } => live.size_bytes(),
            Backing::Card { live, volume: Some(id) } => live.volume_bytes(*id).map_or(0, |(size_bytes, _)| size_bytes),
            Backing::Disk(disk) => disk.size_bytes(),
        }
    }

    /// The bytes of what holds something; of a raw disk nobody knows, so all of it.
    pub fn used_bytes(&self) -> u64 {
        match &self.backing {
            Backing::Card { live, volume: None } => (live.status().fill * live.size_bytes() as f64).round() as u64,
            Backing::Card { live, volume: Some(id) } => {
                live.volume_bytes(*id).map_or(0, |(_, allocated_bytes)| allocated_bytes)
            }
            Backing::Disk(disk) => disk.size_bytes(),
        }
    }

    /// Writes may be answered before they are durable.
    pub fn has_volatile_cache(&self) -> bool {
        match &self.backing {
            Backing::Card { live, .. } => live.has_volatile_cache(),
            // The kernel knows whether a flush has something to do.
            Backing::Disk(_) => true,
        }
    }

    /// The card behind it.
    pub(crate) fn card(&self) -> Option<&Live> {
        match &self.backing {
            Backing::Card { live, .. } => Some(live),
            Backing::Disk(_) => None,
        }
    }

    /// Connects a client; `None`: the volume was deleted.
    pub(crate) fn port(&self, bell: Arc<dyn Bell>) -> io::Result<Option<Port>> {
        Ok(match &self.backing {
            Backing::Card { live, volume: None } => Some(Port::of_card(live.port(bell))),
            Backing::Card { live, volume: Some(id) } => live.volume_port(*id, bell).map(Port::of_card),
            Backing::Disk(disk) => Some(Port::Disk(Box::new(disk.port()?))),
        })
    }
}
