//! `flashrig whatif`: the table, CSV and JSON; what a search says; what is refused.

use crate::common::{command, json, run_in, succeed};
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

const SCHEMA: &str = include_str!("../../../../docs/whatif-result.schema.json");

const SMALL: &str = "--scale 1/4096 --seconds 0.05";
/// Disks have no scale.
const DISKS: &str = "--seconds 0.05";

/// Grids and searches that make every part of a result.
const LINES: &[&str] = &[
    "whatif tachion-200 --fill 50,100 --reserve 0,25 --threads 1,16",
    "whatif tachion-200 --load rndrw --read-percent 0,60,100 --block 4k,64k --vary ftl.victim=greedy,fifo",
    "whatif tachion-200 --load rndrd,seqrd --vary buffer.bytes=8MiB,16MiB --vary host.cores=1,4",
    "whatif tachion-200 --fill 20..100 --target-p99 100ms --reserve 0,20",
    "whatif tachion-200 --fill 50..60 --target-p99 1us",
    "whatif tachion-200 --threads 1..32 --min-mb-s 50",
    "whatif tachion-200 --reserve 0..40 --min-mb-s 1 --load rndwr",
    "whatif sas-raid10-6 --load rndrd --threads 1,8",
];

fn words(line: &str) -> Vec<&str> {
    let small = if line.contains("sas-raid10-6") { DISKS } else { SMALL };
    line.split(' ').chain(small.split(' ')).collect()
}

fn result(line: &str) -> Value {
    let mut words = words(line);
    words.extend(["--json", "-"]);
    json(&words)
}

#[test]
fn every_result_is_to_the_schema_and_every_table_fits() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for line in LINES {
        let result = result(line);
        let errors: Vec<String> =
            validator.iter_errors(&result).map(|e| format!("{} at {}", e, e.instance_path())).collect();
        assert!(errors.is_empty(), "{line}: {errors:#?}");
        let table = succeed(&words(line));
        assert!(table.lines().all(|line| line.chars().count() <= 80 && !line.ends_with(' ')), "{table}");
    }
}

#[test]
fn the_schema_refuses_what_no_result_has() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let good = result(LINES[3]);
    for (pointer, wrong) in [
        ("/points/0/answer/iops", json!("fast")),
        ("/points/0/answer/waf", json!(0)),
        ("/axes/0/unit", json!("furlongs")),
        ("/search/found/0/outcome", json!("lost")),
        ("/points/0", json!({ "at": {}, "user_bytes": 1, "used_bytes": 1 })),
        ("/schema", json!(2)),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = wrong;
        assert!(!validator.is_valid(&bad), "{pointer}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_one_core_as_on_all() {
    let words = words(LINES[0]);
    let all = succeed(&[words.as_slice(), &["--json", "-"]].concat());
    // taskset is in util-linux, which every Debian has.
    let mut one = Command::new("taskset");
    one.args(["-c", "0", env!("CARGO_BIN_EXE_flashrig")]).args(&words).args(["--json", "-"]);
    let one = one.output().expect("taskset starts");
    assert_eq!(String::from_utf8(one.stdout).unwrap(), all);
    let other = succeed(&[words.as_slice(), &["--json", "-", "--seed", "2"]].concat());
    assert_ne!(other, all);
}

#[test]
fn csv_has_a_row_for_each_point_with_the_figures_of_the_json() {
    let text = succeed(&[words(LINES[0]).as_slice(), &["--csv", "-"]].concat());
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let rows: Vec<Vec<&str>> = rows.collect();
    let result = result(LINES[0]);
    let points = result["points"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    let column = |name: &str| head.iter().position(|cell| *cell == name).unwrap_or_else(|| panic!("{name}: {head:?}"));
    for (row, point) in rows.iter().zip(points) {
        assert_eq!(row.len(), head.len());
        for key in ["fill", "reserve", "threads"] {
            assert_eq!(row[column(key)].parse::<f64>().unwrap(), point["at"][key].as_f64().unwrap());
        }
        assert_eq!(row[column("bw_bytes")].parse::<f64>().unwrap(), point["answer"]["bw_bytes"].as_f64().unwrap());
        assert_eq!(row[column("write_p99_ns")], point["answer"]["write_lat_ns"]["p99"].to_string());
        assert_eq!(row[column("read_p99_ns")], "");
    }
}

#[test]
fn a_search_says_what_holds_and_what_breaks_next_to_it() {
    // A bound that the card keeps when it is half full and breaks when it is full: between the two.
    let ends = result("whatif tachion-200 --fill 50,100");
    let mb_s = |i: usize| ends["points"][i]["answer"]["bw_bytes"].as_f64().unwrap() / 1e6;
    let bound = format!("{}", (mb_s(0) + mb_s(1)) / 2.0);
    let found = result(&format!("whatif tachion-200 --fill 50..100 --min-mb-s {bound}"));
    let search = &found["search"]["found"][0];
    let outcome = search["outcome"].as_str().unwrap();
    assert!(["found", "not_monotone"].contains(&outcome), "{search}");
    let (holds, breaks) = (search["holds"].as_f64().unwrap(), search["breaks"].as_f64().unwrap());
    assert_eq!(breaks - holds, 1.0);
    let at = |fill: f64| -> f64 {
        let points = found["points"].as_array().unwrap();
        let point = points.iter().find(|point| point["at"]["fill"].as_f64() == Some(fill)).unwrap();
        point["answer"]["bw_bytes"].as_f64().unwrap() / 1e6
    };
    let bound: f64 = bound.parse().unwrap();
    assert!(at(holds) >= bound && at(breaks) < bound, "{} {bound} {}", at(holds), at(breaks));
}

#[test]
fn no_value_and_every_value_are_said() {
    assert!(succeed(&words(LINES[4])).contains("no value that was tried holds"));
    let every = succeed(&words(LINES[6]));
    assert!(every.contains("every value that was tried holds") && every.contains("Smallest reserve"), "{every}");
}

#[test]
fn a_page_is_written_and_nothing_else_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let page = [words(LINES[0]).as_slice(), &["-o", "page.html"]].concat();
    let written = run_in(dir.path(), &page);
    assert!(written.status.success() && written.stderr.is_empty());
    let text = String::from_utf8(written.stdout).unwrap();
    assert!(text.ends_with("\npage:   page.html\n"), "{text}");
    let html = fs::read_to_string(dir.path().join("page.html")).unwrap();
    assert!(html.contains("class=\"heat") && html.contains(" · Flashrig</title>"));
    assert!(run_in(dir.path(), &page).status.success(), "a page takes the place of a page");
    fs::write(dir.path().join("page.html"), "<html>mine</html>").unwrap();
    let output = run_in(dir.path(), &page);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(dir.path().join("page.html")).unwrap(), "<html>mine</html>");
}

#[test]
fn ctrl_c_keeps_the_finished_points_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("result.json");
    let threads: String = (1..=900).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let child = command()
        .args(["whatif", "tachion-200", "--load", "rndrd", "--scale", "1/4096", "--seconds", "20"])
        .args(["--threads", &threads, "--json"])
        .arg(&path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    std::thread::sleep(Duration::from_secs(3));
    let sent = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let (text, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{text}{stderr}");
    assert!(text.contains("PARTIAL: stopped by Ctrl-C"), "{text}");
    let result: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(result["partial"], "stopped by Ctrl-C");
    assert!(result["points"].as_array().unwrap().len() < 900);
}
