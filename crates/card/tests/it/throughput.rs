//! Saturated, a card is as fast as its narrowest part.

use crate::common::{Rig, assert_close, band_data_sectors, read, small, throughput, use_share, write};
use card::{CardConfig, RelocationPath};
use device::{Request, Rng, SECTOR_BYTES};

/// Bytes a second of one die that does nothing but program: a page on its bus, then into the array.
fn die_program_rate(config: &CardConfig) -> f64 {
    let (geometry, timing) = (&config.nand.geometry, &config.nand.timing);
    let unit_bytes = geometry.sectors_per_unit() * SECTOR_BYTES as u32;
    let bus_ns = timing.bus_ns(u64::from((geometry.page_bytes + geometry.spare_bytes) * geometry.pages_per_unit()));
    f64::from(unit_bytes) * 1e9 / (bus_ns + timing.native.program_ns) as f64
}

/// Share of what is programmed that is the host's.
fn data_share(config: &CardConfig) -> f64 {
    f64::from(config.ftl.stripe_width - config.ftl.parity_units) / f64::from(config.ftl.stripe_width)
}

/// Bytes a second that a fresh card takes from front to back.
fn sequential_write(config: &CardConfig) -> f64 {
    let mut rig = Rig::with(config, 16, false);
    let mut next = 0;
    let count = rig.ftl().user_sectors() / 8;
    let finished = rig.closed_loop(16, count, || {
        next += 8;
        write(next - 8, 8)
    });
    assert_eq!(rig.ftl().counters().relocated_sectors, 0);
    throughput(&finished)
}

/// Bytes a second of random 4 KiB reads of a full card.
fn random_read(config: &CardConfig, depth: u32) -> f64 {
    let mut rig = Rig::with(config, depth, false).filled();
    let mut rng = Rng::stream(11, "random reads");
    let sectors = rig.ftl().user_sectors();
    throughput(&rig.closed_loop(depth, 60_000, || read(rng.below(sectors), 1)))
}

#[test]
fn sequential_writes_run_at_the_program_rate_less_parity() {
    for (modules, width, parity_units) in [(4, 4, 1), (4, 4, 0), (8, 8, 1), (4, 2, 1)] {
        let mut config = small();
        config.nand.geometry.modules = modules;
        config.ftl.stripe_width = width;
        config.ftl.parity_units = parity_units;
        config.link.write_bytes_per_s *= 10;
        use_share(&mut config, 0.9);
        let expected = die_program_rate(&config) * f64::from(modules) * data_share(&config);
        let what = format!("{modules} dies, stripes of {width} with {parity_units}");
        assert_close(&what, sequential_write(&config), expected, 0.02);
    }
}

#[test]
fn larger_pages_and_planes_multiply_the_program_rate() {
    let mut config = small();
    config.nand.geometry.page_bytes = 8192;
    config.nand.geometry.planes_per_die = 2;
    config.nand.geometry.multi_plane = true;
    config.nand.timing.bus_bytes_per_s = 400_000_000;
    config.buffer_sectors = 192;
    use_share(&mut config, 0.9);
    let expected = die_program_rate(&config) * 4.0 * 0.75;
    assert_close("two planes of 8 KiB", sequential_write(&config), expected, 0.02);
    let mut single = config;
    single.nand.geometry.multi_plane = false;
    use_share(&mut single, 0.9);
    let ratio = sequential_write(&config) / sequential_write(&single);
    let rates = die_program_rate(&config) / die_program_rate(&single);
    assert_close("two planes at once against in turn", ratio, rates, 0.02);
}

#[test]
fn sequential_writes_run_at_the_link_where_that_is_slower() {
    let mut config = small();
    config.link.write_bytes_per_s = 15_000_000;
    assert_close("link", sequential_write(&config), 15e6, 0.02);
}

#[test]
fn many_dies_on_one_bus_program_at_the_rate_of_the_bus() {
    let mut config = small();
    config.nand.geometry.modules = 1;
    config.nand.geometry.dies_per_channel = 8;
    config.ftl.stripe_width = 8;
    use_share(&mut config, 0.9);
    let expected = config.nand.timing.bus_bytes_per_s as f64 * data_share(&config);
    assert_close("bus", sequential_write(&config), expected, 0.02);
}

#[test]
fn small_writes_run_at_the_rate_of_the_command_processor() {
    let mut config = small();
    config.link.write_command_ns = 400_000;
    let mut rig = Rig::with(&config, 8, false);
    let mut next = 0;
    let finished = rig.closed_loop(8, 1_000, || {
        next += 1;
        write(next, 1)
    });
    assert_close("commands", throughput(&finished) / SECTOR_BYTES as f64, 1e9 / 400_000.0, 0.001);
}

#[test]
fn overwriting_front_to_back_costs_the_erases_on_top() {
    let mut config = small();
    use_share(&mut config, 0.8);
    let mut rig = Rig::with(&config, 16, false).filled();
    let before = rig.ftl().counters();
    let sectors = rig.ftl().user_sectors() / 8 * 8;
    let mut next = 0;
    let finished = rig.closed_loop(16, sectors / 8 * 6, || {
        next += 8;
        write((next - 8) % sectors, 8)
    });
    let done = rig.ftl().counters().since(&before);
    assert!(done.relocated_sectors * 50 < done.host_sectors, "{done:?}");
    // A band is programmed and erased once.
    let rows = config.nand.geometry.units_per_band() as f64;
    let band_ns = rows * (100_000.0 + 400_000.0) + 2_000_000.0;
    let expected = f64::from(band_data_sectors(&config)) * SECTOR_BYTES as f64 * 1e9 / band_ns;
    assert_close("overwriting", throughput(&finished), expected, 0.02);
}

#[test]
fn random_overwrites_run_at_the_die_time_that_write_amplification_leaves() {
    let config = small();
    let mut rig = Rig::with(&config, 32, false).filled().overwritten(4);
    let mut rng = Rng::stream(12, "random writes");
    let sectors = rig.ftl().user_sectors();
    let before = rig.ftl().counters();
    let finished = rig.closed_loop(32, 30_000, || write(rng.below(sectors), 1));
    let done = rig.ftl().counters().since(&before);
    let reads_ns = done.relocated_sectors * (50_000 + 100_000);
    let programs_ns = (done.host_sectors + done.relocated_sectors + done.parity_sectors) * (100_000 + 400_000);
    let die_ns = (reads_ns + programs_ns + done.erases * 2_000_000) as f64 / f64::from(config.nand.geometry.dies());
    let expected = (done.host_sectors * SECTOR_BYTES) as f64 * 1e9 / die_ns;
    assert_close("random writes", throughput(&finished), expected, 0.03);
}

#[test]
fn random_reads_saturate_the_link() {
    let mut config = small();
    config.nand.geometry.modules = 8;
    config.ftl.stripe_width = 8;
    config.link.read_bytes_per_s = 100_000_000;
    use_share(&mut config, 0.8);
    assert_close("link", random_read(&config, 256), 100e6, 0.05);
}

#[test]
fn random_reads_saturate_the_buses() {
    let mut config = small();
    config.nand.geometry.modules = 2;
    config.nand.geometry.dies_per_channel = 4;
    config.ftl.stripe_width = 2;
    config.nand.geometry.spare_bytes = 1024;
    config.link.read_bytes_per_s = 4_000_000_000;
    use_share(&mut config, 0.8);
    // Spare bytes cross the bus and are of no use to the host.
    let expected = 2.0 * config.nand.timing.bus_bytes_per_s as f64 * 4096.0 / (4096.0 + 1024.0);
    assert_close("buses", random_read(&config, 256), expected, 0.05);
}

#[test]
fn random_reads_saturate_the_dies() {
    let mut config = small();
    config.nand.timing.native.read_ns = 900_000;
    let expected = 4.0 * 4096.0 * 1e9 / (900_000.0 + 100_000.0);
    assert_close("dies", random_read(&config, 256), expected, 0.05);
}

#[test]
fn half_duplex_shares_the_link_between_both_directions() {
    let run = |half_duplex: bool| {
        let mut config = small();
        config.link.half_duplex = half_duplex;
        config.link.read_bytes_per_s = 10_000_000;
        config.link.write_bytes_per_s = 10_000_000;
        let mut rig = Rig::with(&config, 64, false).filled();
        let mut asked = 0;
        let finished = rig.closed_loop(64, 8_000, || {
            asked += 1;
            let sector = asked * 8 % 1_000;
            if asked % 2 == 0 { read(sector, 1) } else { write(sector, 1) }
        });
        throughput(&finished)
    };
    assert_close("half duplex", run(true), 10e6, 0.02);
    assert!(run(false) > 1.5 * run(true));
}

#[test]
fn relocation_by_way_of_the_host_takes_its_share_of_the_write_path() {
    let mut config = small();
    config.nand.timing.native.program_ns = 1_000;
    config.nand.timing.native.erase_ns = 1_000;
    config.nand.timing.bus_bytes_per_s = 4_000_000_000;
    config.relocation_path = RelocationPath::Host { sector_ns: 30_000 };
    let mut rig = Rig::with(&config, 32, false).filled().overwritten(4);
    let mut rng = Rng::stream(12, "random writes");
    let sectors = rig.ftl().user_sectors();
    let before = rig.ftl().counters();
    let finished = rig.closed_loop(32, 30_000, || write(rng.below(sectors), 1));
    let done = rig.ftl().counters().since(&before);
    // The flash is as good as free: the path is what is shared, 10 µs for a sector of the host.
    let path_ns = (done.host_sectors * 10_000 + done.relocated_sectors * 30_000) as f64;
    let expected = (done.host_sectors * SECTOR_BYTES) as f64 * 1e9 / path_ns;
    assert_close("through the host", throughput(&finished), expected, 0.03);
}

#[test]
fn trims_and_flushes_cost_a_command() {
    let mut rig = Rig::with(&small(), 8, false).filled();
    let mut asked = 0;
    let finished = rig.closed_loop(8, 2_000, || {
        asked += 1;
        if asked % 2 == 0 { Request::flush() } else { Request::trim(asked % 1_000 * 4096, 4096) }
    });
    let (first, last) = (finished[200].at, finished[1_800].at);
    assert_close("commands", 1_600.0 * 1e9 / (last - first) as f64, 1e9 / 2_000.0, 0.01);
}

/// Reads of one page keep one plane for the time of the array; programs and reads of all pages keep the die.
#[test]
fn planes_that_read_on_their_own_multiply_random_reads() {
    let mut config = small();
    config.nand.geometry.planes_per_die = 4;
    config.nand.geometry.multi_plane = true;
    config.nand.timing.bus_bytes_per_s = 40_960_000_000;
    (config.link.read_bytes_per_s, config.link.read_command_ns) = (1 << 40, 0);
    config.buffer_sectors = 192;
    use_share(&mut config, 0.5);
    let together = random_read(&config, 256);
    config.model.independent_planes = true;
    let alone = random_read(&config, 256);
    // Four dies, a page of 4 KiB in 50.1 µs; half of the card holds what is read, and its planes are as likely.
    assert_close("planes together", together, 4.0 * f64::from(SECTOR_BYTES as u32) / 50.1e-6, 0.03);
    assert_close("planes on their own", alone / together, 4.0, 0.03);
    // Reads of all planes are as fast as before.
    let all = |config: &CardConfig| {
        let mut rig = Rig::with(config, 64, false).filled();
        let mut rng = Rng::stream(12, "whole units");
        let units = rig.ftl().user_sectors() / 4;
        throughput(&rig.closed_loop(64, 20_000, || read(rng.below(units) * 4, 4)))
    };
    let together = CardConfig { model: card::ModelState::default(), ..config };
    assert_close("reads of all planes", all(&config) / all(&together), 1.0, 0.02);
}
