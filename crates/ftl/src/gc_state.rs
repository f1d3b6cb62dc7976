//! The state of garbage collection: victims, stale bands, and the pace.

use crate::config::FtlConfig;
use crate::layout::{BandId, Ppa, UnitAddress};
use crate::pacing::Pacing;
use media::nand::CellMode;
use std::collections::VecDeque;

/// One read of a victim: the valid sectors of one program unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The unit to read.
    pub unit: UnitAddress,
    /// The first address of the unit.
    pub first: Ppa,
    /// The valid sectors of the unit, as bits.
    pub mask: u64,
    /// How the victim's cells are used.
    pub mode: CellMode,
    /// The room that these sectors take, in addresses.
    pub room: u32,
}

impl Relocation {
    /// The number of sectors to move; on a card that compresses, that of their granules.
    pub fn sectors(&self) -> u32 {
        self.room
    }
}

/// A band being cleaned. There are at most [`MAX_VICTIMS`]: one that is being scanned, and others with reads in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Victim {
    pub band: BandId,
    pub start: u32,
    pub next: u32,
    pub end: u32,
    pub reads_out: u32,
    /// The barrier of the relocation stream when the last sector was moved.
    pub relocation_barrier: u64,
    pub valid_at_start: u32,
    pub gain: u32,
    /// The band was chosen to level wear, so its data are cold.
    pub cold: bool,
    /// The band is emptied whatever the pace.
    pub urgent: bool,
}

/// The number of bands that may be cleaned at once; more than a driver keeps reads in flight for.
pub(crate) const MAX_VICTIMS: usize = 64;

/// A band without valid sectors, and the barriers that must be durable before it is erased.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StaleBand {
    pub band: BandId,
    pub host_barrier: u64,
    pub relocation_barrier: u64,
    pub checkpoint_barrier: u64,
}

/// The state of garbage collection.
#[derive(Clone, Debug)]
pub(crate) struct Gc {
    pub victims: VecDeque<Victim>,
    pub stale: VecDeque<StaleBand>,
    pub pacing: Pacing,
    /// Stop-the-world collection is running.
    pub collecting: bool,
    /// As many pages of the map are read for what was written as may be.
    pub map_is_behind: bool,
    /// One of both: the host's writes wait.
    pub holds_host: bool,
    /// The number of bands erased since the last check of wear.
    pub erased_since_wear_check: u32,
    /// The band that wear levelling wants moved.
    pub wear_candidate: Option<BandId>,
    /// The band that was drawn at random as the next victim, and waits for room.
    pub drawn: Option<BandId>,
    /// Closed bands of pages of the map, the oldest first.
    pub map_bands: VecDeque<BandId>,
    /// Bands to be emptied whatever the pace, because a block of them failed or their contents fade. At most all bands.
    pub urgent: VecDeque<BandId>,
}

impl Gc {
    pub fn new(config: &FtlConfig) -> Gc {
        Gc {
            victims: VecDeque::new(),
            stale: VecDeque::new(),
            pacing: Pacing::new(config.target_free_bands().max(1), config.sector_room()),
            collecting: false,
            map_is_behind: false,
            holds_host: false,
            erased_since_wear_check: 0,
            wear_candidate: None,
            drawn: None,
            map_bands: VecDeque::new(),
            urgent: VecDeque::new(),
        }
    }

    /// One of the reasons to hold the host's writes has come or gone.
    pub fn note_reasons(&mut self) {
        self.holds_host = self.collecting || self.map_is_behind;
    }

    /// The victim that is being scanned.
    pub fn scanning(&self) -> Option<&Victim> {
        self.victims.back().filter(|v| v.next < v.end)
    }
}
