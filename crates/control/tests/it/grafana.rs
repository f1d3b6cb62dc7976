//! `packaging/grafana-dashboard.json` asks for metrics that there are, by labels that they have.

use crate::common::{Rig, as_fast_as_flash, file, overwrite, served};
use control::metrics;
use live::{Action, Change};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Values of each label, by metric.
type Exported = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// A label, an operator and a value.
type Matcher = (String, String, String);

/// The samples of a page of metrics; values of labels in the test have no commas or quotes in them.
fn add(exported: &mut Exported, page: &str) {
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_once('{').expect("each has the label of the card");
        let labels = exported.entry(name.to_owned()).or_default();
        for pair in rest.split_once('}').unwrap().0.split(',') {
            let (label, value) = pair.split_once('=').unwrap();
            labels.entry(label.to_owned()).or_default().insert(value.trim_matches('"').to_owned());
        }
    }
}

/// All expressions of a dashboard.
fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                match field.as_str() {
                    Some(text) if ["expr", "definition"].contains(&key.as_str()) => found.push(text.to_owned()),
                    _ => expressions(field, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| expressions(value, found)),
        _ => {}
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The metrics of an expression, each with its matchers.
fn selectors(expression: &str) -> Vec<(String, Vec<Matcher>)> {
    let mut found = Vec::new();
    let mut rest = expression;
    while let Some(at) = rest.find("flashrig_") {
        let end = rest[at..].find(|c| !is_word(c)).map_or(rest.len(), |len| at + len);
        let name = rest[at..end].to_owned();
        rest = &rest[end..];
        let mut matchers = Vec::new();
        if let Some(inner) = rest.strip_prefix('{') {
            let (inner, after) = inner.split_once('}').expect("a closing brace");
            for matcher in inner.split(',') {
                let end = matcher.find(|c| !is_word(c)).unwrap();
                let (operator, value) = matcher[end..].split_once('"').unwrap();
                matchers.push((matcher[..end].into(), operator.into(), value.strip_suffix('"').unwrap().into()));
            }
            rest = after;
        }
        found.push((name, matchers));
    }
    found
}

/// Words between brackets after `by`, `without`, `on` and `ignoring`, and in a legend's braces.
fn grouped(expression: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in ["by (", "without (", "on (", "ignoring ("] {
        for after in expression.split(word).skip(1) {
            found.extend(after.split_once(')').unwrap().0.split(',').map(|label| label.trim().to_owned()));
        }
    }
    found
}

/// Everything that is wrong with an expression.
fn faults(expression: &str, exported: &Exported) -> Vec<String> {
    let selectors = selectors(expression);
    let mut faults = Vec::new();
    if selectors.is_empty() {
        faults.push("no metric".to_owned());
    }
    for (name, matchers) in &selectors {
        let Some(labels) = exported.get(name) else {
            faults.push(format!("there is no {name}"));
            continue;
        };
        for (label, operator, value) in matchers {
            match labels.get(label) {
                None => faults.push(format!("{name} has no label {label}")),
                Some(_) if value == "$name" => {}
                Some(values) => {
                    let wanted = if operator == "=~" { value.split('|').collect() } else { vec![value.as_str()] };
                    let unknown = wanted.into_iter().filter(|value| !values.contains(*value));
                    faults.extend(unknown.map(|value| format!("{name}: {label} is never {value}")));
                }
            }
        }
        let missing = grouped(expression).into_iter().filter(|label| !labels.contains_key(label));
        faults.extend(missing.map(|label| format!("{name} has no label {label}")));
    }
    faults
}

/// The metrics of cards: one at work, one that is being rebuilt, one that is scrubbed.
fn exported() -> Exported {
    let (rebuilt, scrubbed) = (Rig::new(), as_fast_as_flash());
    let mut exported = Exported::new();
    overwrite(&rebuilt.live, 1);
    overwrite(&scrubbed, 1);
    rebuilt.live.act(Action::Set(Change { rebuild_bytes_per_s: Some(Some(1)), ..Default::default() })).unwrap();
    rebuilt.live.act(Action::Pull { slot: 1, force: false }).unwrap();
    rebuilt.live.act(Action::Insert { slot: 1, new: true }).unwrap();
    add(&mut exported, &metrics(&[control::Served { name: "card".into(), ..served(&rebuilt.live) }]));
    // On a machine that is busy a scrub may be over before it is looked at.
    for _ in 0..1_000 {
        // Refused while the one before goes on.
        let _ = scrubbed.act(Action::Scrub);
        let page = metrics(&[control::Served { name: "card".into(), ..served(&scrubbed) }]);
        if page.contains("flashrig_scrub_progress_ratio{") {
            add(&mut exported, &page);
            break;
        }
    }
    exported
}

#[test]
fn the_dashboard_asks_for_what_cards_export() {
    let exported = exported();
    let dashboard: Value = serde_json::from_str(&file("packaging/grafana-dashboard.json")).unwrap();
    let mut asked = Vec::new();
    expressions(&dashboard, &mut asked);
    assert!(asked.len() > 30, "{asked:?}");
    let faults: Vec<String> = asked
        .iter()
        .flat_map(|expression| {
            faults(expression, &exported).into_iter().map(move |fault| format!("{fault}: {expression}"))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // A legend names labels that its metric has and its grouping keeps.
    for target in dashboard["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array()).flatten()
    {
        let (expression, legend) = (target["expr"].as_str().unwrap(), target["legendFormat"].as_str().unwrap());
        let (kept, of_metric) = (grouped(expression), &exported[&selectors(expression)[0].0]);
        for label in legend.split("{{").skip(1).map(|after| after.split_once("}}").unwrap().0) {
            assert!(of_metric.contains_key(label), "{legend}: {expression}");
            assert!(kept.is_empty() || kept.iter().any(|of| of == label), "{legend}: {expression}");
        }
    }
}

#[test]
fn what_is_not_exported_is_found() {
    let exported = exported();
    for (expression, fault) in [
        ("flashrig_powerd", "there is no flashrig_powerd"),
        ("rate(flashrig_host_requests{name=~\"$name\"}[5m])", "there is no flashrig_host_requests"),
        ("flashrig_powered{slot=\"1\"}", "flashrig_powered has no label slot"),
        ("flashrig_modules{state=\"activ\"}", "flashrig_modules: state is never activ"),
        ("sum by (name, cause) (flashrig_host_bytes_total)", "flashrig_host_bytes_total has no label cause"),
        ("up", "no metric"),
    ] {
        assert_eq!(faults(expression, &exported), [fault], "{expression}");
    }
    assert_eq!(faults("flashrig_module_bad_blocks{slot=~\"0|15\",name=~\"$name\"}", &exported), [""; 0]);
}
