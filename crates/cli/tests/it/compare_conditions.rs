//! A benchmark that fails when its figures get worse: conditions, repeats, exit status and JUnit's XML.

use crate::common::reviews::{refusal, success};
use crate::common::run_in;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// Results of fio with one random write job of 4 KiB each: requests a second, and the 99th percentile in nanoseconds.
fn fio(dir: &Path, name: &str, iops: f64, p99_ns: u64) {
    let side = |used: bool| {
        let n = if used { iops * 10.0 } else { 0.0 };
        let latency = json!({ "min": 1000, "max": p99_ns * 2, "mean": p99_ns / 2, "stddev": 10, "N": n,
            "percentile": { "99.000000": p99_ns } });
        json!({ "io_bytes": n * 4096.0, "bw_bytes": iops * 4096.0, "iops": if used { iops } else { 0.0 },
            "runtime": 10_000, "total_ios": n, "clat_ns": if used { latency } else { json!({ "min": 0, "max": 0, "mean": 0, "stddev": 0, "N": 0 }) } })
    };
    let file = json!({
        "fio version": "fio-3.33",
        "jobs": [{
            "jobname": "j", "groupid": 0, "error": 0,
            "job options": { "rw": "randwrite", "bs": "4k", "ioengine": "psync", "direct": "1", "numjobs": "4" },
            "read": side(false), "write": side(true),
        }],
    });
    fs::write(dir.join(name), file.to_string()).unwrap();
}

/// A folder before/ with figures, and after/ with others.
fn folders(before: &[(f64, u64)], after: &[(f64, u64)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (side, figures) in [("before", before), ("after", after)] {
        fs::create_dir(dir.path().join(side)).unwrap();
        for (i, &(iops, p99_ns)) in figures.iter().enumerate() {
            fio(&dir.path().join(side), &format!("{i}.json"), iops, p99_ns);
        }
    }
    dir
}

fn compare(dir: &TempDir, more: &[&str]) -> Output {
    run_in(dir.path(), &[&["compare", "before", "after"], more].concat())
}

fn status(output: &Output) -> i32 {
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    output.status.code().unwrap()
}

fn judged(dir: &TempDir, conditions: &[&str]) -> (i32, Value) {
    let words: Vec<&str> = conditions.iter().flat_map(|condition| ["--fail-if", condition]).chain(["--json"]).collect();
    let output = compare(dir, &words);
    (status(&output), serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn a_figure_beyond_its_limit_ends_with_status_1_and_one_within_with_0() {
    let dir = folders(&[(10_000.0, 100_000)], &[(9_000.0, 112_000)]);
    for (condition, fails) in [
        ("p99>+10%", true),
        ("p99>+12%", false),
        ("p99>+13%", false),
        ("write.p99>+10%", true),
        ("iops<-5%", true),
        ("iops<-10%", false),
        ("iops<-15%", false),
        ("iops>+5%", false),
        ("bw<-9%", true),
        ("write.iops<-5%", true),
        ("threads-rndwr@4:p99>+10%", true),
        ("p99>111us", true),
        ("p99>112us", false),
        ("iops<9001", true),
        ("iops<9k", false),
        ("bw<37MB/s", true),
        ("mean>+11%", true),
        ("max>223us", true),
    ] {
        let (code, told) = judged(&dir, &[condition]);
        assert_eq!(code, i32::from(fails), "{condition}: {}", told["conditions"]);
        let figures = told["conditions"][0]["figures"].as_array().unwrap();
        assert_eq!(figures.len(), 1, "{condition}: {figures:?}");
        assert_eq!(figures[0]["outcome"], if fails { "failed" } else { "kept" }, "{condition}");
        assert!(figures[0]["interval"].is_null(), "nothing was repeated");
    }
    // One of several is enough, and each is told.
    let output = compare(&dir, &["--fail-if", "p99>+50%", "--fail-if", "iops<-5%"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(status(&output), 1);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("--fail-if 'p99>+50%': kept, 1 figure; nearest to its limit:"), "{text}");
    assert!(text.contains("--fail-if 'iops<-5%': FAILED at 1 of 1 figure"), "{text}");
    assert!(text.contains("10,000 IOPS, then 9,000 IOPS, -10 %"), "{text}");
    assert!(text.contains("100 µs, then 112 µs, +12 %"), "{text}");
}

#[test]
fn a_change_within_the_scatter_of_repeats_fails_nothing_and_is_called_unsure() {
    // 13 % slower in the middle; the first two sides scatter by 2 %, the second two by half.
    let tight = folders(
        &[(10_000.0, 98_000), (10_000.0, 100_000), (10_000.0, 102_000)],
        &[(10_000.0, 111_000), (10_000.0, 113_000), (10_000.0, 115_000)],
    );
    let loose = folders(
        &[(10_000.0, 60_000), (10_000.0, 100_000), (10_000.0, 150_000)],
        &[(10_000.0, 70_000), (10_000.0, 113_000), (10_000.0, 180_000)],
    );
    let (code, told) = judged(&tight, &["p99>+5%"]);
    assert_eq!((code, &told["repeats"]), (1, &json!([3, 3])));
    let figure = &told["conditions"][0]["figures"][0];
    // By hand: means of the logarithms are ln 99,986.7 and ln 112,988.2, variances 4.0012e-4 and 3.1333e-4,
    // so the error is sqrt((4.0012e-4 + 3.1333e-4) / 3) = 0.015421, with 3.94 degrees of freedom: t = 2.793.
    let ends = figure["interval"].as_array().unwrap();
    for (found, by_hand) in [(&figure["change_percent"], 13.003), (&ends[0], 8.240), (&ends[1], 17.976)] {
        assert!((found.as_f64().unwrap() - by_hand).abs() < 0.002, "{figure}");
    }
    assert_eq!(judged(&tight, &["p99>+20%"]).0, 0);
    let (code, told) = judged(&loose, &["p99>+5%"]);
    assert_eq!((code, &told["conditions"][0]["figures"][0]["outcome"]), (0, &json!("unsure")));
    let output = compare(&loose, &["--fail-if", "p99>+5%"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.contains("unsure at 1 of 1: more repeats would tell"), "{text}");
    assert!(text.contains("Geometric means of 3 and 3 repeats"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // Named files are repeats as folders are, and the order of the words does not matter within a side.
    let words =
        ["compare", "b=before/0.json", "a=after/2.json", "b=before/1.json", "a=after/0.json", "b=before/2.json"];
    let output = run_in(tight.path(), &[&words[..], &["a=after/1.json", "--fail-if", "p99>+5%", "--json"]].concat());
    let by_name: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (_, by_folder) = judged(&tight, &["p99>+5%"]);
    assert_eq!((status(&output), &by_name["devices"]), (1, &json!(["b", "a"])));
    let near = |pointer: &str| {
        let of = |told: &Value| told.pointer(pointer).unwrap().as_f64().unwrap();
        assert!((of(&by_name) - of(&by_folder)).abs() < 1e-6, "{pointer}");
    };
    near("/conditions/0/figures/0/change_percent");
    near("/conditions/0/figures/0/interval/0");
}

#[test]
fn a_condition_that_could_never_fail_is_refused() {
    let dir = folders(&[(10_000.0, 100_000)], &[(9_000.0, 112_000)]);
    for (condition, says) in [
        ("p99>10%", "a change has its sign"),
        ("p98>+10%", "the figure is iops"),
        ("p99>+10", "a time with its unit"),
        ("p99", "write a figure, < or >"),
        ("reads.p99>+1%", "read, write or sync"),
        ("read.p99>+10%", "no figure of the results is meant by it"),
        ("threads-rndrd:p99>+10%", "no figure of the results is meant by it"),
        ("threads-rndwr@5:p99>+10%", "no figure of the results is meant by it"),
        ("p50>+10%", "no figure of the results is meant by it"),
    ] {
        let line = refusal(&compare(&dir, &["--fail-if", condition]));
        assert!(line.contains(says) && line.contains(condition), "{condition}: {line}");
    }
    let alone = run_in(dir.path(), &["compare", "before", "--fail-if", "p99>+10%"]);
    assert!(refusal(&alone).contains("two results"));
    let limit = run_in(dir.path(), &["compare", "before", "--fail-if", "p99>90us"]);
    assert_eq!(status(&limit), 1, "a limit needs one result only");
    fs::create_dir(dir.path().join("empty")).unwrap();
    assert!(refusal(&run_in(dir.path(), &["compare", "empty", "after"])).contains("no results (.json)"));
    // Another block size is another figure.
    let other = fs::read_to_string(dir.path().join("after/0.json")).unwrap().replace("\"4k\"", "\"8k\"");
    fs::write(dir.path().join("other.json"), other).unwrap();
    let line = refusal(&run_in(dir.path(), &["compare", "before", "other.json", "--fail-if", "p99>+10%"]));
    assert!(line.contains("no point in common"), "{line}");
    let line = refusal(&compare(&dir, &["--junit", "a.xml"]));
    assert!(line.contains("--fail-if"), "{line}");
    let words = ["compare", "before/0.json", "after", "--fail-if", "p99>+1%", "--junit", "before/0.json"];
    assert!(refusal(&run_in(dir.path(), &words)).contains("takes the place of none of the results"));
}

#[test]
fn a_build_server_gets_a_case_for_each_figure() {
    let dir = folders(&[(10_000.0, 100_000)], &[(9_000.0, 112_000)]);
    fs::rename(dir.path().join("after/0.json"), dir.path().join("after/a<b>&\"c\u{1b}.json")).unwrap();
    let output = compare(
        &dir,
        &["--fail-if", "p99>+10%", "--fail-if", "iops<-50%", "--fail-if", "max>+1%", "--junit", "result.xml"],
    );
    assert_eq!(status(&output), 1);
    let xml = fs::read_to_string(dir.path().join("result.xml")).unwrap();
    let document = roxmltree::Document::parse(&xml).unwrap();
    let root = document.root_element();
    assert_eq!((root.attribute("tests"), root.attribute("failures")), (Some("3"), Some("2")));
    let suites: Vec<_> = root.children().filter(|node| node.has_tag_name("testsuite")).collect();
    assert_eq!(suites.len(), 3);
    for (suite, failures) in suites.iter().zip(["1", "0", "1"]) {
        assert_eq!((suite.attribute("tests"), suite.attribute("failures")), (Some("1"), Some(failures)), "{xml}");
        let found = suite.descendants().filter(|node| node.has_tag_name("failure")).count();
        assert_eq!(found.to_string(), failures, "{xml}");
        for case in suite.children().filter(|node| node.has_tag_name("testcase")) {
            assert!(case.attribute("classname").unwrap().ends_with(".threads-rndwr"), "{xml}");
            assert!(case.attribute("name").unwrap().starts_with("4 threads, "), "{xml}");
        }
    }
    assert_eq!(suites[0].attribute("name"), Some("fail if p99>+10%"));
    let failure = suites[0].descendants().find(|node| node.has_tag_name("failure")).unwrap();
    assert!(failure.attribute("message").unwrap().contains("+12 %"), "{xml}");
}

#[test]
fn repeats_of_a_model_are_the_same_to_the_last_digit_and_leave_no_doubt() {
    let dir = tempfile::tempdir().unwrap();
    let review = ["review", "tachion-400", "--quick", "--scale", "1/256", "--only", "threads", "--json"];
    let text = success(&run_in(dir.path(), &review));
    for name in ["1", "2", "3", "4"] {
        fs::write(dir.path().join(format!("{name}.json")), &text).unwrap();
    }
    let sides = ["a=1.json", "a=2.json", "b=3.json", "b=4.json"];
    let conditions = ["--fail-if", "p99>+0%", "--fail-if", "iops<-0%", "--fail-if", "p99.9>+0%"];
    let output = run_in(dir.path(), &[&["compare"], &sides[..], &conditions].concat());
    assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stdout));
    let mut slower: Value = serde_json::from_str(&text).unwrap();
    for sweep in slower["sweeps"].as_array_mut().unwrap() {
        for point in sweep["points"].as_array_mut().unwrap() {
            for class in ["read", "write"] {
                let iops = point[class]["iops"].as_f64().unwrap();
                point[class]["iops"] = json!(iops * 0.99);
            }
        }
    }
    for name in ["3", "4"] {
        fs::write(dir.path().join(format!("{name}.json")), slower.to_string()).unwrap();
    }
    let output = run_in(dir.path(), &[&["compare"], &sides[..], &["--fail-if", "iops<-0.5%"]].concat());
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(status(&output), 1, "{told}");
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("FAILED at 20 of 20") && words.contains("-1.0 % (95 %: -1.0…-1.0 %)"), "{told}");
}
