//! Devices over time: which reviews are of one device, what has changed, and what can be shared of it.

use crate::common::reviews::{refusal, success};
use crate::common::run_in;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use tempfile::TempDir;

/// A review of a drive: its serial number, when, and how its random writes are scaled.
fn save(dir: &Path, name: &str, template: &Value, serial: &str, started: &str, factor: f64) {
    let mut review = template.clone();
    review["name"] = name.into();
    review["started"] = started.into();
    review["target"]["kind"] = "block_device".into();
    review["target"]["name"] = "/dev/nvme0n1".into();
    review["target"]["title"] = "Example SSD 1TB".into();
    review["target"]["facts"] = json!([{ "key": "serial", "label": "Serial number", "value": serial }]);
    for sweep in review["sweeps"].as_array_mut().unwrap() {
        if sweep["name"] == "threads-rndwr" {
            for point in sweep["points"].as_array_mut().unwrap() {
                for key in ["iops", "bw_bytes"] {
                    let value = point["write"][key].as_f64().unwrap();
                    point["write"][key] = json!(value * factor);
                }
            }
        }
    }
    fs::write(dir.join(format!("{name}.json")), review.to_string()).unwrap();
}

/// A review of a model, made once.
fn template() -> &'static Value {
    static MADE: OnceLock<Value> = OnceLock::new();
    MADE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let words = ["review", "tachion-400", "--quick", "--scale", "1/256", "--only", "threads", "--json"];
        serde_json::from_str(&success(&run_in(dir.path(), &words))).unwrap()
    })
}

/// A folder of three reviews of one drive, out of order by name, and of two of another one.
fn folder() -> (TempDir, Value) {
    let dir = tempfile::tempdir().unwrap();
    let template = template().clone();
    fs::create_dir(dir.path().join("reviews")).unwrap();
    let at = dir.path().join("reviews");
    save(&at, "b", &template, "S1", "2026-05-03T10:00:00Z", 1.0);
    save(&at, "c", &template, "S1", "2026-08-01T10:00:00Z", 0.97);
    save(&at, "a", &template, "S1", "2026-11-26T18:30:00Z", 0.5);
    save(&at, "d", &template, "S2", "2026-06-01T08:00:00Z", 1.0);
    save(&at, "e", &template, "S2", "2026-06-01T09:30:00Z", 1.04);
    (dir, template)
}

#[test]
fn reviews_of_one_serial_number_stand_in_the_order_of_their_time() {
    let (dir, template) = folder();
    let told: Value = serde_json::from_str(&success(&run_in(dir.path(), &["history", "reviews", "--json"]))).unwrap();
    let devices = told["devices"].as_array().unwrap();
    assert_eq!(devices.len(), 2);
    assert_eq!(devices[0]["when"], json!(["2026-05-03", "2026-08-01", "2026-11-26"]));
    assert_eq!(devices[1]["when"], json!(["2026-06-01 08:00", "2026-06-01 09:30"]), "two of a day have their time");
    let sweeps = template["sweeps"].as_array().unwrap();
    let sweep = sweeps.iter().find(|sweep| sweep["name"] == "threads-rndwr").unwrap();
    let at_16 = sweep["points"].as_array().unwrap().iter().find(|point| point["x"] == 16.0).unwrap();
    let iops = at_16["write"]["iops"].as_f64().unwrap();
    let figures = devices[0]["figures"].as_array().unwrap();
    let writes =
        figures.iter().find(|f| f["group"] == "Random writes" && f["label"].as_str().unwrap().ends_with("requests"));
    let writes = writes.unwrap_or_else(|| panic!("{figures:?}"));
    for (value, factor) in writes["values"].as_array().unwrap().iter().zip([1.0, 0.97, 0.5]) {
        assert!((value.as_f64().unwrap() / (iops * factor) - 1.0).abs() < 1e-9, "{writes}");
    }
    assert!((writes["times_as_good"].as_f64().unwrap() - 0.5).abs() < 1e-9);
    let sentence = devices[0]["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("Not what it was: 1 figure has become worse by more than 10 %"), "{sentence}");
    assert!(sentence.contains("Random writes, 16") && sentence.contains("2.00 times worse"), "{sentence}");
    let same = devices[1]["sentence"].as_str().unwrap();
    assert!(same.starts_with("What it was on 2026-06-01 08:00: no figure has changed"), "{same}");
}

#[test]
fn a_folder_is_told_in_eighty_columns_and_can_be_shared() {
    let (dir, _) = folder();
    fs::write(dir.path().join("reviews/other.json"), "{\"a\": 1}").unwrap();
    let output = run_in(dir.path(), &["history", "reviews", "-o", "h.html", "--markdown", "h.md"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("other.json"), "what is passed over is said");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("Example SSD 1TB, serial S1") && text.contains("-50 %") && text.contains('█'), "{text}");
    assert!(text.lines().any(|line| line.contains("-50 %") && line.ends_with('!')), "{text}");
    let page = fs::read_to_string(dir.path().join("h.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("</title>") && !page.contains("<script"), "{page}");
    assert_eq!(page.matches("<svg").count(), 2, "a picture for each device");
    assert_eq!(page.matches("class=\"worse\"").count(), 1);
    let markdown = fs::read_to_string(dir.path().join("h.md")).unwrap();
    assert!(markdown.contains("## Example SSD 1TB, serial S1\n\nNot what it was"), "{markdown}");
    assert!(markdown.contains("| figure | 2026-05-03 | 2026-08-01 | 2026-11-26 | change |"), "{markdown}");
    // A page takes the place of a page, and of nothing else.
    success(&run_in(dir.path(), &["history", "reviews", "-o", "h.html"]));
    for words in [
        ["-o", "reviews/a.json"],
        ["--svg", "reviews/a.json"],
        ["--png", "reviews/a.json"],
        ["--markdown", "reviews/a.json"],
    ] {
        refusal(&run_in(dir.path(), &["history", "reviews/a.json", words[0], words[1]]));
    }
}

#[test]
fn the_picture_of_a_device_is_an_svg_or_a_png_and_of_two_is_refused() {
    let (dir, _) = folder();
    let svg = ["history", "reviews/a.json", "reviews/b.json", "--svg", "h.svg"];
    success(&run_in(dir.path(), &svg));
    let picture = fs::read_to_string(dir.path().join("h.svg")).unwrap();
    let document = roxmltree::Document::parse(&picture).unwrap();
    assert_eq!(document.root_element().tag_name().name(), "svg");
    let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
    assert!(texts.iter().any(|text| text.contains("(-50 %)")), "{texts:?}");
    let lines = document.descendants().filter(|node| node.has_tag_name("polyline"));
    for line in lines {
        let points: Vec<&str> = line.attribute("points").unwrap().split(' ').collect();
        assert_eq!(points.len(), 2, "a point for each review");
    }
    success(&run_in(dir.path(), &["history", "reviews/a.json", "reviews/b.json", "--png", "h.png"]));
    let png = fs::read(dir.path().join("h.png")).unwrap();
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((&png[..8], &png[12..16]), (&b"\x89PNG\r\n\x1a\n"[..], &b"IHDR"[..]));
    assert!(number(16) == 1_600 && number(20) > 400 && png.len() < 200_000, "{} bytes", png.len());
    for (word, file) in [("--svg", "h.svg"), ("--png", "h.png")] {
        let line = refusal(&run_in(dir.path(), &["history", "reviews", word, file]));
        assert!(line.contains("there are 2"), "{line}");
    }
    let line = refusal(&run_in(dir.path(), &["history", "reviews/a.json", "reviews/b.json", "--png", "-"]));
    assert!(line.contains("a picture needs a file"), "{line}");
}

#[test]
fn hostile_names_break_neither_picture_nor_page() {
    let (dir, template) = folder();
    let at = dir.path().join("evil");
    fs::create_dir(&at).unwrap();
    for (name, started) in [("1", "2026-01-01T00:00:00Z"), ("2", "<script>alert(1)</script>\u{1b}[2J")] {
        let mut evil = template.clone();
        evil["target"]["title"] = "</svg><script>alert(1)</script>\u{1b}[31m & \"x\"".into();
        save(&at, name, &evil, "S<&>\u{7}", started, 1.0);
        let path = at.join(format!("{name}.json"));
        let mut saved: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        saved["target"]["title"] = evil["target"]["title"].clone();
        fs::write(&path, saved.to_string()).unwrap();
    }
    let text = success(&run_in(dir.path(), &["history", "evil", "-o", "h.html", "--svg", "h.svg", "--png", "h.png"]));
    assert!(!text.replace('\n', "").contains(char::is_control), "{text:?}");
    let page = fs::read_to_string(dir.path().join("h.html")).unwrap();
    assert!(!page.contains("<script"), "{page}");
    roxmltree::Document::parse(&fs::read_to_string(dir.path().join("h.svg")).unwrap()).unwrap();
}

#[test]
fn what_is_no_folder_of_reviews_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert!(refusal(&run_in(dir.path(), &["history", "."])).contains("no results (.json)"));
    assert!(refusal(&run_in(dir.path(), &["history", "nowhere"])).contains("nowhere"));
    let fio = format!("{}/../import/tests/fixtures/fio-depths.json", env!("CARGO_MANIFEST_DIR"));
    assert!(refusal(&run_in(dir.path(), &["history", &fio])).contains("no review of Flashrig"));
}
