//! Behaviour of RAID levels and of the controller's cache.

use crate::common::{closed_loop, disk_15k, plain, random_offsets, random_reads, random_writes};
use device::{Cause, Device, Request, RequestId, Rng, Time};
use disk::{Array, ArrayConfig, RaidLevel};

fn battery_backed(config: ArrayConfig) -> ArrayConfig {
    ArrayConfig { controller_cache_bytes: 64 << 20, ..config }
}

#[test]
fn raid10_reads_scale_with_disks() {
    let per_disk: Vec<f64> = [2u32, 4, 6, 12]
        .iter()
        .map(|&disks| random_reads(plain(disk_15k(), disks, RaidLevel::Raid10), 8 * disks, 20_000).per_second())
        .zip([2.0, 4.0, 6.0, 12.0])
        .map(|(rate, disks)| rate / disks)
        .collect();
    assert!(per_disk.iter().all(|rate| (rate / per_disk[0] - 1.0).abs() < 0.1), "{per_disk:?}");
}

#[test]
fn six_15k_disks_in_raid10_serve_what_such_arrays_serve() {
    let rate = |depth| random_reads(plain(disk_15k(), 6, RaidLevel::Raid10), depth, 20_000).per_second();
    let rates: Vec<f64> = [1, 8, 12, 32, 64, 100, 128].map(rate).to_vec();
    assert!(rates.is_sorted(), "{rates:?}");
    assert!((900.0..1_050.0).contains(&rates[1]), "{rates:?}");
    assert!((1_000.0..1_200.0).contains(&rates[2]), "{rates:?}");
    assert!(rates[5] > 1.08 * rates[4], "the gain goes on to 100 readers: {rates:?}");
    assert!((1_950.0..2_200.0).contains(&rates[6]), "{rates:?}");
}

#[test]
fn a_mirror_serves_a_lone_reader_by_the_nearer_arm() {
    let single = random_reads(plain(disk_15k(), 1, RaidLevel::Raid0), 1, 10_000);
    let mirror = random_reads(plain(disk_15k(), 2, RaidLevel::Raid1), 1, 10_000);
    assert!(mirror.mean_ns(Cause::Seek) < 0.8 * single.mean_ns(Cause::Seek));
    assert!((mirror.mean_ns(Cause::Rotation) / single.mean_ns(Cause::Rotation) - 1.0).abs() < 0.03);
}

#[test]
fn every_mirror_is_written() {
    for (level, disks, copies) in [(RaidLevel::Raid0, 4, 1), (RaidLevel::Raid1, 3, 3), (RaidLevel::Raid10, 6, 2)] {
        let config = plain(disk_15k(), disks, level);
        let mut array = Array::new(config, 4, false, 1).unwrap();
        let mut offset = random_offsets(array.capacity_bytes(), 4096, 2);
        closed_loop(&mut array, 4, 100, || Request::write(offset(), 4096));
        assert_eq!((array.counters().disk_reads, array.counters().disk_writes), (0, copies * 100), "{level}");
    }
}

#[test]
fn raid5_small_writes_cost_four_ios() {
    let mut array = Array::new(plain(disk_15k(), 5, RaidLevel::Raid5), 8, false, 1).unwrap();
    let mut offset = random_offsets(array.capacity_bytes(), 8192, 2);
    closed_loop(&mut array, 8, 1_000, || Request::write(offset(), 8192));
    assert_eq!((array.counters().disk_reads, array.counters().disk_writes), (2_000, 2_000));

    // The second of two I/Os to a place needs at least a turn, so a lone writer waits for a seek and a turn and a half.
    let run = random_writes(plain(disk_15k(), 5, RaidLevel::Raid5), 1, 2_000);
    assert!(run.mean_latency_ns > 9e6, "{}", run.mean_latency_ns);
}

#[test]
fn raid5_whole_stripes_are_written_without_reading() {
    let config = plain(disk_15k(), 5, RaidLevel::Raid5);
    let stripe_bytes = 4 * config.chunk_bytes as u32;
    let mut array = Array::new(config, 1, false, 1).unwrap();
    let mut at = 0;
    closed_loop(&mut array, 1, 100, || {
        at += u64::from(stripe_bytes);
        Request::write(at, stripe_bytes)
    });
    assert_eq!((array.counters().disk_reads, array.counters().disk_writes), (0, 500));
}

#[test]
fn striped_sequential_reads_run_at_the_rate_of_all_disks() {
    let mut array = Array::new(plain(disk_15k(), 6, RaidLevel::Raid0), 4, false, 1).unwrap();
    let mut at = 0;
    let run = closed_loop(&mut array, 4, 1_000, || {
        at += 1 << 20;
        Request::read(at, 1 << 20)
    });
    let bytes_per_s = run.per_second() * f64::from(1 << 20);
    assert!((bytes_per_s / (6.0 * 125e6) - 1.0).abs() < 0.02, "{bytes_per_s}");
}

#[test]
fn a_write_in_the_controller_cache_is_durable_at_once() {
    let config = battery_backed(plain(disk_15k(), 6, RaidLevel::Raid10));
    let mut array = Array::new(config, 1, true, 1).unwrap();
    let mut offset = random_offsets(array.capacity_bytes(), 8192, 2);
    let mut asked = 0;
    let run = closed_loop(&mut array, 1, 1_000, || {
        asked += 1;
        if asked % 2 == 0 { Request::flush() } else { Request { fua: true, ..Request::write(offset(), 8192) } }
    });
    assert_eq!(run.max_latency_ns, config.controller_ns);
}

#[test]
fn a_full_controller_cache_makes_writers_wait_for_the_disks() {
    let config = battery_backed(plain(disk_15k(), 6, RaidLevel::Raid10));
    let without = random_writes(plain(disk_15k(), 6, RaidLevel::Raid10), 32, 10_000);
    let with = random_writes(config, 32, 60_000);
    // It fills up, and then sorting is what it is worth.
    assert!(with.mean_ns(Cause::DiskQueue) > 0.9 * with.mean_latency_ns);
    assert!(with.per_second() > 1.5 * without.per_second(), "{} {}", with.per_second(), without.per_second());
    assert!(with.per_second() < 4.0 * without.per_second(), "{} {}", with.per_second(), without.per_second());
}

#[test]
fn adjacent_writes_are_destaged_together() {
    let config = battery_backed(plain(disk_15k(), 5, RaidLevel::Raid5));
    let mut array = Array::new(config, 1, false, 1).unwrap();
    let mut at = 0;
    closed_loop(&mut array, 1, 16_384, || {
        at += 4096;
        Request::write(at, 4096)
    });
    while array.next_event() != Time::NEVER {
        array.advance(array.next_event(), &mut Vec::new());
    }
    // 64 MiB are 256 stripes of 5 chunks. All but the few that were destaged while they grew cost 5 writes; one by one
    // the 16,384 writes would cost 32,768, and as many reads.
    let counters = array.counters();
    assert!(counters.disk_writes + counters.disk_reads < 2 * 5 * 256, "{counters:?}");
}

#[test]
fn reads_of_what_the_cache_holds_need_no_disk() {
    let config = battery_backed(plain(disk_15k(), 2, RaidLevel::Raid1));
    let mut array = Array::new(config, 1, false, 1).unwrap();
    let mut asked = 0;
    closed_loop(&mut array, 1, 2, || {
        asked += 1;
        if asked == 1 { Request::write(1 << 30, 8192) } else { Request::read((1 << 30) + 4096, 4096) }
    });
    assert_eq!((array.counters().cache_writes, array.counters().cache_read_hits), (1, 1));
    assert_eq!(array.counters().disk_reads, 0);
}

#[test]
fn the_cache_is_emptied_when_the_host_is_idle() {
    let config = battery_backed(plain(disk_15k(), 4, RaidLevel::Raid10));
    let mut array = Array::new(config, 1, false, 1).unwrap();
    let mut offset = random_offsets(array.capacity_bytes(), 8192, 2);
    closed_loop(&mut array, 1, 100, || Request::write(offset(), 8192));
    while array.next_event() != Time::NEVER {
        array.advance(array.next_event(), &mut Vec::new());
    }
    assert_eq!(array.counters().disk_writes, 200);
}

#[test]
fn readers_keep_their_share_while_the_cache_is_destaged() {
    let config = battery_backed(plain(disk_15k(), 6, RaidLevel::Raid10));
    let mut array = Array::new(config, 32, true, 1).unwrap();
    let mut offset = random_offsets(array.capacity_bytes(), 8192, 2);
    let mut rng = Rng::stream(1, "mix");
    let mixed = closed_loop(&mut array, 32, 60_000, || {
        if rng.below(5) == 0 { Request::write(offset(), 8192) } else { Request::read(offset(), 8192) }
    });
    let only_reads = random_reads(config, 32, 10_000);
    assert!(mixed.per_second() > 0.85 * only_reads.per_second(), "{} {}", mixed.per_second(), only_reads.per_second());
}

#[test]
fn a_write_larger_than_the_cache_passes_by() {
    let config = ArrayConfig { controller_cache_bytes: 64 << 10, ..plain(disk_15k(), 4, RaidLevel::Raid10) };
    let mut array = Array::new(config, 2, true, 1).unwrap();
    let mut done = Vec::new();
    array.submit(Time::ZERO, RequestId(0), Request::write(0, 4096), &mut done);
    array.submit(Time::ZERO, RequestId(1), Request::write(0, 1 << 20), &mut done);
    while array.in_flight() > 0 {
        array.advance(array.next_event(), &mut done);
    }
    assert_eq!(array.counters().cache_writes, 1);
    assert!(done[1].parts.get(Cause::DiskTransfer) > 0);
}
