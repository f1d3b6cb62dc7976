//! Rules of the comparison: some figures are compared, some never are.

use crate::common::{CACHE, full, imported};
use report::Unit;
use report::advantage::{AdvantageRow, AdvantageTable, Better, RowUnit, table};
use report::winners::{score, wins};
use results::ReviewResult;
use serde_json::json;

fn row<'a>(table: &'a AdvantageTable, group: &str, label: &str) -> &'a AdvantageRow {
    let found: Vec<_> = table.rows.iter().filter(|r| r.group == group && r.label == label).collect();
    assert_eq!(found.len(), 1, "{group}: {label}");
    found[0]
}

fn compare(results: &[ReviewResult]) -> AdvantageTable {
    table(&results.iter().collect::<Vec<_>>())
}

#[test]
fn more_throughput_and_less_time_are_both_an_advantage() {
    let table = compare(&[full("a", 1.0), full("b", 1.37)]);
    assert_eq!(table.devices, ["a", "b"]);
    let requests = row(&table, "Random reads", "16 threads, requests");
    assert_eq!((requests.better, &requests.unit), (Better::Higher, &RowUnit::Known(Unit::Iops)));
    assert_eq!(requests.show_times(1), "1.4 times better");
    assert_eq!((requests.advantage(0), requests.show_times(0)), (None, "–".to_string()));
    assert!(requests.key);
    let p99 = row(&table, "Random reads", "16 threads, p99 of reads");
    assert_eq!(p99.better, Better::Lower);
    assert!(p99.values[1] < p99.values[0] && p99.advantage(1).unwrap() > 30.0, "{p99:?}");
    let price = row(&table, "Price", "per GB");
    assert_eq!(price.show(0), "34.0 USD");
    assert_eq!(price.show_times(1), "1.4 times worse");
    let slow = compare(&[full("a", 1.0), full("b", 0.06), full("c", 1.04)]);
    let slow = row(&slow, "Random reads", "16 threads, requests");
    assert_eq!((slow.show_times(1), slow.show_times(2)), ("17 times worse".to_string(), "4 % better".to_string()));
    let twice = compare(&[full("a", 0.01), full("b", 1.0)]);
    assert_eq!(row(&twice, "Random reads", "16 threads, requests").show_times(1), "100 times better");
}

#[test]
fn a_point_that_only_one_has_is_compared_with_nothing() {
    let mut other = full("b", 1.0);
    for point in &mut other.sweeps[0].points {
        point.x += 0.5;
    }
    let table = compare(&[full("a", 1.0), other]);
    for row in table.rows.iter().filter(|r| r.group == "Random reads") {
        assert_eq!(row.values.iter().flatten().count(), 1, "{row:?}");
        assert_eq!((row.advantage(1), row.show_times(1)), (None, "–".to_string()));
    }
    assert_eq!(table.rows.iter().filter(|r| r.label == "16 threads, requests" && r.group == "Random reads").count(), 1);
}

#[test]
fn another_block_size_or_fill_is_another_point() {
    let mut blocks = full("b", 1.0);
    blocks.sweeps[0].points.iter_mut().for_each(|p| p.load = json!({"block_bytes": 4096}));
    blocks.sweeps[1].points.iter_mut().for_each(|p| p.fill = 0.5);
    let table = compare(&[full("a", 1.0), blocks]);
    for row in table.rows.iter().filter(|r| r.group == "Random reads" || r.group == "Random writes") {
        assert_eq!(row.values.iter().flatten().count(), 1, "{row:?}");
    }
    let labels: Vec<&str> = table.rows.iter().map(|r| r.label.as_str()).collect();
    assert!(labels.iter().any(|l| l.contains("4\u{202f}KiB blocks")), "{labels:?}");
    assert!(labels.iter().any(|l| l.contains("50\u{202f}% full")));
}

#[test]
fn who_does_not_say_how_is_compared_with_a_reservation() {
    let table = compare(&[full("a", 1.0), imported()]);
    let label = "16 threads (block size or fill not known of all), requests";
    assert!(row(&table, "Random reads", label).advantage(1).is_some());
}

#[test]
fn prices_in_other_currencies_are_not_compared() {
    let mut euros = full("b", 1.0);
    euros.price.as_mut().unwrap().currency = "EUR".into();
    let table = compare(&[full("a", 1.0), euros]);
    let prices: Vec<_> = table.rows.iter().filter(|r| r.group == "Price" && r.label == "per GB").collect();
    assert_eq!(prices.len(), 2);
    assert!(prices.iter().all(|row| row.values.iter().flatten().count() == 1));
}

#[test]
fn a_device_without_any_sweep_has_dashes() {
    let mut empty = full("b", 1.0);
    (empty.sweeps, empty.timeline, empty.price, empty.database) = (Vec::new(), None, None, None);
    empty.burst = None;
    let table = compare(&[full("a", 1.0), empty]);
    assert!(!table.rows.is_empty());
    assert!(table.rows.iter().all(|row| row.show(1) == "–" && row.show_times(1) == "–"));
    assert!(compare(&[]).rows.is_empty());
}

#[test]
fn databases_are_compared_at_each_number_of_sessions_and_at_their_peaks() {
    let table = compare(&[full("a", 1.0), full("b", 1.5)]);
    let peak = row(&table, "PostgreSQL 80/20", "peak, transactions a second");
    assert_eq!((peak.key, peak.better, peak.show_times(1)), (true, Better::Higher, "1.5 times better".to_string()));
    let at_four = row(&table, "PostgreSQL 80/20", "4 sessions, transactions a second");
    assert_eq!((at_four.key, at_four.values[0]), (true, Some(4_000.0)));
    let p99 = row(&table, "PostgreSQL 80/20", "16 sessions, p99 of selects");
    assert_eq!((p99.key, p99.better), (false, Better::Lower));
    assert!(p99.advantage(1).unwrap() > 45.0, "{p99:?}");
}

#[test]
fn bursts_are_compared_by_how_they_begin_and_how_they_end() {
    let mut even = full("b", 0.5);
    even.burst.as_mut().unwrap().bursts.iter_mut().for_each(|burst| burst.cliff = None);
    let mean = even.burst.as_ref().unwrap().bursts[0].bw_bytes();
    let table = compare(&[full("a", 1.0), even]);
    let [first, last] = ["at first", "in the end"].map(|label| row(&table, "Burst into an emptied device", label));
    assert_eq!((first.key, first.better, &first.values), (true, Better::Higher, &vec![Some(CACHE.1), Some(mean)]));
    assert_eq!(last.values, [Some(CACHE.2), Some(mean)]);
    let mut other = full("b", 1.0);
    other.options.fill = 0.5;
    let table = compare(&[full("a", 1.0), other]);
    for row in table.rows.iter().filter(|r| r.group == "Burst into an emptied device") {
        assert_eq!(row.values.iter().flatten().count(), 1, "{row:?}");
    }
}

#[test]
fn a_busy_machine_wins_nothing_and_nobody_wins_against_it() {
    let mut other = full("b", 2.0);
    let sweep = other.sweeps.iter_mut().find(|sweep| sweep.name == "threads-rndrd").unwrap();
    sweep.points.iter_mut().for_each(|point| point.limited_by_host = true);
    let table = compare(&[full("a", 1.0), other]);
    let requests = row(&table, "Random reads", "16 threads, requests");
    assert_eq!(requests.limited, [false, true]);
    assert!(table.counts(requests, 0) && !table.counts(requests, 1) && table.is_limited());
    let wins = wins(&table);
    assert!(wins.iter().all(|win| win.row.group != "Random reads"), "{wins:#?}");
    let writes = wins.iter().find(|win| win.row.group == "Random writes").unwrap();
    assert_eq!((writes.winner, writes.second, writes.lead_words().as_str()), (1, 0, "2.0 times"));
    // Two of three count, and are compared.
    let mut busy = full("c", 9.0);
    busy.sweeps.iter_mut().flat_map(|sweep| &mut sweep.points).for_each(|point| point.limited_by_host = true);
    let table = compare(&[full("a", 1.0), full("b", 1.5), busy]);
    let of_sweeps = report::winners::wins(&table).into_iter().filter(|win| win.row.group.starts_with("Random reads"));
    assert!(of_sweeps.clone().count() > 1 && of_sweeps.clone().all(|win| win.winner == 1 && win.second == 0));
}

#[test]
fn a_comparison_opens_with_who_wins_how_often_and_by_how_much() {
    let table = compare(&[full("a", 1.0), full("b", 17.0)]);
    let words = score(&table, &wins(&table));
    assert!(words.starts_with("b wins ") && words.contains(", by up to 17 times"), "{words}");
    assert!(!words.contains('%'), "{words}");
    let even = compare(&[full("a", 1.0), full("b", 1.01)]);
    let words = score(&even, &wins(&even));
    assert!(words.starts_with("Nobody wins; ") && words.ends_with(" are even."), "{words}");
}
