//! The machine is the closed queueing system that its configuration states.
//!
//! N sessions, c cores, s of CPU for each request, a device of delay d.

use crate::common::{MICROSECOND, SECOND, assert_near, closed, reads};
use device::HostConfig;
use load::{FileioConfig, FileioMode};

const DELAY_NS: u64 = 50 * MICROSECOND;
/// 10 microseconds in all.
const HOST: HostConfig = HostConfig {
    cores: 4,
    session_ns: 5_000,
    submit_ns: 2_000,
    complete_ns: 3_000,
    contention: 0.0,
    ..HostConfig::UNLIMITED
};

fn cpu_s(host: &HostConfig) -> f64 {
    (host.session_ns + host.submit_ns + host.complete_ns) as f64 / 1e9
}

#[test]
fn with_a_core_for_each_session_throughput_is_n_over_the_cycle() {
    for sessions in 1..=HOST.cores {
        let seen = closed(reads(sessions), HOST, DELAY_NS, SECOND);
        let cycle_s = cpu_s(&HOST) + DELAY_NS as f64 / 1e9;
        assert_near(seen.reads.iops, f64::from(sessions) / cycle_s, 0.01);
    }
}

#[test]
fn saturated_cores_bound_throughput_at_c_over_s() {
    for (sessions, cores) in [(8, 1), (64, 2), (64, 4), (500, 16)] {
        let host = HostConfig { cores, ..HOST };
        let seen = closed(reads(sessions), host, DELAY_NS, SECOND);
        assert_near(seen.reads.iops, f64::from(cores) / cpu_s(&host), 0.01);
    }
}

#[test]
fn throughput_never_passes_either_bound() {
    for sessions in [1, 2, 5, 10, 20, 23, 24, 25, 30, 60] {
        let seen = closed(reads(sessions), HOST, DELAY_NS, SECOND);
        let cycle_s = cpu_s(&HOST) + DELAY_NS as f64 / 1e9;
        let bound = (f64::from(sessions) / cycle_s).min(f64::from(HOST.cores) / cpu_s(&HOST));
        assert!(seen.reads.iops <= bound * 1.001, "{sessions} sessions: {} above {bound}", seen.reads.iops);
    }
}

#[test]
fn little_s_law_holds_with_latency_and_session_time() {
    // Session time is the one part of a cycle that latency leaves out, whether cores are free or not.
    for (sessions, cores) in [(1, 1), (4, 4), (20, 4), (40, 4), (300, 4), (300, 1)] {
        let host = HostConfig { cores, ..HOST };
        let seen = closed(reads(sessions), host, DELAY_NS, SECOND);
        let cycle_s = (seen.reads.lat_ns.mean + host.session_ns as f64) / 1e9;
        assert_near(seen.reads.iops * cycle_s, f64::from(sessions), 0.01);
    }
}

#[test]
fn latency_is_driver_and_device_when_a_core_is_free() {
    let seen = closed(reads(3), HOST, DELAY_NS, SECOND);
    let expected = DELAY_NS + HOST.submit_ns + HOST.complete_ns;
    assert_eq!((seen.reads.lat_ns.min, seen.reads.lat_ns.max), (expected, expected));
}

#[test]
fn latency_counts_waiting_for_a_core() {
    // One core: the others' stays pass before the own one, whose session part is not latency.
    let host = HostConfig { cores: 1, ..HOST };
    let seen = closed(reads(100), host, DELAY_NS, SECOND);
    assert_near(seen.reads.lat_ns.mean, 100.0 * cpu_s(&host) * 1e9 - host.session_ns as f64, 0.01);
}

#[test]
fn an_unlimited_host_costs_nothing() {
    let seen = closed(reads(1_000), HostConfig::UNLIMITED, DELAY_NS, SECOND / 10);
    assert_near(seen.reads.iops, 1_000.0 / (DELAY_NS as f64 / 1e9), 0.01);
    assert_eq!((seen.reads.lat_ns.min, seen.reads.lat_ns.max), (DELAY_NS, DELAY_NS));
}

#[test]
fn every_busy_core_beyond_the_first_slows_by_the_stated_share() {
    for (cores, contention) in [(1, 0.5), (2, 0.5), (4, 0.1), (16, 0.02)] {
        let host = HostConfig { cores, contention, ..HOST };
        let seen = closed(reads(200), host, DELAY_NS, SECOND);
        let slowed_s = cpu_s(&host) * (1.0 + contention * f64::from(cores - 1));
        assert_near(seen.reads.iops, f64::from(cores) / slowed_s, 0.01);
    }
}

#[test]
fn contention_does_not_touch_a_single_session() {
    let host = HostConfig { contention: 1.0, ..HOST };
    let seen = closed(reads(1), host, DELAY_NS, SECOND);
    assert_near(seen.reads.iops, 1.0 / (cpu_s(&host) + DELAY_NS as f64 / 1e9), 0.01);
}

#[test]
fn a_flush_costs_the_driver_but_no_session_time() {
    let config = FileioConfig { mode: FileioMode::RndWr, fsync_all: true, ..reads(2) };
    let seen = closed(config, HOST, DELAY_NS, SECOND);
    let flush_s = (HOST.submit_ns + HOST.complete_ns + DELAY_NS) as f64 / 1e9;
    let cycle_s = cpu_s(&HOST) + DELAY_NS as f64 / 1e9 + flush_s;
    assert_near(seen.writes.iops, 2.0 / cycle_s, 0.01);
}

#[test]
fn latency_begins_with_its_own_request_where_asking_takes_no_cpu() {
    // Only completing takes CPU: the next request is submitted in the same breath.
    let host = HostConfig { session_ns: 0, submit_ns: 0, ..HOST };
    let seen = closed(reads(3), host, DELAY_NS, SECOND);
    let expected = DELAY_NS + host.complete_ns;
    assert_eq!((seen.reads.lat_ns.min, seen.reads.lat_ns.max), (expected, expected));
    // A flush costs no session time; without a driver it is asked for at once, too.
    let host = HostConfig { submit_ns: 0, ..HOST };
    let config = FileioConfig { mode: FileioMode::RndWr, fsync_all: true, ..reads(3) };
    let seen = closed(config, host, DELAY_NS, SECOND);
    assert_eq!((seen.flushes.lat_ns.min, seen.flushes.lat_ns.max), (expected, expected));
}

#[test]
fn each_of_several_hosts_has_cores_of_its_own() {
    for (count, sessions) in [(2, 64), (3, 96)] {
        let host = HostConfig { count, ..HOST };
        let seen = closed(reads(sessions), host, DELAY_NS, SECOND);
        assert_near(seen.reads.iops, f64::from(count * HOST.cores) / cpu_s(&HOST), 0.01);
    }
    // The other hosts' busy cores slow none of this one's.
    let host = HostConfig { cores: 1, count: 8, contention: 1.0, ..HOST };
    let seen = closed(reads(200), host, DELAY_NS, SECOND);
    assert_near(seen.reads.iops, 8.0 / cpu_s(&HOST), 0.01);
}

#[test]
fn fewer_sessions_than_hosts_leave_hosts_idle() {
    let host = HostConfig { cores: 1, count: 16, ..HOST };
    let seen = closed(reads(3), host, DELAY_NS, SECOND);
    assert_near(seen.reads.iops, 3.0 / (cpu_s(&HOST) + DELAY_NS as f64 / 1e9), 0.01);
}

#[test]
fn the_link_of_a_host_adds_its_transfer_and_bounds_each_way() {
    // 100 us for 4 KiB.
    let link = HostConfig { link_bytes_per_s: 40_960_000, ..HostConfig::UNLIMITED };
    let transfer_ns = 100 * MICROSECOND;
    let lone = closed(reads(1), link, DELAY_NS, SECOND);
    assert_eq!((lone.reads.lat_ns.min, lone.reads.lat_ns.max), (DELAY_NS + transfer_ns, DELAY_NS + transfer_ns));
    for count in [1, 2, 4] {
        let seen = closed(reads(64), HostConfig { count, ..link }, DELAY_NS, SECOND);
        assert_near(seen.reads.iops, f64::from(count) * 10_000.0, 0.01);
    }
    let writes = FileioConfig { mode: FileioMode::RndWr, ..reads(64) };
    assert_near(closed(writes, link, DELAY_NS, SECOND).writes.iops, 10_000.0, 0.01);
    // Reads do not wait for writes.
    let both = FileioConfig { mode: FileioMode::RndRw, rw_ratio: 1.0, ..reads(64) };
    let seen = closed(both, link, DELAY_NS, SECOND);
    assert!(seen.reads.iops + seen.writes.iops > 15_000.0, "{} + {}", seen.reads.iops, seen.writes.iops);
}
