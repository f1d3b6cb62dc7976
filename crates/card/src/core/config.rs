//! The configuration of a card: its flash, flash management, link, buffer and scheduler.

use super::array_times::TimeSpread;
use super::capacitors::Capacitors;
use super::patrol_config::PatrolConfig;
use super::thermal::ThermalConfig;
use super::zone_host::ZoneHost;
use device::SECTOR_BYTES;
use ftl::{FtlConfig, ZoneLimits};
use media::Physics;
use media::nand::NandConfig;

/// The host link and the card's command processing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkConfig {
    /// Card to host, bytes a second.
    pub read_bytes_per_s: u64,
    /// Host to card, bytes a second.
    pub write_bytes_per_s: u64,
    /// Both directions share one capacity (a controller's single data path).
    pub half_duplex: bool,
    /// Time of the card's command processor for one read command; commands pass it one after the other.
    pub read_command_ns: u64,
    /// The same for a write command.
    pub write_command_ns: u64,
    /// Fixed latency of a request that holds nobody else up (doorbell, firmware, interrupt).
    pub latency_ns: u64,
    /// The same for a write, whose data go to memory that a power cut spares before it is answered.
    pub write_latency_ns: u64,
    /// Requests that the card has at once; more wait in the host, first come first served.
    pub queue_depth: u32,
    /// Housekeeping that takes the command processor, if there is any.
    pub housekeeping: Option<Housekeeping>,
}

/// Work of a card's firmware or driver between commands: parts of the map that are written, counters, wear levelling. Commands
/// wait for its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Housekeeping {
    /// Bytes that the host writes between two.
    pub every_bytes: u64,
    /// The time of the command processor for one.
    pub takes_ns: u64,
}

/// The path that relocated sectors take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationPath {
    /// Inside the card: flash to controller to flash.
    Internal,
    /// Through the host's driver: a relocated sector crosses the link upward and comes back down like a write of the
    /// host, and holds up the host's writes meanwhile.
    Host {
        /// Time that it occupies the way down: transfer, commands, the driver's copy.
        sector_ns: u64,
    },
}

/// The configuration that a card is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CardConfig {
    /// The geometry, times and endurance of the flash.
    pub nand: NandConfig,
    /// The settings of flash management.
    pub ftl: FtlConfig,
    /// Bands of the card: blocks per plane, after `--scale`.
    pub bands: u32,
    /// The link to the host.
    pub link: LinkConfig,
    /// Write buffer for host data, in 4 KiB sectors.
    pub buffer_sectors: u32,
    /// Capacitors put the buffer on flash when power goes: a write is durable when the buffer has it.
    pub power_loss_protection: bool,
    /// A card that lies: a flush, and a write with FUA, is answered before anything of it is on flash, and on media with a
    /// volatile cache what was programmed stays in it for as long as half of the buffer allows. To show what becomes of a
    /// database on one.
    pub acknowledge_flush_early: bool,
    /// The capacitors' energy; `None`: more than is ever needed.
    pub capacitors: Option<Capacitors>,
    /// Reads of the host go ahead of queued programs, relocations and erases on a die.
    pub reads_first: bool,
    /// Sectors that garbage collection may have under way at once.
    pub relocation_sectors: u32,
    /// The way of relocated sectors.
    pub relocation_path: RelocationPath,
    /// The rate at which the SLC cache is folded while the card is idle, in bytes a second; `None`: as fast as the dies
    /// are.
    pub fold_bytes_per_s: Option<u64>,
    /// The care that a card with contents takes of them.
    pub care: Care,
    /// The state of a card without contents: a card with contents finds its own.
    pub model: ModelState,
}

/// The care that a card with contents takes of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Care {
    /// Share of a new card's spare space, in percent, below which health warns.
    pub spare_threshold_percent: u8,
    /// Looks for what fades before it is lost.
    pub patrol: Option<PatrolConfig>,
    /// A module that has not answered for so long counts as gone.
    pub module_timeout_ns: u64,
}

/// The state of a card without contents, which costs its reads time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelState {
    /// The module that is gone: what lies on it is rebuilt from the rest of its stripes, and nothing is programmed there.
    pub missing_module: Option<u32>,
    /// Times of the array that differ by page type and by chance; `None`: all are those of the data sheet.
    pub spread: Option<TimeSpread>,
    /// Reads of pages on different planes of a die go on at the same time.
    pub independent_planes: bool,
    /// The quality of the flash; `None`: no read of it is ever done twice.
    pub physics: Option<Physics>,
    /// The rule by which the host names handles, where the card has some.
    pub placed_by: PlacedBy,
    /// The heat of the card; `None`: it is never too hot. A card with contents has the heat of the machine that serves it.
    pub thermal: Option<ThermalConfig>,
    /// Time until a read knows where its sectors lie, where memory for the map has that: of the host, or of the card.
    pub map_hit_ns: u64,
    /// How the host uses zones, where the card has some.
    pub zone_host: ZoneHost,
}

/// The rule by which a host places its writes: those of each region of its sectors get a handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlacedBy {
    /// All have the same handle.
    #[default]
    Nothing,
    /// The parts of a skewed load, the hottest first.
    Heat,
    /// The regions of a sequential load's threads.
    Thread,
    /// The data and the log of a database.
    File,
}

/// Cards wait for so long for a module that does not answer: longer than any operation of flash with its suspensions,
/// shorter than hosts wait for a request (assumed; drives answer within seconds).
pub const MODULE_TIMEOUT_NS: u64 = 1_000_000_000;

impl CardConfig {
    /// Bytes that the host can address.
    pub fn user_bytes(&self) -> u64 {
        match self.zone_limits() {
            Some(limits) => self.model.zone_host.bytes(limits),
            None => self.ftl.user_sectors * SECTOR_BYTES,
        }
    }

    /// The zones of the card, if it has some.
    pub fn zone_limits(&self) -> Option<ZoneLimits> {
        let layout = self.ftl.layout(&self.nand.geometry);
        let band_sectors = layout.band_data_sectors(|_| layout.all_units());
        self.ftl.zones.map(|zones| zones.limits(self.ftl.user_sectors, band_sectors))
    }

    /// With the reserve that a card with contents needs: beside what relocation fills and one band in hand, there are
    /// those that are kept free. And with checkpoints: of an eighth of the card recovery then reads the summaries, which
    /// are about as long as a checkpoint.
    pub fn with_contents(&self) -> CardConfig {
        let mut config = self.with_whole_map();
        if let Some(persistence) = &mut config.ftl.persistence
            && persistence.checkpoint_every_bands == 0
        {
            persistence.checkpoint_every_bands = (self.bands / 8).max(4);
        }
        // Hosts of a card with contents have no way to name a handle, and its contents lie as they were written.
        config.ftl.placement = None;
        config.ftl.zones = None;
        config.ftl.compression = None;
        config.ftl.reserve_bands = self.ftl.reserve_bands.max(2 + self.bands_kept_free());
        config
    }

    /// With all of the map in memory, as cards with contents have it, and without what is kept free for pages of the map.
    pub fn with_whole_map(&self) -> CardConfig {
        let mut config = *self;
        config.ftl.reserve_bands -= u32::from(config.ftl.writes_map());
        config.ftl.map_cache = None;
        config.model.map_hit_ns = 0;
        config
    }

    /// Time for a sector on its way through the host, if relocation takes that way.
    pub(crate) fn host_path_sector_ns(&self) -> Option<u64> {
        match self.relocation_path {
            RelocationPath::Internal => None,
            RelocationPath::Host { sector_ns } => Some(sector_ns),
        }
    }

    /// Bands that collection leaves free.
    pub(crate) fn bands_kept_free(&self) -> u32 {
        let layout = self.ftl.layout(&self.nand.geometry);
        let cell_rows = self.ftl.persistence.map_or(1, |persistence| persistence.cell_rows);
        layout.bands_kept_free(self.buffer_sectors + self.relocation_sectors, cell_rows)
    }
}
