//! The JSON of results: to the published schema, the same for the same seed, whole or not there.

use crate::common::{json, succeed};
use serde_json::{Value, json};
use std::fs;

const SCHEMA: &str = include_str!("../../../../docs/run-result.schema.json");

/// Runs that make every part of a result.
const RUNS: &[&str] = &[
    "run tachion-400 --load rndwr --requests 20000 --explain-tail",
    "run tachion-400 --load rndrw --fsync-freq 100 --seconds 0.2 --explain-tail",
    "run tachion-400 --load rndrd --threads 64 --host unlimited --seed 7",
    "run tachion-400 --load seqwr --fresh --writes 5000 --set ftl.victim=fifo",
    "run tachion-400 --load slob --slob-readers 4 --slob-writers 4 --requests 20000",
    "run tachion-400 --load oltp --requests 20000",
    "run tachion-400 --load tpcc --requests 20000",
    "run tachion-400 --load replica --requests 20000",
    "run iodrive-duo-320-slc --load rndwr --requests 20000 --fill 50%",
    "run sas-raid10-6 --load rndrw --requests 2000",
    "run tachion-200 --cache-of sas-raid10-6 --load rndrw --fsync-freq 100 --scale 1/256 --requests 5000",
    "run tachion-200 --cache-of aws-gp3 --cache-policy s3-fifo --load oltp --scale 1/256 --fresh --requests 5000",
];

fn words(line: &str) -> Vec<&str> {
    line.split(' ').chain(["--json", "-"]).collect()
}

#[test]
fn every_result_is_to_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for line in RUNS {
        let result = json(&words(line));
        let errors: Vec<String> =
            validator.iter_errors(&result).map(|e| format!("{} at {}", e, e.instance_path())).collect();
        assert!(errors.is_empty(), "{line}: {errors:#?}");
    }
}

#[test]
fn the_schema_refuses_what_no_result_has() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let good = json(&words(RUNS[0]));
    assert!(validator.is_valid(&good));
    for (pointer, wrong) in [
        ("/write/iops", json!("fast")),
        ("/write/total_ios", json!(-1)),
        ("/flash/waf", json!(null)),
        ("/sim/virtual_seconds", json!(null)),
        ("/steady_state/attained", json!(1)),
        ("/tail/bands/0/parts_ns", json!({ "no_such_cause": 1.0 })),
        ("/schema", json!(2)),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = wrong;
        assert!(!validator.is_valid(&bad), "{pointer}");
    }
}

#[test]
fn the_schema_names_every_cause_and_no_other() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let listed: Vec<&str> =
        schema["$defs"]["cause"]["enum"].as_array().unwrap().iter().map(|cause| cause.as_str().unwrap()).collect();
    assert_eq!(listed, device::Cause::ALL.map(device::Cause::key));
}

#[test]
fn the_same_seed_gives_the_same_json() {
    for line in [RUNS[0], RUNS[4], RUNS[5], RUNS[6]] {
        let [a, b] = [0, 1].map(|_| {
            let mut result = json(&words(line));
            for wall in ["wall_seconds", "precondition_wall_seconds"] {
                assert!(result["sim"][wall].is_number());
                result["sim"][wall] = Value::Null;
            }
            result
        });
        assert_eq!(a.to_string(), b.to_string(), "{line}");
    }
}

#[test]
fn another_seed_gives_other_figures() {
    let write = |seed| json(&words(&format!("{} --seed {seed}", RUNS[0])))["write"].clone();
    assert_ne!(write(1), write(2));
}

#[test]
fn a_file_holds_what_standard_output_would() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("result.json");
    fs::write(&path, "old").unwrap();
    let mut arguments: Vec<&str> = RUNS[0].split(' ').collect();
    arguments.extend(["--json", path.to_str().unwrap()]);
    let table = succeed(&arguments);
    assert!(table.contains("WAF"), "the table is printed as well: {table}");
    let mut written: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let mut printed = json(&words(RUNS[0]));
    written["sim"] = Value::Null;
    printed["sim"] = Value::Null;
    assert_eq!(written, printed);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn requests_are_never_lost() {
    for line in RUNS {
        let sim = &json(&words(line))["sim"];
        let count = |key: &str| sim[key].as_u64().unwrap();
        assert_eq!(count("requests_generated"), count("requests_finished") + count("requests_in_flight"), "{line}");
    }
}

#[test]
fn cards_and_their_sources_are_json_too() {
    let cards = json(&["cards", "--json"]);
    let names: Vec<&str> = cards.as_array().unwrap().iter().map(|card| card["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"tachion-400"), "{names:?}");
    for name in names {
        let card = json(&["show", name, "--json"]);
        assert_eq!(card["name"], name);
        assert!(card["sources"]["card"].is_object(), "{name}");
    }
}
