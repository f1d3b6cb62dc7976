//! The promises of sysbench's modes, request by request.

use super::*;
use device::Operation;

fn take(load: &mut Fileio, process: u32, requests: usize) -> Vec<Request> {
    let mut wake = Vec::new();
    let mut next = || match load.step(ProcessId(process), Time::ZERO, &mut wake) {
        Step::Io { cpu_ns: 0, request, due: None } => request,
        other => panic!("{other:?}"),
    };
    (0..requests).map(|_| next()).collect()
}

fn config(mode: FileioMode) -> FileioConfig {
    FileioConfig { mode, file_bytes: 1 << 20, ..FileioConfig::default() }
}

#[test]
fn sequential_threads_share_one_position_and_wrap_around() {
    for mode in [FileioMode::SeqRd, FileioMode::SeqWr, FileioMode::SeqRewr] {
        let config = FileioConfig { threads: 4, queue_depth: 2, ..config(mode) };
        let mut load = Fileio::new(config, 1).unwrap();
        assert_eq!(load.processes(), 8);
        for block in 0..200u64 {
            let request = take(&mut load, (block % 8) as u32, 1)[0];
            assert_eq!(request.range.offset_bytes, block % 64 * (16 << 10), "{mode}");
            assert_eq!(request.operation, if mode == FileioMode::SeqRd { Operation::Read } else { Operation::Write });
        }
    }
}

#[test]
fn own_regions_are_disjoint_and_each_thread_goes_around_in_its_own() {
    for mode in [FileioMode::SeqRd, FileioMode::SeqWr, FileioMode::SeqRewr] {
        // Five threads have twelve of 64 blocks each, and four are left over.
        for (threads, queue_depth) in [(5, 1), (5, 3), (1, 2), (64, 1)] {
            let config = FileioConfig { threads, queue_depth, own_regions: true, ..config(mode) };
            let region = 64 / u64::from(threads);
            let mut load = Fileio::new(config, 1).unwrap();
            let mut touched = std::collections::BTreeSet::new();
            // Threads at different speeds: a thread's position is nobody else's business.
            for thread in 0..threads {
                for turn in 0..region * u64::from(2 + thread % 3) {
                    let process = thread * queue_depth + turn as u32 % queue_depth;
                    let block = take(&mut load, process, 1)[0].range.offset_bytes / (16 << 10);
                    assert_eq!(block, u64::from(thread) * region + turn % region, "{mode} thread {thread}");
                    touched.insert(block);
                }
            }
            assert_eq!(touched.len() as u64, region * u64::from(threads));
            assert!(64 - touched.len() < threads as usize, "the remainder is less than a block for each thread");
        }
    }
}

#[test]
fn own_regions_change_nothing_for_random_modes_and_single_threads() {
    let cases = [(FileioMode::RndRw, 100), (FileioMode::RndWr, 4), (FileioMode::SeqRd, 1)];
    for (mode, threads) in cases {
        let requests = |own_regions| {
            let config = FileioConfig { threads, own_regions, ..config(mode) };
            take(&mut Fileio::new(config, 1).unwrap(), threads - 1, 200)
        };
        assert_eq!(requests(true), requests(false), "{mode}");
    }
}

#[test]
fn the_ratio_of_reads_to_writes_is_exact_for_each_thread() {
    for (rw_ratio, reads, writes) in [(1.5, 600, 400), (4.0, 800, 200), (0.25, 200, 800), (0.0, 0, 1_000)] {
        let config = FileioConfig { threads: 2, queue_depth: 4, rw_ratio, ..config(FileioMode::RndRw) };
        let mut load = Fileio::new(config, 1).unwrap();
        for thread in 0..2 {
            let all: Vec<Operation> = (0..1_000).map(|i| take(&mut load, thread * 4 + i % 4, 1)[0].operation).collect();
            let count = |op| all.iter().filter(|&&o| o == op).count() as i32;
            assert!((count(Operation::Read) - reads).abs() <= 1, "{rw_ratio}: {} reads", count(Operation::Read));
            assert!((count(Operation::Write) - writes).abs() <= 1, "{rw_ratio}: {} writes", count(Operation::Write));
        }
    }
}

#[test]
fn a_ratio_of_one_and_a_half_gives_sysbenchs_sequence() {
    let mut load = Fileio::new(config(FileioMode::RndRw), 1).unwrap();
    let ops: String =
        take(&mut load, 0, 10).iter().map(|r| if r.operation == Operation::Read { 'r' } else { 'w' }).collect();
    assert_eq!(ops, "rwrwrrwrwr");
}

#[test]
fn a_flush_follows_every_n_requests_of_all_threads() {
    let config = FileioConfig { threads: 3, fsync_every: 10, ..config(FileioMode::RndWr) };
    let mut load = Fileio::new(config, 1).unwrap();
    for i in 0..110u32 {
        let flush = take(&mut load, i % 3, 1)[0].operation == Operation::Flush;
        assert_eq!(flush, i % 11 == 10, "request {i}");
    }
}

#[test]
fn loads_that_only_read_never_flush() {
    for mode in [FileioMode::SeqRd, FileioMode::RndRd] {
        let config = FileioConfig { fsync_every: 3, fsync_all: true, ..config(mode) };
        let mut load = Fileio::new(config, 1).unwrap();
        assert!(take(&mut load, 0, 100).iter().all(|r| r.operation == Operation::Read));
    }
}

#[test]
fn fsync_all_flushes_after_each_write_of_the_same_thread() {
    let config = FileioConfig { threads: 2, fsync_all: true, fsync_every: 1, ..config(FileioMode::RndRw) };
    let mut load = Fileio::new(config, 1).unwrap();
    take(&mut load, 1, 1);
    let ops: Vec<Operation> = take(&mut load, 0, 100).iter().map(|r| r.operation).collect();
    for pair in ops.windows(2) {
        assert_eq!(pair[0] == Operation::Write, pair[1] == Operation::Flush, "{pair:?}");
    }
}

#[test]
fn requests_stay_in_the_file_and_cover_it() {
    for access in ["uniform", "zipf:0.99", "hot-cold:20/80"] {
        for (block_bytes, misalign_bytes) in [(512, 0), (16 << 10, 512), (4096, 2048), (12_288, 0)] {
            let config = FileioConfig {
                block_bytes,
                misalign_bytes,
                start_bytes: 7 << 20,
                file_bytes: 100_000,
                access: access.parse().unwrap(),
                ..config(FileioMode::RndWr)
            };
            let mut load = Fileio::new(config, 1).unwrap();
            let mut seen = std::collections::BTreeSet::new();
            for request in take(&mut load, 0, 20_000) {
                assert!(request.range.offset_bytes >= config.start_bytes);
                assert!(request.range.offset_bytes + u64::from(request.range.len_bytes) <= load.footprint_bytes());
                assert!(request.range.offset_bytes.is_multiple_of(512) && request.range.len_bytes == block_bytes);
                assert_eq!(
                    (request.range.offset_bytes - config.start_bytes) % u64::from(block_bytes),
                    u64::from(misalign_bytes) % u64::from(block_bytes)
                );
                seen.insert(request.range.offset_bytes);
            }
            assert_eq!(seen.len() as u64, config.blocks(), "{access} {block_bytes}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_requests_and_another_thread_changes_nobodys() {
    let config = FileioConfig { threads: 2, ..config(FileioMode::RndWr) };
    let requests = |threads, seed| {
        let mut load = Fileio::new(FileioConfig { threads, ..config }, seed).unwrap();
        [take(&mut load, 0, 50), take(&mut load, 1, 50)]
    };
    assert_eq!(requests(2, 1), requests(2, 1));
    assert_eq!(requests(2, 1), requests(3, 1));
    assert_ne!(requests(2, 1), requests(2, 2));
    let [first, second] = requests(2, 1);
    assert_ne!(first, second);
}

#[test]
fn think_time_goes_between_requests() {
    let config = FileioConfig { think_ns: 500, ..config(FileioMode::RndRd) };
    let mut load = Fileio::new(config, 1).unwrap();
    let mut wake = Vec::new();
    assert!(matches!(load.step(ProcessId(0), Time(0), &mut wake), Step::Io { .. }));
    assert_eq!(load.step(ProcessId(0), Time(100), &mut wake), Step::Sleep { until: Time(600) });
    assert!(matches!(load.step(ProcessId(0), Time(600), &mut wake), Step::Io { .. }));
    assert_eq!(load.step(ProcessId(0), Time(700), &mut wake), Step::Sleep { until: Time(1_200) });
}

#[test]
fn the_rate_holds_for_all_threads_together() {
    let config = FileioConfig { threads: 4, rate_iops: Some(1e6), ..config(FileioMode::RndRd) };
    let mut load = Fileio::new(config, 1).unwrap();
    let mut wake = Vec::new();
    // The first is due at once, the others one, two and three microseconds later.
    assert!(matches!(load.step(ProcessId(0), Time(0), &mut wake), Step::Io { .. }));
    for process in 1..4u32 {
        let until = Time(u64::from(process) * 1_000);
        assert_eq!(load.step(ProcessId(process), Time(0), &mut wake), Step::Sleep { until });
    }
    // Late: goes at once. Early: waits for its place.
    assert!(matches!(load.step(ProcessId(0), Time(4_500), &mut wake), Step::Io { .. }));
    assert_eq!(load.step(ProcessId(0), Time(4_600), &mut wake), Step::Sleep { until: Time(5_000) });
}

#[test]
fn a_request_says_when_it_was_due_by_the_rate_however_late_it_is_asked_for() {
    let config = FileioConfig { threads: 2, rate_iops: Some(1e6), fsync_every: 3, ..config(FileioMode::RndWr) };
    let mut load = Fileio::new(config, 1).unwrap();
    let mut wake = Vec::new();
    let mut due = |process, now| match load.step(ProcessId(process), Time(now), &mut wake) {
        Step::Io { due, .. } => due,
        Step::Sleep { until } => {
            assert!(matches!(load.step(ProcessId(1 - process), until, &mut wake), Step::Io { .. }));
            match load.step(ProcessId(process), until, &mut wake) {
                Step::Io { due, .. } => due,
                other => panic!("{other:?}"),
            }
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(due(0, 0), Some(Time(0)));
    // The device took 5.5 µs: the schedule went on without it.
    assert_eq!(due(0, 5_500), Some(Time(1_000)));
    assert_eq!(due(1, 5_600), Some(Time(2_000)));
    assert_eq!(due(0, 5_700), None, "a flush is on no schedule");
    for expected in [3_000, 4_000, 5_000] {
        assert_eq!(due(0, 5_800), Some(Time(expected)));
    }
}

#[test]
fn without_a_rate_nothing_is_due() {
    let config = FileioConfig { think_ns: 500, ..config(FileioMode::RndRd) };
    let mut load = Fileio::new(config, 1).unwrap();
    for now in [0, 600, 700, 1_300] {
        let step = load.step(ProcessId(0), Time(now), &mut Vec::new());
        assert!(matches!(step, Step::Io { due: None, .. } | Step::Sleep { .. }), "{step:?}");
    }
}

#[test]
fn flushes_take_no_place_in_the_rates_schedule() {
    let config = FileioConfig { rate_iops: Some(1e6), fsync_every: 2, ..config(FileioMode::RndWr) };
    let mut load = Fileio::new(config, 1).unwrap();
    let (mut now, mut wake, mut writes) = (Time::ZERO, Vec::new(), 0);
    while now < Time(1_000_000) {
        match load.step(ProcessId(0), now, &mut wake) {
            Step::Sleep { until } => now = until,
            Step::Io { request, .. } => writes += u32::from(request.operation == Operation::Write),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(writes, 1_000);
}

#[test]
fn a_wrong_parameter_is_named_with_its_value_and_range() {
    let good = FileioConfig::default();
    let cases = [
        (FileioConfig { block_bytes: 1000, ..good }, "block_bytes is 1000: must be a multiple of 512"),
        (FileioConfig { block_bytes: 0, ..good }, "block_bytes is 0: must be 512 to 67108864"),
        (FileioConfig { threads: 0, ..good }, "threads is 0: must be 1 to 65536"),
        (FileioConfig { threads: 64, queue_depth: 2_000, ..good }, "queue_depth is 2000: must be 1 to 1024"),
        (FileioConfig { start_bytes: 100, ..good }, "start_bytes is 100: must be a multiple of 512"),
        (FileioConfig { misalign_bytes: 100, ..good }, "misalign_bytes is 100: must be a multiple of 512"),
        (
            FileioConfig { file_bytes: 16_384, misalign_bytes: 512, ..good },
            "file_bytes is 16384: must be at least block_bytes + misalign_bytes, 16384 + 512",
        ),
        (
            FileioConfig { mode: FileioMode::SeqWr, threads: 65, own_regions: true, file_bytes: 1 << 20, ..good },
            "threads with own_regions is 65: must be 1 to 64",
        ),
        (FileioConfig { rw_ratio: -1.0, ..good }, "rw_ratio is -1: must be 0 to 1000000000"),
        (FileioConfig { rate_iops: Some(0.0), ..good }, "rate_iops is 0: must be 0.001 to 1000000000"),
        (FileioConfig { start_bytes: 1 << 63, ..good }, "footprint: start_bytes is 9223372036854775808"),
    ];
    for (config, message) in cases {
        let error = Fileio::new(config, 1).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    assert!(good.validate().is_ok());
}

#[test]
fn mode_names_are_sysbenchs() {
    for mode in FileioMode::ALL {
        assert_eq!(mode.to_string().parse::<FileioMode>().unwrap(), mode);
    }
    assert_eq!(FileioMode::NAMES, FileioMode::ALL.map(FileioMode::name).join(", "));
    assert_eq!(
        "rndrx".parse::<FileioMode>().unwrap_err().to_string(),
        "mode is `rndrx`: must be one of seqwr, seqrewr, seqrd, seqrw, rndrd, rndwr, rndrw"
    );
}

#[test]
fn reads_and_writes_of_a_sequential_mix_have_positions_of_their_own() {
    const BLOCKS: u64 = 8;
    let config = FileioConfig { rw_ratio: 3.0, threads: 2, file_bytes: BLOCKS << 14, ..config(FileioMode::SeqRw) };
    let mut load = Fileio::new(config, 1).unwrap();
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for i in 0..64 {
        let Step::Io { request, .. } = load.step(ProcessId(i % 2), Time::ZERO, &mut Vec::new()) else { panic!() };
        if request.operation == Operation::Read { &mut reads } else { &mut writes }
            .push(request.range.offset_bytes >> 14);
    }
    assert!((2.5..=3.5).contains(&(reads.len() as f64 / writes.len() as f64)), "{} and {}", reads.len(), writes.len());
    for blocks in [reads, writes] {
        let expected: Vec<u64> = (0..BLOCKS).cycle().take(blocks.len()).collect();
        assert_eq!(blocks, expected);
    }
}
