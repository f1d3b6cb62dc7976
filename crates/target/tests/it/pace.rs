//! Rate limits and think times hold, as long as the machine can follow.

use crate::common::{FixedDelay, MICROSECOND, SECOND, Setup, assert_near, closed, device, reads};
use device::{Completion, Device, HostConfig, Request, RequestId, Time};
use load::{Fileio, FileioConfig, FileioMode};
use target::{Machine, Stop};

const DELAY_NS: u64 = 100 * MICROSECOND;
const HOST: HostConfig = HostConfig {
    cores: 8,
    session_ns: 4_000,
    submit_ns: 3_000,
    complete_ns: 3_000,
    contention: 0.0,
    ..HostConfig::UNLIMITED
};
const CYCLE_NS: u64 = DELAY_NS + 10_000;

#[test]
fn a_limited_rate_is_held() {
    for rate in [777.0, 5_000.0, 30_000.0] {
        let config = FileioConfig { rate_iops: Some(rate), ..reads(8) };
        let seen = closed(config, HOST, DELAY_NS, 2 * SECOND);
        assert_near(seen.reads.iops, rate, 0.01);
    }
}

#[test]
fn a_rate_beyond_the_machine_is_what_the_machine_can_do() {
    let config = FileioConfig { rate_iops: Some(1e6), ..reads(8) };
    let seen = closed(config, HOST, DELAY_NS, SECOND);
    assert_near(seen.reads.iops, 8e9 / CYCLE_NS as f64, 0.01);
}

#[test]
fn think_time_lengthens_the_cycle_and_not_the_latency() {
    for think_ns in [10 * MICROSECOND, 1_000 * MICROSECOND, 20_000 * MICROSECOND] {
        let config = FileioConfig { think_ns, ..reads(8) };
        let seen = closed(config, HOST, DELAY_NS, 5 * SECOND);
        assert_near(seen.reads.iops, 8e9 / (CYCLE_NS + think_ns) as f64, 0.01);
        assert_near(seen.reads.lat_ns.mean, (DELAY_NS + HOST.submit_ns + HOST.complete_ns) as f64, 0.01);
    }
}

#[test]
fn thinkers_beyond_the_cores_are_bound_by_them() {
    let config = FileioConfig { think_ns: 200 * MICROSECOND, ..reads(200) };
    let host = HostConfig { cores: 2, ..HOST };
    let seen = closed(config, host, DELAY_NS, SECOND);
    assert_near(seen.reads.iops, 2e9 / 10_000.0, 0.01);
}

#[test]
fn at_a_rate_far_below_the_devices_latency_is_the_devices_own() {
    for rate in [50.0, 1_000.0, 5_000.0] {
        let config = FileioConfig { rate_iops: Some(rate), ..reads(8) };
        let seen = closed(config, HostConfig::UNLIMITED, DELAY_NS, 2 * SECOND);
        assert_eq!((seen.reads.lat_ns.min, seen.reads.lat_ns.max), (DELAY_NS, DELAY_NS));
        // A request that is due has the host's whole work in its latency, and still nothing else.
        let seen = closed(config, HOST, DELAY_NS, 2 * SECOND);
        assert_eq!((seen.reads.lat_ns.min, seen.reads.lat_ns.max), (CYCLE_NS, CYCLE_NS));
    }
}

#[test]
fn at_a_rate_beyond_the_device_latency_grows_until_requests_are_given_up() {
    // Four requests are done while five become due: a second later the load is a fifth of a second behind.
    let config = FileioConfig { rate_iops: Some(100_000.0), ..reads(8) };
    let seen = closed(config, HostConfig::UNLIMITED, DELAY_NS, 8 * SECOND);
    let slowest_s: Vec<f64> = seen.series.iter().map(|row| row.lat_max_ns as f64 / 1e9).collect();
    for (i, &seconds) in slowest_s.iter().enumerate() {
        assert_near(seconds, ((i as f64 + 1.2) * 0.2).min(1.0), 0.01);
    }
    // Without a rate the same device under the same threads shows only itself.
    let seen = closed(reads(8), HostConfig::UNLIMITED, DELAY_NS, SECOND);
    assert_eq!(seen.reads.lat_ns.max, DELAY_NS);
}

/// A device of fixed delay that does nothing from 0.5 to 0.6 s.
struct Stalling(FixedDelay);

impl Device for Stalling {
    type Data = ();

    fn submit(&mut self, now: Time, id: RequestId, request: Request, done: &mut Vec<Completion>) {
        let stalls = (Time(SECOND / 2)..Time(SECOND * 6 / 10)).contains(&now);
        self.0.submit(if stalls { Time(SECOND * 6 / 10) } else { now }, id, request, done);
    }

    fn next_event(&self) -> Time {
        self.0.next_event()
    }

    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        self.0.advance(now, done);
    }

    fn capacity_bytes(&self) -> u64 {
        self.0.capacity_bytes()
    }

    fn in_flight(&self) -> u64 {
        self.0.in_flight()
    }
}

#[test]
fn a_stall_counts_for_every_request_that_was_due_in_it() {
    let slower_than_40_ms = |rate_iops| {
        let mut load = Fileio::new(FileioConfig { rate_iops, ..reads(1) }, 1).unwrap();
        let device = Stalling(FixedDelay::new(10 * MICROSECOND));
        let mut machine = Machine::new(device, &mut load, HostConfig::UNLIMITED, false);
        machine.start_measurement();
        machine.run_until(Stop::At(Time(SECOND)));
        let (reads, _, _) = machine.recorder().unwrap().classes(machine.now(), true);
        let results::Histogram { upper_ns, counts } = reads.histogram.unwrap();
        upper_ns.into_iter().zip(counts).filter(|&(ns, _)| ns > 40_000_000).map(|(_, count)| count).sum::<u64>()
    };
    // A thousand were due in the stall. The load catches up ten times as fast as they become due, so the ones that
    // took more than 40 ms are those of the first 60 ms, and some that became due while it caught up with the rest.
    let slow = slower_than_40_ms(Some(10_000.0));
    assert!((600..700).contains(&slow), "{slow}");
    assert_eq!(slower_than_40_ms(None), 1, "who waits for each answer sees a single slow one");
}

#[test]
fn being_late_is_a_cause_of_its_own_and_the_parts_still_add_up() {
    let mut setup = Setup::new(device("iodrive-160-slc", 1.0 / 256.0), FileioMode::RndRd, 0.5);
    setup.host = HOST;
    setup.explain = true;
    let late_ns = |setup: &Setup| {
        let bands = setup.run().tail.unwrap().bands;
        for band in &bands {
            assert_near(band.parts_ns.values().sum::<f64>(), band.lat_ns, 1e-9);
        }
        let slowest = bands.last().unwrap();
        (slowest.parts_ns.get("late").copied().unwrap_or(0.0), slowest.lat_ns)
    };
    let (late, latency) = late_ns(&setup);
    assert!(late == 0.0 && latency > 0.0);
    setup.load.rate_iops = Some(1e6);
    let (late, latency) = late_ns(&setup);
    assert!(late > 0.9 * latency, "{late} of {latency}");
}
