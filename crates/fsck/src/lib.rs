//! What lies on these media, and why does this sector read so?
//!
//! [`Examined`] is a card's media together with the result of recovery. Recovery is the same code that a start of the
//! card runs ([`ftl::recover`], [`card::is_made_so`]), and nothing else decides which copies are believed. Around it stands the explanation,
//! as data: of the whole card ([`Examined::report`]), of sectors ([`Examined::sectors`]), of a band, of a stripe.
//!
//! Invariants:
//! - Nothing is written: the crate calls only the reads of [`media::Media`].
//! - The answer is a report or an error of one line, never a panic, whatever the media hold. Memory is in proportion to
//!   the card, and cards above [`MAX_SECTORS`] are refused.

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
pub use error::{FsckError, NoHeader};
pub use examined::{Described, Examined, MAX_SECTORS};
pub use modules::{CopyState, HeaderCopy, ModuleInSlot, ModuleState, Modules};
pub use report::{Bands, CardFacts, Report, Sectors, Verdict, VerdictState};
pub use sector::{CopyFound, HoleList, MAX_ASKED, ReadsAs, SectorExplained};
pub use source::{Source, SourceError};
pub use start::Start;
pub use stripe::{CellState, StripeState};
pub use walk::{LostSector, Stripes};
