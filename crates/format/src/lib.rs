//! What lies on the media?
//!
//! The structures of a card as they lie on its modules: the header of a module ([`ModuleHeader`]), the spare area of a
//! sector ([`Spare`]), and the payloads that hold no data of the host: band summaries ([`SummaryEntry`]), checkpoints
//! ([`Checkpoint`]) lists of holes ([`set_hole`]), records of the log
//! ([`LogRecord`]) and pages of the volume table ([`VolumePage`]). `docs/media-format.md` explains how they work together.
//!
//! Encoding and decoding are pure. Invariants:
//!
//! - All integers are little-endian. Reserved bytes are 0.
//! - Magic, version and checksum of a structure stay in their places in all versions, so that a newer version can be
//!   told from damage. The order of the checks is magic, checksum, version, fields.
//! - Bytes that decode are encoded to the same bytes again. Only the reserved bytes of summaries are not checked,
//!   because the checksum of their payload covers them. Nothing is allocated before the sizes are checked.
//! - Bytes from media never cause a panic. A value that can't be encoded is a bug, and panics.

mod band_set;
mod checkpoint;
mod crc;
mod header;
mod holes;
mod ids;
mod log;
mod shape;
mod spare;
mod summary;
mod version;
mod volumes;

pub use band_set::{BandSet, HEADER_BANDS};
pub use checkpoint::{
    BAND_RECORD_BYTES, BandRecord, CHECKPOINT_HEAD_BYTES, Checkpoint, CheckpointError, CheckpointHead,
};
pub use crc::{crc_append, joined_crc, payload_crc};
pub use header::{
    Durable, HEADER_BYTES, HeaderError, MAX_BITS_PER_CELL, MAX_MODULES, MAX_PAYLOAD_BYTES, MAX_SECTORS,
    MAX_STRIPE_UNITS, MAX_UNIT_SECTORS, MIN_PAYLOAD_BYTES, ModuleHeader, Slot, SlotState,
};
pub use holes::{
    HOLES_HEAD_BYTES, clear_hole, hole_place, hole_segment_lbas, holes, holes_as_of, is_hole, set_hole, set_holes_as_of,
};
pub use ids::{CardId, ModuleId};
pub use log::{
    LOG_ENTRY_BYTES, LOG_HEAD_BYTES, LogError, LogHead, LogRecord, LogSector, MAX_LOG_SECTORS, encode_log_record,
    log_record_bytes,
};
pub use shape::Shape;
pub use spare::{Role, SPARE_BYTES, Spare, SpareError};
pub use summary::{SUMMARY_ENTRY_BYTES, SummaryEntry, decode_summary, encode_summary, entries_per_sector};
pub use version::{OLDEST_VERSION, VERSION};
pub use volumes::{
    MAX_VOLUME_NAME_BYTES, MAX_VOLUMES, OWNERS_PER_PAGE, Owner, VOLUME_PAGE_BYTES, VolumeDirectory, VolumePage,
    VolumePageContents, VolumePageError, VolumeRecord,
};
