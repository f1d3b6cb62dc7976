//! `docs/review-result.schema.json` describes what is written: every key of a review, no other, and nothing else passes.

use results::{Axis, PhaseStatus, ReviewResult, SyncJudgement, TargetKind, Tone};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const REVIEW: &str = include_str!("../../../../docs/review-result.schema.json");
const RUN: &str = include_str!("../../../../docs/run-result.schema.json");
const FIXTURES: [&str; 16] = [
    "fio-grouped-jsonplus.json",
    "fio-single-jsonplus.json",
    "fio-single-json.json",
    "fio-depths.json",
    "fio-blocks-concatenated.txt",
    "fio-text-around.txt",
    "fio-2.21.json",
    "sysbench-1.0.20.txt",
    "sysbench-1.0.20-interval.txt",
    "sysbench-0.4.12.txt",
    "pgbench_log.1",
    "pgbench_log.rate",
    "pgbench_log.interval",
    "pgbench_log.interval-rate",
    "flashrig-run.json",
    "flashrig-run-slob.json",
];

fn schema(text: &str) -> Value {
    let schema: Value = serde_json::from_str(text).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    schema
}

fn hold(schema: &Value, value: &Value, what: &str) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(value).map(|e| format!("{e} at {}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}");
}

#[test]
fn every_imported_result_and_a_full_review_are_to_the_schema() {
    let schema = schema(REVIEW);
    hold(&schema, &serde_json::to_value(crate::full::review()).unwrap(), "full review");
    for name in FIXTURES {
        let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
        hold(&schema, &serde_json::to_value(import::read(path).unwrap()).unwrap(), name);
    }
    for name in import::PUBLISHED {
        hold(&schema, &serde_json::to_value(import::published(name).unwrap()).unwrap(), name);
    }
}

#[test]
fn the_schema_names_every_key_and_no_other() {
    let schema = schema(REVIEW);
    let mut seen = BTreeSet::new();
    compare(&schema, &schema, &serde_json::to_value(crate::full::review()).unwrap(), "", &mut seen);
    let defined: BTreeSet<String> = schema["$defs"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(seen, defined, "definitions that are used");
}

/// Walks value and schema together: where a schema has keys, they are the value's.
fn compare(root: &Value, schema: &Value, value: &Value, at: &str, seen: &mut BTreeSet<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").unwrap();
        seen.insert(name.into());
        return compare(root, &root["$defs"][name], value, at, seen);
    }
    if let Some(branches) = schema["anyOf"].as_array() {
        assert!(!value.is_null(), "{at}: the full review has everything");
        let fits = |branch: &&Value| match branch["properties"]["kind"]["const"].as_str() {
            Some(kind) => value["kind"] == kind,
            None => branch["type"] != "null",
        };
        return compare(root, branches.iter().find(fits).unwrap(), value, at, seen);
    }
    match value {
        Value::Object(object) if schema["additionalProperties"] == json!(false) => {
            let properties = schema["properties"].as_object().unwrap();
            assert_eq!(keys(properties), keys(object), "{at}");
            for (key, value) in object {
                let at = format!("{at}/{key}");
                let described = properties[key].get("description").or_else(|| {
                    let name = properties[key]["$ref"].as_str()?.strip_prefix("#/$defs/")?;
                    root["$defs"][name].get("description")
                });
                assert!(described.is_some() || key == "kind", "{at} is not described");
                compare(root, &properties[key], value, &at, seen);
            }
        }
        Value::Array(items) => {
            assert!(!items.is_empty(), "{at}: the full review has everything");
            items.iter().for_each(|item| compare(root, &schema["items"], item, &format!("{at}[]"), seen));
        }
        Value::Null => panic!("{at}: the full review has everything"),
        _ => {}
    }
}

fn keys(object: &Map<String, Value>) -> BTreeSet<&String> {
    object.keys().collect()
}

#[test]
fn the_schema_lists_every_variant_and_no_other() {
    let schema = schema(REVIEW);
    fn all<T: DeserializeOwned>(schema: &Value, pointer: &str, count: usize) {
        let variants = schema.pointer(pointer).unwrap().as_array().unwrap();
        assert_eq!(variants.len(), count, "{pointer}");
        for variant in variants {
            assert!(serde_json::from_value::<T>(variant.clone()).is_ok(), "{pointer}: {variant}");
        }
    }
    // A new variant makes these matches incomplete; its number goes below and its name into the schema.
    let _ = |kind: TargetKind| match kind {
        TargetKind::Model
        | TargetKind::File
        | TargetKind::BlockDevice
        | TargetKind::Directory
        | TargetKind::Served
        | TargetKind::Imported => {}
    };
    let _ = |judgement: SyncJudgement| match judgement {
        SyncJudgement::Plausible | SyncJudgement::NothingToFlush => {}
        SyncJudgement::TooFast | SyncJudgement::Unknown => {}
    };
    let _ = |axis: Axis| match axis {
        Axis::FillPercent | Axis::Threads | Axis::BlockBytes => {}
        Axis::ReadPercent | Axis::RatePercent | Axis::QueueDepth => {}
    };
    let _ = |tone: Tone| match tone {
        Tone::Good | Tone::Neutral | Tone::Warning | Tone::Bad => {}
    };
    let _ = |status: PhaseStatus| match status {
        PhaseStatus::Done | PhaseStatus::Partial | PhaseStatus::NotBegun | PhaseStatus::Skipped => {}
    };
    all::<TargetKind>(&schema, "/properties/target/properties/kind/enum", 6);
    all::<SyncJudgement>(&schema, "/$defs/sync_verdict/properties/judgement/enum", 4);
    all::<Axis>(&schema, "/properties/sweeps/items/properties/axis/enum", 6);
    all::<Tone>(&schema, "/properties/verdict/items/properties/tone/enum", 4);
    all::<PhaseStatus>(&schema, "/properties/phases/items/properties/status/enum", 4);
    assert_eq!(schema["properties"]["schema"]["const"], ReviewResult::SCHEMA);
    assert_eq!(schema["properties"]["kind"]["const"], ReviewResult::KIND);
}

#[test]
fn the_schema_refuses_what_no_review_has() {
    let schema = schema(REVIEW);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let good = serde_json::to_value(crate::full::review()).unwrap();
    for (pointer, wrong) in [
        ("/schema", json!(1)),
        ("/target/kind", json!("disk")),
        ("/sweeps/0/points/0/write/iops", json!(null)),
        ("/sweeps/0/points/0/read/histogram/counts/0", json!(-1)),
        ("/sweeps/0/points/0/fill", json!(1.5)),
        ("/comparisons/0/points/0/published/kind", json!("guess")),
        ("/timeline/point", json!({})),
        ("/verdict/0", json!({ "text": "Buy it." })),
        ("/options/scale", json!(0)),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = wrong;
        assert!(!validator.is_valid(&bad), "{pointer}");
    }
    let mut more = good;
    more["target"]["colour"] = json!("red");
    assert!(!validator.is_valid(&more), "an unknown key");
}

#[test]
fn classes_and_the_generator_of_a_run_are_described_as_those_of_a_review() {
    let (review, run) = (schema(REVIEW), schema(RUN));
    for shared in ["histogram", "generator"] {
        assert_eq!(review["$defs"][shared], run["$defs"][shared], "{shared}");
    }
    for shared in ["io", "lat_ns", "series_row", "steady_state"] {
        let names = |schema: &Value| {
            schema["$defs"][shared]["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(names(&review), names(&run), "{shared}");
    }
}

#[test]
fn a_run_may_have_a_generator_in_place_of_a_simulation_and_histograms() {
    let schema = schema(RUN);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/flashrig-run.json");
    let mut run: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    hold(&schema, &run, "a model's run");
    run.as_object_mut().unwrap().remove("sim");
    let point = serde_json::to_value(&crate::full::review().sweeps[0].points[0]).unwrap();
    run["generator"] = point["generator"].clone();
    run["write"] = point["write"].clone();
    hold(&schema, &run, "a real device's run");
}
