//! Output of sysbench and pgbench from here, and of sysbench 0.4.12 from elsewhere, is read with its figures.

use import::{Problem, parse, parse_all, read, read_all};
use results::{Axis, ReviewResult};

const MIB: f64 = 1_048_576.0;

fn path(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn shape(review: &ReviewResult) -> Vec<(&str, Vec<f64>)> {
    review.sweeps.iter().map(|s| (s.name.as_str(), s.points.iter().map(|p| p.x).collect())).collect()
}

#[test]
fn runs_of_sysbench_1_become_sweeps_by_mode() {
    let review = read(path("sysbench-1.0.20.txt")).unwrap();
    assert_eq!(review.generator, "sysbench 1.0.20");
    let both = || vec![1.0, 4.0];
    assert_eq!(
        shape(&review),
        [
            ("threads-rndrd", both()),
            ("threads-rndwr", both()),
            ("threads-rndrw", both()),
            ("threads-seqrd", both()),
            ("threads-seqrewr", both())
        ]
    );
    let point = &review.sweep("threads-rndrd").unwrap().points[0];
    assert_eq!((point.seconds, point.read.iops, point.read.bw_bytes), (1.0001, 432_158.22, 6_752.47 * MIB));
    assert_eq!((point.read.lat_ns.max, point.read.lat_ns.n), (6_590_000, 432_559));
    assert_eq!(point.load["block_bytes"], 16_384);
    let mixed = &review.sweep("threads-rndrw").unwrap();
    assert!(mixed.note.contains("one latency for reads and writes together"));
    let point = &mixed.points[1];
    assert!(point.read.iops > 0.0 && point.write.iops > 0.0 && point.sync.iops > 0.0);
    assert_eq!((point.read.lat_ns.n, point.write.lat_ns.n), (0, 0), "it belongs to neither");
}

#[test]
fn intermediate_reports_become_a_series() {
    let review = read(path("sysbench-1.0.20-interval.txt")).unwrap();
    let point = &review.sweeps[0].points[0];
    assert_eq!(point.series.len(), 3);
    let row = point.series[1];
    assert_eq!((row.t_s, row.write_bw_bytes, row.read_bw_bytes), (2.0, 814.96 * MIB, 0.0));
    assert!((row.iops - (814.96 * MIB / 16_384.0 + 2_085.27)).abs() < 1e-6);
    assert_eq!(point.write.lat_ns.at(95.0), 10_000);
    assert!(review.sweeps[0].note.contains("latencies are of flushes too"));
}

#[test]
fn sysbench_of_2010_is_read() {
    let review = read(path("sysbench-0.4.12.txt")).unwrap();
    assert_eq!(review.generator, "sysbench 0.4.12");
    assert_eq!(shape(&review), [("threads-rndwr", vec![8.0]), ("threads-rndrw", vec![16.0])]);
    let write = &review.sweeps[0].points[0].write;
    assert_eq!((write.total_ios, write.iops, write.bw_bytes), (4_608_000, 25_600.0, 400.0 * MIB));
    assert_eq!((write.lat_ns.min, write.lat_ns.at(95.0), write.lat_ns.max), (50_000, 3_100_000, 300_120_000));
    let mixed = &review.sweeps[1].points[0];
    assert_eq!((mixed.read.iops, mixed.write.iops, mixed.sync.iops), (600.0, 400.0, 1_280.0));
}

#[test]
fn sysbench_1_1_and_0_5_are_read() {
    let head =
        "Running the test with following options:\nNumber of threads: 2\nBlock size 16KiB\nDoing random r/w test\n";
    let text = format!(
        "{head}Throughput:\n  read:  IOPS=600.00 9.38 MiB/s (9.83 MB/s)\n  write: IOPS=400.00 6.25 MiB/s (6.55 MB/s)\n  fsync: IOPS=12.50\nLatency (ms):\n  avg: 1.00\n total time: 10.0s\n"
    );
    let point = &parse("f", text.as_bytes()).unwrap().sweeps[0].points[0];
    assert_eq!((point.read.iops, point.write.bw_bytes, point.sync.total_ios), (600.0, 6.25 * MIB, 125));
    let text = format!(
        "{head}Operations performed:  6000 reads, 4000 writes, 12800 Other = 22800 Total\n    total time:   10.0s\n"
    );
    let point = &parse("f", text.as_bytes()).unwrap().sweeps[0].points[0];
    assert_eq!((point.read.total_ios, point.write.iops, point.sync.iops), (6_000, 400.0, 1_280.0));
}

#[test]
fn what_sysbench_left_out_or_broke_is_named_with_its_line() {
    let refused = |text: &str| parse("f", text.as_bytes()).unwrap_err().to_string();
    let head = "Running the test with following options:\n";
    assert_eq!(
        refused(&format!("{head}Number of threads: 1\nPrime numbers limit: 10000\ntotal time: 1s\n")),
        "f: is the output of another test of sysbench: only that of fileio can be compared"
    );
    assert_eq!(
        refused(&format!("\n{head}Doing random read test\ntotal time: 1s\n")),
        "f:2: the run that begins here does not say its number of threads: import all that sysbench printed"
    );
    assert_eq!(
        refused(&format!("{head}reads/s: many\n")),
        "f:2: reads/s is 'many', must be a number: write it again, it is broken"
    );
    assert_eq!(refused(head), "f: is the output of another test of sysbench: only that of fileio can be compared");
    assert!(refused(&format!("{head}Doing random read test\n")).contains("nothing was read or written"));
}

#[test]
fn logs_of_pgbenchs_threads_are_one_run() {
    let review = read_all(&[path("pgbench_log.1"), path("pgbench_log.1.1")]).unwrap();
    assert_eq!(shape(&review), [("transactions", vec![4.0])]);
    assert_eq!(review.started.as_deref(), Some("2026-11-21T11:06:45Z"));
    let sweep = &review.sweeps[0];
    let point = &sweep.points[0];
    assert_eq!((sweep.axis, point.load["kind"].as_str()), (Axis::Threads, Some("pgbench")));
    let lines: Vec<Vec<u64>> = ["pgbench_log.1", "pgbench_log.1.1"]
        .iter()
        .flat_map(|name| std::fs::read_to_string(path(name)).unwrap().lines().map(str::to_string).collect::<Vec<_>>())
        .map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect())
        .collect();
    let (n, us) = (lines.len() as u64, lines.iter().map(|line| line[2]));
    assert_eq!((point.write.total_ios, point.write.lat_ns.n, point.write.io_bytes), (n, n, 0));
    assert_eq!(point.write.lat_ns.max, us.clone().max().unwrap() * 1_000);
    assert!((point.write.lat_ns.mean - us.sum::<u64>() as f64 * 1e3 / n as f64).abs() < 1e-6);
    assert_eq!(point.write.histogram.as_ref().unwrap().total(), n);
    let ends = lines.iter().map(|line| line[4] * 1_000_000 + line[5]);
    let seconds = (ends.clone().max().unwrap() - lines.iter().map(|l| l[4] * 1_000_000 + l[5] - l[2]).min().unwrap())
        as f64
        / 1e6;
    assert!((point.seconds - seconds).abs() < 1e-9 && (point.write.iops - n as f64 / seconds).abs() < 1e-6);
    assert!(sweep.note.is_empty(), "{}", sweep.note);
}

#[test]
fn seconds_without_a_transaction_have_their_row() {
    let mut text = String::new();
    for (second, count) in [(10, 100), (11, 100), (13, 50)] {
        for i in 0..count {
            text += &format!("0 1 500 0 {} {}\n", 1_795_259_200 + second, (i + 1) * 1_000_000 / count - 1);
        }
    }
    let review = parse("f", text.as_bytes()).unwrap();
    let tps: Vec<f64> = review.sweeps[0].points[0].series.iter().map(|row| row.iops.round()).collect();
    assert_eq!(tps, [101.0, 100.0, 0.0, 50.0], "the first second has a part only");
}

#[test]
fn intervals_of_pgbenchs_threads_are_added() {
    let review = read_all(&[path("pgbench_log.interval"), path("pgbench_log.interval.1")]).unwrap();
    let point = &review.sweeps[0].points[0];
    // pgbench ran a part of the first second; four clients had a transaction under way all the time.
    assert_eq!((point.x, point.seconds, point.write.total_ios), (4.0, 2.0, 714 + 548 + 719 + 533));
    assert_eq!((point.write.lat_ns.min, point.write.lat_ns.max), (246_000, 34_278_000));
    assert!(
        (point.write.lat_ns.mean - 1e3 * (2_004_316 + 2_000_284 + 2_007_928 + 2_003_485) as f64 / 2_514.0).abs() < 1e-6
    );
    assert!(point.write.lat_ns.percentile.is_empty() && point.write.lat_ns.stddev > 0.0);
    let tps: Vec<f64> = point.series.iter().map(|row| row.iops).collect();
    assert_eq!(tps, [1_433.0, 1_081.0]);
}

#[test]
fn schedules_skips_and_samples_are_said() {
    let review = read(path("pgbench_log.rate")).unwrap();
    assert_eq!(review.sweeps[0].points[0].x, 4.0);
    read(path("pgbench_log.interval-rate")).unwrap();
    let text = "0 100 500 0 1795259200 1\n0 200 skipped 0 1795259201 1\n0 300 failed 0 1795259202 2\n";
    let note = parse("f", text.as_bytes()).unwrap().sweeps[0].note.clone();
    for said in ["1 transactions were skipped", "1 transactions failed", "3 of 300 transactions"] {
        assert!(note.contains(said), "{note}");
    }
}

#[test]
fn broken_and_foreign_logs_are_refused_with_their_line() {
    let refused = |files: &[(&str, &[u8])]| parse_all(files).unwrap_err().to_string();
    let good: &[u8] = b"0 1 500 0 1795259200 1\n0 2 500 0 1795259201 1\n";
    assert_eq!(
        refused(&[("a", b"0 1 500 0 1795259200 1\n0 2 50")]),
        "a:2: '0 2 50' is not a line of a log of transactions: is the file whole, and all of it by one pgbench?"
    );
    assert_eq!(
        refused(&[("a", good), ("b", b"0 1 500 0 1895259200 1\n")]),
        "b:1: lies 100,000,000 s from other lines, a run is taken to last at most 604,800: are all of one run?"
    );
    assert!(refused(&[("a", good), ("b", b"{}")]).starts_with("b: is no log of pgbench --log"));
    assert!(
        refused(&[("a", good), ("b", b"1795259208 9 112775 1703191327 4558 22188\n")])
            .starts_with("b:1: '1795259208 9")
    );
    assert!(matches!(parse("f", b"0 1 skipped 0 1795259200 1\n").unwrap_err().problem, Problem::NothingMeasured));
}
