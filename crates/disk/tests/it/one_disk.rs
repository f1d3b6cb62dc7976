//! Behaviour of one disk.

use crate::common::{closed_loop, disk_15k, plain, random_reads, random_writes};
use device::{Cause, Completion, Device, Request, RequestId, Time};
use disk::{Array, ArrayConfig, DiskConfig, RaidLevel};

fn one(disk: DiskConfig) -> ArrayConfig {
    plain(disk, 1, RaidLevel::Raid0)
}

/// Mean seek between two random blocks by integration over the radius, written down independently of the model.
fn mean_seek_ns(disk: &DiskConfig) -> f64 {
    let steps = 600;
    let (outer, inner) = (disk.outer_bytes_per_s as f64, disk.inner_bytes_per_s as f64);
    let radius: Vec<f64> = (0..steps).map(|i| (i as f64 + 0.5) / steps as f64).collect();
    // Blocks at a radius are as dense as the rate there.
    let weight: Vec<f64> = radius.iter().map(|x| outer - (outer - inner) * x).collect();
    let total: f64 = weight.iter().sum();
    let (track, average, full) = (disk.track_seek_ns as f64, disk.average_seek_ns as f64, disk.full_seek_ns as f64);
    let third = 1.0 / 3.0;
    let mut mean_ns = 0.0;
    for (x, wx) in radius.iter().zip(&weight) {
        for (y, wy) in radius.iter().zip(&weight) {
            let stroke = (x - y).abs();
            let seek_ns = if stroke < third {
                track + (average - track) * (stroke / third).sqrt()
            } else {
                average + (full - average) * (stroke - third) / (1.0 - third)
            };
            mean_ns += seek_ns * wx * wy / (total * total);
        }
    }
    mean_ns
}

#[test]
fn one_random_reader_of_a_15k_disk_sees_about_its_seek_plus_half_a_turn() {
    let config = one(disk_15k());
    let run = random_reads(config, 1, 40_000);
    let (seek_ns, half_turn_ns) = (mean_seek_ns(&config.disk), 2e6);
    assert!((run.mean_ns(Cause::Seek) / seek_ns - 1.0).abs() < 0.01, "{} {seek_ns}", run.mean_ns(Cause::Seek));
    assert!((run.mean_ns(Cause::Rotation) / half_turn_ns - 1.0).abs() < 0.01, "{}", run.mean_ns(Cause::Rotation));
    assert_eq!(run.mean_ns(Cause::CommandQueue), (config.controller_ns + config.disk.command_ns) as f64);
    // 8 KiB pass the head in about 0.07 ms.
    let expected_ns = seek_ns + half_turn_ns + 70_000.0 + run.mean_ns(Cause::CommandQueue);
    assert!((run.mean_latency_ns / expected_ns - 1.0).abs() < 0.01, "{} {expected_ns}", run.mean_latency_ns);
    assert!((175.0..185.0).contains(&run.per_second()), "{}", run.per_second());
}

#[test]
fn deeper_queues_serve_more_by_reordering() {
    let rates: Vec<f64> =
        [1, 4, 8, 16, 32].iter().map(|&depth| random_reads(one(disk_15k()), depth, 10_000).per_second()).collect();
    assert!(rates.windows(2).all(|r| r[1] > 1.1 * r[0]), "{rates:?}");
    assert!((320.0..380.0).contains(&rates[4]), "{rates:?}");
}

#[test]
fn a_disk_without_a_queue_serves_in_order_however_many_wait() {
    let disk = DiskConfig { queue_depth: 1, ..disk_15k() };
    let (alone, many) = (random_reads(one(disk), 1, 10_000), random_reads(one(disk), 32, 10_000));
    assert!((many.per_second() / alone.per_second() - 1.0).abs() < 0.03);
    assert!(many.completions.windows(2).all(|c| c[1].1.id.0 == (c[0].1.id.0 + 1) % 32));
}

#[test]
fn nobody_starves_behind_nearer_commands() {
    let config = one(disk_15k());
    let mut array = Array::new(config, 32, false, 1).unwrap();
    let far = array.capacity_bytes() - 8192;
    // 31 readers stay at the outer edge, where each is nearer to the head than the one at the inner edge.
    let mut near = crate::common::random_offsets(1 << 30, 8192, 3);
    let mut asked = 0;
    let run = closed_loop(&mut array, 32, 5_000, || {
        asked += 1;
        Request::read(if asked == 16 { far } else { near() }, 8192)
    });
    // Twice a full queue of average accesses in order of arrival, and the queue that was older.
    let in_order_ns = config.disk.average_seek_ns + 2_000_000 + config.disk.command_ns;
    assert!(run.max_latency_ns > 64 * in_order_ns, "the far reader did not have to wait: nothing was tested");
    assert!(run.max_latency_ns < 96 * in_order_ns, "{} ms", run.max_latency_ns / 1_000_000);
}

fn sequential(config: ArrayConfig, from: u64, len_bytes: u32, depth: u32, write: bool) -> f64 {
    let mut array = Array::new(config, depth, true, 1).unwrap();
    let mut at = from;
    let count = (200 << 20) / u64::from(len_bytes);
    let run = closed_loop(&mut array, depth, count, || {
        let offset = at;
        at += u64::from(len_bytes);
        if write { Request::write(offset, len_bytes) } else { Request::read(offset, len_bytes) }
    });
    run.per_second() * f64::from(len_bytes)
}

#[test]
fn sequential_reads_run_at_media_rate() {
    let config = one(disk_15k());
    let inner_edge = (config.disk.capacity_bytes - (201 << 20)) / 65536 * 65536;
    for (from, rate) in [(0, config.disk.outer_bytes_per_s), (inner_edge, config.disk.inner_bytes_per_s)] {
        for (len_bytes, depth) in [(65536, 1), (65536, 4), (16384, 2), (1 << 20, 1)] {
            let measured = sequential(config, from, len_bytes, depth, false);
            assert!((measured / rate as f64 - 1.0).abs() < 0.01, "{len_bytes} bytes, {depth} deep: {measured}");
        }
    }
}

#[test]
fn sequential_writes_run_at_media_rate_only_when_the_next_one_waits() {
    let config = one(disk_15k());
    let queued = sequential(config, 0, 65536, 4, true);
    assert!((queued / config.disk.outer_bytes_per_s as f64 - 1.0).abs() < 0.01, "{queued}");
    // Alone, each write comes just too late and waits for a turn: 64 KiB in a little over 4 ms.
    let alone = sequential(config, 0, 65536, 1, true);
    assert!((13e6..16.4e6).contains(&alone), "{alone}");
}

fn drive(array: &mut Array, until: Time, done: &mut Vec<(Time, Completion)>) {
    while array.next_event() <= until && array.next_event() != Time::NEVER {
        let (now, mut ended) = (array.next_event(), Vec::new());
        array.advance(now, &mut ended);
        done.extend(ended.into_iter().map(|c| (now, c)));
    }
}

fn cached() -> ArrayConfig {
    one(DiskConfig { write_cache_bytes: 16 << 20, ..disk_15k() })
}

#[test]
fn a_flush_waits_for_the_write_cache() {
    let mut array = Array::new(cached(), 64, true, 1).unwrap();
    let mut done = Vec::new();
    let mut offset = crate::common::random_offsets(array.capacity_bytes(), 8192, 2);
    for id in 0..32 {
        array.submit(Time::ZERO, RequestId(id), Request::write(offset(), 8192), &mut Vec::new());
    }
    drive(&mut array, Time(4_000_000), &mut done);
    assert_eq!(done.len(), 32, "writes end in the cache, at the speed of firmware and interface");

    let flushed_at = Time(4_000_000);
    array.submit(flushed_at, RequestId(32), Request::flush(), &mut Vec::new());
    drive(&mut array, flushed_at + 100_000, &mut done);
    array.submit(flushed_at + 100_000, RequestId(33), Request::write(0, 8192), &mut Vec::new());
    drive(&mut array, Time::NEVER, &mut done);
    assert_eq!(
        (done[32].1.id, done[33].1.id),
        (RequestId(32), RequestId(33)),
        "a flush is not held up by later writes"
    );
    let (end, flush) = done[32];
    // Some 30 blocks, none of which takes less than a fraction of a millisecond.
    assert!(end - flushed_at > 15_000_000, "{}", end - flushed_at);
    assert_eq!(flush.parts.get(Cause::Durable), end - flushed_at - 70_000);

    let again = array_time(&mut array, end + 1_000_000_000, Request::flush());
    assert_eq!(again, 70_000, "nothing is left to flush");
}

/// Time that a request takes which is alone from `now` on.
fn array_time(array: &mut Array, now: Time, request: Request) -> u64 {
    drive(array, now, &mut Vec::new());
    let mut done = Vec::new();
    array.submit(now, RequestId(0), request, &mut Vec::new());
    while array.in_flight() > 0 {
        let next = array.next_event();
        drive(array, next, &mut done);
    }
    done[0].0 - now
}

#[test]
fn force_unit_access_passes_by_the_write_cache() {
    let mut array = Array::new(cached(), 1, true, 1).unwrap();
    let write = Request::write(50_000_000_000 / 8192 * 8192, 8192);
    assert!(array_time(&mut array, Time::ZERO, write) < 200_000);
    assert!(array_time(&mut array, Time(1_000_000_000), Request { fua: true, ..write }) > 200_000);
}

#[test]
fn a_flush_of_a_disk_without_a_cache_only_costs_the_command() {
    let mut array = Array::new(one(disk_15k()), 1, true, 1).unwrap();
    assert_eq!(array_time(&mut array, Time::ZERO, Request::flush()), 70_000);
}

#[test]
fn a_write_cache_makes_random_writes_faster_by_sorting_them() {
    let (without, with) = (random_writes(one(disk_15k()), 1, 5_000), random_writes(cached(), 1, 20_000));
    assert!(with.per_second() > 2.5 * without.per_second(), "{} {}", with.per_second(), without.per_second());
}

#[test]
fn reads_are_served_while_a_full_write_cache_is_destaged() {
    let mut array = Array::new(cached(), 16, true, 1).unwrap();
    let mut offset = crate::common::random_offsets(array.capacity_bytes(), 8192, 2);
    let mut asked = 0u64;
    let mut reads = 0;
    let run = closed_loop(&mut array, 16, 20_000, || {
        asked += 1;
        if asked.is_multiple_of(4) {
            reads += 1;
            Request::read(offset(), 8192)
        } else {
            Request::write(offset(), 8192)
        }
    });
    assert!(reads > 0 && run.max_latency_ns < 600_000_000, "{} ms", run.max_latency_ns / 1_000_000);
}
