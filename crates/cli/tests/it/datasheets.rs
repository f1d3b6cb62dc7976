//! Models of drives have the figures of their data sheets, as docs/datasheets.md says.

use crate::common::run;
use serde_json::Value;

fn compared(arguments: &[&str]) -> (Option<i32>, Vec<Value>) {
    let output = run(arguments);
    let tables: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    (output.status.code(), tables)
}

fn missed(tables: &[Value]) -> Vec<String> {
    let mut missed = Vec::new();
    for table in tables {
        for point in table["points"].as_array().unwrap().iter().filter(|point| point["holds"] == false) {
            missed.push(format!("{}: {}", table["card"].as_str().unwrap(), point["label"].as_str().unwrap()));
        }
    }
    missed
}

/// Drives with flash of each kind, one with a map in the host's memory, and one without flash.
#[test]
#[ignore = "proof: steady states and lives of five drives, half a minute"]
fn drives_of_each_kind_miss_no_figure() {
    let cards = ["intel-p4500-1tb", "intel-p3700-2tb", "samsung-845dc-evo-960", "samsung-980-1tb", "intel-p5800x-400"];
    for card in cards {
        let (code, tables) = compared(&["validate", "--datasheets", "--card", card, "--json", "-"]);
        assert_eq!((code, missed(&tables)), (Some(0), vec![]), "{card}");
    }
}

#[test]
#[ignore = "soak: steady states and lives of some dozen drives, some minutes"]
fn soak_drives_miss_no_figure_of_their_data_sheets() {
    let (code, tables) = compared(&["validate", "--datasheets", "--json", "-"]);
    assert!(tables.len() >= 12, "{} drives", tables.len());
    assert_eq!((code, missed(&tables)), (Some(0), vec![]));
    let points = tables.iter().flat_map(|table| table["points"].as_array().unwrap());
    let predicted = |point: &&Value| !point["label"].as_str().unwrap().contains("(given)");
    let lives = |point: &&Value| point["unit"] == "TB" && point["holds"] == true;
    assert!(points.clone().filter(predicted).count() >= 12);
    assert!(points.filter(lives).count() >= 5, "endurance of five drives within its bound");
}

/// The quickest of them shows what a sheet's comparison says.
#[test]
fn a_data_sheet_is_compared_figure_by_figure() {
    let (_, tables) = compared(&["validate", "--datasheets", "--card", "intel-p4800x-375", "--json", "-"]);
    let [table] = &tables[..] else { panic!("{tables:?}") };
    assert_eq!(table["name"], "datasheet-intel-p4800x-375");
    let points = table["points"].as_array().unwrap();
    let of = |label: &str| points.iter().find(|point| point["label"] == label).unwrap_or_else(|| panic!("{label}"));
    let read = of("random read, depth 16 (given)");
    assert_eq!((read["published"]["value"].as_f64(), read["unit"].as_str()), (Some(550_000.0), Some("IOPS")));
    assert!(read["model"].as_f64().unwrap() > 400_000.0 && of("random 70/30, depth 16")["error"].is_number());
}
