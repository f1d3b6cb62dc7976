//! A result's accounts add up.

use crate::common::{SECOND, Setup, assert_near, closed, device, reads};
use device::HostConfig;
use load::{FileioConfig, FileioMode};
use results::{RunResult, SeriesRow};
use target::Measure;

const SCALE: f64 = 1.0 / 256.0;
const HOST: HostConfig = HostConfig {
    cores: 4,
    session_ns: 5_000,
    submit_ns: 2_000,
    complete_ns: 3_000,
    contention: 0.02,
    ..HostConfig::UNLIMITED
};

/// Reads and writes with flushes, on a slow host so that every part of the machine is in use.
fn mixed() -> Setup {
    let mut setup = Setup::new(device("iodrive-160-slc", SCALE), FileioMode::RndRw, 0.5);
    setup.host = HOST;
    setup.load = FileioConfig { fsync_every: 100, ..setup.load };
    setup
}

/// The same on two hosts whose links are slow.
fn two_hosts() -> Setup {
    let mut setup = mixed();
    setup.host = HostConfig { count: 2, cores: 2, link_bytes_per_s: 200_000_000, ..HOST };
    setup
}

/// A result as text, without the fields of wall-clock time and the seed itself.
fn text(mut result: RunResult) -> String {
    let sim = result.sim.as_mut().unwrap();
    assert!(sim.wall_seconds > 0.0);
    (sim.wall_seconds, sim.precondition_wall_seconds, result.seed) = (0.0, 0.0, 0);
    serde_json::to_string(&result).unwrap()
}

/// Bytes read, bytes written and requests of a series.
fn sums(series: &[SeriesRow]) -> (f64, f64, f64) {
    let mut start_s = 0.0;
    let mut sums = (0.0, 0.0, 0.0);
    for row in series {
        let seconds = row.t_s - start_s;
        assert!(seconds > 0.0);
        sums.0 += row.read_bw_bytes * seconds;
        sums.1 += row.write_bw_bytes * seconds;
        sums.2 += row.iops * seconds;
        start_s = row.t_s;
    }
    sums
}

#[test]
fn generated_is_finished_and_in_flight() {
    let mixes =
        [Measure::Requests(3_000), Measure::Seconds(0.05), Measure::Auto].map(|measure| Setup { measure, ..mixed() });
    for setup in mixes.into_iter().chain([two_hosts()]) {
        let measure = setup.measure;
        let result = setup.run();
        let sim = result.sim.unwrap();
        assert_eq!(sim.requests_generated, sim.requests_finished + sim.requests_in_flight);
        // A closed load: each thread has one request out or is about to ask.
        assert!(sim.requests_in_flight <= 16, "{}", sim.requests_in_flight);
        let measured = result.read.total_ios + result.write.total_ios + result.sync.total_ios;
        assert!(measured > 0 && measured <= sim.requests_finished);
        if let Measure::Requests(wanted) = measure {
            assert!((wanted..wanted + 16).contains(&measured), "{measured} of {wanted}");
        }
    }
}

#[test]
fn one_seed_gives_one_result_and_another_seed_another() {
    let first = text(mixed().run());
    assert_eq!(first, text(mixed().run()));
    assert_ne!(first, text(Setup { seed: 2, ..mixed() }.run()));
}

#[test]
fn the_rows_of_a_series_sum_to_the_totals() {
    let result = Setup { measure: Measure::Seconds(2.5), ..mixed() }.run();
    assert_eq!(result.series.len(), 3);
    let (read, written, ios) = sums(&result.series);
    assert_near(read, result.read.io_bytes as f64, 1e-9);
    assert_near(written, result.write.io_bytes as f64, 1e-9);
    let total = result.read.total_ios + result.write.total_ios + result.sync.total_ios;
    assert_near(ios, total as f64, 1e-9);
    let longest = result.series.iter().map(|r| r.lat_max_ns).max().unwrap();
    let lats = [result.read.lat_ns.max, result.write.lat_ns.max, result.sync.lat_ns.max];
    assert_eq!(longest, lats.into_iter().max().unwrap());
}

#[test]
fn rates_are_totals_over_the_time_measured() {
    let result = mixed().run();
    for class in [&result.read, &result.write, &result.sync] {
        assert!(class.total_ios > 0);
        assert_eq!(class.total_ios, class.lat_ns.n);
        assert_near(class.iops * result.sim.as_ref().unwrap().virtual_seconds, class.total_ios as f64, 1e-9);
    }
    assert_eq!(result.read.io_bytes, result.read.total_ios * 4096);
    assert_eq!(result.write.io_bytes, result.write.total_ios * 4096);
}

#[test]
fn the_parts_of_every_tail_band_add_up_to_its_latency() {
    [mixed(), two_hosts()].into_iter().for_each(parts_add_up);
}

fn parts_add_up(setup: Setup) {
    let result = Setup { explain: true, ..setup }.run();
    let tail = result.tail.as_ref().unwrap();
    for class in ["read", "write", "sync"] {
        assert!(tail.bands.iter().any(|b| b.class == class), "no bands of {class}");
    }
    for band in tail.bands.iter().chain(&tail.slowest) {
        assert_near(band.parts_ns.values().sum(), band.lat_ns, 1e-9);
    }
    // Fewer requests than the sample holds: the bands are all of them.
    let reads: Vec<_> = tail.bands.iter().filter(|b| b.class == "read").collect();
    assert_eq!(reads.iter().map(|b| b.requests).sum::<u64>(), result.read.total_ios);
    let mean = reads.iter().map(|b| b.lat_ns * b.requests as f64).sum::<f64>() / result.read.total_ios as f64;
    assert_near(mean, result.read.lat_ns.mean, 1e-9);
    let slowest = tail.slowest.iter().find(|b| b.class == "write").unwrap();
    assert_eq!(slowest.lat_ns as u64, result.write.lat_ns.max);
}

#[test]
fn explaining_changes_no_figure() {
    let plain = mixed().run();
    let explained = Setup { explain: true, ..mixed() }.run();
    assert!(plain.tail.is_none());
    assert_eq!(text(plain), text(RunResult { tail: None, ..explained }));
}

#[test]
fn the_parts_that_the_host_took_are_the_drivers() {
    // A host with a core for each thread: the driver's share of each read is exactly what it costs.
    let mut setup = Setup::new(device("iodrive-160-slc", SCALE), FileioMode::RndRd, 0.5);
    setup.host = HostConfig { cores: 16, contention: 0.0, ..HOST };
    setup.explain = true;
    for band in setup.run().tail.unwrap().bands {
        assert_near(band.parts_ns["host_cpu"], (HOST.submit_ns + HOST.complete_ns) as f64, 1e-9);
    }
}

#[test]
fn a_request_that_ends_with_the_last_second_is_in_the_series() {
    let seen = closed(reads(1), HostConfig::UNLIMITED, 100_000, SECOND);
    let ios: f64 = seen.series.iter().map(|row| row.iops).sum();
    assert_near(ios, seen.reads.total_ios as f64, 1e-9);
}

#[test]
fn a_second_without_requests_has_a_row_of_its_own() {
    // A request every three seconds; the last two seconds see none.
    let config = FileioConfig { think_ns: 3 * SECOND, ..reads(1) };
    let seen = closed(config, HostConfig::UNLIMITED, 100_000, 8 * SECOND);
    let ios: Vec<f64> = seen.series.iter().map(|row| row.iops).collect();
    assert_eq!(ios, [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(seen.series.last().unwrap().t_s, 8.0);
}
