//! Requests of each process of the redo load, on a device of fixed latency.

use super::*;
use crate::testing::{Machine, TracedRequest, run};
use device::Operation;
use std::collections::BTreeSet;

const KIB: u32 = 1 << 10;

/// Three logs of 64 KiB from 1 MiB on, then a MiB of data.
fn config() -> RedoConfig {
    RedoConfig {
        log_writers: 3,
        log_area_bytes: 64 << 10,
        readers: 4,
        data_bytes: 1 << 20,
        start_bytes: 1 << 20,
        ..RedoConfig::default()
    }
}

/// 10 ms; the machine checks that requests lie in the footprint, in multiples of 512.
fn trace(config: RedoConfig, seed: u64) -> Vec<TracedRequest> {
    let machine = Machine { read_ns: 20_000, write_ns: 10_000, flush_ns: 5_000, cores: None };
    run(&mut Redo::new(config, seed).unwrap(), machine, 0, 10_000_000).requests
}

fn of(trace: &[TracedRequest], process: u32) -> Vec<Request> {
    trace.iter().filter(|r| r.process == ProcessId(process)).map(|r| r.request).collect()
}

#[test]
fn each_log_writer_goes_around_in_its_own_area() {
    let config = config();
    let trace = trace(config, 1);
    for writer in 0..3 {
        let area = config.start_bytes + u64::from(writer) * config.log_area_bytes;
        let writes: Vec<Request> =
            of(&trace, 4 + writer).into_iter().filter(|r| r.operation == Operation::Write).collect();
        assert!(writes.len() > 100, "{}", writes.len());
        for (i, write) in writes.iter().enumerate() {
            assert_eq!((write.range.offset_bytes, write.range.len_bytes), (area + i as u64 % 4 * (16 << 10), 16 * KIB));
        }
    }
}

#[test]
fn a_flush_follows_each_log_write_if_the_log_is_synced() {
    for sync in [true, false] {
        let trace = trace(RedoConfig { sync, ..config() }, 1);
        for writer in 4..7 {
            let ops: Vec<Operation> = of(&trace, writer).iter().map(|r| r.operation).collect();
            assert_eq!(ops[0], Operation::Write);
            for pair in ops.windows(2) {
                assert_eq!(pair[1] == Operation::Flush, sync && pair[0] == Operation::Write, "{pair:?}");
            }
        }
    }
}

#[test]
fn readers_only_read_and_cover_the_data_behind_the_logs() {
    let config = RedoConfig { data_bytes: (1 << 20) + 5_000, ..config() };
    let trace = trace(config, 1);
    let mut blocks = BTreeSet::new();
    for request in (0..4).flat_map(|reader| of(&trace, reader)) {
        assert_eq!((request.operation, request.range.len_bytes), (Operation::Read, 8 * KIB));
        let in_data = request.range.offset_bytes.checked_sub((1 << 20) + 3 * (64 << 10)).expect("behind the logs");
        blocks.insert(in_data / 8192);
        assert!(in_data.is_multiple_of(8192));
    }
    assert_eq!(blocks, (0..128).collect(), "whole blocks only");
    let written = trace.iter().filter(|r| r.request.operation == Operation::Write);
    assert!(written.into_iter().all(|r| r.request.range.offset_bytes < config.data_start_bytes()));
}

#[test]
fn reads_follow_the_stated_pattern() {
    let trace = trace(RedoConfig { access: "hot-cold:25/100".parse().unwrap(), ..config() }, 1);
    let end_of_hot_bytes = config().data_start_bytes() + (256 << 10);
    let mut reads = trace.iter().filter(|r| r.request.operation == Operation::Read);
    assert!(reads.all(|r| r.request.range.offset_bytes < end_of_hot_bytes));
}

#[test]
fn the_same_seed_gives_the_same_requests_and_another_process_changes_nobodys() {
    assert_eq!(trace(config(), 1), trace(config(), 1));
    let reads = |config: RedoConfig, seed: u64, reader: u32| -> Vec<u64> {
        of(&trace(config, seed), reader).iter().map(|r| r.range.offset_bytes - config.data_start_bytes()).collect()
    };
    for reader in 0..4 {
        let alone = reads(config(), 1, reader);
        assert_eq!(alone, reads(RedoConfig { readers: 9, ..config() }, 1, reader));
        assert_eq!(alone, reads(RedoConfig { log_writers: 8, ..config() }, 1, reader));
        assert_ne!(alone, reads(config(), 2, reader));
        assert_ne!(alone, reads(config(), 1, (reader + 1) % 4));
    }
    let one_more = trace(RedoConfig { readers: 5, ..config() }, 1);
    assert_eq!(of(&trace(config(), 1), 4), of(&one_more, 5), "the first log writer's");
}

#[test]
fn a_log_without_readers_needs_no_data() {
    let trace = trace(RedoConfig { readers: 0, data_bytes: 0, ..config() }, 1);
    assert!(!trace.is_empty() && trace.iter().all(|r| r.request.operation != Operation::Read));
}

#[test]
fn the_log_rate_holds_for_all_writers_together_and_says_when_a_write_was_due() {
    let config = RedoConfig { log_rate_iops: Some(50_000.0), ..config() };
    let writes = |config| trace(config, 1).iter().filter(|r| r.request.operation == Operation::Write).count();
    assert!((498..=500).contains(&writes(config)), "{}", writes(config));
    let reads = |config| trace(config, 1).iter().filter(|r| r.request.operation == Operation::Read).count();
    assert_eq!(reads(config), reads(RedoConfig { log_rate_iops: None, ..config }), "readers have no rate");

    let mut load = Redo::new(RedoConfig { readers: 0, ..config }, 1).unwrap();
    let mut step = |process, now| load.step(ProcessId(process), Time(now), &mut Vec::new());
    let due =
        |step| if let Step::Io { due, request, .. } = step { (due, request.operation) } else { panic!("{step:?}") };
    assert_eq!(due(step(0, 0)), (Some(Time(0)), Operation::Write));
    assert_eq!(step(1, 0), Step::Sleep { until: Time(20_000) });
    assert_eq!(due(step(1, 20_000)), (Some(Time(20_000)), Operation::Write));
    assert_eq!(due(step(0, 90_000)), (None, Operation::Flush));
    assert_eq!(due(step(0, 95_000)), (Some(Time(40_000)), Operation::Write), "late");
}

#[test]
fn a_wrong_parameter_is_named_with_its_value_and_range() {
    let good = RedoConfig::default();
    let cases = [
        (RedoConfig { log_writers: 0, ..good }, "log_writers is 0: must be 1 to 65536"),
        (RedoConfig { log_writers: 0, readers: 0, ..good }, "log_writers is 0: must be 1 to 65536"),
        (RedoConfig { log_writers: 60_000, readers: 6_000, ..good }, "readers is 6000: must be 0 to 5536"),
        (RedoConfig { log_block_bytes: 2 << 20, ..good }, "log_block_bytes is 2097152: must be 512 to 1048576"),
        (RedoConfig { log_block_bytes: 1000, ..good }, "log_block_bytes is 1000: must be a multiple of 512"),
        (RedoConfig { log_area_bytes: 8192, ..good }, "log_area_bytes is 8192: must be 16384 to"),
        (RedoConfig { log_area_bytes: 50_000, ..good }, "log_area_bytes is 50000: must be a multiple of 16384"),
        (RedoConfig { log_rate_iops: Some(f64::NAN), ..good }, "log_rate_iops is NaN: must be 0.001 to 1000000000"),
        (RedoConfig { read_block_bytes: 0, ..good }, "read_block_bytes is 0: must be 512 to 67108864"),
        (RedoConfig { data_bytes: 8191, ..good }, "data_bytes is 8191: must be 8192 to"),
        (RedoConfig { start_bytes: 100, ..good }, "start_bytes is 100: must be a multiple of 512"),
        (RedoConfig { start_bytes: 1 << 63, ..good }, "footprint: start_bytes is 9223372036854775808"),
        (
            RedoConfig { log_writers: 1 << 16, readers: 0, log_area_bytes: 1 << 46, start_bytes: 1 << 62, ..good },
            "footprint: start_bytes is",
        ),
    ];
    for (config, message) in cases {
        let error = Redo::new(config, 1).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    assert!(good.validate().is_ok());
}
