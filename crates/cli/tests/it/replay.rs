//! `flashrig run --trace`: recorded requests on a modelled card.

use crate::common::{command, json, run, succeed};
use device::Operation;
use flate2::write::GzEncoder;
use load::trace::{Format, Record, Writer};
use serde_json::Value;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use tempfile::TempDir;

const SCHEMA: &str = include_str!("../../../../docs/run-result.schema.json");

/// A request each `gap_us`, in turn a read, a write, and where the format has them a trim and a flush.
fn requests(format: Format, count: u64, gap_us: u64) -> Vec<Record> {
    let plain = matches!(format, Format::Msr | Format::Systor | Format::Alibaba);
    let ops = if plain {
        &[Operation::Read, Operation::Write][..]
    } else {
        &[Operation::Read, Operation::Write, Operation::Trim, Operation::Flush]
    };
    (0..count)
        .map(|i| {
            let op = ops[i as usize % ops.len()];
            let (offset_bytes, len_bytes) =
                if op == Operation::Flush { (0, 0) } else { (i * 7919 % 4096 * 4096, 4096) };
            Record { at_ns: i * gap_us * 1000, op, fua: false, offset_bytes, len_bytes }
        })
        .collect()
}

fn write(path: &Path, format: Format, records: &[Record]) {
    let mut writer = Writer::new(File::create(path).unwrap(), format).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.finish().unwrap();
}

fn made(format: Format, count: u64, gap_us: u64) -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace");
    write(&path, format, &requests(format, count, gap_us));
    let path = path.to_str().unwrap().to_owned();
    (dir, path)
}

fn replay(path: &str, words: &str) -> Value {
    let line = format!("run tachion-400 --fresh --scale 1/256 --json - {words} --trace");
    let words: Vec<&str> = line.split_whitespace().chain([path]).collect();
    json(&words)
}

#[test]
fn every_format_is_replayed_and_its_result_is_to_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for format in Format::ALL {
        let (_dir, path) = made(format, 400, 200);
        let result = replay(&path, "--explain-tail");
        let errors: Vec<String> =
            validator.iter_errors(&result).map(|e| format!("{e} at {}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", format.name());
        assert_eq!(result["load"]["format"], format.name());
        assert_eq!(result["trace"]["requests"], 400);
        assert_eq!(result["trace"]["span_ns"], 399 * 200_000);
        // Every request of the trace was answered, and all but trims are in the figures.
        assert_eq!(result["sim"]["requests_finished"], 400);
        let measured = ["read", "write", "sync"].map(|class| result[class]["total_ios"].as_u64().unwrap());
        let kinds = ["reads", "writes", "flushes"].map(|kind| result["trace"][kind]["requests"].as_u64().unwrap());
        assert_eq!(measured, kinds, "{}", format.name());
    }
}

#[test]
fn recorded_times_are_kept_and_can_be_scaled() {
    let (_dir, path) = made(Format::Alibaba, 1000, 1000);
    let virtual_s = |words: &str| replay(&path, words)["sim"]["virtual_seconds"].as_f64().unwrap();
    assert!((0.999..1.01).contains(&virtual_s("")));
    assert!((0.4995..0.51).contains(&virtual_s("--speed 2x")));
    assert!((1.998..2.01).contains(&virtual_s("--speed 0.5x")));
    assert!(virtual_s("--speed max --depth 8") < 0.1);
    assert!((0.499..0.51).contains(&virtual_s("--requests 500")));
    assert_eq!(virtual_s("--seconds 0.25"), 0.25);
    let late = replay(&path, "--speed 100000x --depth 1");
    assert!(late["trace"]["behind"].as_u64().unwrap() > 990, "{}", late["trace"]);
    assert_eq!(late["trace"]["deepest"], 1);
    assert!(late["read"]["lat_ns"]["max"].as_u64() >= late["trace"]["behind_max_ns"].as_u64());
}

#[test]
fn an_iolog_without_times_is_asked_as_fast_as_it_goes() {
    let (_dir, path) = made(Format::FioV2, 400, 0);
    let result = replay(&path, "");
    assert_eq!((&result["load"]["speed"], &result["load"]["depth"]), (&"max".into(), &32.into()));
    assert_eq!(replay(&path, "--speed recorded")["load"]["speed"], "recorded");
}

#[test]
fn compressed_and_piped_traces_are_the_same_trace() {
    let (dir, path) = made(Format::Msr, 20_000, 50);
    let same = |result: Value| {
        let mut result = result;
        for key in ["load", "sim"] {
            result[key] = Value::Null;
        }
        result.to_string()
    };
    let plain = same(replay(&path, ""));
    let packed = dir.path().join("trace.packed");
    let text = fs::read(&path).unwrap();
    let mut encoder = GzEncoder::new(File::create(&packed).unwrap(), flate2::Compression::fast());
    encoder.write_all(&text).unwrap();
    encoder.finish().unwrap();
    let result = replay(packed.to_str().unwrap(), "");
    assert_eq!(result["load"]["compression"], "gzip");
    assert_eq!(same(result), plain);
    let words = "run tachion-400 --fresh --scale 1/256 --json - --trace -";
    let piped = command().args(words.split(' ')).stdin(File::open(&path).unwrap()).output().unwrap();
    assert!(piped.status.success());
    assert_eq!(same(serde_json::from_slice(&piped.stdout).unwrap()), plain);
}

#[test]
fn a_broken_line_ends_it_in_one_line_or_is_counted() {
    let (_dir, path) = made(Format::Msr, 10_000, 50);
    let mut lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    lines[6000] = lines[6000].replace("Read", "Raed");
    let earlier = lines[10].clone();
    lines[7000] = earlier;
    fs::write(&path, lines.join("\n")).unwrap();
    let refused = run(&["run", "tachion-400", "--fresh", "--scale", "1/256", "--trace", &path]);
    assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0));
    let expected = format!(
        "flashrig: error: {path}:6001:27: the type is 'Raed', must be Read or Write; --skip-bad skips and counts such \
         lines\n"
    );
    assert_eq!(String::from_utf8(refused.stderr).unwrap(), expected);
    let trace = replay(&path, "--skip-bad")["trace"].clone();
    assert_eq!((&trace["bad_lines"], &trace["backwards"], &trace["requests"]), (&1.into(), &1.into(), &9999.into()));
}

#[test]
fn what_cannot_be_replayed_is_said_in_one_line() {
    let (dir, path) = made(Format::FioV3, 10, 1);
    let other = dir.path().join("other");
    fs::write(&other, "neither\n").unwrap();
    let other = other.to_str().unwrap();
    let cases: &[(&str, &[&str], &str)] = &[
        ("/nowhere/at/all", &[], "can't be read: No such file"),
        (dir.path().to_str().unwrap(), &[], "is a directory"),
        (other, &[], "is no trace of a known format"),
        (other, &["--trace-format", "alibaba"], "other:1:8: the line ends before the opcode; --skip-bad"),
        (&path, &["--trace-volume", "nobody"], "has no request of volume 'nobody'"),
        (&path, &["--speed", "fast"], "'--speed <SPEED>': write recorded, max"),
        (&path, &["--depth", "0"], "'--depth <N>'"),
        (&path, &["--threads", "8"], "cannot be used with '--trace'"),
        (&path, &["--load", "rndwr"], "cannot be used with"),
    ];
    for (file, words, message) in cases {
        let all: Vec<&str> = ["run", "tachion-400", "--trace", file].iter().chain(*words).copied().collect();
        let refused = run(&all);
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0), "{all:?}");
        assert!(stderr.contains(message) && stderr.lines().count() == 1, "{all:?}: {stderr}");
    }
}

#[test]
fn a_week_with_long_pauses_is_over_at_once_and_has_few_rows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace");
    let records: Vec<Record> = requests(Format::Systor, 2000, 1)
        .iter()
        .enumerate()
        .map(|(i, r)| Record { at_ns: i as u64 * 302_400_000_000, ..*r })
        .collect();
    write(&path, Format::Systor, &records);
    let result = replay(path.to_str().unwrap(), "");
    let rows = result["series"].as_array().unwrap();
    assert!((1800..=3600).contains(&rows.len()), "{}", rows.len());
    let row_s = result["trace"]["series_row_s"].as_u64().unwrap();
    assert_eq!(rows[0]["t_s"], row_s as f64);
    let ios: f64 = rows.iter().map(|row| row["iops"].as_f64().unwrap() * row_s as f64).sum();
    // The last row is shorter.
    assert!((1999.0..2300.0).contains(&ios), "{ios}");
}

#[test]
fn the_table_keeps_to_80_columns_and_says_what_became_of_the_trace() {
    let (_dir, path) = made(Format::Blkparse, 400, 200);
    let table = succeed(&["run", "sas-raid10-6", "--trace", &path, "--depth", "4"]);
    // Lines of the file's own name apart.
    assert!(table.lines().all(|line| line.chars().count() <= 80 || line.contains('/')), "{table}");
    for words in ["100 trims of 409.6 kB", "100 flushes", "of 4 outstanding", "401 lines read: 1 ask nothing"] {
        assert!(table.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{words}: {table}");
    }
}
