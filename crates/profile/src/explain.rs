//! A card in words, on lines of at most 80 columns.

use crate::capacity::Capacities;
use crate::disks;
use crate::error::ProfileError;
use crate::figures::Figures;
use crate::flash::{Flash, HostLayout};
use crate::profile::{Full, Profile};
use crate::text::{binary_bytes, count, decimal_bytes, duration, mb_per_s, percent, short, wrap};
use card::{PlacedBy, RelocationPath, ThermalConfig, ZoneWrites};
use device::SECTOR_BYTES;
use disk::{ArrayConfig, RaidLevel, VolumeConfig};
use ftl::{GcMode, Isolation, VictimPolicy};
use results::words::grouped;

/// Lines with a label each.
struct Page(String);

impl Page {
    fn heading(&mut self, text: &str) {
        self.0.push_str(&format!("\n{text}\n"));
    }

    fn row(&mut self, label: &str, text: &str) {
        self.0.push_str(&wrap(&format!("  {label:<15}  "), &" ".repeat(19), text));
    }
}

impl Profile {
    /// The device in words, on lines of at most 80 columns.
    pub fn explain(&self) -> Result<String, ProfileError> {
        Ok(explain(self, &self.full()?))
    }
}

fn explain(profile: &Profile, full: &Full) -> String {
    let mut page = Page(String::new());
    page.0.push_str(&wrap("", "  ", &format!("{}: {}", profile.name(), profile.title())));
    let facts = facts(profile, full.user_bytes());
    if !facts.is_empty() {
        page.0.push_str(&wrap("", "  ", &facts));
    }
    match full {
        Full::Flash(flash) => explain_flash(&mut page, flash, profile.settings.text_if_any("fabric", "through")),
        Full::Disks(array) => explain_disks(&mut page, array),
        Full::Volume(volume) => explain_volume(&mut page, volume),
    }
    if !profile.changed().is_empty() {
        page.heading("Changed");
        for change in profile.changed() {
            page.row("--set", change);
        }
    }
    page.0
}

/// Vendor, year, interface, price, power, rack units: what is known of them.
fn facts(profile: &Profile, user_bytes: u64) -> String {
    let text = |key| profile.settings.text_if_any("card", key).map(str::to_string);
    let price =
        profile.price_usd().map(|usd| format!("${} ({} $/GB)", short(usd), short(usd / (user_bytes as f64 / 1e9))));
    let facts = [
        text("vendor"),
        profile.settings.count_if_any("card", "year").map(|y| y.to_string()),
        text("interface"),
        price,
        profile.power_watts().map(|w| format!("{} W", short(w))),
        profile.rack_units().map(|units| format!("{} U", short(units))),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn explain_flash(page: &mut Page, flash: &Flash, fabric: Option<&str>) {
    let figures = Figures::of(flash);
    if flash.cards > 1 {
        page.heading("Cards");
        let gone = if flash.dead > 0 { format!(", {} of which are gone", flash.dead) } else { String::new() };
        match flash.layout {
            HostLayout::Mirrored => {
                page.row("mirrored", &format!("{} cards, the host writes to each of them{gone}", flash.cards));
            }
            HostLayout::Raid5 => {
                let chunk = binary_bytes(flash.host_stripe_bytes);
                page.row("RAID 5", &format!("{} cards, the host makes parity of chunks of {chunk}{gone}", flash.cards));
            }
            HostLayout::Striped => {
                let stripe = binary_bytes(flash.host_stripe_bytes);
                page.row("striped", &format!("{} cards, the host stripes over them by {stripe}", flash.cards));
            }
        }
        page.row("", "capacity, bandwidth and endurance are those of all, the rest of each");
    }
    capacity(page, flash, &figures);
    geometry(page, flash);
    bandwidth(page, &figures);
    path(page, flash);
    if let Some(fabric) = fabric {
        page.row(
            "attached",
            &format!("{}; commands, latency and link are those that hosts find", fabric.replace('_', " ")),
        );
    }
    management(page, flash);
    let card = &flash.card;
    if let Some(thermal) = &card.model.thermal {
        heat(page, thermal);
    }
    let endurance = &card.nand.endurance;
    page.heading("Endurance");
    page.row("rated", &format!("{} P/E cycles", grouped(u64::from(endurance.rated_cycles))));
    let writes = short(figures.drive_writes_per_day);
    let total = decimal_bytes(figures.endurance_bytes as u64);
    page.row("TBW at WAF 1", &format!("{total}, {writes} drive writes a day for 5 years; WAF divides both"));
    page.row(
        "bad blocks",
        &format!(
            "{} in a million from the factory; {} in a million erases fail at the rated cycles",
            grouped(u64::from(endurance.factory_bad_ppm)),
            grouped(u64::from(endurance.erase_fail_ppm_at_rated)),
        ),
    );
    errors(page, flash);
}

fn errors(page: &mut Page, flash: &Flash) {
    let physics = &flash.physics;
    if physics.errors.is_none() {
        return;
    }
    let rates = &physics.errors;
    let rated = rates.fresh + rates.cycles;
    page.row(
        "bit errors",
        &format!(
            "{:.1e} fresh, {rated:.1e} at the rated cycles, {:.1e} a year later",
            rates.fresh,
            rated + rates.retention_year
        ),
    );
    let retries = count(u64::from(physics.read_retries), "read retry", "read retries");
    page.row("ECC", &format!("{} bits of a sector, {retries}", grouped(u64::from(physics.ecc_bits))));
    if let Some(patrol) = flash.card.care.patrol {
        let days = count(patrol.interval_ns / 86_400_000_000_000, "day", "days");
        let reads = grouped(u64::from(patrol.block_reads));
        page.row("patrol", &format!("all is read once in {days}, a band when a block was read {reads} times"));
    }
}

fn capacity(page: &mut Page, flash: &Flash, figures: &Figures) {
    let Capacities { spare_factor, effective_spare_factor, overhead_bands, .. } = figures.capacities;
    let cards = u64::from(figures.cards);
    let both = |bytes: u64| format!("{} ({})", decimal_bytes(bytes), binary_bytes(bytes));
    page.heading("Capacity");
    page.row("installed", &both(cards * figures.capacities.installed_bytes));
    let ftl = &flash.card.ftl;
    let parity = if ftl.parity_units == 0 {
        "none".to_string()
    } else {
        let share = format!("{} of {} program units of a stripe", ftl.parity_units, ftl.stripe_width);
        format!("{}: {share}", decimal_bytes(cards * figures.capacities.parity_bytes))
    };
    page.row("parity", &parity);
    page.row("data", &both(cards * figures.capacities.data_bytes));
    let reserve = if ftl.user_sectors * cards * SECTOR_BYTES == figures.sold_bytes {
        "none is given up at format".to_string()
    } else {
        format!("{} of the {} sold", percent(figures.reserve()), decimal_bytes(figures.sold_bytes))
    };
    page.row("reserve", &reserve);
    let used = format!("{} of the data capacity", percent(1.0 - spare_factor));
    page.row("user", &format!("{}: {used}", decimal_bytes(figures.user_bytes)));
    page.row("spare factor", &format!("{} of the data capacity is not addressed", percent(spare_factor)));
    let kept = count(u64::from(overhead_bands), "band that stays", "bands that stay");
    page.row("effective", &format!("{} without {kept} free or open", percent(effective_spare_factor)));
}

fn geometry(page: &mut Page, flash: &Flash) {
    let nand = &flash.card.nand;
    let (geometry, timing) = (&nand.geometry, &nand.timing);
    page.heading("Flash");
    page.row(
        "dies",
        &format!(
            "{}, {} each, {} each: {} on {}",
            count(u64::from(geometry.modules), "module", "modules"),
            count(u64::from(geometry.channels_per_module), "channel", "channels"),
            count(u64::from(geometry.dies_per_channel), "die", "dies"),
            count(u64::from(geometry.dies()), "die", "dies"),
            count(u64::from(geometry.channels()), "channel", "channels"),
        ),
    );
    page.row(
        "die",
        &format!(
            "{}, {} a plane, {} a block",
            count(u64::from(geometry.planes_per_die), "plane", "planes"),
            count(u64::from(geometry.blocks_per_plane), "erase block", "erase blocks"),
            count(u64::from(geometry.pages_per_block), "page", "pages"),
        ),
    );
    let planes = match (geometry.multi_plane, flash.card.model.independent_planes) {
        (true, true) => "; all planes of a die at once, and each reads on its own",
        (true, false) => "; all planes of a die at once",
        _ => "",
    };
    let page_bytes = binary_bytes(u64::from(geometry.page_bytes));
    page.row("page", &format!("{page_bytes} and {} B of spare area{planes}", grouped(u64::from(geometry.spare_bytes))));
    let capacities = Capacities::of(&flash.card);
    let band_bytes = capacities.installed_bytes / u64::from(capacities.bands);
    page.row("band", &format!("the same erase block on every die, {}", binary_bytes(band_bytes)));
    let times = |t: &media::nand::OpTiming| {
        let [read, program, erase] = [t.read_ns, t.program_ns, t.erase_ns].map(duration);
        format!("read {read}, program {program}, erase {erase}")
    };
    page.row("times", &times(&timing.native));
    if let Some(cache) = flash.card.ftl.slc_cache {
        page.row("times in SLC", &times(&timing.slc));
        let bytes = u64::from(cache.bands) * band_bytes / u64::from(cache.bits_per_cell);
        page.row(
            "SLC cache",
            &format!(
                "up to {} bands, {}, while free space lasts",
                grouped(u64::from(cache.bands)),
                decimal_bytes(bytes)
            ),
        );
        let rate = match flash.card.fold_bytes_per_s {
            None => "as fast as the flash goes".to_string(),
            Some(rate) => format!("at {}", mb_per_s(rate as f64)),
        };
        page.row("", &format!("folded into native cells {rate} while the host is idle"));
    }
    let suspend = match timing.suspend_ns {
        None => "programs and erases can't be suspended".to_string(),
        Some(ns) => format!("programs and erases in {}, at most {} times", duration(ns), timing.max_suspends),
    };
    page.row("suspend", &suspend);
}

fn bandwidth(page: &mut Page, figures: &Figures) {
    page.heading("Bandwidth");
    let [read, write] = [figures.link_read_bytes_per_s, figures.link_write_bytes_per_s].map(mb_per_s);
    page.row("link", &format!("{read} read, {write} write"));
    page.row("channels", &format!("{} with spare areas", mb_per_s(figures.bus_bytes_per_s)));
    page.row("flash reads", &format!("{} with every die or channel busy", mb_per_s(figures.flash_read_bytes_per_s)));
    let [all, data] = [figures.program_bytes_per_s, figures.data_program_bytes_per_s].map(mb_per_s);
    page.row("programs", &format!("{all}, of which {data} are data: random writes get this divided by WAF"));
}

fn path(page: &mut Page, flash: &Flash) {
    let card = &flash.card;
    let link = &card.link;
    page.heading("Between host and flash");
    let [read, write, latency] = [link.read_command_ns, link.write_command_ns, link.latency_ns].map(duration);
    let mut commands = format!("{read} a read, {write} a write, one after the other; and {latency} of latency");
    if link.write_latency_ns != link.latency_ns {
        commands += &format!(", {} of a write", duration(link.write_latency_ns));
    }
    page.row("commands", &commands);
    if let Some(card::Housekeeping { every_bytes, takes_ns }) = link.housekeeping {
        page.row(
            "housekeeping",
            &format!("{} after each {} written; commands wait", duration(takes_ns), binary_bytes(every_bytes)),
        );
    }
    if link.queue_depth < u32::MAX {
        page.row("queue", &format!("{} requests; more wait in the host", grouped(u64::from(link.queue_depth))));
    }
    if link.half_duplex {
        page.row("link", "reads and writes share its capacity");
    }
    let buffer = binary_bytes(u64::from(card.buffer_sectors) * SECTOR_BYTES);
    let durable = if card.power_loss_protection {
        "a write is durable when it is in the buffer, capacitors put it on flash"
    } else if card.acknowledge_flush_early {
        "a flush is acknowledged early, and up to half of the buffer is lost with the power"
    } else {
        "a write is durable only after a flush or FUA"
    };
    page.row("write buffer", &format!("{buffer}; {durable}"));
    if let (Some(hold_up_ns), Some(capacitors)) = (card.hold_up_ns(), card.capacitors) {
        let durable = card.durable_buffer_sectors();
        let needs = duration(card.drain_ns(durable));
        let [joules, watts] = [capacitors.energy_uj, capacitors.drain_uw].map(|micro| short(micro as f64 / 1e6));
        let of_it = if durable == card.buffer_sectors {
            format!("a full buffer needs {needs} at most")
        } else {
            let counts = binary_bytes(u64::from(durable) * SECTOR_BYTES);
            format!("only {counts} of the buffer are used, which need {needs} at most")
        };
        page.row("capacitors", &format!("{joules} J at {watts} W last {}; {of_it}", duration(hold_up_ns)));
    }
    page.row(
        "order",
        if card.reads_first { "reads go ahead of programs and erases" } else { "first come, first served" },
    );
}

fn management(page: &mut Page, flash: &Flash) {
    let card = &flash.card;
    let ftl = &card.ftl;
    page.heading("Garbage collection");
    let victim = match ftl.victim {
        VictimPolicy::Greedy => "greedy: the band with the fewest valid sectors".to_string(),
        VictimPolicy::CostBenefit => "cost-benefit: few valid sectors and old".to_string(),
        VictimPolicy::Fifo => "fifo: the band that was closed first".to_string(),
        VictimPolicy::RandomD(d) => format!("random-d: the best of {d} drawn at random"),
    };
    page.row("victim", &victim);
    let gc = match ftl.gc {
        GcMode::Paced { target_free_bands } => {
            let bands = count(u64::from(target_free_bands), "free band", "free bands");
            format!("paced: each write earns relocation, {bands} are held")
        }
        GcMode::StopTheWorld { start_free_bands, stop_free_bands } => {
            format!("stop-the-world: writes wait from {start_free_bands} free bands until there are {stop_free_bands}")
        }
    };
    page.row("when", &gc);
    page.row(
        "reserve",
        &format!("{} for garbage collection alone", count(u64::from(ftl.reserve_bands), "band", "bands")),
    );
    let streams = if ftl.separate_streams { "have bands of their own" } else { "go to the bands of host writes" };
    page.row("relocated", &format!("sectors {streams}"));
    if let Some(placement) = ftl.placement {
        let isolation = match placement.isolation {
            Isolation::Initial => "what is moved of them may mix",
            Isolation::Persistent => "what is moved of them stays apart",
        };
        let by = match card.model.placed_by {
            PlacedBy::Nothing => "the host names none but the first",
            PlacedBy::Heat => "one for each part of a skewed load",
            PlacedBy::Thread => "one for the region of each thread",
            PlacedBy::File => "one for a database's data, one for its log",
        };
        page.row("handles", &format!("{}, {by}; {isolation}", placement.handles));
    }
    if let (Some(zones), Some(limits)) = (ftl.zones, card.zone_limits()) {
        let size = binary_bytes(u64::from(limits.capacity) * SECTOR_BYTES);
        let bands = count(u64::from(zones.bands), "band", "bands");
        page.row(
            "zones",
            &format!("{} of {size}, {bands} each: nothing is collected", grouped(u64::from(limits.zones))),
        );
        page.row("", &format!("{} may be open, {} active", zones.max_open, zones.max_active));
        let writes = match card.model.zone_host.writes {
            ZoneWrites::AtPointer => "at the write pointer, one of a zone at a time",
            ZoneWrites::Appended => "by appends",
        };
        page.row("", &format!("the host writes {writes}"));
    }
    if let Some(compression) = ftl.compression {
        let best = percent(f64::from(compression.granules_of(0)) / f64::from(compression.granules()));
        let granule = grouped(u64::from(compression.granule_bytes));
        page.row("compression", &format!("sectors take multiples of {granule} bytes, at best {best} of their size"));
    }
    let path = match card.relocation_path {
        RelocationPath::Internal => "inside the card".to_string(),
        RelocationPath::Host { sector_ns } => format!("through the host, {} a sector", duration(sector_ns)),
    };
    page.row(
        "path",
        &format!("{path}; at most {} under way", count(u64::from(card.relocation_sectors), "sector", "sectors")),
    );
    if let Some(cache) = ftl.map_cache {
        let all = cache.map_pages(ftl.user_sectors);
        let covers = binary_bytes(u64::from(cache.page_sectors) * SECTOR_BYTES);
        let held = binary_bytes(u64::from(cache.pages) * SECTOR_BYTES);
        let share = percent(f64::from(cache.pages) / all as f64);
        page.row(
            "map",
            &format!("memory holds {held} of it, {share}; the rest lies on flash, in pages for {covers} each"),
        );
        if card.model.map_hit_ns > 0 {
            page.row("", &format!("a lookup in memory takes {}", duration(card.model.map_hit_ns)));
        }
    }
    let spread = match ftl.static_wear_spread_cycles {
        0 => "cold bands never move".to_string(),
        cycles => format!("cold bands move at a spread of {} cycles", grouped(u64::from(cycles))),
    };
    page.row("wear", &spread);
}

fn heat(page: &mut Page, thermal: &ThermalConfig) {
    page.heading("Heat");
    let [idle, read, program, erase, byte] = [
        thermal.idle_watts,
        thermal.read_watts,
        thermal.program_watts,
        thermal.erase_watts,
        thermal.nanojoules_per_byte,
    ]
    .map(short);
    page.row(
        "power",
        &format!(
            "{idle} W, and of each die {read} W while it reads, {program} W while it programs, {erase} W while it \
             erases; {byte} nJ a byte"
        ),
    );
    let ThermalConfig { joules_per_kelvin, kelvin_per_watt, ambient_celsius, start_celsius, .. } = *thermal;
    let constant = short(joules_per_kelvin * kelvin_per_watt);
    let [heat, way] = [joules_per_kelvin, kelvin_per_watt].map(short);
    page.row("mass", &format!("{heat} J/K, {way} K/W to its surroundings: a time constant of {constant} s"));
    let [ambient, start] = [ambient_celsius, start_celsius].map(short);
    page.row("temperature", &format!("{start} \u{b0}C at first, in surroundings of {ambient} \u{b0}C"));
    let levels = ["light", "heavy", "critical"].into_iter().zip(&thermal.throttles);
    let levels: Vec<String> = levels
        .filter(|(_, throttle)| throttle.from_celsius.is_finite())
        .map(|(name, throttle)| {
            format!(
                "{name} from {} \u{b0}C on, {} % of the speed",
                short(throttle.from_celsius),
                throttle.speed_percent
            )
        })
        .collect();
    let text = if levels.is_empty() {
        "never".to_owned()
    } else {
        format!("{}; until {} K below", levels.join(", "), short(thermal.hysteresis_kelvin))
    };
    page.row("throttled", &text);
}

fn explain_disks(page: &mut Page, array: &ArrayConfig) {
    let disk = &array.disk;
    page.heading("Capacity");
    page.row("disks", &format!("{} of {}", array.disks, decimal_bytes(disk.capacity_bytes)));
    let level = match array.level {
        RaidLevel::Raid0 => "RAID 0, striped",
        RaidLevel::Raid1 => "RAID 1, mirrored",
        RaidLevel::Raid10 => "RAID 10, striped over mirrored pairs",
        RaidLevel::Raid5 => "RAID 5, rotating parity",
    };
    page.row("level", &format!("{level}, by {}", binary_bytes(array.chunk_bytes)));
    page.row("user", &decimal_bytes(disks::user_bytes(array)));
    page.heading("One disk");
    let turn = duration(60_000_000_000 / u64::from(disk.rpm));
    page.row("spindle", &format!("{} turns a minute, {turn} each", grouped(u64::from(disk.rpm))));
    let [track, average, full, settle] =
        [disk.track_seek_ns, disk.average_seek_ns, disk.full_seek_ns, disk.write_settle_ns].map(duration);
    page.row("seek", &format!("{track} to the next track, {average} average, {full} full; {settle} more for writes"));
    let [outer, inner, interface] =
        [disk.outer_bytes_per_s, disk.inner_bytes_per_s, disk.interface_bytes_per_s].map(|b| mb_per_s(b as f64));
    page.row("transfer", &format!("{outer} at the outer edge, {inner} at the inner, {interface} interface"));
    let queue = if disk.queue_depth == 1 {
        "first come, first served".to_string()
    } else {
        format!("reorders up to {} commands", disk.queue_depth)
    };
    page.row("queue", &format!("{queue}; {} of firmware a command", duration(disk.command_ns)));
    let cache = if disk.write_cache_bytes == 0 { "off".to_string() } else { binary_bytes(disk.write_cache_bytes) };
    page.row("write cache", &cache);
    page.heading("Controller");
    let cache = match array.controller_cache_bytes {
        0 => "none".to_string(),
        bytes => format!("{}, battery-backed: a write in it is durable", binary_bytes(bytes)),
    };
    page.row("write cache", &cache);
    page.row("time", &format!("{} a request", duration(array.controller_ns)));
}

fn explain_volume(page: &mut Page, volume: &VolumeConfig) {
    page.heading("Capacity");
    page.row("user", &decimal_bytes(volume.capacity_bytes));
    page.heading("Limits");
    let larger = binary_bytes(volume.io_bytes);
    page.row(
        "requests",
        &format!("{} a second; one of more than {larger} counts as several", grouped(volume.iops.sustained)),
    );
    page.row("bytes", &mb_per_s(volume.bytes_per_s.sustained as f64));
    if volume.burst_s > 0 {
        let (iops, bytes) = (grouped(volume.iops.burst), mb_per_s(volume.bytes_per_s.burst as f64));
        let start = if volume.full_at_start { "full" } else { "empty" };
        page.row("burst", &format!("{iops} a second, {bytes}, for {} s of saved credits", grouped(volume.burst_s)));
        page.row("", &format!("{start} in the beginning; what is not used is saved"));
    }
    page.heading("Latency");
    let [read, write, spread] = [volume.read_ns, volume.write_ns, volume.spread_ns].map(duration);
    page.row("alone", &format!("{read} a read, {write} a write, and {spread} more by chance, on average"));
}
