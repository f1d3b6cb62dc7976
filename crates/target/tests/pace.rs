//! Rate limits and think times hold, as long as the machine can follow.

mod common;

use common::{MICROSECOND, SECOND, assert_near, closed, reads};
use device::HostConfig;
use load::FileioConfig;

const DELAY_NS: u64 = 100 * MICROSECOND;
const HOST: HostConfig =
    HostConfig { cores: 8, session_ns: 4_000, submit_ns: 3_000, complete_ns: 3_000, contention: 0.0 };
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
