//! The contract that every array keeps, whatever the host asks.

use crate::common::{Run, closed_loop, disk_15k, plain, random_reads};
use device::{ByteRange, Device, Operation, Parts, Request, RequestId, Rng, Time};
use disk::{Array, ArrayConfig, DiskConfig, DiskError, RaidLevel};

const LEVELS: [(RaidLevel, u32); 4] =
    [(RaidLevel::Raid0, 3), (RaidLevel::Raid1, 2), (RaidLevel::Raid10, 4), (RaidLevel::Raid5, 4)];

/// Any operation at any place and of any length, most of them short.
fn any_request(rng: &mut Rng, capacity_bytes: u64) -> Request {
    let blocks = match rng.below(20) {
        0 => rng.below(4_096),
        1..4 => rng.below(300),
        _ => 1 + rng.below(16),
    };
    let offset_blocks = rng.below(capacity_bytes / 512 - blocks + 1);
    let op = match rng.below(40) {
        0 => Operation::Flush,
        1 => Operation::Trim,
        2..20 => Operation::Read,
        _ => Operation::Write,
    };
    let fua = rng.below(8) == 0;
    let range = ByteRange { offset_bytes: offset_blocks * 512, len_bytes: blocks as u32 * 512 };
    Request { operation: op, range, fua, data: () }
}

fn random_load(config: ArrayConfig, depth: u32, count: u64, explain: bool, seed: u64) -> Run {
    let mut array = Array::new(config, depth, explain, seed).unwrap();
    let mut rng = Rng::stream(seed, "load");
    let capacity_bytes = array.capacity_bytes();
    let run = closed_loop(&mut array, depth, count, || any_request(&mut rng, capacity_bytes));
    assert_eq!((run.requests, array.in_flight()), (count, 0));
    assert_eq!((array.counters().submitted, array.counters().finished), (count, count));
    // The caches' remaining contents go to the disks, and then all is quiet.
    let mut done = Vec::new();
    for _ in 0..1_000_000 {
        if array.next_event() == Time::NEVER {
            break;
        }
        array.advance(array.next_event(), &mut done);
    }
    assert_eq!((array.next_event(), done.len()), (Time::NEVER, 0));
    run
}

/// Every level with every cache on small disks, where requests meet.
fn small_arrays() -> impl Iterator<Item = ArrayConfig> {
    LEVELS.into_iter().flat_map(|(level, disks)| {
        [0, 256 << 10].into_iter().flat_map(move |write_cache_bytes| {
            [0, 1 << 20].into_iter().map(move |controller_cache_bytes| {
                let disk = DiskConfig { capacity_bytes: 16 << 20, write_cache_bytes, queue_depth: 8, ..disk_15k() };
                ArrayConfig { controller_cache_bytes, chunk_bytes: 16 << 10, ..plain(disk, disks, level) }
            })
        })
    })
}

#[test]
fn every_request_completes_exactly_once_under_random_loads_on_every_level() {
    for (i, config) in small_arrays().enumerate() {
        for depth in [1, 7, 64] {
            random_load(config, depth, 3_000, true, i as u64 * 100 + u64::from(depth));
        }
    }
}

#[test]
fn steps_of_no_time_at_all_do_not_hang() {
    for config in small_arrays() {
        let disk = DiskConfig {
            command_ns: 0,
            track_seek_ns: 0,
            average_seek_ns: 0,
            full_seek_ns: 0,
            write_settle_ns: 0,
            interface_bytes_per_s: 1_000_000_000_000,
            ..config.disk
        };
        random_load(ArrayConfig { disk, controller_ns: 0, ..config }, 16, 2_000, true, 5);
    }
}

#[test]
fn parts_add_up() {
    for config in small_arrays() {
        let mut array = Array::new(config, 16, true, 3).unwrap();
        let mut rng = Rng::stream(3, "load");
        let capacity_bytes = array.capacity_bytes();
        // The host thinks for a while between requests, so that they come at any moment of the disks' work.
        let mut thinks_until = [Time::ZERO; 16];
        let mut submitted = [Time::ZERO; 16];
        let mut done = Vec::new();
        for _ in 0..20_000 {
            let (id, wakes) = (0..16).map(|id| (id, thinks_until[id])).min_by_key(|&(_, t)| t).unwrap();
            let now = wakes.min(array.next_event());
            if wakes <= array.next_event() {
                thinks_until[id] = Time::NEVER;
                submitted[id] = now;
                array.submit(now, RequestId(id as u32), any_request(&mut rng, capacity_bytes), &mut done);
            } else {
                array.advance(now, &mut done);
            }
            for completion in done.drain(..) {
                let id = completion.id.0 as usize;
                assert_eq!(completion.parts.total_ns(), now - submitted[id]);
                thinks_until[id] = now + rng.exponential(3e6) as u64;
            }
        }
        assert!(array.counters().finished > 1_000);
    }
}

#[test]
fn explaining_changes_nothing_but_the_parts() {
    for config in small_arrays() {
        let (with, without) = (random_load(config, 16, 1_000, true, 9), random_load(config, 16, 1_000, false, 9));
        assert_eq!(without.parts, Parts::default());
        assert!(with.parts.total_ns() > 0);
        let times = |run: &Run| run.completions.iter().map(|(t, c)| (*t, c.id)).collect::<Vec<_>>();
        assert_eq!(times(&with), times(&without));
    }
}

#[test]
fn same_seed_same_completions() {
    for config in small_arrays() {
        let run = |seed| random_load(config, 16, 1_000, true, seed).completions;
        assert_eq!(run(1), run(1));
    }
    // The seed alone turns the platters, with the same requests.
    let config = plain(disk_15k(), 6, RaidLevel::Raid10);
    let run = |seed| {
        let mut array = Array::new(config, 8, true, seed).unwrap();
        let mut offset = crate::common::random_offsets(array.capacity_bytes(), 8192, 2);
        closed_loop(&mut array, 8, 1_000, || Request::read(offset(), 8192)).completions
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn capacity_counts_whole_chunks_without_mirrors_and_parity() {
    let disk = DiskConfig { capacity_bytes: 1_000_448, ..disk_15k() };
    let chunks = 1_000_448 / 65_536;
    for ((level, disks), data_disks) in LEVELS.into_iter().zip([3, 1, 2, 3]) {
        let array = Array::new(plain(disk, disks, level), 1, false, 1).unwrap();
        assert_eq!(array.capacity_bytes(), data_disks * chunks * 65_536, "{level}");
    }
}

#[test]
fn requests_reach_the_last_block() {
    for config in small_arrays() {
        let mut array = Array::new(config, 1, true, 1).unwrap();
        let last = array.capacity_bytes() - 512;
        let mut asked = 0;
        closed_loop(&mut array, 1, 2, || {
            asked += 1;
            if asked == 1 { Request::write(last, 512) } else { Request::read(last, 512) }
        });
    }
}

fn submit(request: impl Fn(u64) -> Request) {
    let mut array = Array::new(plain(disk_15k(), 2, RaidLevel::Raid1), 1, false, 1).unwrap();
    let capacity_bytes = array.capacity_bytes();
    array.submit(Time::ZERO, RequestId(0), request(capacity_bytes), &mut Vec::new());
}

#[test]
#[should_panic(expected = "ends past the capacity")]
fn a_request_past_the_capacity_is_a_bug_of_the_caller() {
    submit(|capacity_bytes| Request::read(capacity_bytes - 512, 1024));
}

#[test]
#[should_panic(expected = "not in units of 512 bytes")]
fn a_misaligned_request_is_a_bug_of_the_caller() {
    submit(|_| Request::write(100, 512));
}

#[test]
#[should_panic(expected = "is in use")]
fn an_id_in_use_is_a_bug_of_the_caller() {
    let mut array = Array::new(plain(disk_15k(), 2, RaidLevel::Raid1), 1, false, 1).unwrap();
    array.submit(Time::ZERO, RequestId(0), Request::read(0, 512), &mut Vec::new());
    array.submit(Time::ZERO, RequestId(0), Request::read(0, 512), &mut Vec::new());
}

#[test]
#[should_panic(expected = "was skipped")]
fn skipping_an_event_is_a_bug_of_the_caller() {
    let mut array = Array::new(plain(disk_15k(), 2, RaidLevel::Raid1), 1, false, 1).unwrap();
    array.submit(Time::ZERO, RequestId(0), Request::read(0, 512), &mut Vec::new());
    array.advance(Time(1_000_000_000), &mut Vec::new());
}

#[test]
fn impossible_arrays_are_refused() {
    let refused = |level, disks, change: &dyn Fn(&mut ArrayConfig)| {
        let mut config = plain(disk_15k(), disks, level);
        change(&mut config);
        Array::new(config, 1, false, 1).err()
    };
    let same = |_: &mut ArrayConfig| {};
    assert_eq!(
        refused(RaidLevel::Raid5, 2, &same),
        Some(DiskError::TooFewDisks { level: RaidLevel::Raid5, needed: 3, disks: 2 })
    );
    assert_eq!(refused(RaidLevel::Raid10, 5, &same), Some(DiskError::OddDisks { disks: 5 }));
    assert_eq!(
        refused(RaidLevel::Raid0, 1, &|c| c.disk.queue_depth = 0),
        Some(DiskError::Zero { setting: "queue_depth" })
    );
    assert_eq!(
        refused(RaidLevel::Raid0, 1, &|c| c.chunk_bytes = 1000),
        Some(DiskError::Unaligned { setting: "chunk_bytes", bytes: 1000 })
    );
    assert!(matches!(
        refused(RaidLevel::Raid0, 1, &|c| c.disk.full_seek_ns = 1),
        Some(DiskError::SeekOrder { full_ns: 1, .. })
    ));
    assert!(matches!(
        refused(RaidLevel::Raid0, 1, &|c| c.disk.inner_bytes_per_s = 200_000_000),
        Some(DiskError::FasterInside { .. })
    ));
    assert!(matches!(
        refused(RaidLevel::Raid0, 1, &|c| {
            c.disk.outer_bytes_per_s = 500;
            c.disk.inner_bytes_per_s = 500;
        }),
        Some(DiskError::TrackSize { .. })
    ));
    assert!(matches!(
        refused(RaidLevel::Raid0, 1, &|c| c.chunk_bytes = 1 << 40),
        Some(DiskError::ChunkTooLarge { .. })
    ));
    assert!(refused(RaidLevel::Raid0, 1, &|c| c.disk.rpm = 0).is_some());
    assert_eq!(
        Array::new(plain(disk_15k(), 1, RaidLevel::Raid0), 0, false, 1).err(),
        Some(DiskError::Zero { setting: "max_requests" })
    );
}

#[test]
fn slower_platters_serve_less() {
    let slow = DiskConfig { rpm: 7_200, ..disk_15k() };
    let rate = |disk| random_reads(plain(disk, 1, RaidLevel::Raid0), 1, 5_000).per_second();
    assert!(rate(slow) < 0.8 * rate(disk_15k()));
}
