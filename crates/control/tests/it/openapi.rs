//! `docs/control-api.openapi.json` is what the server does.

use crate::common::{Rig, SIZE, file, overwrite};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

fn document() -> Value {
    serde_json::from_str(&file("docs/control-api.openapi.json")).unwrap()
}

/// Method, path and operation of each.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let each = paths.iter().flat_map(|(path, item)| {
        METHODS.iter().filter_map(move |method| Some((method.to_uppercase(), path.clone(), item.get(method)?)))
    });
    each.collect()
}

/// Holds a value against a schema of the document.
fn check(document: &Value, schema: &Value, value: &Value, what: &str) {
    let whole = json!({ "allOf": [schema], "components": document["components"] });
    let validator = jsonschema::draft202012::new(&whole).unwrap_or_else(|e| panic!("{what}: {e}"));
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{what}: {errors:?}: {value}");
}

fn schema_of(body: &Value) -> &Value {
    &body["content"]["application/json"]["schema"]
}

#[test]
fn every_resource_of_the_server_is_described_and_no_other() {
    let document = document();
    let described: BTreeSet<(String, String)> =
        operations(&document).into_iter().map(|(method, path, _)| (method, path)).collect();
    let served: BTreeSet<(String, String)> =
        control::routes().into_iter().map(|(method, path)| (method.into(), path.into())).collect();
    assert_eq!(described, served);
}

#[test]
fn every_operation_answers_as_its_schema_says() {
    let document = document();
    let (rig, divided, shared) = (Rig::new(), Rig::divided(), Rig::shared());
    overwrite(&rig.live, 1);
    let mut asked = 0;
    // In an order in which each works: what is pulled is put in, what is cut comes back.
    let mut all = operations(&document);
    let order =
        ["pull", "insert", "powerCut", "powerOn", "createVolume", "growVolume", "deleteVolume", "release", "takeOver"];
    all.sort_by_key(|(_, _, operation)| {
        order.iter().position(|id| operation["operationId"] == *id).map_or(0, |place| place + 1)
    });
    for (method, path, operation) in all {
        let body = match operation.get("requestBody") {
            Some(described) => {
                let example = &described["content"]["application/json"]["example"];
                check(&document, schema_of(described), example, &path);
                example.to_string()
            }
            None => String::new(),
        };
        let real = path.replace("{slot}", "1").replace("{name}", "data");
        let rig = match &path {
            path if path.contains("volumes") => &divided,
            path if path.contains("ownership") => &shared,
            _ => &rig,
        };
        let (code, head, text) = rig.raw(crate::common::request(&method, &real, &body).as_bytes());
        let answers = operation["responses"].as_object().unwrap();
        let (expected, answer) = answers.iter().find(|(code, _)| code.starts_with('2')).unwrap();
        assert_eq!(code.to_string(), *expected, "{method} {path}: {text}");
        let (media_type, described) = answer["content"].as_object().unwrap().iter().next().unwrap();
        assert!(head.contains(media_type.as_str()), "{method} {path}: {head}");
        if media_type == "application/json" {
            check(&document, &described["schema"], &serde_json::from_str(&text).unwrap(), &path);
        }
        asked += 1;
    }
    assert_eq!(asked, control::routes().len());
}

#[test]
fn every_refusal_is_one_that_is_described() {
    let document = document();
    let rig = Rig::new();
    let long = "x".repeat(100_000);
    let mut seen = BTreeSet::new();
    let mut refuse = |rig: &Rig| {
        for (method, path, operation) in operations(&document) {
            for (slot, body) in
                [("1", ""), ("99", ""), ("x", ""), ("1", "{"), ("1", "[]"), ("1", &long), ("1", r#"{"a":1}"#)]
            {
                if method == "GET" && !body.is_empty() || path.contains("power") && body.is_empty() {
                    continue;
                }
                let (code, answer) = match path.as_str() {
                    "/v1/metrics" => continue,
                    _ => rig.ask(&method, &path.replace("{slot}", slot), body),
                };
                let described = &operation["responses"][code.to_string()];
                assert!(described.is_object(), "{method} {path}: {code} is not described: {answer}");
                check(&document, schema_of(described), &answer, &path);
                seen.insert(code);
            }
        }
    };
    refuse(&rig);
    refuse(&Rig::divided());
    refuse(&Rig::shared());
    rig.live.act(live::Action::PowerCut).unwrap();
    refuse(&rig);
    assert!([200, 400, 404, 409, 413, 422].iter().all(|code| seen.contains(code)), "{seen:?}");
}

#[test]
fn the_states_of_a_card_fit_the_schema_of_its_status() {
    let document = document();
    let rig = Rig::new();
    let status = || rig.ask("GET", "/v1/status", "").1;
    let schema = json!({ "$ref": "#/components/schemas/Status" });
    let mut states = vec![status()];
    overwrite(&rig.live, 2);
    rig.client.pull(3, control::Pull::default()).unwrap();
    states.push(status());
    rig.client.set(&live::Change { rebuild_bytes_per_s: Some(Some(1)), ..Default::default() }).unwrap();
    rig.client.insert(3, &control::Insert { new: true, path: None }).unwrap();
    rig.client.scrub().unwrap();
    states.push(status());
    rig.client.power_cut().unwrap();
    states.push(status());
    rig.client.power_on().unwrap();
    states.push(status());
    assert!(states.iter().any(|state| state["rebuild"].is_number()) && states[3]["powered"] == false);
    for state in states {
        check(&document, &schema, &state, "status");
        assert_eq!(state["size_bytes"], SIZE);
    }
}
