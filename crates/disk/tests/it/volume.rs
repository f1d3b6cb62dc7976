//! Volumes of clouds keep to their limits, whoever asks.

use crate::common::{closed_loop, random_offsets};
use device::{Device, Request, RequestId, Time};
use disk::{DiskError, Limit, Volume, VolumeConfig};

const MIB: u64 = 1 << 20;

/// 3,000 requests and 125 MiB a second, without credits.
fn plain() -> VolumeConfig {
    VolumeConfig {
        capacity_bytes: 1 << 40,
        iops: Limit { sustained: 3_000, burst: 3_000 },
        bytes_per_s: Limit { sustained: 125 * MIB, burst: 125 * MIB },
        io_bytes: 256 << 10,
        read_ns: 600_000,
        write_ns: 800_000,
        spread_ns: 200_000,
        burst_s: 0,
        full_at_start: false,
    }
}

fn reads(config: VolumeConfig, depth: u32, count: u64, len_bytes: u32) -> crate::common::Run {
    let mut volume = Volume::new(config, depth, true, 1).unwrap();
    let mut offset = random_offsets(config.capacity_bytes, len_bytes, 2);
    closed_loop(&mut volume, depth, count, || Request::read(offset(), len_bytes))
}

#[test]
fn more_requests_at_once_get_no_more_than_was_paid_for_and_wait_longer() {
    let alone = reads(plain(), 1, 5_000, 16 << 10);
    assert!((alone.mean_latency_ns - 800_000.0).abs() < 20_000.0, "{}", alone.mean_latency_ns);
    for depth in [8, 16, 64] {
        let run = reads(plain(), depth, 30_000, 16 << 10);
        assert!((run.per_second() / 3_000.0 - 1.0).abs() < 0.01, "{depth}: {}", run.per_second());
        let waited_ns = f64::from(depth) / 3_000.0 * 1e9;
        assert!((run.mean_latency_ns / waited_ns - 1.0).abs() < 0.02, "{depth}: {}", run.mean_latency_ns);
        assert_eq!(run.parts.total_ns() / run.requests, run.mean_latency_ns as u64);
    }
}

#[test]
fn large_requests_meet_the_limit_of_bytes_and_count_as_several() {
    let run = reads(plain(), 32, 5_000, 64 << 10);
    assert!((run.per_second() / 2_000.0 - 1.0).abs() < 0.01, "125 MiB/s: {}", run.per_second());
    // Four units each: 750 a second.
    let wide = VolumeConfig { bytes_per_s: Limit { sustained: 8_000 * MIB, burst: 8_000 * MIB }, ..plain() };
    let run = reads(wide, 32, 5_000, 1 << 20);
    assert!((run.per_second() / 750.0 - 1.0).abs() < 0.01, "{}", run.per_second());
}

#[test]
fn credits_are_spent_and_saved_again() {
    let burst = Limit { sustained: 1_000, burst: 5_000 };
    let config = VolumeConfig { iops: burst, burst_s: 10, full_at_start: true, ..plain() };
    // 10 s of the burst, and the rest at the rate that lasts.
    let run = reads(config, 32, 60_000, 4096);
    assert!((run.seconds - 20.0).abs() < 0.3, "{} s", run.seconds);
    let empty = reads(VolumeConfig { full_at_start: false, ..config }, 32, 10_000, 4096);
    assert!((empty.seconds - 10.0).abs() < 0.3, "{} s", empty.seconds);
    // A pause of 4 s saves 4,000: then 1,000 a second come to them, and 5,000 pass in one.
    let mut volume = Volume::new(VolumeConfig { full_at_start: false, ..config }, 6_000, false, 1).unwrap();
    let mut done = Vec::new();
    for id in 0..6_000 {
        volume.submit(Time(4_000_000_000), RequestId(id), Request::read(0, 4096), &mut done);
    }
    let mut within_a_second = 0;
    while volume.in_flight() > 0 {
        let now = volume.next_event();
        volume.advance(now, &mut done);
        within_a_second = if now < Time(5_000_000_000) { done.len() } else { within_a_second };
    }
    assert!((4_980..=5_005).contains(&within_a_second), "{within_a_second}");
}

#[test]
fn the_same_seed_gives_the_same_nanoseconds() {
    let of = |seed| {
        let mut volume = Volume::new(plain(), 16, false, seed).unwrap();
        let mut offset = random_offsets(1 << 40, 8192, 2);
        closed_loop(&mut volume, 16, 2_000, || Request::write(offset(), 8192)).completions
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn a_burst_below_the_rate_that_lasts_is_refused() {
    let slow = VolumeConfig { iops: Limit { sustained: 3_000, burst: 2_000 }, ..plain() };
    let error = Volume::new(slow, 1, false, 1).unwrap_err();
    assert_eq!(error, DiskError::SlowBurst { setting: "iops", sustained: 3_000, burst: 2_000 });
    let none = VolumeConfig { io_bytes: 0, ..plain() };
    assert_eq!(Volume::new(none, 1, false, 1).unwrap_err(), DiskError::Zero { setting: "io_bytes" });
}
