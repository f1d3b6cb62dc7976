//! A replica on a device of fixed latency.

use super::*;
use crate::testing::{Machine, run};
use crate::{CacheConfig, TpccConfig};

const SECOND_NS: u64 = 1_000_000_000;

fn machine() -> Machine {
    Machine { read_ns: 100_000, write_ns: 50_000, flush_ns: 100_000, cores: None }
}

/// A replica of four warehouses behind a quarter of them.
fn small(master_tps: f64) -> ReplicaConfig {
    let master = TpccConfig { warehouses: 4, ..TpccConfig::default() };
    let cache = CacheConfig { bytes: 96 << 20, ..master.cache };
    ReplicaConfig { master: TpccConfig { cache, ..master }, master_tps, ..ReplicaConfig::default() }
}

fn measure(config: ReplicaConfig, machine: Machine) -> ReplicaReport {
    let mut load = ReplicaLoad::new(config, 1).unwrap();
    let trace = run(&mut load, machine, SECOND_NS, 5 * SECOND_NS);
    let Some(Application::Replica(report)) = load.report(trace.end) else { panic!("a replica reports one") };
    report
}

fn close(measured: f64, expected: f64, share: f64) {
    assert!((measured - expected).abs() <= share * expected.abs(), "{measured}, expected {expected}");
}

/// Far more than anyone can apply.
const ENDLESS: f64 = 1e6;

/// The rate of an applier that reads a page at a time.
fn serial_tps(report: &ReplicaReport, read_ns: u64) -> f64 {
    let read_ns = report.page_reads_per_transaction * read_ns as f64;
    let cpu_ns = 20_000.0 + 5_000.0 * report.pages_per_transaction;
    // Some of the master's transactions leave no log: those that read and those that were rolled back.
    let with_log = 0.45 * 0.99 + 0.43 + 0.04;
    1e9 / (read_ns + cpu_ns) / with_log
}

#[test]
fn a_serial_applier_is_as_fast_as_its_reads_and_its_cpu_time() {
    for read_ns in [20_000, 100_000, 5_000_000] {
        let report = measure(small(ENDLESS), Machine { read_ns, ..machine() });
        close(report.applied_tps, serial_tps(&report, read_ns), 0.02);
        close(report.capacity_tps, report.applied_tps, 1e-9);
        close(report.page_read_ns, read_ns as f64, 0.01);
        assert!(report.busy > 0.999 && (0.5..8.0).contains(&report.page_reads_per_transaction), "{report:?}");
        close(report.time_share.values().sum(), 1.0, 1e-9);
    }
}

#[test]
fn lag_grows_by_the_share_that_is_not_applied() {
    let capacity = measure(small(ENDLESS), machine()).capacity_tps;
    let report = measure(small(2.0 * capacity), machine());
    close(report.applied_tps, capacity, 0.02);
    let (first, last) = (report.lag[0], report.lag[report.lag.len() - 1]);
    close((last.lag_s - first.lag_s) / (last.t_s - first.t_s), 0.5, 0.05);
    assert!(report.lag.windows(2).all(|pair| pair[0].t_s < pair[1].t_s && pair[0].lag_s < pair[1].lag_s));
}

#[test]
fn a_replica_that_is_faster_than_its_master_waits_for_it() {
    let capacity = measure(small(ENDLESS), machine()).capacity_tps;
    let report = measure(small(capacity / 2.0), machine());
    close(report.applied_tps, capacity / 2.0, 0.02);
    close(report.busy, 0.5, 0.05);
    close(report.capacity_tps, capacity, 0.05);
    assert!(report.lag_ns.at(99.0) < 20_000_000, "{:?}", report.lag_ns);
    assert!(report.time_share["idle"] > 0.4);
}

#[test]
fn appliers_side_by_side_read_side_by_side() {
    let one = measure(small(ENDLESS), machine());
    for workers in [4, 16] {
        let many = measure(ReplicaConfig { workers, ..small(ENDLESS) }, machine());
        close(many.applied_tps, f64::from(workers) * serial_tps(&many, 100_000), 0.03);
        assert!(many.applied_tps > 0.95 * f64::from(workers) * one.applied_tps);
    }
}

#[test]
fn the_log_is_made_durable_as_it_arrives_even_where_it_is_not_applied() {
    let log_bytes = |read_ns| {
        let mut load = ReplicaLoad::new(small(1_000.0), 1).unwrap();
        let log_from = load.replica.config.master.data_bytes();
        let trace = run(&mut load, Machine { read_ns, ..machine() }, 0, 5 * SECOND_NS);
        let in_log = trace.requests.iter().filter(|r| r.request.range.offset_bytes >= log_from);
        in_log.map(|r| u64::from(r.request.range.len_bytes)).sum::<u64>() as f64
    };
    let (fast, slow) = (log_bytes(10_000), log_bytes(100_000_000));
    close(slow, fast, 0.01);
    // 3.6 KB of a transaction; the last page of each group is written again.
    let groups = 200.0 * 5.0;
    assert!((3_000.0 * 5_000.0..4_500.0 * 5_000.0 + groups * 16_384.0).contains(&fast), "{fast}");
}

#[test]
fn wrong_parameters_are_named() {
    let good = small(1_000.0);
    good.validate().unwrap();
    for (bad, expected) in [
        (ReplicaConfig { workers: 0, ..good }, "workers is 0: must be 1 to 1024"),
        (ReplicaConfig { master_tps: 0.0, ..good }, "master_tps is 0: must be"),
        (ReplicaConfig { cpu_per_transaction_ns: 0, ..good }, "cpu_per_transaction_ns is 0"),
        (ReplicaConfig { master: TpccConfig { warehouses: 0, ..good.master }, ..good }, "warehouses is 0"),
    ] {
        let message = bad.validate().unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}
