//! Reviews of a modelled card: the same every time, whole or gone on with, and nothing else is lost for them.

use crate::common::reviews::{Running, assert_to_schema, entries, files, points, read_json, refusal, success};
use crate::common::run_in;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A quick review of a small model.
const QUICK: [&str; 5] = ["review", "tachion-400", "--quick", "--scale", "1/256"];

fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&QUICK, more].concat()
}

/// Reviews with `--json`, and returns what was printed.
fn review(dir: &Path, more: &[&str]) -> Value {
    let printed = success(&run_in(dir, &[words(more), vec!["--json"]].concat()));
    serde_json::from_str(&printed).expect("JSON and nothing else")
}

/// Without the fields that the wall clock writes: how long phases and the whole took.
fn timeless(mut review: Value) -> String {
    review["wall_seconds"] = Value::Null;
    for phase in review["phases"].as_array_mut().unwrap() {
        assert!(phase["took_s"].is_number());
        phase["took_s"] = Value::Null;
    }
    review.to_string()
}

#[test]
fn the_same_seed_gives_the_same_json_and_it_is_to_the_schema() {
    let dir = tempfile::tempdir().unwrap();
    let only = ["--only", "fill,sync,redo"];
    let first = review(dir.path(), &only);
    assert_to_schema(&first);
    assert_eq!(first, read_json(&dir.path().join("tachion-400.json")), "the file holds what was printed");
    let again = review(dir.path(), &only);
    assert_eq!(timeless(first.clone()), timeless(again));
    let other = review(dir.path(), &[&only[..], &["--seed", "2"]].concat());
    assert_ne!(points(&first)[0]["write"], points(&other)[0]["write"]);
    assert_eq!(entries(dir.path()), ["tachion-400.html", "tachion-400.json"]);
}

#[test]
fn a_whole_review_is_to_the_schema() {
    let dir = tempfile::tempdir().unwrap();
    assert_to_schema(&review(dir.path(), &[]));
}

#[test]
fn a_review_that_is_stopped_goes_on_to_what_it_would_have_been() {
    let dir = tempfile::tempdir().unwrap();
    let asked = ["--only", "threads,sync,rate", "--out", "part"];
    let whole = timeless(review(dir.path(), &asked));
    let mut stopped = 0;
    // Wherever Ctrl-C comes: at once, and later each time, until the review is faster than the signal.
    for wait_ms in [0, 500] {
        let (json, html) = files(dir.path(), "part");
        let _ = fs::remove_file(&json);
        let running = Running::start(dir.path(), &words(&asked));
        std::thread::sleep(std::time::Duration::from_millis(wait_ms + 100));
        running.signal("INT");
        let output = running.wait();
        if output.status.code() != Some(130) || !json.exists() {
            // Before it listened, or after its end.
            continue;
        }
        stopped += 1;
        assert!(String::from_utf8_lossy(&output.stdout).contains("PARTIAL: stopped by Ctrl-C"));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        let part = read_json(&json);
        assert_to_schema(&part);
        assert_eq!(part["partial"], "stopped by Ctrl-C");
        assert!(fs::read_to_string(html).unwrap().contains("This review is not complete"));
        assert_eq!(entries(dir.path()), ["part.html", "part.json"]);

        for other in
            [&["--seed", "2"][..], &["--set", "ftl.victim=fifo"], &["--set", "host.cores=3"], &["--fill", "50%"]]
        {
            let line = refusal(&run_in(dir.path(), &words(&[&asked[..], &["--resume"], other].concat())));
            assert!(line.contains("can't resume part.json: it was asked with"), "{line}");
        }
        assert_eq!(read_json(&json), part);
        // Every point that was kept is a whole one: the rest makes the review that was not interrupted.
        let resumed = review(dir.path(), &[&asked[..], &["--resume"]].concat());
        assert!(timeless(resumed) == whole, "stopped after {wait_ms} ms: {:#}", part["phases"]);
        assert!(refusal(&run_in(dir.path(), &words(&[&asked[..], &["--resume"]].concat()))).contains("complete"));
    }
    if stopped == 0 {
        eprintln!("this machine was too slow or too fast to be interrupted");
    }
}

#[test]
fn what_is_no_review_of_a_model_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("tachion-400.json");
    let theirs: [&[u8]; 5] = [
        include_bytes!("../../../import/tests/fixtures/fio-depths.json"),
        include_bytes!("../../../import/tests/fixtures/flashrig-run.json"),
        include_bytes!("../../../import/tests/fixtures/sysbench-1.0.20.txt"),
        b"",
        b"[1, 2",
    ];
    for bytes in theirs {
        fs::write(&json, bytes).unwrap();
        for more in [&[][..], &["--overwrite"], &["--resume"]] {
            refusal(&run_in(dir.path(), &words(more)));
        }
        assert_eq!(
            (fs::read(&json).unwrap(), entries(dir.path())),
            (bytes.to_vec(), vec!["tachion-400.json".to_owned()])
        );
    }
    fs::remove_file(&json).unwrap();
    let html = dir.path().join("tachion-400.html");
    fs::write(&html, "<h1>My own page</h1>").unwrap();
    assert!(refusal(&run_in(dir.path(), &words(&[]))).contains("tachion-400.html"));
    assert_eq!(fs::read(&html).unwrap(), b"<h1>My own page</h1>");
}

#[test]
fn results_are_called_as_asked() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("results")).unwrap();
    let long = "n".repeat(200);
    for (out, name) in [
        ("v1.2", "v1.2"),
        ("b.json", "b"),
        ("b.html", "b"),
        ("with blank", "with blank"),
        ("naïve ✓", "naïve ✓"),
        ("-x", "-x"),
        ("results/r", "results/r"),
        ("results", "results/tachion-400"),
        ("results/", "results/tachion-400"),
        (".", "tachion-400"),
        (&long, &long),
    ] {
        let out = format!("--out={out}");
        let tables = success(&run_in(dir.path(), &words(&["--only", "redo", &out])));
        assert!(tables.lines().all(|line| line.chars().count() <= 80), "{tables}");
        let (json, html) = files(dir.path(), name);
        assert!(json.exists() && html.exists(), "{out}: {:?}", entries(dir.path()));
        fs::remove_file(json).unwrap();
        fs::remove_file(html).unwrap();
    }
    // A character that moves a terminal's cursor reaches the files' names and no terminal.
    let tables = success(&run_in(dir.path(), &words(&["--only", "redo", "--out", "a\u{1b}[2Jb\u{202e}c"])));
    assert!(!tables.contains(['\u{1b}', '\u{202e}']), "{tables}");
    for out in ["n/".repeat(3), "x".repeat(300), "results/r\0".replace('\0', "/no/such")] {
        refusal(&run_in(dir.path(), &words(&["--only", "redo", "--out", &out])));
    }
}

#[test]
fn a_price_is_the_one_that_was_given_or_the_cards() {
    let dir = tempfile::tempdir().unwrap();
    let price = |more: &[&str]| review(dir.path(), &[&["--only", "sync"], more].concat())["price"].clone();
    assert_eq!(price(&[]), json!({ "amount": 13_600.0, "currency": "USD", "source": "the card's profile" }));
    assert_eq!(price(&["--price", "99.5"]), json!({ "amount": 99.5, "currency": "USD", "source": "--price" }));
}

#[test]
fn options_take_effect() {
    let dir = tempfile::tempdir().unwrap();
    let sweeps = |review: &Value| -> Vec<String> {
        review["sweeps"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap().to_owned()).collect()
    };
    let quick = review(dir.path(), &["--only", "sync,redo"]);
    assert_eq!(sweeps(&quick).len(), 2);
    let skipped: Vec<&Value> =
        quick["phases"].as_array().unwrap().iter().filter(|phase| phase["status"] == "skipped").collect();
    assert_eq!(skipped.len(), 7);
    let whole = ["review", "tachion-400", "--scale", "1/256", "--only", "sync,redo", "--json"];
    let whole: Value = serde_json::from_str(&success(&run_in(dir.path(), &whole))).unwrap();
    assert!(points(&whole).len() > points(&quick).len());
    let half = review(dir.path(), &["--only", "sync", "--fill", "50%"]);
    assert!(points(&half).iter().all(|point| point["fill"] == 0.5));
    assert_eq!(half["preconditioning"][0]["fill"], 0.5);
    let larger = ["review", "tachion-400", "--quick", "--scale", "1/128", "--only", "sync", "--json"];
    let larger: Value = serde_json::from_str(&success(&run_in(dir.path(), &larger))).unwrap();
    assert_eq!((&larger["options"]["scale"], &half["options"]["scale"]), (&json!(1.0 / 128.0), &json!(1.0 / 256.0)));
    let capacity = |review: &Value| review["target"]["capacity_bytes"].as_u64().unwrap();
    assert!(capacity(&larger) > capacity(&half));
}

#[test]
fn a_plan_of_a_model_does_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let text = success(&run_in(dir.path(), &words(&["--plan"])));
    assert!(text.contains("writes tachion-400.html and tachion-400.json"), "{text}");
    assert_eq!(entries(dir.path()), [""; 0]);
}

#[test]
fn disks_are_reviewed_at_full_size_and_their_cache_is_no_disk() {
    let dir = tempfile::tempdir().unwrap();
    let words = ["review", "sas-raid10-6", "--quick", "--only", "burst,fill", "--json"];
    let printed = success(&run_in(dir.path(), &words));
    let review: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(review["options"]["scale"], 1.0);
    assert_eq!(review["target"]["capacity_bytes"], 3 * 146_815_737_856_u64);
    let verdict = review["verdict"].as_array().unwrap();
    let full = verdict.iter().find(|claim| claim["topic"] == "full").unwrap();
    assert_eq!(full["tone"], "good", "{verdict:?}");
    // Six disks of 125 MB/s, three of which hold other data.
    let fast = |claim: &Value| claim["topic"] == "burst" && claim["text"].as_str().unwrap().contains("Writes 6,5");
    assert!(!verdict.iter().any(fast), "{verdict:?}");
    let refused = refusal(&run_in(dir.path(), &["review", "sas-raid10-6", "--scale", "1/64"]));
    assert!(refused.contains("--scale has no effect on disks, which are modelled at full size"), "{refused}");
}
