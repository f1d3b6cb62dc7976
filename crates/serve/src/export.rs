//! A card as clients see it.

use live::Live;
use std::path::PathBuf;
use std::sync::Arc;

/// A card that clients may choose.
#[derive(Clone)]
pub struct Export {
    /// The name of the export. The empty name also chooses the first export.
    pub name: String,
    /// The UUID of the card, by which NVMe hosts know it.
    pub id: [u8; 16],
    /// The file in which reservations of NVMe hosts survive a loss of power; without it they end with the server.
    pub reservations: Option<PathBuf>,
    /// A description for people.
    pub description: String,
    /// The card behind the export.
    pub live: Arc<Live>,
    /// Clients may only read.
    pub read_only: bool,
}
