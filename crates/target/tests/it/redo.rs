//! Commits beside random reads, on a modelled card.

use crate::common::{assert_near, device, share_of};
use device::HostConfig;
use load::{LoadConfig, RedoConfig};
use results::RunResult;
use serde_json::Value;
use target::{Measure, RunSpec, Silent};

/// A log of 16 MiB and data up to half of the card.
fn run(measure: Measure, change: impl FnOnce(&mut RedoConfig)) -> RunResult {
    let device = device("iodrive-160-slc", 1.0 / 256.0);
    let log_area_bytes = 16 << 20;
    let data_bytes = share_of(&device, 0.5) - log_area_bytes;
    let mut config = RedoConfig { log_area_bytes, data_bytes, ..RedoConfig::default() };
    change(&mut config);
    let spec = RunSpec {
        device: &device,
        device_json: Value::Null,
        host: &HostConfig::UNLIMITED,
        host_json: Value::Null,
        load: &LoadConfig::Redo(config),
        fill: 0.5,
        seed: 1,
        measure,
        fresh: false,
        explain_tail: false,
        histograms: false,
    };
    target::run(&spec, &Silent).unwrap()
}

#[test]
fn reads_are_the_readers_and_writes_and_syncs_the_logs() {
    let result = run(Measure::Auto, |_| {});
    assert!(result.steady_state.unwrap().attained);
    assert_near(result.sync.total_ios as f64, result.write.total_ios as f64, 0.001);
    assert_eq!(result.write.io_bytes, result.write.total_ios * (16 << 10));
    assert_eq!(result.read.io_bytes, result.read.total_ios * 8192);
    assert!(result.read.total_ios > 0 && result.application.is_none());
    assert_eq!(result.load["kind"], "redo");
}

#[test]
fn a_read_takes_longer_beside_commits_and_a_commit_beside_reads() {
    let at = |rate: Option<f64>, readers: u32| {
        run(Measure::Seconds(1.0), |config| (config.log_rate_iops, config.readers) = (rate, readers))
    };
    // Few commits, so that it is the reads which they wait for, and not the cleaning up after other commits.
    let (quiet, beside) = (at(Some(100.0), 0), at(Some(100.0), 8));
    let commit_ns = |result: &RunResult| result.write.lat_ns.mean + result.sync.lat_ns.mean;
    assert_near(beside.write.iops, 100.0, 0.02);
    assert_eq!(quiet.read.total_ios, 0);
    assert!(commit_ns(&beside) > 1.02 * commit_ns(&quiet), "{} {}", commit_ns(&beside), commit_ns(&quiet));
    let busy = at(None, 8);
    assert!(busy.read.lat_ns.mean > 1.5 * beside.read.lat_ns.mean);
}
