//! `flashrig fit`: files that are there are kept, the JSON is to its schema, and the card is a card.

use crate::common::run_in;
use serde_json::Value;
use std::fs;
use std::path::Path;

const SCHEMA: &str = include_str!("../../../../docs/fit-result.schema.json");
/// Reads of four threads counts, of which one host is the limit in none.
const TABLE: &str = "readers,mb_per_s,latency_us\n1,70,100\n4,260,105\n16,800,140\n64,1200,450\n";

fn refusal(dir: &Path, words: &[&str]) -> String {
    let output = run_in(dir, words);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(2), 1), "{words:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{words:?} printed a result");
    stderr
}

#[test]
fn what_cannot_be_fitted_is_refused_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let write = |name: &str, text: &str| fs::write(dir.join(name), text).unwrap();
    write("few.csv", "percent_in_use,mib_per_s\n20,900\n");
    write("again.csv", "percent_in_use,mib_per_s\n20,900\n50,700\n90,400\n20,600\n");
    write("two.csv", "percent_in_use,a_mib_per_s,b_mib_per_s\n20,900,800\n50,700,600\n90,400,300\n");
    write("words.csv", "percent_in_use,mib_per_s\n20,fast\n");
    write("three.csv", "percent_in_use,mib_per_s\n20,900\n50,700\n90,400\n");
    write("mine.toml", "# somebody's own\n");
    write("fitted.toml", "# A card that measures like x (flashrig fit, seed 1, base neutral).\n");
    for (words, expected) in [
        (&["few.csv"][..], &["few.csv", "1 point", "3 are needed", "2 more are missing", "random reads"][..]),
        (&["again.csv"], &["contradiction at rndwr 16k 16t 20%", "943.7 MB/s", "629.1 MB/s"]),
        (&["two.csv"], &["several devices", "FILE:NAME", "a, b"]),
        (&["two.csv:c"], &["no device 'c'", "a, b"]),
        (&["words.csv"], &["line 2", "'fast'"]),
        (&["three.csv", "--hold-out", "2"], &["of 3 points 1 are held out: 2 are left"]),
        (&["three.csv", "-o", "mine.toml"], &["mine.toml is there already", "no fit has written it"]),
        (&["three.csv", "-o", "mine.toml", "--overwrite"], &["mine.toml is there already"]),
        (&["three.csv", "-o", "fitted.toml"], &["fitted.toml is there already", "--overwrite"]),
        (&["three.csv", "-o", "a.toml", "--host-out", "a.toml"], &["a.toml", "a host's is another"]),
    ] {
        let line = refusal(dir, &[&["fit"], words].concat());
        assert!(expected.iter().all(|part| line.contains(part)), "{words:?}: {line}");
    }
    assert_eq!(fs::read_to_string(dir.join("mine.toml")).unwrap(), "# somebody's own\n");
}

#[test]
fn a_fitted_card_is_a_card_with_sources_and_the_same_for_the_same_seed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("reads.csv"), TABLE).unwrap();
    let words = ["fit", "reads.csv", "--host", "unlimited", "--bound", "100%"];
    let json = run_in(dir, &[&words[..], &["-o", "mine.toml", "--json"]].concat());
    assert!(json.status.success(), "{}", String::from_utf8_lossy(&json.stderr));
    let result: Value = serde_json::from_slice(&json.stdout).unwrap();
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&result).map(|e| format!("{e} at {}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let card = fs::read_to_string(dir.join("mine.toml")).unwrap();
    assert!(card.contains("fitted to reads.csv") && card.contains("basis = \"derived\""), "{card}");
    let shown = run_in(dir, &["show", "mine.toml"]);
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    let text = run_in(dir, &[&words[..], &["-o", "mine.toml", "--overwrite"]].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("measured") && text.contains("card:    mine.toml"), "{text}");
    assert_eq!(fs::read_to_string(dir.join("mine.toml")).unwrap(), card);
}

#[test]
fn what_no_card_measures_like_determines_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let table = "readers,mb_per_s,latency_us\n1,70,100\n2,900,9\n4,60,900\n8,900,30\n16,80,3000\n64,1200,450\n";
    fs::write(dir.path().join("odd.csv"), table).unwrap();
    let json = run_in(dir.path(), &["fit", "odd.csv", "--host", "unlimited", "--json"]);
    assert_eq!(json.status.code(), Some(1), "{}", String::from_utf8_lossy(&json.stderr));
    let result: Value = serde_json::from_slice(&json.stdout).unwrap();
    let notes = result["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().contains("no number is called determined")), "{notes:?}");
    let parameters = result["parameters"].as_array().unwrap();
    assert!(parameters.iter().all(|parameter| parameter["status"] != "determined"), "{parameters:#?}");
}
