//! From a flash card's settings to its configuration at full size, and what must hold between the numbers.

use crate::capacity::{Capacities, sectors_per_band};
use crate::compression;
use crate::error::{Problem, ProfileError};
use crate::fabric;
use crate::map_cache;
use crate::placement;
use crate::reliability;
use crate::settings::Settings;
use crate::thermal;
use crate::zones;
use card::{CardConfig, Care, Housekeeping, LinkConfig, ModelState, RelocationPath, TimeSpread, ZoneHost};
use device::SECTOR_BYTES;
use ftl::{FtlConfig, GcMode, Persistence, SlcCache, VictimPolicy};
use media::nand::{Endurance, Geometry, NandConfig, OpTiming, Timing};

/// Dies of a card: each has a queue and an event of its own.
const MAX_DIES: u64 = 1 << 16;
/// Sectors of a program unit: 256 KiB. Flash management marks them in 64 bits.
const MAX_UNIT_SECTORS: u64 = 64;
/// Capacity of a card: an exbibyte.
const MAX_SECTORS: u64 = 1 << 48;

/// Number of bands of spare space for each one that may be held free beyond the figure of a card's file.
const SPARE_BANDS_FOR_ONE: u64 = 16;

/// A flash card at full size.
#[derive(Clone, Debug)]
pub(crate) struct Flash {
    /// One of the cards.
    pub card: CardConfig,
    /// Number of cards that the host has.
    pub cards: u32,
    /// The way in which it uses them.
    pub layout: HostLayout,
    /// Cards that are gone.
    pub dead: u32,
    /// Bytes a second at which a spare takes a dead card's place in RAID 5; 0: there is none.
    pub rebuild_bytes_per_s: u64,
    /// Bytes on one card before the next one's turn, when there are several.
    pub host_stripe_bytes: u64,
    /// User capacity of all cards as sold, before any reserve.
    pub sold_bytes: u64,
    /// Physics of the flash: how often it errs.
    pub physics: media::Physics,
}

/// The way in which a host uses several cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostLayout {
    Striped,
    Mirrored,
    Raid5,
}

impl Flash {
    /// Cards that are there.
    pub fn alive(&self) -> u32 {
        let spares = u32::from(self.rebuild_bytes_per_s > 0);
        self.cards - self.dead + spares
    }

    /// Cards whose contents the host sees: those of a mirror are all the same, and one of RAID 5 holds parity.
    pub fn distinct(&self) -> u32 {
        match self.layout {
            HostLayout::Striped => self.cards,
            HostLayout::Mirrored => 1,
            HostLayout::Raid5 => self.cards - 1,
        }
    }
}

/// Reads and checks everything.
pub(crate) fn read(settings: &Settings) -> Result<Flash, ProfileError> {
    for table in ["disk", "array", "volume"] {
        if settings.has_table(table) {
            return Err(settings.wrong_table(table, Problem::ForeignTable { table, kind: "flash" }));
        }
    }
    let cards = settings.count_if_any("card", "count").unwrap_or(1);
    let sold_bytes = read_user_bytes(settings, cards)?;
    let (layout, dead) = read_layout(settings, cards)?;
    let rebuild_bytes_per_s = read_rebuild(settings, layout, dead)?;
    let host_stripe_bytes = if layout == HostLayout::Mirrored { 0 } else { read_host_stripe(settings, cards)? };
    let geometry = read_geometry(settings)?;
    let nand = NandConfig { geometry, timing: read_timing(settings)?, endurance: read_endurance(settings)? };
    let ftl = read_ftl(settings, &geometry, sold_bytes / cards)?;
    let buffer_bytes = settings.count("buffer", "bytes")?;
    settings.must_be_multiple(("buffer", "bytes"), "buffer", buffer_bytes, SECTOR_BYTES)?;
    let power_loss_protection = settings.flag("card", "power_loss_protection")?;
    let acknowledge_flush_early = settings.flag_if_any("card", "acknowledge_flush_early").unwrap_or(false);
    if acknowledge_flush_early && power_loss_protection {
        return Err(settings.wrong("card", "acknowledge_flush_early", Problem::NothingToLose));
    }
    let mut card = CardConfig {
        nand,
        ftl,
        bands: geometry.blocks_per_plane,
        link: fabric::over(settings, read_link(settings)?)?,
        buffer_sectors: (buffer_bytes / SECTOR_BYTES) as u32,
        power_loss_protection,
        acknowledge_flush_early,
        reads_first: settings.flag("card", "reads_first")?,
        relocation_sectors: settings.count32("relocation", "sectors_under_way")?,
        relocation_path: read_relocation_path(settings)?,
        fold_bytes_per_s: settings.count_if_any("slc_cache", "fold_bytes_per_s"),
        capacitors: reliability::read_capacitors(settings)?,
        care: Care {
            spare_threshold_percent: reliability::spare_threshold_percent(settings),
            patrol: reliability::read_patrol(settings)?,
            module_timeout_ns: card::MODULE_TIMEOUT_NS,
        },
        model: ModelState {
            missing_module: read_missing_module(settings, &geometry, &ftl)?,
            spread: read_spread(settings),
            independent_planes: read_independent_planes(settings, &geometry)?,
            physics: None,
            thermal: thermal::read(settings)?,
            placed_by: placement::placed_by(settings),
            map_hit_ns: 0,
            zone_host: ZoneHost::default(),
        },
    };
    map_cache::read(settings, &mut card)?;
    compression::read(settings, &mut card)?;
    check_stripes(settings, &card)?;
    hold_what_is_under_way(&mut card);
    zones::read(settings, &mut card, cards)?;
    check_room(settings, &card)?;
    check_limits(settings, &card)?;
    let bytes = card.ftl.user_sectors * SECTOR_BYTES;
    if bytes < host_stripe_bytes {
        let what = "a card behind stripes of the host";
        return Err(settings.wrong(
            "card",
            "host_stripe_bytes",
            Problem::TooSmall { what, bytes, needed_bytes: host_stripe_bytes },
        ));
    }
    let physics = reliability::read_physics(settings, &card)?;
    card.model.physics = media::may_retry(&physics).then_some(physics);
    // Zones are sold as they are: no part of them is spare.
    let sold_bytes = if card.ftl.zones.is_some() { card.user_bytes() } else { sold_bytes };
    Ok(Flash { card, cards: cards as u32, layout, dead, rebuild_bytes_per_s, host_stripe_bytes, sold_bytes, physics })
}

fn read_user_bytes(settings: &Settings, cards: u64) -> Result<u64, ProfileError> {
    let (key, bytes) = match (settings.count_if_any("card", "user_bytes"), settings.count_if_any("card", "user_gb")) {
        (Some(_), Some(_)) => {
            let problem = Problem::SaidTwice { first: "user_bytes", second: "user_gb" };
            return Err(settings.wrong("card", "user_gb", problem));
        }
        (Some(bytes), None) => ("user_bytes", bytes),
        (None, Some(bytes)) => ("user_gb", bytes),
        (None, None) => return Err(settings.missing("card", "user_bytes")),
    };
    // Capacities are sold in round gigabytes; what is left of a sector at the end is nobody's.
    let unit = SECTOR_BYTES * cards;
    if bytes < unit {
        let what = "user capacity";
        return Err(settings.wrong("card", key, Problem::TooSmall { what, bytes, needed_bytes: unit }));
    }
    Ok(bytes - bytes % unit)
}

/// Reads how the host uses several cards, and how many of them are gone.
fn read_layout(settings: &Settings, cards: u64) -> Result<(HostLayout, u32), ProfileError> {
    let (table, dead) = ("card", settings.count_if_any("card", "dead_cards"));
    let (layout, because, least) = match settings.text_if_any(table, "host_layout") {
        Some("mirror") => (HostLayout::Mirrored, "host_layout = \"mirror\"", 2),
        Some("raid5") => (HostLayout::Raid5, "host_layout = \"raid5\"", 3),
        _ => {
            let key = "host_layout = \"mirror\" or \"raid5\"";
            let problem = Problem::MissingBecause { table, key, because: "dead_cards" };
            return match dead {
                Some(_) => Err(settings.wrong(table, "dead_cards", problem)),
                None => Ok((HostLayout::Striped, 0)),
            };
        }
    };
    if cards < least {
        let problem = Problem::TooFew { key: "count", found: cards, least, because };
        return Err(settings.wrong(table, "host_layout", problem));
    }
    let dead = dead.unwrap_or(0);
    let (most, high) = match layout {
        HostLayout::Raid5 => (1, "1, as RAID 5 survives no more"),
        _ => (cards - 1, "count - 1"),
    };
    if dead > most {
        return Err(settings.wrong(table, "dead_cards", Problem::OutOfOrder { low: "dead_cards", high }));
    }
    Ok((layout, dead as u32))
}

fn read_rebuild(settings: &Settings, layout: HostLayout, dead: u32) -> Result<u64, ProfileError> {
    let (table, key) = ("card", "rebuild_bytes_per_s");
    let Some(rate) = settings.count_if_any(table, key) else { return Ok(0) };
    if layout != HostLayout::Raid5 || dead == 0 {
        let needed = "dead_cards = 1 with host_layout = \"raid5\"";
        return Err(settings.wrong(table, key, Problem::MissingBecause { table, key: needed, because: key }));
    }
    Ok(rate)
}

fn read_host_stripe(settings: &Settings, cards: u64) -> Result<u64, ProfileError> {
    if cards == 1 {
        return Ok(0);
    }
    let (table, key) = ("card", "host_stripe_bytes");
    let Some(bytes) = settings.count_if_any(table, key) else {
        return Err(settings.wrong(table, "count", Problem::MissingBecause { table, key, because: "a count above 1" }));
    };
    settings.must_be_multiple((table, key), "host_stripe_bytes", bytes, SECTOR_BYTES)?;
    Ok(bytes)
}

/// Reads how times of the array differ, where a key says so.
fn read_spread(settings: &Settings) -> Option<TimeSpread> {
    let percent = |key| settings.count_if_any("timing", key).unwrap_or(0) as u32;
    let spread = TimeSpread {
        cell_rows: settings.count_if_any("geometry", "rows_sharing_cells").unwrap_or(1) as u32,
        read_percent: percent("read_types_percent"),
        program_percent: percent("program_types_percent"),
        chance_percent: percent("chance_percent"),
    };
    (spread.read_percent + spread.program_percent + spread.chance_percent > 0).then_some(spread)
}

/// Planes read on their own where they work together otherwise: there must be several.
fn read_independent_planes(settings: &Settings, geometry: &Geometry) -> Result<bool, ProfileError> {
    let is_so = settings.flag_if_any("geometry", "independent_planes").unwrap_or(false);
    if is_so && geometry.pages_per_unit() == 1 {
        return Err(settings.wrong("geometry", "independent_planes", Problem::PlanesInTurn));
    }
    Ok(is_so)
}

/// Reads a geometry whose products fit their types.
fn read_geometry(settings: &Settings) -> Result<Geometry, ProfileError> {
    let number = |key| settings.count32("geometry", key);
    let geometry = Geometry {
        modules: number("modules")?,
        channels_per_module: number("channels_per_module")?,
        dies_per_channel: number("dies_per_channel")?,
        planes_per_die: number("planes_per_die")?,
        blocks_per_plane: number("blocks_per_plane")?,
        pages_per_block: number("pages_per_block")?,
        page_bytes: number("page_bytes")?,
        spare_bytes: number("spare_bytes")?,
        multi_plane: settings.flag("geometry", "multi_plane")?,
    };
    let page_bytes = u64::from(geometry.page_bytes);
    settings.must_be_multiple(("geometry", "page_bytes"), "page_bytes", page_bytes, SECTOR_BYTES)?;
    let too_many = |what, limit| settings.wrong_table("geometry", Problem::TooMany { what, limit });
    let product = |factors: &[u32]| factors.iter().try_fold(1_u64, |p, f| p.checked_mul(u64::from(*f)));
    let within = |factors: &[u32], limit| product(factors).is_some_and(|p| p <= limit);
    let g = geometry;
    if !within(&[g.modules, g.channels_per_module, g.dies_per_channel], MAX_DIES) {
        return Err(too_many("dies", MAX_DIES));
    }
    let planes = if g.multi_plane { g.planes_per_die } else { 1 };
    if !within(&[g.page_bytes / SECTOR_BYTES as u32, planes], MAX_UNIT_SECTORS) {
        return Err(too_many("sectors of a program unit", MAX_UNIT_SECTORS));
    }
    let sectors_per_page = g.page_bytes / SECTOR_BYTES as u32;
    let all = [g.dies(), g.planes_per_die, g.blocks_per_plane, g.pages_per_block, sectors_per_page];
    if !within(&all, MAX_SECTORS) {
        return Err(too_many("sectors of the card", MAX_SECTORS));
    }
    Ok(geometry)
}

fn read_timing(settings: &Settings) -> Result<Timing, ProfileError> {
    let table = "timing";
    let number = |key| settings.count(table, key);
    let native =
        OpTiming { read_ns: number("read_ns")?, program_ns: number("program_ns")?, erase_ns: number("erase_ns")? };
    let slc_number = |key| {
        let because = "[slc_cache]";
        let missing = || settings.wrong_table(table, Problem::MissingBecause { table, key, because });
        settings.count_if_any(table, key).ok_or_else(missing)
    };
    let slc = if settings.has_table("slc_cache") {
        OpTiming {
            read_ns: slc_number("slc_read_ns")?,
            program_ns: slc_number("slc_program_ns")?,
            erase_ns: slc_number("slc_erase_ns")?,
        }
    } else {
        native
    };
    let suspend_ns = settings.count_if_any(table, "suspend_ns");
    let max_suspends = match (suspend_ns, settings.count_if_any(table, "max_suspends")) {
        (None, _) => 0,
        (Some(_), Some(max)) => max as u32,
        (Some(_), None) => {
            let problem = Problem::MissingBecause { table, key: "max_suspends", because: "suspend_ns" };
            return Err(settings.wrong(table, "suspend_ns", problem));
        }
    };
    Ok(Timing { native, slc, bus_bytes_per_s: number("bus_bytes_per_s")?, suspend_ns, max_suspends })
}

fn read_endurance(settings: &Settings) -> Result<Endurance, ProfileError> {
    let number = |key| settings.count32("endurance", key);
    Ok(Endurance {
        rated_cycles: number("rated_cycles")?,
        factory_bad_ppm: number("factory_bad_ppm")?,
        erase_fail_ppm_at_rated: number("erase_fail_ppm_at_rated")?,
    })
}

fn read_ftl(settings: &Settings, geometry: &Geometry, sold_bytes: u64) -> Result<FtlConfig, ProfileError> {
    let protected = settings.flag("card", "power_loss_protection")?;
    let table = "ftl";
    let number = |key| settings.count32(table, key);
    // A number that only one choice needs: its absence is that choice's fault.
    let needed = |key, chooser, because| match settings.count_if_any(table, key) {
        Some(number) => Ok(number as u32),
        None => Err(settings.wrong(table, chooser, Problem::MissingBecause { table, key, because })),
    };
    let victim = match settings.text(table, "victim")? {
        "greedy" => VictimPolicy::Greedy,
        "cost-benefit" => VictimPolicy::CostBenefit,
        "fifo" => VictimPolicy::Fifo,
        _ => VictimPolicy::RandomD(needed("d", "victim", "victim = \"random-d\"")?),
    };
    let gc = match settings.text(table, "gc")? {
        "paced" => GcMode::Paced { target_free_bands: needed("target_free_bands", "gc", "gc = \"paced\"")? },
        _ => {
            let because = "gc = \"stop-the-world\"";
            let start_free_bands = needed("start_free_bands", "gc", because)?;
            let stop_free_bands = needed("stop_free_bands", "gc", because)?;
            if stop_free_bands <= start_free_bands {
                let problem = Problem::StopBelowStart { start_free_bands, stop_free_bands };
                return Err(settings.wrong(table, "stop_free_bands", problem));
            }
            GcMode::StopTheWorld { start_free_bands, stop_free_bands }
        }
    };
    let sold_sectors = sold_bytes / SECTOR_BYTES;
    let user_sectors = match settings.real_if_any(table, "reserve") {
        Some(reserve) if reserve > 0.0 => ((sold_sectors as f64 * (1.0 - reserve)) as u64).max(1),
        _ => sold_sectors,
    };
    Ok(FtlConfig {
        user_sectors,
        mapping_sectors: read_mapping_sectors(settings)?,
        stripe_width: number("stripe_width")?,
        parity_units: number("parity_units")?,
        victim,
        gc,
        reserve_bands: number("reserve_bands")?,
        separate_streams: settings.flag(table, "separate_streams")?,
        static_wear_spread_cycles: number("static_wear_spread_cycles")?,
        slc_cache: read_slc_cache(settings, geometry)?,
        persistence: Some(Persistence {
            payload_bytes: SECTOR_BYTES as u32,
            cell_rows: reliability::cell_rows(settings, protected),
            checkpoint_every_bands: 0,
        }),
        placement: placement::read(settings)?,
        map_cache: None,
        zones: None,
        compression: None,
    })
}

/// Sectors of a mapping unit. Its size is a power of two, as addresses are divided by it.
fn read_mapping_sectors(settings: &Settings) -> Result<u32, ProfileError> {
    let (table, key) = ("ftl", "mapping_unit");
    let bytes = settings.count_if_any(table, key).unwrap_or(SECTOR_BYTES);
    settings.must_be_multiple((table, key), "mapping_unit", bytes, SECTOR_BYTES)?;
    if !bytes.is_power_of_two() {
        return Err(settings.wrong(table, key, Problem::NoPowerOfTwo { key, bytes }));
    }
    Ok((bytes / SECTOR_BYTES) as u32)
}

fn read_slc_cache(settings: &Settings, geometry: &Geometry) -> Result<Option<SlcCache>, ProfileError> {
    let table = "slc_cache";
    if !settings.has_table(table) {
        return Ok(None);
    }
    let cache =
        SlcCache { bands: settings.count32(table, "bands")?, bits_per_cell: settings.count32(table, "bits_per_cell")? };
    // An SLC band has fewer program units on each die, but at least one.
    if cache.bits_per_cell > geometry.units_per_band() {
        let problem = Problem::OutOfOrder { low: "bits_per_cell", high: "the program units of an erase block" };
        return Err(settings.wrong(table, "bits_per_cell", problem));
    }
    if cache.bands > geometry.blocks_per_plane {
        let problem = Problem::OutOfOrder { low: "bands in [slc_cache]", high: "blocks_per_plane" };
        return Err(settings.wrong(table, "bands", problem));
    }
    Ok(Some(cache))
}

fn read_link(settings: &Settings) -> Result<LinkConfig, ProfileError> {
    let number = |key| settings.count("link", key);
    let latency_ns = number("latency_ns")?;
    Ok(LinkConfig {
        read_bytes_per_s: number("read_bytes_per_s")?,
        write_bytes_per_s: number("write_bytes_per_s")?,
        half_duplex: settings.flag("link", "half_duplex")?,
        read_command_ns: number("read_command_ns")?,
        write_command_ns: number("write_command_ns")?,
        latency_ns,
        write_latency_ns: settings.count_if_any("link", "write_latency_ns").unwrap_or(latency_ns),
        queue_depth: settings.count_if_any("link", "queue_depth").map_or(u32::MAX, |depth| depth as u32),
        housekeeping: read_housekeeping(settings)?,
    })
}

/// Both keys, or none.
fn read_housekeeping(settings: &Settings) -> Result<Option<Housekeeping>, ProfileError> {
    let has = |key| settings.count_if_any("link", key).is_some();
    if !has("housekeeping_bytes") && !has("housekeeping_ns") {
        return Ok(None);
    }
    let number = |key| settings.count("link", key);
    Ok(Some(Housekeeping { every_bytes: number("housekeeping_bytes")?, takes_ns: number("housekeeping_ns")? }))
}

/// A module that is gone must leave what its stripes are rebuilt from.
fn read_missing_module(settings: &Settings, geometry: &Geometry, ftl: &FtlConfig) -> Result<Option<u32>, ProfileError> {
    let Some(module) = settings.count_if_any("card", "missing_module") else { return Ok(None) };
    let wrong = |problem| Err(settings.wrong("card", "missing_module", problem));
    let modules = geometry.modules;
    if module >= u64::from(modules) {
        return wrong(Problem::NoSuchModule { modules });
    }
    // Neighbouring dies lie on different modules.
    let units = ftl.stripe_width.div_ceil(modules);
    if units > ftl.parity_units {
        return wrong(Problem::ModuleBeyondParity { units, parity_units: ftl.parity_units });
    }
    Ok(Some(module as u32))
}

fn read_relocation_path(settings: &Settings) -> Result<RelocationPath, ProfileError> {
    let table = "relocation";
    if settings.text(table, "path")? == "internal" {
        return Ok(RelocationPath::Internal);
    }
    let Some(sector_ns) = settings.count_if_any(table, "sector_ns") else {
        let problem = Problem::MissingBecause { table, key: "sector_ns", because: "path = \"host\"" };
        return Err(settings.wrong(table, "path", problem));
    };
    Ok(RelocationPath::Host { sector_ns })
}

fn check_stripes(settings: &Settings, card: &CardConfig) -> Result<(), ProfileError> {
    let FtlConfig { stripe_width, parity_units, .. } = card.ftl;
    if parity_units >= stripe_width {
        return Err(settings.wrong("ftl", "parity_units", Problem::AllParity { parity_units, stripe_width }));
    }
    let dies = card.nand.geometry.dies();
    if !dies.is_multiple_of(stripe_width) {
        let divisors = (parity_units + 1..=dies).filter(|w| dies.is_multiple_of(*w));
        let nearest = divisors.min_by_key(|w| w.abs_diff(stripe_width)).unwrap_or(dies);
        return Err(settings.wrong("ftl", "stripe_width", Problem::StripeAcrossDies { stripe_width, dies, nearest }));
    }
    Ok(())
}

/// User data must fit with room to spare.
fn check_room(settings: &Settings, card: &CardConfig) -> Result<(), ProfileError> {
    let Capacities { installed_bytes, data_bytes, user_bytes, data_sectors_per_band, .. } = Capacities::of(card);
    let user_key = if settings.entry("card", "user_gb").is_some() { "user_gb" } else { "user_bytes" };
    let wrong = |problem| Err(settings.wrong("card", user_key, problem));
    if user_bytes > data_bytes {
        return wrong(Problem::UserBeyondData { user_bytes, data_bytes, installed_bytes });
    }
    let overhead_bands = card.ftl.max_bands_kept();
    let usable_bands = u64::from(card.bands.saturating_sub(overhead_bands));
    // A bad block takes a unit of data from each of its stripes: the parity of the rest stays.
    let bad_ppm = u64::from(card.nand.endurance.factory_bad_ppm);
    let bad_units = u128::from(bad_ppm) * u128::from(card.ftl.stripe_width);
    let all_units = 1_000_000 * u128::from(card.ftl.stripe_width - card.ftl.parity_units);
    let usable = (usable_bands * data_sectors_per_band).saturating_sub(card.ftl.map_sectors(data_sectors_per_band));
    let good = u128::from(usable) * all_units.saturating_sub(bad_units) / all_units;
    let usable_bytes = good as u64 * SECTOR_BYTES;
    if user_bytes >= usable_bytes {
        let bands = card.bands;
        return wrong(Problem::NoSpare { user_bytes, usable_bytes, overhead_bands, bands, bad_blocks: bad_ppm > 0 });
    }
    Ok(())
}

/// The free bands in which the buffer and relocation are in flight are not there when they are needed: three times as
/// many are held, or collection overshoots, runs out and stops the host, again and again (with twice as many, cards of
/// 8 and 16 dies still did). Cards with few bands hold only as many as the spare space has room for.
fn hold_what_is_under_way(card: &mut CardConfig) {
    let under_way = u64::from(card.buffer_sectors) + u64::from(card.relocation_sectors);
    let wanted = (3 * under_way).div_ceil(sectors_per_band(card).max(1)) as u32;
    let used = card.ftl.user_sectors.div_ceil(Capacities::of(card).data_sectors_per_band.max(1));
    let room = (u64::from(card.bands).saturating_sub(used) / SPARE_BANDS_FOR_ONE) as u32;
    if let GcMode::Paced { target_free_bands } = &mut card.ftl.gc {
        *target_free_bands = (*target_free_bands).max(wanted.min(room));
    }
}

/// A part that works in whole stripes must have room for one.
fn check_limits(settings: &Settings, card: &CardConfig) -> Result<(), ProfileError> {
    let unit_bytes = u64::from(card.nand.geometry.sectors_per_unit()) * SECTOR_BYTES;
    let needed_bytes = unit_bytes * u64::from(card.ftl.stripe_width - card.ftl.parity_units);
    for (table, key, what, sectors) in [
        ("buffer", "bytes", "a buffer", card.buffer_sectors),
        ("relocation", "sectors_under_way", "relocation under way", card.relocation_sectors),
    ] {
        let bytes = u64::from(sectors) * SECTOR_BYTES;
        if bytes < needed_bytes {
            return Err(settings.wrong(table, key, Problem::TooSmall { what, bytes, needed_bytes }));
        }
    }
    reliability::check_capacitors(settings, card, needed_bytes)?;
    placement::check(settings, card, needed_bytes)?;
    // A band's sectors are numbered with 32 bits at every scale.
    let limit = u64::from(u32::MAX);
    if sectors_per_band(card) * u64::from(card.ftl.sector_room()) >= limit {
        return Err(settings.wrong_table("geometry", Problem::TooMany { what: "sectors of a band", limit }));
    }
    Ok(())
}
