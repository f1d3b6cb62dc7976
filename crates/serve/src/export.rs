//! A card, or a volume of one, as clients see it.

use live::{Bell, Live, Port};
use std::path::PathBuf;
use std::sync::Arc;

/// A card, or a volume of one, that clients may choose.
#[derive(Clone)]
pub struct Export {
    /// The name of the export. The empty name also chooses the first export.
    pub name: String,
    /// The UUID of the card or volume, by which NVMe hosts know it.
    pub id: [u8; 16],
    /// The file in which reservations of NVMe hosts survive a loss of power; without it they end with the server.
    pub reservations: Option<PathBuf>,
    /// A description for people.
    pub description: String,
    /// The card behind the export.
    pub live: Arc<Live>,
    /// The number of the volume; `None`: the export is the whole card.
    pub volume: Option<u32>,
    /// Clients may only read.
    pub read_only: bool,
}

impl Export {
    /// The bytes that clients can address.
    pub fn size_bytes(&self) -> u64 {
        match self.volume {
            None => self.live.size_bytes(),
            Some(id) => self.live.volume_bytes(id).map_or(0, |(size_bytes, _)| size_bytes),
        }
    }

    /// The bytes of what holds something.
    pub fn used_bytes(&self) -> u64 {
        match self.volume {
            None => (self.live.status().fill * self.live.size_bytes() as f64).round() as u64,
            Some(id) => self.live.volume_bytes(id).map_or(0, |(_, allocated_bytes)| allocated_bytes),
        }
    }

    /// Connects a client; `None`: the volume was deleted.
    pub fn port(&self, bell: Arc<dyn Bell>) -> Option<Port> {
        match self.volume {
            None => Some(self.live.port(bell)),
            Some(id) => self.live.volume_port(id, bell),
        }
    }
}
