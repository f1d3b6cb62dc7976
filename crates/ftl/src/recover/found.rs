//! What was found.

use super::check::Opening;
use super::rescue::Rescued;
use crate::layout::{BandId, Ppa};

/// Write sequence numbers left out after a scan: more than can have been given out to writes that left no trace.
pub const VERSION_GAP: u64 = 1 << 20;
/// Openings of bands between two scans count up in the low bits of their number; a scan raises what stands above.
pub const SEQUENCE_EPOCH_BITS: u32 = 32;

/// What a scan makes of a band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FoundState {
    /// Nothing is written, as far as was looked. Its last erase may have been cut: it is to be erased again.
    #[default]
    Free,
    /// It holds sectors and takes no more.
    Closed,
    /// Nothing in it counts, and it is not erased.
    Dirty,
}

/// What a scan knows of a band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FoundBand {
    /// What it is.
    pub state: FoundState,
    /// Number of its last opening; 0 when it is not [`FoundState::Closed`], like all that follows.
    pub sequence: u64,
    /// Its cells are used with one bit each.
    pub slc: bool,
    /// Where its sectors came from: 0 host, 1 relocation, 2 checkpoint.
    pub stream: u8,
    /// Its summary can be read.
    pub has_summary: bool,
    /// It was written to its end.
    pub is_complete: bool,
}

impl FoundBand {
    /// What its sectors have in common.
    pub fn opening(&self) -> Opening {
        Opening { sequence: self.sequence, slc: self.slc, stream: self.stream }
    }
}

/// How a scan went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanReport {
    /// Units read on each die of the card.
    pub reads_by_die: Vec<u64>,
    /// Units read.
    pub reads: u64,
    /// Bands without anything.
    pub bands_free: u32,
    /// Bands known from their summaries.
    pub bands_by_summary: u32,
    /// Bands known from a checkpoint.
    pub bands_by_checkpoint: u32,
    /// Bands of which all was read.
    pub bands_scanned: u32,
    /// Bands of which nothing counts.
    pub bands_dirty: u32,
    /// Stripes with members that can't be read, those of missing modules and dead dies not counted.
    pub torn_stripes: u64,
    /// Sectors that were rebuilt from their stripes.
    pub reconstructed_sectors: u64,
    /// Sectors that can't be read or rebuilt, and never were durable.
    pub dropped_sectors: u64,
    /// Newest versions that can't be read or rebuilt: their LBAs answer with errors.
    pub unreadable_sectors: u64,
    /// Sectors with addresses that the card doesn't have.
    pub out_of_range_sectors: u64,
    /// Dies that do not answer, beside those of missing modules.
    pub dead_dies: Vec<u32>,
}

/// A card as it was found on its media.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Where the newest version of each LBA lies, and behind them that of each segment of holes; [`u32::MAX`]: nowhere.
    pub map: Vec<u32>,
    /// The bands.
    pub bands: Vec<FoundBand>,
    /// Newest versions that lie in stripes that are not whole: their index in the map, and where they lie. They are to
    /// be written elsewhere before the card serves.
    pub rescue: Vec<(u32, Ppa)>,
    /// What these hold, as far as it can be read.
    pub rescued: Vec<Rescued>,
    /// LBAs that answer with errors, as far as is known without reading them; ascending.
    pub errors: Vec<u32>,
    /// Write sequence number that may be given out next.
    pub next_version: u64,
    /// The next opening of a band gets a number above this one, in an epoch of its own: see [`SEQUENCE_EPOCH_BITS`].
    pub last_band_sequence: u64,
    /// Bands of the checkpoint that was used; empty when none was.
    pub checkpoint_bands: Vec<BandId>,
    /// Segments with holes that only the checkpoint tells of: lists of holes have to be written before the card serves.
    pub owed_segments: Vec<u32>,
    /// How the scan went.
    pub report: ScanReport,
    /// Members by band and group of dies.
    pub(super) units: Vec<u64>,
    /// Written rows by band and die.
    pub(super) written: Vec<u32>,
    pub(super) groups: u32,
    pub(super) dies: u32,
}

impl Found {
    /// Members of a band's stripes on each group of dies, as bits; 0 of a band that is not [`FoundState::Closed`].
    pub fn units(&self, band: BandId) -> &[u64] {
        &self.units[band.0 as usize * self.groups as usize..][..self.groups as usize]
    }

    /// Rows of a band that are not erased on each die, from the first to the last one. Of dies that do not answer: as
    /// many as the others have at most.
    pub fn written_rows(&self, band: BandId) -> &[u32] {
        &self.written[band.0 as usize * self.dies as usize..][..self.dies as usize]
    }
}
