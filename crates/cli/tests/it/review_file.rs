//! Reviews of a file: what is made, kept, refused, saved and gone on with.

use crate::common::disks::{MIB, Mount};
use crate::common::reviews::{
    Running, SHORT, assert_to_schema, disk_folder, entries, error_at_the_end, files, points, read_json, refusal,
    success,
};
use crate::common::run_in;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Output;

/// `flashrig review ./f --size 16m` and the shortest plan, with more words.
fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["review", "./f", "--size", "16m"], &SHORT[..], more].concat()
}

fn review(dir: &Path, more: &[&str]) -> Output {
    run_in(dir, &words(more))
}

#[test]
fn a_review_keeps_its_file_when_asked_is_stopped_and_goes_on() {
    let folder = disk_folder();
    let dir = folder.path();
    let (json, html) = files(dir, "f");

    // Whole, and the file stays.
    let whole = review(dir, &["--keep", "--price", "12"]);
    let tables = success(&whole);
    assert!(tables.contains("file on ") && tables.contains("page:   f.html"), "{tables}");
    assert!(tables.lines().all(|line| line.chars().count() <= 80), "{tables}");
    assert_eq!(entries(dir), ["f", "f.html", "f.json"]);
    let first = read_json(&json);
    assert_to_schema(&first);
    assert_eq!((points(&first).len(), &first["partial"]), (2, &serde_json::Value::Null));
    assert_eq!((&first["target"]["kind"], &first["price"]["amount"]), (&"file".into(), &12.0.into()));
    assert!(fs::read_to_string(&html).unwrap().contains("Flashrig</title>"));
    let kept = fs::metadata(dir.join("f")).unwrap();
    assert_eq!(kept.len(), 16 * MIB);

    // A real result is not replaced unasked, and what is refused touches nothing: not even a file of ours.
    let before = [&json, &html].map(|path| fs::read(path).unwrap());
    assert!(refusal(&review(dir, &[])).contains("--overwrite"));
    assert!(refusal(&review(dir, &["--resume"])).contains("complete"));
    assert!(
        refusal(&run_in(dir, &["review", "tachion-400", "--quick", "--scale", "1/256", "--out", "f"]))
            .contains("--overwrite")
    );
    assert_eq!([&json, &html].map(|path| fs::read(path).unwrap()), before);
    assert_eq!(fs::metadata(dir.join("f")).unwrap().ino(), kept.ino());

    // A second review takes the file over; Ctrl-C in the middle.
    let mut running = Running::start(dir, &words(&["--overwrite", "--json"]));
    running.until_saved(&json, |review| review["partial"] == "not finished");
    assert_eq!(fs::metadata(dir.join("f")).unwrap().ino(), kept.ino(), "the file was adopted");
    running.until_saved(&json, |review| points(review).len() == 1);
    running.signal("INT");
    let stopped = running.wait();
    assert_eq!(stopped.status.code(), Some(130), "{}", String::from_utf8_lossy(&stopped.stderr));
    assert_eq!(entries(dir), ["f.html", "f.json"], "the file is gone, and nothing is left beside the result");
    let part = read_json(&json);
    assert_to_schema(&part);
    assert_eq!((points(&part).len(), &part["partial"]), (1, &"stopped by Ctrl-C".into()));
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&stopped.stdout).unwrap(), part, "JSON and nothing else");
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.contains("This review is not complete") && page.contains("stopped by Ctrl-C"));

    // It is not gone on with in another way.
    let before = fs::read(&json).unwrap();
    for (option, value, says) in [
        ("--seed", "2", "--seed 1"),
        ("--fill", "50%", "--fill 1"),
        ("--only", "redo", "--only sync"),
        ("--budget", "60s", "--budget 6s"),
        ("--size", "17m", "(16777216 bytes)"),
    ] {
        let mut asked = words(&["--resume"]);
        match asked.iter().position(|word| *word == option) {
            Some(at) => asked[at + 1] = value,
            None => asked.extend([option, value]),
        }
        let line = refusal(&run_in(dir, &asked));
        assert!(line.contains("can't resume f.json") && line.contains(says), "{option}: {line}");
    }
    let another = ["review", "./g", "--size", "16m", "--resume", "--out", "f"];
    let line = refusal(&run_in(dir, &[&another[..], &SHORT].concat()));
    assert!(line.contains("it is a review of ./f"), "{line}");
    assert_eq!((fs::read(&json).unwrap(), entries(dir)), (before, vec!["f.html".to_owned(), "f.json".to_owned()]));

    // It is in the same way, and what was measured stays.
    success(&review(dir, &["--resume"]));
    let rest = read_json(&json);
    assert_to_schema(&rest);
    assert_eq!((points(&rest).len(), &rest["partial"]), (2, &serde_json::Value::Null));
    assert_eq!(points(&rest)[0], points(&part)[0]);
    assert_eq!((&rest["started"], &rest["purge"]), (&part["started"], &part["purge"]));
    assert_eq!(entries(dir), ["f.html", "f.json"]);
}

#[test]
fn a_review_that_is_killed_leaves_what_it_measured_to_go_on_from() {
    let folder = disk_folder();
    let dir = folder.path();
    let (json, _) = files(dir, "f");
    let mut running = Running::start(dir, &words(&[]));
    running.until_saved(&json, |review| points(review).len() == 1);
    running.signal("KILL");
    running.wait();
    let part = read_json(&json);
    assert_to_schema(&part);
    assert_eq!((points(&part).len(), &part["partial"]), (1, &"not finished".into()));
    let left = fs::metadata(dir.join("f")).unwrap();

    let mut running = Running::start(dir, &words(&["--resume"]));
    running.until_saved(&json, |review| points(review).len() == 1);
    assert_eq!(fs::metadata(dir.join("f")).unwrap().ino(), left.ino(), "the file left behind is adopted");
    success(&running.wait());
    let rest = read_json(&json);
    assert_eq!((points(&rest).len(), &rest["partial"]), (2, &serde_json::Value::Null));
    assert_eq!(points(&rest)[0], points(&part)[0]);
    assert_eq!(entries(dir), ["f.html", "f.json"]);
}

#[test]
fn somebody_elses_file_is_only_used_when_it_is_given_away() {
    let folder = disk_folder();
    let dir = folder.path();
    let theirs = vec![0x5a; 16 * MIB as usize];
    fs::write(dir.join("f"), &theirs).unwrap();
    for more in [&[][..], &["--keep"], &["--overwrite"], &["--plan", "--resume"], &["--resume"]] {
        if !more.contains(&"--plan") {
            assert!(refusal(&review(dir, more)).contains("--destroy-data"), "{more:?}");
        }
        assert!(fs::read(dir.join("f")).unwrap() == theirs, "{more:?}");
    }
    // Another size than it has is a mistake.
    let other = [&["review", "./f", "--size", "32m", "--destroy-data"], &SHORT[..]].concat();
    assert!(refusal(&run_in(dir, &other)).contains("--size"));
    // A link to it is no file of ours either.
    std::os::unix::fs::symlink("f", dir.join("link")).unwrap();
    refusal(&run_in(dir, &[&["review", "./link"], &SHORT[..]].concat()));
    fs::remove_file(dir.join("link")).unwrap();
    assert!(fs::read(dir.join("f")).unwrap() == theirs);
    assert_eq!(entries(dir), ["f"]);

    let given = [&["review", "./f", "--destroy-data", "--json"], &SHORT[..]].concat();
    let printed = success(&run_in(dir, &given));
    let result: serde_json::Value = serde_json::from_str(&printed).expect("JSON and nothing else");
    assert_to_schema(&result);
    assert_eq!(result, read_json(&dir.join("f.json")));
    let used = fs::read(dir.join("f")).unwrap();
    assert!(used.len() == theirs.len() && used != theirs, "used, and not removed");
}

#[test]
fn a_plan_does_nothing() {
    let folder = disk_folder();
    let dir = folder.path();
    let text = success(&review(dir, &["--plan"]));
    assert!(text.contains("2 points in about") && text.contains("writes f.html and f.json"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&success(&review(dir, &["--plan", "--json"]))).unwrap();
    assert!(json["expected_s"].as_f64().unwrap() <= 6.1, "{json}");
    assert_eq!(entries(dir), [""; 0]);
    fs::write(dir.join("f"), "mine").unwrap();
    fs::write(dir.join("f.json"), "mine").unwrap();
    run_in(dir, &["review", "./f", "--plan", "--quick"]);
    success(&run_in(dir, &["review", "./f2", "--size", "1g", "--plan", "--out", "f"]));
    assert_eq!(
        (fs::read(dir.join("f")).unwrap(), fs::read(dir.join("f.json")).unwrap()),
        (b"mine".into(), b"mine".into())
    );
    assert_eq!(entries(dir), ["f", "f.json"]);
}

#[test]
fn a_file_system_in_memory_is_refused_and_nothing_is_left() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        eprintln!("skipped: no /dev/shm");
        return;
    };
    let line = refusal(&review(folder.path(), &[]));
    assert!(line.contains("memory would be measured"), "{line}");
    assert_eq!(entries(folder.path()), [""; 0]);
}

#[test]
fn results_that_would_replace_something_else_are_refused() {
    let folder = disk_folder();
    let dir = folder.path();
    let fio = include_bytes!("../../../import/tests/fixtures/fio-depths.json");
    let run = include_bytes!("../../../import/tests/fixtures/flashrig-run.json");
    let sysbench = include_bytes!("../../../import/tests/fixtures/sysbench-1.0.20.txt");
    for theirs in [&fio[..], run, sysbench, b"", b"{}", b"\xff\xfe", b"{\"kind\":\"flashrig-review\",\"schema\":99}"] {
        fs::write(dir.join("f.json"), theirs).unwrap();
        for more in [&[][..], &["--overwrite"], &["--resume"]] {
            refusal(&review(dir, more));
        }
        assert_eq!((fs::read(dir.join("f.json")).unwrap(), entries(dir)), (theirs.to_vec(), vec!["f.json".to_owned()]));
    }
    fs::remove_file(dir.join("f.json")).unwrap();
    fs::write(dir.join("f.html"), "<title>My own page</title>").unwrap();
    for more in [&[][..], &["--overwrite"]] {
        assert!(refusal(&review(dir, more)).contains("f.html"));
    }
    assert_eq!(entries(dir), ["f.html"]);
    // The result must not take the place of what is measured, however the two are spelt.
    let dot = dir.file_name().unwrap().to_str().unwrap();
    for (target, out) in [("./g.json", "g"), ("./g.json", "./g.json"), (&format!("../{dot}/g.html"), "g")] {
        let asked = [&["review", target, "--size", "16m", "--out", out], &SHORT[..]].concat();
        assert!(refusal(&run_in(dir, &asked)).contains("--out"), "{target} {out}");
    }
    assert_eq!(entries(dir), ["f.html"]);
}

#[test]
fn a_file_system_without_room_is_told_before_and_costs_no_result_in_the_middle() {
    let Some(mount) = Mount::new(64 * MIB, "rw") else { return };
    let dir = mount.path();
    let asked = [&["review", "./f", "--size", "1g"], &SHORT[..3]].concat();
    let line = refusal(&run_in(dir, &asked));
    assert!(line.contains(" left, 1.07 GB are needed") && line.contains("smaller --size"), "{line}");
    assert_eq!(entries(dir), ["lost+found"]);

    // It fills up while the review runs.
    let (json, _) = files(dir, "f");
    let mut running = Running::start(dir, &words(&["--keep"]));
    running.until_saved(&json, |_| true);
    let filler = fs::File::create(dir.join("filler")).unwrap();
    let mut block = vec![7_u8; MIB as usize];
    while !block.is_empty() {
        use std::io::Write;
        if (&filler).write_all(&block).is_err() {
            let half = block.len() / 2;
            block.truncate(half);
        }
    }
    drop(filler);
    let saved = fs::read(&json).unwrap();
    running.signal("INT");
    let ended = running.wait();
    let line = error_at_the_end(&ended);
    assert!(line.contains("can't write ") && line.contains("f.json: ") && line.contains("No space left"), "{line}");
    let tables = String::from_utf8(ended.stdout).unwrap();
    assert!(tables.contains("PARTIAL: stopped by Ctrl-C") && !tables.contains("page:"), "{tables}");
    assert_eq!(fs::read(&json).unwrap(), saved, "what was there is there");
    assert_eq!(read_json(&json)["partial"], "not finished");
    assert_eq!(entries(dir), ["f", "f.json", "filler", "lost+found"]);
}
