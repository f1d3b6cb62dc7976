//! OLTP 80/20 on a device of fixed latency.

use super::*;
use crate::testing::{Machine, run};
use crate::{CacheConfig, LogConfig};
use device::Operation;

const SECOND_NS: u64 = 1_000_000_000;

fn machine() -> Machine {
    Machine { read_ns: 100_000, write_ns: 50_000, flush_ns: 100_000, cores: None }
}

fn small() -> OltpConfig {
    let config = OltpConfig { db_bytes: 64 << 20, cpu_per_session_ns: 0, ..OltpConfig::default() };
    OltpConfig { cache: CacheConfig { bytes: 16 << 20, ..config.cache }, ..config }
}

fn measure(config: OltpConfig, machine: Machine) -> OltpReport {
    let mut load = Oltp::new(config, 1).unwrap();
    let trace = run(&mut load, machine, SECOND_NS / 2, 2 * SECOND_NS);
    let Some(Application::Oltp(report)) = load.report(trace.end) else { panic!("OLTP reports OLTP") };
    report
}

fn close(measured: f64, expected: f64, share: f64) {
    assert!((measured - expected).abs() <= share * expected.abs(), "{measured}, expected {expected}");
}

#[test]
fn four_of_five_transactions_select() {
    let report = measure(small(), machine());
    close(report.transactions["select"].tps / report.tps, 0.8, 0.02);
    close(report.transactions["insert"].tps / report.tps, 0.1, 0.05);
    close(report.transactions["update"].tps / report.tps, 0.1, 0.05);
}

#[test]
fn the_hit_ratio_is_the_cached_share_of_the_database() {
    let report = measure(small(), machine());
    close(report.buffer_hit_ratio, 0.25, 0.03);
    let touched_s = report.tps * (0.8 * 8.0 + 0.2 * 4.0);
    close(report.physical_reads_s, touched_s * (1.0 - report.buffer_hit_ratio), 0.02);
}

#[test]
fn a_stated_hit_ratio_is_kept() {
    let config = small();
    let config = OltpConfig { cache: CacheConfig { hit_ratio: Some(0.95), ..config.cache }, ..config };
    close(measure(config, machine()).buffer_hit_ratio, 0.95, 0.002);
}

#[test]
fn a_select_in_memory_takes_its_cpu_time_and_a_write_its_log_besides() {
    let config = small();
    let config = OltpConfig { sessions: 1, cache: CacheConfig { hit_ratio: Some(1.0), ..config.cache }, ..config };
    let report = measure(config, machine());
    let select = &report.transactions["select"].lat_ns;
    assert_eq!((select.min, select.max), (150_000, 150_000));
    let update = &report.transactions["update"].lat_ns;
    // 200 µs of CPU, 50 µs of log write, 100 µs of flush.
    assert_eq!((update.min, update.max), (350_000, 350_000));
}

#[test]
fn changed_pages_are_written_back_once_for_each_change_in_equilibrium() {
    let config = small();
    let config = OltpConfig { cache: CacheConfig { hit_ratio: Some(0.5), ..config.cache }, ..config };
    let report = measure(config, machine());
    let writes_s = report.transactions["insert"].tps + report.transactions["update"].tps;
    close(report.physical_writes_s, 2.0 * writes_s, 0.03);
    close(report.wal_bytes_s, 2_000.0 * writes_s, 0.01);
}

#[test]
fn more_sessions_help_until_their_snapshots_eat_the_cores() {
    let tps = |sessions| {
        let config = OltpConfig { sessions, cpu_per_session_ns: 5_000, ..small() };
        measure(config, Machine { cores: Some(8), ..machine() }).tps
    };
    let (one, eight, sixteen, all) = (tps(1), tps(8), tps(16), tps(200));
    assert!(eight > 5.0 * one, "{one} {eight}");
    assert!(all < 0.5 * sixteen, "{sixteen} {all}");
    // 8 cores at 160 µs and 200 snapshots of 5 µs.
    close(all, 8e9 / 1_160_000.0, 0.02);
}

#[test]
fn think_time_is_no_part_of_a_latency() {
    let config = small();
    let cache = CacheConfig { hit_ratio: Some(1.0), ..config.cache };
    let report = measure(OltpConfig { sessions: 10, think_ns: 10_000_000, cache, ..config }, machine());
    close(report.tps, 10.0 / 0.0102, 0.01);
    assert_eq!(report.transactions["select"].lat_ns.max, 150_000);
}

#[test]
fn a_log_flush_serves_many_commits() {
    let config = small();
    let config = OltpConfig { sessions: 100, select_percent: 0.0, ..config };
    let cache = CacheConfig { hit_ratio: Some(1.0), writes_in_flight: 256, ..config.cache };
    let mut load = Oltp::new(OltpConfig { cache, ..config }, 1).unwrap();
    let trace = run(&mut load, machine(), 0, SECOND_NS);
    let Some(Application::Oltp(report)) = load.report(trace.end) else { panic!("OLTP reports OLTP") };
    let flushes = trace.requests.iter().filter(|r| r.request.operation == Operation::Flush).count();
    assert!(report.tps > 40.0 * flushes as f64, "{} tps, {flushes} flushes", report.tps);
}

#[test]
fn every_session_that_was_parked_goes_on() {
    // A small cache, slow writes and a small log: sessions park for buffers, for log room and for commits.
    let config = small();
    let log = LogConfig { buffer_bytes: 32 << 10, ..config.log };
    for hit_ratio in [None, Some(0.7)] {
        let cache = CacheConfig { bytes: 1 << 20, hit_ratio, writes_in_flight: 2, ..config.cache };
        let mut load = Oltp::new(OltpConfig { sessions: 64, select_percent: 10.0, cache, log, ..config }, 1).unwrap();
        let trace = run(&mut load, Machine { write_ns: 1_000_000, ..machine() }, 0, 5 * SECOND_NS);
        for session in 0..64 {
            let last = trace.requests.iter().filter(|r| r.process == ProcessId(session)).map(|r| r.end).max();
            assert!(last.unwrap().0 > 4 * SECOND_NS, "session {session} was last seen at {last:?}");
        }
    }
}

#[test]
fn data_and_log_keep_to_their_areas() {
    let config = OltpConfig { start_bytes: 1 << 20, ..small() };
    let mut load = Oltp::new(config, 1).unwrap();
    let log_writer = load.processes() - 1;
    let data_end = config.start_bytes + config.db_bytes;
    for traced in run(&mut load, machine(), 0, SECOND_NS / 2).requests {
        let (request, end) =
            (traced.request, traced.request.range.offset_bytes + u64::from(traced.request.range.len_bytes));
        match request.operation {
            Operation::Flush => assert_eq!(traced.process.0, log_writer),
            Operation::Write if traced.process.0 == log_writer => {
                assert!(request.range.offset_bytes >= data_end && end <= config.footprint_bytes());
                assert!(
                    request.range.offset_bytes.is_multiple_of(8192) && request.range.len_bytes.is_multiple_of(8192)
                );
            }
            _ => assert!(request.range.offset_bytes >= config.start_bytes && end <= data_end),
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_steps_and_another_another() {
    let trace = |seed| run(&mut Oltp::new(small(), seed).unwrap(), machine(), 0, SECOND_NS / 10).requests;
    assert_eq!(trace(1), trace(1));
    assert_ne!(trace(1), trace(2));
}

#[test]
fn a_wrong_parameter_is_named_with_its_value_and_range() {
    let good = OltpConfig::default();
    let cases = [
        (OltpConfig { sessions: 0, ..good }, "sessions is 0: must be 1 to 16384"),
        (OltpConfig { insert_percent: 30.0, ..good }, "insert_percent is 30: must be 0 to 20"),
        (OltpConfig { page_bytes: 1000, ..good }, "page_bytes is 1000: must be a multiple of 512"),
        (OltpConfig { db_bytes: 100_000, ..good }, "db_bytes is 100000: must be a multiple of 8192"),
        (OltpConfig { changed_pages_per_write: 5, ..good }, "changed_pages_per_write is 5: must be 0 to 4"),
        (OltpConfig { cpu_per_select_ns: 0, ..good }, "cpu_per_select_ns is 0: must be 1 to"),
        (OltpConfig { start_bytes: 1 << 63, ..good }, "footprint: start_bytes is"),
    ];
    for (config, message) in cases {
        let error = Oltp::new(config, 1).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}
