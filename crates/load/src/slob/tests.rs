//! SLOB on a device of fixed latency.

use super::*;
use crate::testing::{Machine, run};
use crate::{Access, CacheConfig, LogConfig, LogSync};
use device::Operation;

const SECOND_NS: u64 = 1_000_000_000;

fn machine() -> Machine {
    Machine { read_ns: 100_000, write_ns: 50_000, flush_ns: 200_000, cores: None }
}

fn measure(config: SlobConfig, machine: Machine) -> SlobReport {
    let mut load = Slob::new(config, 1).unwrap();
    let trace = run(&mut load, machine, SECOND_NS / 4, SECOND_NS);
    assert!(trace.requests.iter().all(|r| r.request.range.len_bytes.is_multiple_of(512)));
    let Some(Application::Slob(report)) = load.report(trace.end) else { panic!("SLOB reports SLOB") };
    report
}

fn close(measured: f64, expected: f64, share: f64) {
    assert!((measured - expected).abs() <= share * expected.abs(), "{measured}, expected {expected}");
}

#[test]
fn readers_without_a_cache_read_once_for_each_latency_and_cpu_time() {
    let cache = CacheConfig { hit_ratio: Some(0.0), ..CacheConfig::default() };
    let report = measure(SlobConfig { readers: 4, cache, ..SlobConfig::default() }, machine());
    // 100 µs of latency and 10 µs of CPU.
    close(report.physical_reads_s, 4e9 / 110_000.0, 0.01);
    close(report.logical_reads_s, report.physical_reads_s, 0.001);
    close(report.read_bytes_s, report.physical_reads_s * 8192.0, 1e-9);
    assert_eq!(report.single_block_read_ns, 100_000.0);
    assert_eq!(report.top_wait, "db file sequential read");
    close(report.executes as f64, report.logical_reads_s / 64.0, 0.01);
    assert_eq!((report.physical_writes_s, report.redo_bytes_s, report.write_requests_s), (0.0, 0.0, 0.0));
}

#[test]
fn the_share_of_physical_reads_is_what_the_cache_does_not_hold() {
    // 8 sessions of 10,000 blocks: 80,000 blocks, of which the cache holds a quarter.
    let cache = CacheConfig { bytes: 20_000 * 8192, ..CacheConfig::default() };
    let report = measure(SlobConfig { readers: 8, cache, ..SlobConfig::default() }, machine());
    close(report.physical_reads_s / report.logical_reads_s, 0.75, 0.01);
}

#[test]
fn a_working_set_in_memory_is_cpu_and_nothing_else() {
    let cache = CacheConfig { bytes: 100_000 * 8192, ..CacheConfig::default() };
    let report = measure(SlobConfig { readers: 8, cache, ..SlobConfig::default() }, machine());
    assert_eq!(report.physical_reads_s, 0.0);
    close(report.logical_reads_s, 8.0 * 100_000.0, 0.01);
    assert_eq!(report.top_wait, "CPU");
}

#[test]
fn waiting_for_a_core_is_no_wait_for_a_read() {
    let cache = CacheConfig { hit_ratio: Some(0.0), ..CacheConfig::default() };
    let config = SlobConfig { readers: 32, cpu_per_logical_read_ns: 50_000, cache, ..SlobConfig::default() };
    let report = measure(config, Machine { cores: Some(4), ..machine() });
    // 4 cores at 50 µs for each logical read are the limit.
    close(report.logical_reads_s, 80_000.0, 0.01);
    assert_eq!(report.single_block_read_ns, 100_000.0);
}

#[test]
fn each_changed_block_is_written_once_in_equilibrium_and_makes_its_redo() {
    let cache = CacheConfig { hit_ratio: Some(0.0), ..CacheConfig::default() };
    let config = SlobConfig { readers: 0, writers: 8, cache, ..SlobConfig::default() };
    let report = measure(config, machine());
    close(report.physical_writes_s, report.physical_reads_s, 0.02);
    close(report.redo_bytes_s, report.physical_reads_s * 1024.0, 0.02);
    close(report.executes as f64, report.log_file_sync_waits as f64, 0.02);
    assert!(report.written_bytes_s >= report.physical_writes_s * 8192.0 + report.redo_bytes_s);
    // 64 reads at 100 µs each between two commits: the log writer keeps up.
    assert!((50_000.0..150_000.0).contains(&report.log_file_sync_ns), "{}", report.log_file_sync_ns);
}

#[test]
fn sessions_wait_for_free_buffers_when_the_writers_are_too_slow() {
    let cache = CacheConfig {
        hit_ratio: Some(0.5),
        bytes: 1_000 * 8192,
        db_writers: 1,
        writes_in_flight: 4,
        ..CacheConfig::default()
    };
    let config = SlobConfig { readers: 0, writers: 32, cache, ..SlobConfig::default() };
    let report = measure(config, Machine { write_ns: 400_000, ..machine() });
    // Four writes at a time of 400 µs each: 10,000 blocks a second, whatever the sessions could do.
    close(report.physical_writes_s, 10_000.0, 0.01);
    close(report.logical_reads_s, 10_000.0, 0.05);
    assert_eq!(report.top_wait, "free buffer waits");
}

#[test]
fn coalesced_writes_need_fewer_requests() {
    let coalesced = |write_coalescing_blocks| {
        let cache = CacheConfig { hit_ratio: Some(0.0), write_coalescing_blocks, ..CacheConfig::default() };
        measure(SlobConfig { readers: 0, writers: 8, cache, commit_every: 0, ..SlobConfig::default() }, machine())
    };
    let (single, four) = (coalesced(1.0), coalesced(4.0));
    close(four.physical_writes_s, single.physical_writes_s, 0.02);
    close(four.write_requests_s * 4.0, single.write_requests_s, 0.05);
}

#[test]
fn one_log_write_serves_many_sessions_that_commit() {
    let cache = CacheConfig { hit_ratio: Some(1.0), ..CacheConfig::default() };
    let config = SlobConfig {
        readers: 0,
        writers: 64,
        work_unit_blocks: 1,
        cache: CacheConfig { writes_in_flight: 512, ..cache },
        log: LogConfig { sync: LogSync::Flush, ..LogConfig::ORACLE },
        ..SlobConfig::default()
    };
    let report = measure(config, machine());
    let log_writes_s = report.write_requests_s - report.physical_writes_s;
    // The sessions fall into step: 30 µs of CPU, then one group of 250 µs for all 64.
    close(log_writes_s, 1e9 / 280_000.0, 0.01);
    close(report.executes as f64, 64.0 * log_writes_s, 0.01);
    assert_eq!(report.top_wait, "log file sync");
}

#[test]
fn a_commit_waits_for_the_group_under_way_and_its_own() {
    // One session alone: its commit is one log write, nothing else.
    let cache = CacheConfig { hit_ratio: Some(1.0), ..CacheConfig::default() };
    let config = SlobConfig { readers: 0, writers: 1, cache, ..SlobConfig::default() };
    assert_eq!(measure(config, machine()).log_file_sync_ns, 50_000.0);
}

#[test]
fn a_full_log_buffer_stops_sessions_that_never_commit() {
    let cache = CacheConfig { hit_ratio: Some(1.0), writes_in_flight: 512, ..CacheConfig::default() };
    let log = LogConfig { buffer_bytes: 64 << 10, max_write_bytes: 16 << 10, ..LogConfig::ORACLE };
    let config = SlobConfig { readers: 0, writers: 32, cache, log, commit_every: 0, ..SlobConfig::default() };
    let report = measure(config, Machine { write_ns: 1_000_000, ..machine() });
    // 16 KiB each millisecond.
    close(report.redo_bytes_s, 16384.0 * 1000.0, 0.1);
    assert_eq!(report.top_wait, "log buffer space");
}

#[test]
fn update_percent_is_the_share_of_a_writers_executions() {
    let cache = CacheConfig { hit_ratio: Some(0.9), ..CacheConfig::default() };
    let config = SlobConfig { readers: 0, writers: 8, update_percent: 25.0, cache, ..SlobConfig::default() };
    let report = measure(config, machine());
    close(report.log_file_sync_waits as f64 / report.executes as f64, 0.25, 0.1);
}

#[test]
fn sessions_touch_only_their_own_blocks_and_the_log_its_area() {
    let cache = CacheConfig { bytes: 100 * 8192, ..CacheConfig::default() };
    let config = SlobConfig {
        readers: 3,
        writers: 3,
        scale_blocks: 100,
        start_bytes: 1 << 20,
        access: Access::HotCold { hot_share_of_space: 0.1, share_of_accesses: 0.5 },
        cache,
        ..SlobConfig::default()
    };
    let mut load = Slob::new(config, 1).unwrap();
    let log_writer = load.processes() - 1;
    let trace = run(&mut load, machine(), 0, SECOND_NS / 4);
    let (range_bytes, data_end) = (100 * 8192, config.start_bytes + config.data_bytes());
    for traced in &trace.requests {
        let (process, request) = (traced.process.0, traced.request);
        let end = request.range.offset_bytes + u64::from(request.range.len_bytes);
        match request.operation {
            Operation::Read => {
                assert_eq!((request.range.offset_bytes - config.start_bytes) / range_bytes, u64::from(process));
                assert_eq!(request.range.len_bytes, 8192);
            }
            Operation::Write if process == log_writer => {
                assert!(request.range.offset_bytes >= data_end && end <= load.footprint_bytes() && request.fua);
            }
            Operation::Write => {
                assert!((6..log_writer).contains(&process));
                // Readers' blocks, the first half, are never written.
                assert!(request.range.offset_bytes >= config.start_bytes + 3 * range_bytes && end <= data_end);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_steps() {
    let config = SlobConfig { readers: 4, writers: 4, scale_blocks: 2_000, ..SlobConfig::default() };
    let config = SlobConfig { cache: CacheConfig { bytes: 4_000 * 8192, ..config.cache }, ..config };
    let trace = |seed| run(&mut Slob::new(config, seed).unwrap(), machine(), 0, SECOND_NS / 10).requests;
    assert_eq!(trace(1), trace(1));
    assert_ne!(trace(1), trace(2));
}

#[test]
fn figures_count_from_the_start_of_measurement() {
    let cache = CacheConfig { hit_ratio: Some(0.0), ..CacheConfig::default() };
    let config = SlobConfig { readers: 2, writers: 2, cache, ..SlobConfig::default() };
    let mut load = Slob::new(config, 1).unwrap();
    let trace = run(&mut load, machine(), SECOND_NS, SECOND_NS);
    let Some(Application::Slob(report)) = load.report(trace.end) else { panic!("SLOB reports SLOB") };
    assert_eq!(report.elapsed_s, 1.0);
    let finished =
        trace.requests.iter().filter(|r| r.request.operation == Operation::Read && r.end > Time(SECOND_NS)).count();
    assert_eq!(report.single_block_read_waits, finished as u64);
}

#[test]
fn a_wrong_parameter_is_named_with_its_value_and_range() {
    let good = SlobConfig::default();
    let cases = [
        (SlobConfig { readers: 0, ..good }, "readers + writers is 0: must be 1 to 16384"),
        (SlobConfig { scale_blocks: 0, ..good }, "scale_blocks is 0: must be 1 to 536870911"),
        (SlobConfig { block_bytes: 1000, ..good }, "block_bytes is 1000: must be a multiple of 512"),
        (SlobConfig { work_unit_blocks: 0, ..good }, "work_unit_blocks is 0: must be 1 to 1048576"),
        (SlobConfig { update_percent: 101.0, ..good }, "update_percent is 101: must be 0 to 100"),
        (SlobConfig { cpu_per_logical_read_ns: 0, ..good }, "cpu_per_logical_read_ns is 0: must be 1 to"),
        (SlobConfig { start_bytes: 1 << 63, ..good }, "footprint: start_bytes is"),
        (SlobConfig { cache: CacheConfig { db_writers: 0, ..good.cache }, ..good }, "cache.db_writers is 0: must be"),
        (SlobConfig { log: LogConfig { block_bytes: 500, ..good.log }, ..good }, "log.block_bytes is 500: must be"),
    ];
    for (config, message) in cases {
        let error = Slob::new(config, 1).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn cpu_time_and_waits_add_up_to_db_time() {
    // One buffer in a hundred may be unclean, and the log buffer holds sixteen updates.
    let cache = CacheConfig {
        bytes: 2_000 * 8192,
        dirty_start: 0.0,
        dirty_limit: 0.01,
        db_writers: 1,
        ..CacheConfig::default()
    };
    let log = LogConfig { buffer_bytes: 16 << 10, area_bytes: 1 << 20, ..LogConfig::ORACLE };
    let config = SlobConfig { readers: 4, writers: 12, scale_blocks: 1_000, cache, log, ..SlobConfig::default() };
    for cores in [None, Some(2)] {
        let report = measure(config, Machine { cores, write_ns: 400_000, ..machine() });
        let time = report.db_time.expect("DB time");
        // Sixteen sessions do nothing but work and wait for a second; what is under way is not counted yet.
        close(time.total_s, 16.0, 0.01);
        close(time.events.iter().map(|event| event.total_s).sum(), time.total_s, 1e-9);
        close(time.events.iter().map(|event| event.share).sum(), 1.0, 1e-9);
        let of = |name: &str| time.events.iter().find(|event| event.event == name);
        let read = of("db file sequential read").expect("reads");
        assert_eq!((read.waits, read.mean_ns), (report.single_block_read_waits, report.single_block_read_ns));
        let cpu_s = report.logical_reads_s * 10e-6 + report.redo_bytes_s / 1024.0 * 20e-6;
        close(of("DB CPU").expect("CPU time").total_s, cpu_s, 0.01);
        assert_eq!(of("waiting for CPU").is_some(), cores.is_some());
        assert!(of("free buffer waits").is_some() && of("log buffer space").is_some());
        // The log writer waits for its own requests.
        let [written] = &time.background[..] else { panic!("{:?}", time.background) };
        assert_eq!((written.event.as_str(), written.mean_ns), ("log file parallel write", 400_000.0));
        assert!(of("log file sync").expect("commits").mean_ns >= 200_000.0);
    }
}
