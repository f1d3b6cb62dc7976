//! The configuration of flash management.

use crate::compression_config::CompressionConfig;
use crate::error::FtlError;
use crate::layout::{Layout, word_line_run};
use crate::map_cache::MapCacheConfig;
use crate::placement_config::PlacementConfig;
use crate::zone_config::ZoneConfig;
use format::{SUMMARY_ENTRY_BYTES, hole_segment_lbas};
use media::nand::Geometry;

/// The policy by which garbage collection chooses the next victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimPolicy {
    /// The band with the fewest valid sectors.
    Greedy,
    /// The band with the largest (1 - u) / (1 + u) * age (Rosenblum and Ousterhout 1992).
    CostBenefit,
    /// The band that was closed first.
    Fifo,
    /// The band with the fewest valid sectors among `d` drawn at random; `d = 1` is a random victim.
    RandomD(u32),
}

/// The mode of garbage collection: when it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GcMode {
    /// Host writes earn relocation work in the proportion that the steady state needs, so that free space is stable.
    Paced {
        /// Free bands, above the reserve, that the control holds.
        target_free_bands: u32,
    },
    /// Host writes stop when free space runs low and wait until enough has been cleaned.
    StopTheWorld {
        /// Collection starts when this many bands, above the reserve, are free or fewer.
        start_free_bands: u32,
        /// Collection continues until this many bands, above the reserve, are free.
        stop_free_bands: u32,
    },
}

impl GcMode {
    /// Free bands, above the reserve, that collection works towards.
    pub fn target_free_bands(&self) -> u32 {
        match *self {
            GcMode::Paced { target_free_bands } => target_free_bands,
            GcMode::StopTheWorld { stop_free_bands, .. } => stop_free_bands,
        }
    }

    /// Fails if the bounds contradict each other.
    pub(crate) fn check(&self) -> Result<(), FtlError> {
        match *self {
            GcMode::Paced { target_free_bands: 0 } => Err(FtlError::GcBounds),
            GcMode::StopTheWorld { start_free_bands, stop_free_bands } if stop_free_bands <= start_free_bands => {
                Err(FtlError::GcBounds)
            }
            _ => Ok(()),
        }
    }
}

/// A share of the flash used with one bit a cell, in front of the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlcCache {
    /// Bands that may be in SLC mode at once.
    pub bands: u32,
    /// An SLC band holds 1 / `bits_per_cell` of a native one.
    pub bits_per_cell: u32,
}

/// The data that the card itself keeps on the media, so that recovery finds the card after power was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Persistence {
    /// Bytes of a sector's payload, for the card's own sectors: 4,096, or fewer in simulations.
    pub payload_bytes: u32,
    /// Rows of a block that share cells. A cut program spoils earlier rows of its group, so all of them are programmed
    /// before one counts as durable. 1 where cuts never meet a program (capacitors) or cells hold one bit.
    pub cell_rows: u32,
    /// A checkpoint is due when so many bands were opened since the one before; 0 lets the card choose. Only cards with
    /// contents take checkpoints.
    pub checkpoint_every_bands: u32,
}

/// Flash management of one card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FtlConfig {
    /// 4 KiB sectors that the host can address.
    pub user_sectors: u64,
    /// Sectors for which the card keeps one place: a write of some of them writes all. Models alone may have more than one.
    pub mapping_sectors: u32,
    /// Program units in a stripe, its parity included: one on each of so many consecutive dies, modules first.
    pub stripe_width: u32,
    /// Parity units in a stripe: 0 or 1.
    pub parity_units: u32,
    /// The policy by which the next victim is chosen.
    pub victim: VictimPolicy,
    /// The mode of garbage collection: when it runs.
    pub gc: GcMode,
    /// Free bands that only garbage collection may open.
    pub reserve_bands: u32,
    /// Relocated sectors get an open band of their own (hot and cold apart).
    pub separate_streams: bool,
    /// The least worn band is moved when the most worn one is this many cycles ahead; 0 means never.
    pub static_wear_spread_cycles: u32,
    /// The SLC cache, if the card has one.
    pub slc_cache: Option<SlcCache>,
    /// The card's own data on the media; `None` for studies of write amplification alone.
    pub persistence: Option<Persistence>,
    /// Handles by which the host places its writes; `None`: all go to one open band. Models alone may have them.
    pub placement: Option<PlacementConfig>,
    /// Memory for a part of the map, on a card that does not hold all of it: a model alone.
    pub map_cache: Option<MapCacheConfig>,
    /// Zones that the host writes in order and resets: of models alone. Nothing is collected then.
    pub zones: Option<ZoneConfig>,
    /// The controller compresses what the host writes: a model alone.
    pub compression: Option<CompressionConfig>,
}

/// Mean of the valid data, in bands, that lie in the victim of paced collection and in relocations in flight, and so in none of the bands among
/// which collection chooses. Measured against the mean field on cards of 32 to 1,000 bands with spare factors of 0.1 to
/// 0.22: 0.51 to 0.57. Without it 32 bands with a spare factor of 0.1 seem to have a sixth less of it than they have.
const MOVING_DATA_BANDS: f64 = 0.54;

/// A band of pages of the map is collected when so small a part of it is valid: taken with as much as other victims have, it
/// would have pages moved that are about to be overwritten.
pub(crate) const STALE_PART: u32 = 64;
/// Bands for pages of the map on the smallest card: an open one, a closed one that waits for its turn, one that is being erased.
const MAP_BANDS: u32 = 3;

impl FtlConfig {
    /// The number of LBAs whose holes one sector describes.
    pub fn hole_segment_lbas(&self) -> u32 {
        self.persistence.map_or(u32::MAX, |p| hole_segment_lbas(p.payload_bytes as usize).max(1))
    }

    /// The number of map entries: the sectors of the host, the lists of holes, and the pages of the map itself.
    pub fn map_entries(&self) -> u64 {
        self.first_map_page_entry() + self.map_cache.map_or(0, |cache| cache.map_pages(self.user_sectors))
    }

    /// The entry that stands for the map's first page.
    pub(crate) fn first_map_page_entry(&self) -> u64 {
        let holes = if self.persistence.is_some() {
            self.user_sectors.div_ceil(u64::from(self.hole_segment_lbas()))
        } else {
            0
        };
        self.user_sectors + holes
    }

    /// The addresses that a sector takes when it is not compressed: one, or its granules.
    pub fn sector_room(&self) -> u32 {
        self.compression.map_or(1, |compression| compression.granules())
    }

    /// The layout of a card of this geometry, in sectors.
    pub fn layout(&self, geometry: &Geometry) -> Layout {
        let entries = self.persistence.map_or(0, |p| p.payload_bytes / SUMMARY_ENTRY_BYTES as u32);
        let cell_rows = self.persistence.map_or(1, |persistence| persistence.cell_rows);
        let slc_bits_per_cell = self.slc_cache.map_or(1, |cache| cache.bits_per_cell);
        let run = word_line_run(self.stripe_width, geometry.units_per_band(), cell_rows, slc_bits_per_cell);
        Layout::new(geometry, self.stripe_width, self.parity_units, run, entries)
    }

    /// Space, in bands, that never holds valid data in steady state, so that garbage collection can't use it: the
    /// reserve, the bands that the control holds free, and one band for the present victim, whose stale space is not
    /// free yet, and for the relocations in flight. Measured on bands of 128 dies: with this overhead, write
    /// amplification with 33, 126 and 2,048 bands agrees within 2 %. Where collection stops the world, the free halves
    /// of the two open bands come on top; the paced control counts those into its target.
    pub fn overhead_bands(&self) -> u32 {
        let free = match self.gc {
            GcMode::Paced { .. } => self.target_free_bands(),
            GcMode::StopTheWorld { start_free_bands, stop_free_bands } => {
                start_free_bands.saturating_add(stop_free_bands).div_ceil(2) + 1
            }
        };
        self.reserve_bands.saturating_add(free).saturating_add(1).saturating_add(self.own_map_bands())
    }

    /// Valid data, in bands, that are on the move. Collection that stops the world moves nothing most of the time.
    pub fn moving_data_bands(&self) -> f64 {
        match self.gc {
            GcMode::Paced { .. } => MOVING_DATA_BANDS,
            GcMode::StopTheWorld { .. } => 0.0,
        }
    }

    /// Whether pages of the map are ever written: memory holds only a part of them.
    pub fn writes_map(&self) -> bool {
        self.map_cache.is_some_and(|cache| u64::from(cache.pages) < cache.map_pages(self.user_sectors))
    }

    /// Sectors that closed bands of the map's pages take until they may be collected: as many as are written, at random, until
    /// next to nothing of them is valid. A page that was written is not in memory, and is not written again before it was
    /// there.
    pub fn map_sectors(&self, band_sectors: u64) -> u64 {
        let Some(cache) = self.map_cache.filter(|_| self.writes_map()) else { return 0 };
        let (pages, held) = (cache.map_pages(self.user_sectors) as f64, f64::from(cache.pages));
        let band = band_sectors as f64;
        // The pages that a closed band holds, in parts of those that it may still hold when it is collected.
        let falls = (pages - held).min(band) * f64::from(STALE_PART) / band;
        if falls > 1.0 { (held + (pages - held) * falls.ln()) as u64 } else { 0 }
    }

    /// Bands that pages of the map have to themselves.
    pub(crate) fn map_bands(&self, band_sectors: u64) -> f64 {
        f64::from(self.own_map_bands()) + self.map_sectors(band_sectors) as f64 / band_sectors as f64
    }

    fn own_map_bands(&self) -> u32 {
        if self.writes_map() { MAP_BANDS } else { 0 }
    }

    /// Sectors of the host, without those on the move, that share the bands among which collection chooses.
    pub fn resting_sectors(&self, band_sectors: u64) -> f64 {
        (self.user_sectors as f64 - self.moving_data_bands() * band_sectors as f64).max(0.0)
    }

    /// Open bands beyond the two of a card without handles.
    fn more_open_bands(&self) -> u32 {
        self.placement.map_or(0, |placement| placement.open_bands() - 2)
    }

    /// Free bands, above the reserve, that collection works towards. Room in open bands counts among them, and all bands that
    /// handles fill may be full at once: so many more are held.
    pub fn target_free_bands(&self) -> u32 {
        self.gc.target_free_bands().saturating_add(self.more_open_bands())
    }

    /// The highest number of bands that may be without valid data at once. Collection must be able to get there.
    pub fn max_bands_kept(&self) -> u32 {
        const OPEN_BANDS: u32 = 2;
        let open = OPEN_BANDS + self.more_open_bands() + self.own_map_bands();
        self.reserve_bands.saturating_add(self.target_free_bands()).saturating_add(open)
    }
}
