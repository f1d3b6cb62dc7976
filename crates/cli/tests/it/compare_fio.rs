//! fio's results beside others: queue depths beside threads, and figures of the page cache that win nothing.

use crate::common::reviews::success;
use crate::common::run_in;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A result of fio: a group for each job, which writes 16 KiB at random with so many requests a second.
fn fio(dir: &Path, name: &str, jobs: &[(&str, u32, u32, f64)], direct: Option<&str>) {
    let jobs: Vec<Value> = jobs
        .iter()
        .zip(0..)
        .map(|(&(engine, copies, depth, iops), group)| {
            let mut options = json!({ "rw": "randwrite", "bs": "16k", "ioengine": engine,
                "numjobs": copies.to_string(), "iodepth": depth.to_string() });
            if let Some(direct) = direct {
                options["direct"] = direct.into();
            }
            let nothing = json!({ "io_bytes": 0, "bw_bytes": 0, "iops": 0, "runtime": 0, "total_ios": 0 });
            let write = json!({ "io_bytes": iops * 163_840.0, "bw_bytes": iops * 16_384.0, "iops": iops,
                "runtime": 10_000, "total_ios": iops * 10.0,
                "clat_ns": { "min": 1, "max": 9000, "mean": 500, "stddev": 1, "N": iops * 10.0,
                    "percentile": { "99.000000": 4000 } } });
            json!({ "jobname": format!("j{group}"), "groupid": group, "error": 0, "job options": options,
                "read": nothing, "write": write })
        })
        .collect();
    fs::write(dir.join(name), json!({ "fio version": "fio-3.33", "jobs": jobs }).to_string()).unwrap();
}

fn table(dir: &Path, results: &[&str]) -> Value {
    serde_json::from_str(&success(&run_in(dir, &[&["compare", "--json"], results].concat()))).unwrap()
}

fn values(table: &Value, group: &str, label: &str) -> Vec<Option<f64>> {
    let rows = table["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| {
        row["group"] == group && row["label"].as_str().unwrap().replace('\u{202f}', " ").starts_with(label)
    });
    let row = row.unwrap_or_else(|| panic!("{group}, {label}: {table}"));
    row["values"].as_array().unwrap().iter().map(Value::as_f64).collect()
}

#[test]
fn queues_of_one_result_stand_at_as_many_threads_of_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let sync = |threads: u32| ("psync", threads, 1, f64::from(threads) * 100.0);
    fio(dir.path(), "threads.json", &[sync(1), sync(16), sync(64)], Some("1"));
    // 16 outstanding twice: one queue of 16, and four of four, which stay on their own.
    let queues =
        [("libaio", 1, 1, 111.0), ("libaio", 1, 16, 1_111.0), ("libaio", 4, 4, 1_222.0), ("libaio", 4, 16, 6_666.0)];
    fio(dir.path(), "queues.json", &queues, Some("1"));
    for results in [["threads.json", "queues.json"], ["queues.json", "threads.json"]] {
        let table = table(dir.path(), &results);
        let of = |label: &str| {
            let mut values = values(&table, "Random writes", label);
            if results[0] == "queues.json" {
                values.reverse();
            }
            values
        };
        assert_eq!(of("1 threads, requests"), [Some(100.0), Some(111.0)]);
        assert_eq!(of("16 threads, requests"), [Some(1_600.0), Some(1_111.0)]);
        assert_eq!(of("64 threads, requests"), [Some(6_400.0), Some(6_666.0)]);
        let all: Vec<f64> = table["rows"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|row| {
                (row["unit"] == "bytes_per_second")
                    .then(|| row["values"].as_array().unwrap().iter().find_map(Value::as_f64))?
            })
            .collect();
        assert!(all.contains(&(1_222.0 * 16_384.0)), "no point is dropped: {all:?}");
    }
    // Among themselves they stay what they are: depths.
    let alone = success(&run_in(dir.path(), &["compare", "queues.json", "--all"]));
    assert!(alone.contains("outstanding") && !alone.contains("16 threads"), "{alone}");
    let page = ["compare", "threads.json", "queues.json", "-o", "page.html"];
    success(&run_in(dir.path(), &page));
    let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
    assert!(page.contains("iodepth times numjobs"), "the note says how they stand there");
}

#[test]
fn figures_of_the_page_cache_are_marked_and_are_nobodys_win() {
    let dir = tempfile::tempdir().unwrap();
    fio(dir.path(), "device.json", &[("psync", 16, 1, 1_000.0)], Some("1"));
    fio(dir.path(), "faster.json", &[("psync", 16, 1, 2_000.0)], Some("1"));
    for (name, direct) in [("default.json", None), ("said.json", Some("0"))] {
        fio(dir.path(), name, &[("psync", 16, 1, 90_000.0)], direct);
    }
    let classes = |results: &[&str]| {
        success(&run_in(dir.path(), &[&["compare"], results, &["-o", "page.html"]].concat()));
        let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
        ["better", "worse"].map(|class| page.matches(&format!("<td class=\"{class}\">")).count() > 0)
    };
    assert_eq!(classes(&["device.json", "faster.json"]), [true, false], "a fair win is one");
    for cached in ["default.json", "said.json"] {
        assert_eq!(classes(&["device.json", cached]), [false, false], "{cached}");
        assert_eq!(classes(&[cached, "device.json"]), [false, false], "{cached}");
        let text = success(&run_in(dir.path(), &["compare", "device.json", cached]));
        assert!(text.contains(" *") && text.contains("* buffered: fio asked without direct=1"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let table = table(dir.path(), &["device.json", cached]);
        assert_eq!(table["buffered"], json!([false, true]));
        assert!(table["devices"][1].as_str().unwrap().ends_with(" (buffered)"), "{table}");
    }
    let text = success(&run_in(dir.path(), &["compare", "device.json", "faster.json"]));
    assert!(!text.contains("buffered"), "{text}");
}
