//! A request of the host, while it is in flight.

use device::{Operation, Time};
use std::ops::Range;

/// Where a request stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// The id is free.
    #[default]
    Free,
    /// On its way to the card.
    GoingDown,
    /// The map is asked where its sectors lie.
    LookingUp,
    /// Its reads are on the flash (or the reads that a write of part of a sector needs first).
    Reading,
    /// A write that waits for room in the buffer.
    Waiting,
    /// Waits until what was written is on flash.
    Durable,
    /// Its data are on their way to the host.
    GoingUp,
}

/// One request. It owns what the host handed over with it.
#[derive(Clone, Debug)]
pub struct HostRequest<I> {
    pub stage: Stage,
    pub operation: Operation,
    pub fua: bool,
    pub submitted: Time,
    /// First sector of a read; next sector to take into the buffer of a write.
    pub sector: u32,
    pub sectors_left: u32,
    /// The sectors of a write that the host sends; the others are the rest of their mapping units.
    pub sent: Range<u32>,
    pub bytes: u32,
    /// The first sector is covered in part; the last one is, and it is another one.
    pub partial_first: bool,
    pub partial_last: bool,
    /// Bytes of the first sector that lie before the request, and of the last one up to its end.
    pub first_bytes: u16,
    pub last_bytes: u16,
    pub reads_left: u32,
    /// A flush that has to tell the media of holes once everything before it is durable; as of which version.
    pub holes_as_of: Option<u64>,
    /// The data of the request, and what the contents know of it.
    pub owned: I,
}

impl<I> HostRequest<I> {
    /// Whether the host sends this sector of a write. Where mapping units are sectors, it sends all.
    #[inline]
    pub fn is_sent(&self, sector: u32) -> bool {
        self.sent.is_empty() || self.sent.contains(&sector)
    }
}

impl<I: Default> Default for HostRequest<I> {
    fn default() -> Self {
        HostRequest {
            stage: Stage::Free,
            operation: Operation::Flush,
            fua: false,
            submitted: Time::ZERO,
            sector: 0,
            sectors_left: 0,
            sent: 0..0,
            bytes: 0,
            partial_first: false,
            partial_last: false,
            first_bytes: 0,
            last_bytes: 0,
            reads_left: 0,
            holes_as_of: None,
            owned: I::default(),
        }
    }
}
