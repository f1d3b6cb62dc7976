//! The result of a scan: the card as it lies on its media.

use crate::layout::{BandId, Ppa};
use crate::opening::Opening;
use format::Role;
use media::ReadCount;

/// Versions that are skipped after a scan: more than can have been given to writes that left no trace.
pub const VERSION_GAP: u64 = 1 << 20;
/// Bands opened between two scans are numbered in these low bits of the sequence; each scan raises the bits above, the
/// epoch.
pub const SEQUENCE_EPOCH_BITS: u32 = 32;

/// The state of a band after a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FoundState {
    /// Nothing was found written. The last erase may have been cut, so the band has to be erased again.
    #[default]
    Free,
    /// The band holds sectors and takes no more.
    Closed,
    /// The band is not erased, and nothing in it counts.
    Dirty,
}

/// A band as a scan found it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FoundBand {
    /// Whether the band is free, closed or dirty.
    pub state: FoundState,
    /// Number of the last opening. This field and those that follow are 0 or `false` unless the band is
    /// [`FoundState::Closed`].
    pub sequence: u64,
    /// Its cells are used with one bit each.
    pub slc: bool,
    /// The stream that its sectors came from: 0 host, 1 relocation, 2 checkpoint.
    pub stream: u8,
    /// Its summary can be read.
    pub has_summary: bool,
    /// It was written to its end.
    pub is_complete: bool,
}

impl FoundBand {
    /// The opening that all sectors of the band have in common.
    pub fn opening(&self) -> Opening {
        Opening { sequence: self.sequence, slc: self.slc, stream: self.stream }
    }
}

/// Reads of a start, by its parts. Emulated flash counts nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartReads {
    /// The modules are opened and claimed: superblocks, tables of blocks, headers.
    pub headers: ReadCount,
    /// Bands are identified, and the newest checkpoint is read.
    pub checkpoint: ReadCount,
    /// Summaries and spare areas of the bands that no checkpoint knows.
    pub spares: ReadCount,
    /// The write-ahead log.
    pub log: ReadCount,
    /// Lists of holes, and sectors of stripes that are not whole.
    pub map: ReadCount,
    /// Sectors in stripes that are not whole are written elsewhere, and bands are erased: no host gets an answer
    /// before. The owner of the card counts this part, which ends later.
    pub rescue: ReadCount,
}

impl StartReads {
    /// The parts, with their names.
    pub fn parts(&self) -> [(&'static str, ReadCount); 6] {
        let StartReads { headers, checkpoint, spares, log, map, rescue } = *self;
        let (headers, checkpoint, spares) = (("headers", headers), ("checkpoint", checkpoint), ("spare areas", spares));
        [headers, checkpoint, spares, ("log", log), ("map", map), ("rescue", rescue)]
    }
}

/// The statistics of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanReport {
    /// Units read on each die of the card.
    pub reads_by_die: Vec<u64>,
    /// Units read on all dies together.
    pub reads: u64,
    /// Bands in which nothing was found written.
    pub bands_free: u32,
    /// Bands that are known from their summaries.
    pub bands_by_summary: u32,
    /// Bands that are known from a checkpoint.
    pub bands_by_checkpoint: u32,
    /// Bands that were read completely.
    pub bands_scanned: u32,
    /// Bands that are not erased and in which nothing counts.
    pub bands_dirty: u32,
    /// Stripes with members that can't be read, those of missing modules and dead dies not counted.
    pub torn_stripes: u64,
    /// Sectors that were rebuilt from their stripes.
    pub reconstructed_sectors: u64,
    /// Sectors that can't be read or rebuilt, and that never were durable.
    pub dropped_sectors: u64,
    /// Newest versions that can't be read or rebuilt: their LBAs answer with errors.
    pub unreadable_sectors: u64,
    /// Sectors with addresses that the card doesn't have.
    pub out_of_range_sectors: u64,
    /// Dies that do not answer, beside those of missing modules.
    pub dead_dies: Vec<u32>,
    /// Reads of files or drives.
    pub start_reads: StartReads,
}

/// The contents of a sector in a stripe that is not whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescued {
    /// The index of the sector in the map.
    pub index: u32,
    /// The address that the sector was read at.
    pub ppa: Ppa,
    /// The kind of sector that the payload is.
    pub role: Role,
    /// The version, as in the spare area.
    pub version: u64,
    /// The payload, as it was read or rebuilt.
    pub payload: Box<[u8]>,
}

/// A sector of the write-ahead log whose newest version lies nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The LBA that was written.
    pub lba: u32,
    /// The version, as in the record of the log.
    pub version: u64,
    /// The payload, as it was read.
    pub payload: Box<[u8]>,
}

/// A card as it was found on its media.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The address of the newest version of each LBA, and behind them that of each list of holes; [`u32::MAX`] for
    /// none.
    pub map: Vec<u32>,
    /// All bands of the card, by number.
    pub bands: Vec<FoundBand>,
    /// Newest versions that lie in stripes that are not whole: their index in the map, and their address. They have to
    /// be written elsewhere before the card serves.
    pub rescue: Vec<(u32, Ppa)>,
    /// The contents of the sectors in `rescue`, as far as they can be read.
    pub rescued: Vec<Rescued>,
    /// Sectors whose newest version lies in the log only, by LBA. The map does not have them; they have to be written
    /// before the card serves, and the log is not written before they are durable.
    pub logged: Vec<Logged>,
    /// The next record of the log gets this number.
    pub next_log_sequence: u64,
    /// LBAs that answer with errors, as far as is known without reading them; ascending.
    pub errors: Vec<u32>,
    /// The version of the next write.
    pub next_version: u64,
    /// The next opening of a band gets a number above this one, in an epoch of its own: see [`SEQUENCE_EPOCH_BITS`].
    pub last_band_sequence: u64,
    /// Bands of the checkpoint that was used; empty when none was.
    pub checkpoint_bands: Vec<BandId>,
    /// Segments with holes that only the checkpoint knows: lists of these holes have to be written before the card
    /// serves.
    pub owed_segments: Vec<u32>,
    /// The statistics of the scan.
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

    /// Rows of a band on each die, from the first to the last that is not erased. A die that does not answer gets the
    /// highest number of its group.
    pub fn written_rows(&self, band: BandId) -> &[u32] {
        &self.written[band.0 as usize * self.dies as usize..][..self.dies as usize]
    }
}
