//! Files of Flashrig are read as they were written; files of later versions and of others are refused with a remedy.

use import::{parse, read};
use results::TargetKind;
use serde_json::{Value, json};

fn path(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn refused(text: &str) -> String {
    parse("f.json", text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_review_comes_back_as_it_was() {
    let review = crate::full::review();
    let text = serde_json::to_string_pretty(&review).unwrap();
    assert_eq!(parse("f.json", text.as_bytes()).unwrap(), review);
    let with_bom = format!("\u{feff}\n{text}\n");
    assert_eq!(parse("f.json", with_bom.as_bytes()).unwrap(), review);
}

#[test]
fn reviews_of_other_times_are_refused_with_a_remedy() {
    let with = |schema: u32| {
        let mut review = serde_json::to_value(crate::full::review()).unwrap();
        review["schema"] = json!(schema);
        refused(&review.to_string())
    };
    assert_eq!(with(3), "f.json: written by a newer Flashrig (schema 3, this one reads up to 2): update flashrig");
    let older = "f.json: a review by an older Flashrig (schema 1, this one reads 2): review the device again";
    assert_eq!(with(1), older);
    assert_eq!(refused(r#"{"schema": 1, "target": {}, "host": {}, "seed": 1, "sweeps": []}"#), older);
}

#[test]
fn broken_reviews_are_refused_with_line_and_column() {
    let text = serde_json::to_string_pretty(&crate::full::review()).unwrap();
    let cut = &text[..text.len() / 2];
    let message = refused(cut);
    let line = cut.lines().count();
    assert!(message.starts_with(&format!("f.json:{line}: column ")) && message.contains("EOF"), "{message}");
    let message = refused(&text.replacen("\"schema\": 2,", "\"schema\": 2,\n\"name\": 3,", 1));
    assert!(message.starts_with("f.json:4: column 9: invalid type: integer `3`"), "{message}");
    let message = refused(&format!("{text}\n{{}}"));
    assert!(message.contains("trailing characters"), "{message}");
}

#[test]
fn a_histogram_that_is_none_is_refused() {
    for (upper, counts) in
        [(json!([1, 2]), json!([1])), (json!([2, 1]), json!([1, 1])), (json!([1, 2]), json!([u64::MAX, 1]))]
    {
        let mut review = serde_json::to_value(crate::full::review()).unwrap();
        review["sweeps"][0]["points"][0]["write"]["histogram"] = json!({ "upper_ns": upper, "counts": counts });
        let message = refused(&review.to_string());
        assert!(message.starts_with("f.json: the writes of 'fill' are no histogram"), "{message}");
    }
}

#[test]
fn a_burst_that_is_none_is_refused() {
    let good = serde_json::to_value(crate::full::review()).unwrap();
    let broken = [
        ("/burst/bursts/0/rows/0/bytes", json!(400)),
        ("/burst/bursts/0/rows/1/bytes", json!(100)),
        ("/burst/bursts/0/rows/1/bw_bytes", json!(-1.0)),
        ("/burst/bursts/0/rows/1/bw_bytes", json!(0.0)),
        ("/burst/bursts/0/bytes", json!(199)),
        ("/burst/bursts/0/idle_s", json!(-1.0)),
        ("/burst/bursts/0/seconds", json!(-1.0)),
        ("/burst/bursts/0/cliff/bytes", json!(400)),
        ("/burst/bursts/0/cliff/before_bw_bytes", json!(0.5)),
        ("/burst/bursts/0/cliff/after_bw_bytes", json!(0.0)),
    ];
    for (place, value) in broken {
        let mut review = good.clone();
        *review.pointer_mut(place).unwrap() = value;
        let message = refused(&review.to_string());
        assert!(message.starts_with("f.json: burst 1 is none"), "{place}: {message}");
    }
    // JSON has no word for it: what a program made of it is no number.
    let mut review = good;
    review["burst"]["bursts"][0]["rows"][0]["bw_bytes"] = Value::Null;
    assert!(refused(&review.to_string()).contains("invalid type: null, expected f64"));
}

#[test]
fn a_review_from_before_there_were_bursts_is_read() {
    let mut review = serde_json::to_value(crate::full::review()).unwrap();
    review.as_object_mut().unwrap().remove("burst");
    assert_eq!(parse("f.json", review.to_string().as_bytes()).unwrap().burst, None);
}

#[test]
fn a_run_becomes_a_sweep_of_one_point() {
    let review = read(path("flashrig-run.json")).unwrap();
    let [sweep] = &review.sweeps[..] else { panic!() };
    assert_eq!((sweep.name.as_str(), sweep.points[0].x), ("threads-rndrw", 8.0));
    assert_eq!((review.target.kind, review.target.name.as_str()), (TargetKind::Model, "tachion-400"));
    let written: Value = serde_json::from_str(&std::fs::read_to_string(path("flashrig-run.json")).unwrap()).unwrap();
    assert_eq!(sweep.points[0].read.iops, written["read"]["iops"].as_f64().unwrap());
    assert_eq!(sweep.points[0].waf, written["flash"]["waf"].as_f64());
    let slob = read(path("flashrig-run-slob.json")).unwrap();
    assert_eq!((slob.sweeps[0].name.as_str(), slob.sweeps[0].points[0].x), ("slob", 8.0));
    let mut later = written.clone();
    later["schema"] = json!(2);
    assert!(refused(&later.to_string()).contains("newer Flashrig (schema 2, this one reads up to 1)"));
    let mut stopped = written;
    stopped["partial"] = json!(true);
    assert_eq!(parse("f", stopped.to_string().as_bytes()).unwrap().partial.as_deref(), Some("stopped by Ctrl-C"));
}

#[test]
fn other_files_are_refused_by_what_they_are() {
    for json in ["{}", "[]", "3", "{\"kind\": 7, \"schema\": []}", "{\"kind\": \"other\", \"schema\": 2}"] {
        assert_eq!(refused(json), "f.json: not a Flashrig review, nor fio's JSON", "{json}");
    }
    assert_eq!(refused(" \n"), "f.json: is empty: was the tool stopped before it wrote its results?");
    assert!(refused("hello\n").starts_with("f.json: is not a result of Flashrig, fio's JSON"));
    assert!(refused("\u{7f}ELF\0\0").starts_with("f.json: is not a result"));
    let message = read("/nonexistent/f.json").unwrap_err().to_string();
    assert!(message.starts_with("/nonexistent/f.json: can't be read: "), "{message}");
    assert!(read("/").unwrap_err().to_string().starts_with("/: can't be read: "));
    let deep = format!("{{\"kind\": {}", "[".repeat(100_000));
    assert!(refused(&deep).starts_with("f.json:1: column "));
}
