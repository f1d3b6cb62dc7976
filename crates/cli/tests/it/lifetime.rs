//! `flashrig lifetime`: the table, CSV and JSON.

use crate::common::{json, succeed};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../../docs/lifetime-result.schema.json");

const LINES: &[&str] = &[
    "lifetime tachion-400 --per-day 2TB --reserve 0,25",
    "lifetime datacenter-tlc-3840 --load seqrewr --reserve 0 --years 3",
    "lifetime tachion-400 --load rndrw --access hot-cold:10/90 --fill 60% --reserve 10",
];

fn words(line: &str) -> Vec<&str> {
    line.split(' ').chain("--cycles 20 --scale 1/4096".split(' ')).collect()
}

fn result(line: &str) -> Value {
    let mut words = words(line);
    words.extend(["--json", "-"]);
    json(&words)
}

#[test]
fn every_life_is_to_the_schema_and_every_table_fits() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for line in LINES {
        let good = result(line);
        let errors: Vec<String> =
            validator.iter_errors(&good).map(|e| format!("{} at {}", e, e.instance_path())).collect();
        assert!(errors.is_empty(), "{line}: {errors:#?}");
        let table = succeed(&words(line));
        assert!(table.lines().all(|line| line.chars().count() <= 80 && !line.ends_with(' ')), "{table}");
        for (pointer, wrong) in
            [("/cases/0/waf", json!(0.0)), ("/cases/0/wear/p99", json!(null)), ("/schema", json!(2))]
        {
            let mut bad = good.clone();
            *bad.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = wrong;
            assert!(!validator.is_valid(&bad), "{pointer}");
        }
    }
}

#[test]
fn figures_fit_each_other() {
    let result = result(LINES[0]);
    let per_day = result["bytes_per_day"].as_f64().unwrap();
    assert_eq!(per_day, 2e12);
    for case in result["cases"].as_array().unwrap() {
        let of = |key: &str| case[key].as_f64().unwrap_or_else(|| panic!("{key}"));
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        close(of("years"), of("endurance_bytes") / per_day / 365.0);
        close(of("drive_writes_per_day"), of("endurance_bytes") / of("user_bytes") / (5.0 * 365.0));
        close(of("usd_per_gb") * of("user_bytes") / 1e9, of("usd_per_tb_written") * of("endurance_bytes") / 1e12);
        close(of("usd_per_iops") * of("iops"), of("usd_per_gb") * of("user_bytes") / 1e9);
        assert!(of("total_amplification") > of("waf"), "parity is paid for");
    }
}

#[test]
fn a_row_of_csv_for_each_moment_and_the_same_bytes_for_the_same_seed() {
    let lines = words(LINES[0]);
    let [a, b] = [0, 1].map(|_| succeed(&[lines.as_slice(), &["--csv", "-"]].concat()));
    assert_eq!(a, b);
    let result = result(LINES[0]);
    let moments: usize = result["cases"].as_array().unwrap().iter().map(|c| c["curve"].as_array().unwrap().len()).sum();
    let columns = a.lines().next().unwrap().split(',').count();
    assert_eq!(a.lines().count(), 1 + moments);
    assert!(a.lines().all(|line| line.split(',').count() == columns));
}
