//! A review's points as jobs of fio: fio takes them, and measures what the review measured.

use crate::common::reviews::{disk_folder, entries, read_json, refusal, success};
use crate::common::run_in;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn jobs(dir: &Path) -> Vec<PathBuf> {
    let names = entries(dir).into_iter();
    names.filter(|name| name.ends_with(".fio")).map(|name| dir.join(name)).collect()
}

fn fio(dir: &Path, target: &str, words: &[&str]) -> Output {
    let mut fio = Command::new("fio");
    fio.current_dir(dir).env("TARGET", target).args(words).output().expect("fio is installed (make test installs it)")
}

/// The value of an option in a job.
fn option(text: &str, job: &str, name: &str) -> Option<String> {
    let section = text.split(&format!("[{job}]\n")).nth(1)?.split("\n[").next()?;
    section.lines().find_map(|line| line.strip_prefix(&format!("{name}="))).map(str::to_owned)
}

#[test]
fn fio_takes_the_jobs_of_every_phase_of_a_review() {
    let dir = tempfile::tempdir().unwrap();
    let review = ["review", "tachion-400", "--quick", "--scale", "1/256", "--export-fio", "jobs"];
    let text = success(&run_in(dir.path(), &review));
    assert!(text.lines().any(|line| line.starts_with("fio:    14 job files in jobs")), "{text}");
    let folder = dir.path().join("jobs");
    let files = jobs(&folder);
    let result = read_json(&dir.path().join("tachion-400.json"));
    for sweep in result["sweeps"].as_array().unwrap() {
        let name = sweep["name"].as_str().unwrap();
        let text = fs::read_to_string(folder.join(format!("{name}.fio"))).unwrap();
        for point in sweep["points"].as_array().unwrap() {
            let job = format!("{name}-{}", (point["x"].as_f64().unwrap() * 10.0).round() / 10.0);
            let load = &point["load"];
            if name == "redo" {
                assert_eq!(option(&text, &format!("{job}-log"), "fdatasync").as_deref(), Some("1"));
                continue;
            }
            let of = |option_name| option(&text, &job, option_name).unwrap_or_else(|| panic!("{job}: {text}"));
            assert_eq!(of("bs"), load["block_bytes"].to_string(), "{job}");
            assert_eq!(of("numjobs"), load["threads"].to_string(), "{job}");
            let words = [
                ("rndrd", "randread"),
                ("rndwr", "randwrite"),
                ("rndrw", "randrw"),
                ("seqrd", "read"),
                ("seqrewr", "write"),
            ];
            let word = words.iter().find(|(ours, _)| load["mode"] == *ours).unwrap().1;
            assert_eq!(of("rw"), word, "{job}");
            if word == "randrw" && name == "mix" {
                assert_eq!(of("rwmixread"), point["x"].as_f64().unwrap().to_string());
            }
        }
    }
    assert_eq!(files.len(), result["sweeps"].as_array().unwrap().len() + 2, "the state and the timeline too");
    // fio's own parser is the oracle; nothing is opened.
    for file in &files {
        let output = fio(&folder, "/nowhere/target", &["--parse-only", file.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.trim().is_empty(), "{}: {said}", file.display());
    }
    let blocked = ["review", "tachion-400", "--export-fio", "tachion-400.json"];
    assert!(refusal(&run_in(dir.path(), &blocked)).contains("can't write tachion-400.json"));
    assert!(refusal(&run_in(dir.path(), &["review", "tachion-400", "--plan", "--export-fio", "x"])).contains("--plan"));
}

#[test]
fn fio_measures_the_points_of_a_file_again_and_compare_finds_them() {
    let dir = disk_folder();
    let budget = ["--quick", "--only", "sync", "--budget", "6s"];
    let review = [&["review", "./f", "--size", "64m", "--export-fio", "."], &budget[..]].concat();
    success(&run_in(dir.path(), &review));
    assert_eq!(jobs(dir.path()).len(), 2, "the state and the sweep");
    let target = dir.path().join("again");
    let words = ["--output-format=json+", "--output=sync.json", "sync.fio"];
    let output = fio(dir.path(), target.to_str().unwrap(), &words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::metadata(&target).unwrap().len(), 64 << 20);
    let result = read_json(&dir.path().join("sync.json"));
    let jobs = result["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 2, "a group for each point");
    for (job, threads) in jobs.iter().zip(["1", "16"]) {
        assert_eq!(job["job options"]["numjobs"], threads);
        let writes = job["write"]["total_ios"].as_f64().unwrap();
        // fio 3.33 counts flushes in their latencies only.
        let syncs = job["sync"]["lat_ns"]["N"].as_f64().unwrap();
        assert!(writes > 0.0 && (syncs / writes - 1.0).abs() < 0.05, "a flush for each write: {writes}, {syncs}");
        assert_eq!(job["read"]["total_ios"], 0);
    }
    let table = success(&run_in(dir.path(), &["compare", "sync.json", "--json"]));
    let table: serde_json::Value = serde_json::from_str(&table).unwrap();
    let rows = table["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["label"].as_str().unwrap().starts_with("16 threads")), "{table}");
}
