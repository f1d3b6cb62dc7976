//! Small cards for tests without time.

use device::Rng;
use ftl::{
    BandId, CompressionConfig, Ftl, FtlConfig, GcMode, Lba, MapCacheConfig, Persistence, PlacementConfig, SlcCache,
    StripeId, VictimPolicy, ZoneConfig,
};
use media::nand::{Endurance, Geometry, NandConfig, OpTiming, Timing};

pub const PACED: GcMode = GcMode::Paced { target_free_bands: 4 };
pub const STOP_THE_WORLD: GcMode = GcMode::StopTheWorld { start_free_bands: 1, stop_free_bands: 4 };

/// The parameters that are varied. `u` is the share of the space that collection can use, on a card without bad blocks.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    pub bands: u32,
    pub dies: u32,
    pub pages_per_block: u32,
    pub page_bytes: u32,
    pub width: u32,
    pub parity_units: u32,
    pub u: f64,
    pub victim: VictimPolicy,
    pub gc: GcMode,
    pub reserve_bands: u32,
    pub separate_streams: bool,
    pub static_wear_spread_cycles: u32,
    pub slc_cache: Option<SlcCache>,
    pub persistence: Option<Persistence>,
    pub placement: Option<PlacementConfig>,
    pub map_cache: Option<MapCacheConfig>,
    pub zones: Option<ZoneConfig>,
    pub compression: Option<CompressionConfig>,
    pub endurance: Endurance,
    pub seed: u64,
}

/// One die without parity whose blocks never go bad; bands of 64 sectors.
pub const PLAIN: Card = Card {
    bands: 256,
    dies: 1,
    pages_per_block: 64,
    page_bytes: 4096,
    width: 1,
    parity_units: 0,
    u: 0.8,
    victim: VictimPolicy::Greedy,
    gc: PACED,
    reserve_bands: 2,
    separate_streams: true,
    static_wear_spread_cycles: 0,
    slc_cache: None,
    persistence: None,
    placement: None,
    map_cache: None,
    zones: None,
    compression: None,
    endurance: Endurance { rated_cycles: 100_000, factory_bad_ppm: 0, erase_fail_ppm_at_rated: 0 },
    seed: 1,
};

impl Card {
    /// Sectors of data in a band without bad blocks.
    pub fn band_sectors(&self) -> u32 {
        (self.dies - self.dies / self.width * self.parity_units) * self.pages_per_block * (self.page_bytes / 4096)
    }

    pub fn nand(&self) -> NandConfig {
        let times = OpTiming { read_ns: 25_000, program_ns: 250_000, erase_ns: 1_500_000 };
        NandConfig {
            geometry: Geometry {
                modules: self.dies,
                channels_per_module: 1,
                dies_per_channel: 1,
                planes_per_die: 1,
                blocks_per_plane: self.bands,
                pages_per_block: self.pages_per_block,
                page_bytes: self.page_bytes,
                spare_bytes: 128,
                multi_plane: false,
            },
            timing: Timing {
                native: times,
                slc: times,
                bus_bytes_per_s: 40_000_000,
                suspend_ns: None,
                max_suspends: 0,
            },
            endurance: self.endurance,
        }
    }

    pub fn empty(&self) -> Ftl {
        let mut config = FtlConfig {
            user_sectors: 0,
            mapping_sectors: 1,
            stripe_width: self.width,
            parity_units: self.parity_units,
            victim: self.victim,
            gc: self.gc,
            reserve_bands: self.reserve_bands,
            separate_streams: self.separate_streams,
            static_wear_spread_cycles: self.static_wear_spread_cycles,
            slc_cache: self.slc_cache,
            persistence: self.persistence,
            placement: self.placement,
            map_cache: self.map_cache,
            zones: self.zones,
            compression: self.compression,
        };
        config.user_sectors = u64::from((self.bands - config.overhead_bands()) * self.band_sectors());
        config.reserve_bands += u32::from(config.writes_map());
        let usable_sectors = (self.bands - config.overhead_bands()) * self.band_sectors();
        config.user_sectors = (self.u * f64::from(usable_sectors)) as u64;
        let map_sectors = config.map_sectors(self.band_sectors().into());
        config.user_sectors = (self.u * (f64::from(usable_sectors) - map_sectors as f64)) as u64;
        Ftl::new(&self.nand(), self.bands, &config, self.seed).unwrap()
    }

    /// Written once from front to back.
    pub fn filled(&self) -> Ftl {
        let mut ftl = self.empty();
        (0..ftl.user_sectors() as u32).for_each(|lba| ftl.write_now(Lba(lba)).unwrap());
        ftl
    }
}

/// WAF over twice the sectors of `among`, once nothing is left of the order they were written in.
pub fn steady_waf(ftl: &mut Ftl, among: &[u32]) -> f64 {
    let mut rng = Rng::stream(7, "overwrites");
    let mut overwrite = |ftl: &mut Ftl, times: usize| {
        for _ in 0..times * among.len() {
            ftl.write_now(Lba(among[rng.below(among.len() as u64) as usize])).unwrap();
        }
    };
    overwrite(ftl, 4);
    let before = ftl.counters();
    overwrite(ftl, 2);
    ftl.check().unwrap();
    ftl.counters().since(&before).waf()
}

/// Cycles of all blocks together, bad ones included.
pub fn sum_of_cycles(ftl: &Ftl, bands: u32) -> u64 {
    let dies = ftl.layout().dies;
    (0..bands).flat_map(|b| (0..dies).map(move |d| (b, d))).map(|(b, d)| u64::from(ftl.blocks().cycles(b, d))).sum()
}

/// Sectors of data that a band's stripes hold, counted unit by unit.
pub fn data_sectors(ftl: &Ftl, band: BandId) -> u32 {
    let layout = ftl.layout();
    let units = |index| ftl.stripe_units(StripeId { band, index }).data.count_ones();
    (0..layout.rows * layout.groups).map(units).sum::<u32>() * layout.unit_sectors
}

/// Whether nothing can be freed any more, because bad blocks have used up the spare.
pub fn is_read_only(ftl: &Ftl) -> bool {
    let is_stuck = !ftl.can_write() && ftl.gc_is_idle() && !ftl.stale_bands_wait();
    is_stuck && !ftl.clone().prepare_relocation(false)
}

/// Every sector is mapped, to a data unit on a good block that is on flash. Nothing may be under way.
pub fn assert_all_readable(ftl: &Ftl) {
    ftl.check().unwrap();
    let layout = ftl.layout();
    for lba in 0..ftl.user_sectors() as u32 {
        let ppa = ftl.lookup(Lba(lba)).unwrap_or_else(|| panic!("LBA {lba} is lost"));
        let unit = layout.locate(ppa);
        assert!(!ftl.blocks().is_bad(unit.band.0, unit.die), "LBA {lba} lies on a bad block");
        assert!(ftl.is_programmed(unit), "LBA {lba} lies on {unit:?}, which is not programmed");
        let index = (ppa.0 - layout.band_start(unit.band)) / layout.stripe_sectors;
        let units = ftl.stripe_units(StripeId { band: unit.band, index });
        assert_eq!(units.data >> (unit.die % layout.width) & 1, 1, "LBA {lba} lies on {unit:?}, which takes no data");
    }
}
