//! A card, a volume of one or a raw disk, as clients see it.

use crate::lease::Lease;
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
    /// A card that another controller owns, or that is on its way here. Only for exports with a lease.
    Elsewhere(Elsewhere),
}

/// The properties of a card that this server does not own, which hosts see all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The bytes that clients can address where the card is.
    pub size_bytes: u64,
    /// Writes may be answered before they are durable.
    pub has_volatile_cache: bool,
    /// The card is on its way here: NVMe hosts are told to wait, and not that they have to go elsewhere.
    pub is_changing: bool,
}

impl Backing {
    /// The same card, volume or disk. All that is elsewhere counts as one.
    pub(crate) fn is(&self, other: &Backing) -> bool {
        match (self, other) {
            (Backing::Card { live, volume }, Backing::Card { live: of, volume: one }) => {
                Arc::ptr_eq(live, of) && volume == one
            }
            (Backing::Disk(disk), Backing::Disk(other)) => Arc::ptr_eq(disk, other),
            (Backing::Elsewhere(_), Backing::Elsewhere(_)) => true,
            _ => false,
        }
    }
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
    /// The right to answer clients, of a card that several controllers share; without it the card is this server's alone.
    /// It is given wherever the card is, so that hosts know from the first moment that the card may go elsewhere.
    pub lease: Option<Arc<dyn Lease>>,
}

impl Export {
    /// Other controllers show the same card.
    pub(crate) fn is_shared(&self) -> bool {
        self.lease.is_some() || matches!(self.backing, Backing::Elsewhere(_))
    }

    /// The right to answer clients, where the card is here.
    pub(crate) fn gate(&self) -> Option<&Arc<dyn Lease>> {
        self.lease.as_ref().filter(|_| !matches!(self.backing, Backing::Elsewhere(_)))
    }

    /// The bytes that clients can address.
    pub fn size_bytes(&self) -> u64 {
        match &self.backing {
            Backing::Card { live, volume: None } => live.size_bytes(),
            Backing::Card { live, volume: Some(id) } => live.volume_bytes(*id).map_or(0, |(size_bytes, _)| size_bytes),
            Backing::Disk(disk) => disk.size_bytes(),
            Backing::Elsewhere(card) => card.size_bytes,
        }
    }

    /// The bytes of what holds something; of a raw disk nobody knows, so all of it, and none of a card that is elsewhere.
    pub fn used_bytes(&self) -> u64 {
        match &self.backing {
            Backing::Card { live, volume: None } => (live.status().fill * live.size_bytes() as f64).round() as u64,
            Backing::Card { live, volume: Some(id) } => {
                live.volume_bytes(*id).map_or(0, |(_, allocated_bytes)| allocated_bytes)
            }
            Backing::Disk(disk) => disk.size_bytes(),
            Backing::Elsewhere(_) => 0,
        }
    }

    /// Writes may be answered before they are durable.
    pub fn has_volatile_cache(&self) -> bool {
        match &self.backing {
            Backing::Card { live, .. } => live.has_volatile_cache(),
            // The kernel knows whether a flush has something to do.
            Backing::Disk(_) => true,
            Backing::Elsewhere(card) => card.has_volatile_cache,
        }
    }

    /// The card behind it.
    pub(crate) fn card(&self) -> Option<&Live> {
        match &self.backing {
            Backing::Card { live, .. } => Some(live),
            Backing::Disk(_) | Backing::Elsewhere(_) => None,
        }
    }

    /// Connects a client; `None`: the volume was deleted, or the card is elsewhere.
    pub(crate) fn port(&self, bell: Arc<dyn Bell>) -> io::Result<Option<Port>> {
        Ok(match &self.backing {
            Backing::Card { live, volume: None } => Some(Port::of_card(live.port(bell), live)),
            Backing::Card { live, volume: Some(id) } => {
                live.volume_port(*id, bell).map(|port| Port::of_card(port, live))
            }
            Backing::Disk(disk) => Some(Port::Disk(Box::new(disk.port()?))),
            Backing::Elsewhere(_) => None,
        })
    }
}
