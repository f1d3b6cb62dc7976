//! Where do the bytes lie?
//!
//! [`Media`] is the interface between flash management and a medium: units of a die that are read and programmed,
//! blocks that are erased, and a header for each module. A [`Unit`] holds the bytes of one program command: for each 4
//! KiB sector a payload, and the spare area that identifies it.
//!
//! A payload is [`Shape::payload_bytes`] long: 4,096 where real bytes are stored, fewer in simulations, where the first
//! bytes of a sector stand for the rest. No layer above the medium depends on the length.
//!
//! [`nand`] describes flash packages and their timing: the part of a medium that a model of time needs, without the
//! bytes.
//!
//! [`Flash`] is the emulated medium: NAND flash in memory, with all its faults ([`Fault`], [`CutOutcome`],
//! [`Physics`]), which repeat with the same seed. A [`Module`] of it can be pulled, copied and put elsewhere.
//!
//! Invariants of [`Flash`]:
//! - The rows of a block are programmed in order, each once after an erase. Otherwise [`Flash`] panics, because the
//!   layer above has a bug. A bad, dead or missing place is an error and no panic.
//! - Every failure was injected or follows from [`Physics`] and the seed.
//! - Wrong bytes come back as [`SectorState::Good`] only after [`Fault::Miscorrect`], [`Fault::DamageByte`] or a
//!   program that landed elsewhere.

mod chunk;
mod error;
mod fault;
mod flash;
mod hash;
pub mod image;
mod inject;
mod log;
mod media;
mod medium;
mod module;
pub mod nand;
mod outcome;
mod payload;
mod physics;
mod place;
mod power;
mod request;
mod sectors;
mod slot;
mod store;
mod unit;
mod wear;

pub use error::{MediaError, persist};
pub use fault::{Fault, Part};
pub use flash::Flash;
pub use format::{HEADER_BYTES, SPARE_BYTES, Shape, payload_crc};
pub use media::{Ended, Media, ReadCount, ReadReport, SectorsAt};
pub use medium::Medium;
pub use module::Module;
pub use outcome::{CacheLoss, CutOutcome, UnderWay};
pub use payload::{Payload, payload_in, touch_last};
pub use physics::{ErrorRates, Physics};
pub use place::{BlockAt, HEADER_COPIES, LogArea, UnitAt};
pub use request::{RequestData, SectorData, Written, WrittenList};
pub use slot::{CACHE_OPERATIONS, Unsynced};
pub use store::{LoadError, load_modules};
pub use unit::{SectorState, Unit};
pub use wear::{may_retry, retries};
