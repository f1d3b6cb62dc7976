//! What lies on these media, and why does this sector read so?
//!
//! [`Examined`] is a card's media with what recovery finds on them: the same code that a start of the card runs
//! ([`ftl::recover`]), and nothing else decides what is believed. Around it stands the explanation, as data: the whole
//! card ([`Examined::report`]), a sector ([`Examined::sectors`]), a band, a stripe.
//!
//! Invariants:
//! - nothing is written: of [`media::Media`] only reads are called;
//! - whatever the media hold, the answer is a report or an error of one line, never a panic; memory is in proportion to the
//!   card, and cards above [`MAX_SECTORS`] are refused.

mod blocks;
mod checkpoints;
mod detail;
mod error;
mod examined;
mod modules;
mod report;
mod sector;
mod source;
mod start;
mod stripe;
mod walk;

pub use blocks::{Blocks, Wear};
pub use checkpoints::CheckpointFound;
pub use detail::{BandDetail, MemberDetail, RebuildState, SectorDetail, StripeDetail, StripeLine};
pub use error::FsckError;
pub use examined::{Examined, MAX_SECTORS};
pub use modules::{CopyState, HeaderCopy, ModuleInSlot, ModuleState, Modules};
pub use report::{Bands, CardFacts, Report, Sectors, Verdict, VerdictState};
pub use sector::{CopyFound, HoleList, MAX_ASKED, ReadsAs, SectorExplained};
pub use source::{Source, SourceError};
pub use start::Start;
pub use stripe::{CellState, StripeState};
pub use walk::{LostSector, Stripes};
