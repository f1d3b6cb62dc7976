//! Metrics as Prometheus reads them, by the rules of the OpenMetrics text format.

use crate::common::{Rig, exchange, named, overwrite, request, served};
use control::{METRICS_TYPE, metrics, metrics_server};
use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpStream;

type Labels = BTreeMap<String, String>;

struct Sample {
    family: String,
    name: String,
    labels: Labels,
    value: f64,
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `{a="b",c="d"}`, and what comes after it.
fn labels(text: &str) -> (Labels, &str) {
    let mut found = Labels::new();
    let mut rest = text.strip_prefix('{').expect("labels");
    while !rest.starts_with('}') {
        let (name, value) = rest.split_once("=\"").expect("a label");
        assert!(is_name(name), "{name}");
        let (mut text, mut chars) = (String::new(), value.char_indices());
        let end = loop {
            match chars.next().expect("a closing quote") {
                (at, '"') => break at,
                (_, '\\') => text.push(match chars.next().expect("what is escaped").1 {
                    'n' => '\n',
                    c @ ('"' | '\\') => c,
                    c => panic!("\\{c} is no escape"),
                }),
                (_, c) => text.push(c),
            }
        };
        assert!(found.insert(name.into(), text).is_none(), "{name} twice");
        rest = &value[end + 1..];
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    (found, &rest[1..])
}

/// Reads a page, and holds it against the rules: each family described before its samples and in one piece, suffixes and
/// units that go with the type, no sample twice, histograms that add up, an end.
fn parse(text: &str) -> Vec<Sample> {
    let body = text.strip_suffix("# EOF\n").expect("it ends with # EOF");
    let (mut help, mut types, mut samples) = (BTreeMap::new(), BTreeMap::new(), Vec::<Sample>::new());
    let mut seen = BTreeSet::new();
    let mut family = String::new();
    for line in body.lines() {
        if let Some(described) = line.strip_prefix("# ") {
            let mut words = described.splitn(3, ' ');
            let (what, name, rest) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            assert!(is_name(name) && name.starts_with("flashrig_"), "{line}");
            match what {
                "HELP" => {
                    assert!(help.insert(name.to_owned(), rest).is_none(), "{name} is described twice");
                    assert!(rest.len() > 3 && !rest.contains('\\'), "{line}");
                    family = name.to_owned();
                }
                "TYPE" => {
                    assert!(name == family && ["counter", "gauge", "histogram", "info"].contains(&rest), "{line}");
                    types.insert(name.to_owned(), rest.to_owned());
                }
                "UNIT" => assert!(name == family && name.ends_with(&format!("_{rest}")), "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let name = &line[..line.find(['{', ' ']).expect("a value")];
        let (labels, rest) = labels(&line[name.len()..]);
        let value: f64 = rest.strip_prefix(' ').expect("a blank").parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        let suffix = name.strip_prefix(&family).unwrap_or_else(|| panic!("{line} stands in {family}"));
        let allowed: &[&str] = match types[&family].as_str() {
            "counter" => &["_total"],
            "info" => &["_info"],
            "histogram" => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        assert!(allowed.contains(&suffix), "{line}");
        assert!(seen.insert((name.to_owned(), labels.clone())), "twice: {line}");
        assert!(value.is_finite() && value >= 0.0, "{line}");
        samples.push(Sample { family: family.clone(), name: name.into(), labels, value });
    }
    for name in help.keys() {
        assert!(types.contains_key(name), "{name} has no type");
        assert!(samples.iter().any(|sample| sample.family == *name), "{name} has no sample");
        for wrong in ["_total", "_bucket", "_count", "_sum", "_info"] {
            assert!(!name.ends_with(wrong), "{name}: the suffix is the format's");
        }
    }
    for (name, _) in types.iter().filter(|(_, of)| *of == "histogram") {
        histogram(name, &samples);
    }
    samples
}

fn histogram(name: &str, samples: &[Sample]) {
    let mut series: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.name == format!("{name}_bucket")) {
        let mut labels = sample.labels.clone();
        let bound = labels.remove("le").expect("a bucket has a bound");
        let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap() };
        series.entry(labels).or_default().push((bound, sample.value));
    }
    assert!(!series.is_empty(), "{name}");
    for (labels, buckets) in series {
        assert!(buckets.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1), "{name} {labels:?}");
        let (last, all) = buckets[buckets.len() - 1];
        let of = |suffix| {
            let name = format!("{name}_{suffix}");
            samples.iter().find(|sample| sample.name == name && sample.labels == labels).expect("all three").value
        };
        assert!(last == f64::INFINITY && all == of("count"), "{name} {labels:?}");
        assert!(of("sum") <= of("count") * 3600.0 && (of("sum") > 0.0) == (of("count") > 0.0), "{name} {labels:?}");
    }
}

fn value(samples: &[Sample], name: &str, label: Option<(&str, &str)>) -> f64 {
    let fits = |sample: &&Sample| {
        sample.name == name && label.is_none_or(|(key, value)| sample.labels.get(key).is_some_and(|of| of == value))
    };
    let found: Vec<&Sample> = samples.iter().filter(fits).collect();
    assert_eq!(found.len(), 1, "{name} {label:?}");
    found[0].value
}

#[test]
fn metrics_follow_the_format_and_say_what_the_card_says() {
    let rig = Rig::new();
    overwrite(&rig.live, 2);
    let samples = parse(&metrics(&[served(&rig.live)]));
    let status = rig.live.status();
    let of = |name: &str, label| value(&samples, name, label);
    assert_eq!(of("flashrig_host_bytes_total", Some(("op", "write"))), status.stats.writes.bytes as f64);
    assert_eq!(of("flashrig_host_requests_total", Some(("op", "write"))), status.stats.writes.count as f64);
    assert_eq!(of("flashrig_host_requests_total", Some(("op", "read"))), 0.0);
    assert_eq!(
        of("flashrig_host_request_duration_seconds_count", Some(("op", "write"))),
        status.stats.writes.count as f64
    );
    let written = |cause| of("flashrig_flash_written_bytes_total", Some(("cause", cause))) / 4096.0;
    assert_eq!(written("host"), status.host_sectors as f64);
    assert_eq!(written("parity"), status.parity_sectors as f64);
    assert_eq!(of("flashrig_free_bands", None), f64::from(status.free_bands));
    assert_eq!(of("flashrig_powered", None), 1.0);
    assert_eq!(of("flashrig_clients", None), 1.0);
    assert_eq!(of("flashrig_clients_turned_away_total", None), 7.0);
    assert_eq!(of("flashrig_modules", Some(("state", "active"))), rig.live.modules().len() as f64);
    assert_eq!(of("flashrig_smart_available_spare_ratio", None), 1.0);
    assert!(samples.iter().all(|sample| sample.labels["name"] == "test \"card\""));
    assert!(!samples.iter().any(|sample| sample.name.contains("progress")));
    rig.live.act(live::Action::Set(live::Change { rebuild_bytes_per_s: Some(Some(1)), ..Default::default() })).unwrap();
    rig.live.act(live::Action::Pull { slot: 1, force: false }).unwrap();
    rig.live.act(live::Action::Insert { slot: 1, new: true }).unwrap();
    let samples = parse(&metrics(&[served(&rig.live)]));
    assert!(value(&samples, "flashrig_rebuild_progress_ratio", None) < 0.5);
    assert_eq!(value(&samples, "flashrig_modules", Some(("state", "rebuilding"))), 1.0);
    assert_eq!(value(&samples, "flashrig_degraded", None), 1.0);
    rig.live.act(live::Action::PowerCut).unwrap();
    let samples = parse(&metrics(&[served(&rig.live)]));
    assert_eq!(value(&samples, "flashrig_powered", None), 0.0);
    assert_eq!(value(&samples, "flashrig_power_cuts_total", None), 1.0);
}

#[test]
fn metrics_of_several_cards_stand_together() {
    let (one, other) = (Rig::new(), Rig::new());
    overwrite(&one.live, 1);
    other.live.act(live::Action::PowerCut).unwrap();
    let samples = parse(&metrics(&[named(&one.live, "one"), named(&other.live, "other")]));
    let of = |name: &str| -> BTreeMap<&str, f64> {
        let found = samples.iter().filter(|sample| sample.name == name);
        found.map(|sample| (sample.labels["name"].as_str(), sample.value)).collect()
    };
    assert_eq!(of("flashrig_powered"), BTreeMap::from([("one", 1.0), ("other", 0.0)]));
    assert_eq!(of("flashrig_smart_media_errors_total"), BTreeMap::from([("one", 0.0)]));
    assert!(of("flashrig_host_request_duration_seconds_sum").len() == 2);
}

#[test]
fn an_address_answers_with_metrics_and_nothing_else() {
    let rig = Rig::new();
    let server = metrics_server(vec![served(&rig.live)], "127.0.0.1:0").unwrap();
    let ask =
        |method, path| exchange(TcpStream::connect(server.address()).unwrap(), request(method, path, "").as_bytes());
    let (status, head, text) = ask("GET", "/metrics");
    assert!(status == 200 && head.contains(METRICS_TYPE), "{head}");
    assert!(parse(&text).len() > 100);
    for (method, path, code) in
        [("POST", "/metrics", 405), ("GET", "/v1/status", 404), ("POST", "/v1/power/cut", 404), ("GET", "/", 404)]
    {
        assert_eq!(ask(method, path).0, code, "{method} {path}");
    }
    let (status, _, text) = rig.raw(request("GET", "/v1/metrics", "").as_bytes());
    assert!(status == 200 && parse(&text).len() > 100);
    let taken = metrics_server(vec![served(&rig.live)], &server.address().to_string()).map(drop).unwrap_err();
    assert!(taken.to_string().starts_with("can't listen at 127.0.0.1:"), "{taken}");
    assert!(metrics_server(vec![served(&rig.live)], "nonsense").is_err());
}
