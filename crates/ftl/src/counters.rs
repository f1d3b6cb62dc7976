//! Counters of the work that flash management has done.

use crate::map_cache::MapCounters;
use crate::sizes::CompressionCounters;

/// The work since the start, in 4 KiB sectors and erase blocks. On a card that compresses, all but the sectors of the host
/// are granules: [`Counters::pages`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sectors that the host wrote.
    pub host_sectors: u64,
    /// Sectors that garbage collection and wear levelling moved, and those of mapping units that the host did not write when
    /// it wrote others of them.
    pub relocated_sectors: u64,
    /// Sectors of parity in sealed stripes.
    pub parity_sectors: u64,
    /// Sectors of padding in stripes that were sealed early.
    pub padding_sectors: u64,
    /// Sectors of band summaries, checkpoints and lists of holes.
    pub metadata_sectors: u64,
    /// Erase blocks erased (a die's share of a band counts once).
    pub erases: u64,
    /// Erase blocks retired, counted at the erase of their band.
    pub retired_blocks: u64,
    /// The use of the map, where memory holds a part of it.
    pub map: MapCounters,
    /// The work of compression, on a card that compresses.
    pub compression: Option<CompressionCounters>,
}

impl Counters {
    /// The work between `earlier` and `self`.
    pub fn since(&self, earlier: &Counters) -> Counters {
        Counters {
            host_sectors: self.host_sectors - earlier.host_sectors,
            relocated_sectors: self.relocated_sectors - earlier.relocated_sectors,
            parity_sectors: self.parity_sectors - earlier.parity_sectors,
            padding_sectors: self.padding_sectors - earlier.padding_sectors,
            metadata_sectors: self.metadata_sectors - earlier.metadata_sectors,
            erases: self.erases - earlier.erases,
            retired_blocks: self.retired_blocks - earlier.retired_blocks,
            map: self.map.since(&earlier.map),
            compression: self
                .compression
                .map(|compression| compression.since(&earlier.compression.unwrap_or_default())),
        }
    }

    /// This much space, in sectors.
    pub fn pages(&self, room: u64) -> f64 {
        match &self.compression {
            None => room as f64,
            Some(compression) => room as f64 / f64::from(compression.sector_granules),
        }
    }

    /// Write amplification: sectors programmed for data (the host's, relocated ones and pages of the map) over sectors
    /// written by the host; 0 when the host wrote nothing. Parity and padding are counted apart. Below 1 where compression saves
    /// more than relocation costs.
    pub fn waf(&self) -> f64 {
        if self.host_sectors == 0 {
            return 0.0;
        }
        let of_host = self.compression.map_or(self.host_sectors, |compression| compression.host_granules);
        self.pages(of_host + self.relocated_sectors + self.map.programmed()) / self.host_sectors as f64
    }
}
