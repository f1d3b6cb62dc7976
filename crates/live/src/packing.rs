//! How a write is packed for a slow medium: in one piece of memory, which the medium is written from.

use bytes::Bytes;
use card::StorageCard;
use device::SECTOR_BYTES;
use files::{Buffer, Lender};
use media::{Payload, RequestData, Written};
use parking_lot::Mutex;
use session::Request;

/// Memory that writes are packed into.
#[derive(Default)]
pub(crate) struct Packing {
    lender: Mutex<Lender>,
}

impl Packing {
    /// Memory for what the write buffer of a card holds, if its medium is slow: none for others, which keep payloads for good.
    pub fn of(card: &StorageCard) -> Packing {
        match packs(card) {
            true => Packing::for_bytes(u64::from(card.config().buffer_sectors) * SECTOR_BYTES),
            false => Packing::default(),
        }
    }

    /// Memory for so many bytes that are kept at once.
    pub fn for_bytes(kept_bytes: u64) -> Packing {
        Packing { lender: Mutex::new(Lender::for_bytes(kept_bytes)) }
    }

    /// Memory for a write of so many bytes, if it has whole sectors; `None`: it has not, or so much is in use.
    pub fn take(&self, bytes: usize) -> Option<Buffer> {
        if !(bytes as u64).is_multiple_of(SECTOR_BYTES) {
            return None;
        }
        self.lender.lock().take(bytes)
    }

    /// Packs a long write of whole sectors; `None`: there is too little memory.
    pub fn pack(&self, request: &Request) -> Option<RequestData> {
        match kept(request) {
            Some(bytes) => Some(sectors_of(&bytes)),
            None => self.take(request.bytes.len()).map(|memory| pack(memory, request.bytes)),
        }
    }
}

/// Whether the medium is slow, and takes writes from where they are packed.
pub(crate) fn packs(card: &StorageCard) -> bool {
    card.medium().bell().is_some() && u64::from(card.medium().shape().payload_bytes) == SECTOR_BYTES
}

/// The bytes of a request, if they lie on pages in memory that may be kept.
fn kept(request: &Request) -> Option<Bytes> {
    let lies_on_pages = request.bytes.as_ptr().addr().is_multiple_of(SECTOR_BYTES as usize);
    request.shared.filter(|_| lies_on_pages).map(|shared| shared.slice_ref(request.bytes))
}

/// Packs a write of whole sectors into its memory.
pub(crate) fn pack(mut memory: Buffer, bytes: &[u8]) -> RequestData {
    memory.bytes_mut().copy_from_slice(bytes);
    sectors_of(&memory.freeze())
}

fn sectors_of(whole: &Bytes) -> RequestData {
    let of_sector = |from: usize| Written::checked(Payload::part(whole.slice(from..from + SECTOR_BYTES as usize)));
    RequestData::of_sectors((0..whole.len()).step_by(SECTOR_BYTES as usize).map(of_sector))
}
