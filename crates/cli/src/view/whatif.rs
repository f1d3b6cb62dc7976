//! A grid's answers, and what a search found.

use crate::table::{Align, COLUMNS, Table, wrap};
use crate::units::{duration, io_size, mb_per_s, percent, three_digits};
use results::{
    WhatifAnswer, WhatifAxis, WhatifFound, WhatifLatency, WhatifOutcome, WhatifPoint, WhatifResult, WhatifSearch,
    WhatifUnit, WhatifWanted,
};
use serde_json::{Map, Value};

/// The answers as a table.
pub fn whatif(device: &str, result: &WhatifResult) -> String {
    let mut out = wrap("", 2, device);
    let changed = result.host["changed"].as_array().map(Vec::as_slice).unwrap_or_default();
    let host: Vec<&str> = [&result.host["name"]].into_iter().chain(changed).filter_map(Value::as_str).collect();
    let host = host.join(", ");
    let fixed = fixed(result).map(|axis| named(axis, &axis.values[0])).collect::<Vec<_>>().join(", ");
    out.push_str(&wrap("", 2, &format!("{fixed}; host {host}, seed {}", result.seed)));
    if let Some(why) = &result.partial {
        out.push_str(&format!("PARTIAL: {why} after {} points\n", result.points.len()));
    }
    out.push('\n');
    match &result.search {
        Some(search) => out.push_str(&self::search(result, search)),
        None => out.push_str(&grid(result)),
    }
    out
}

fn fixed(result: &WhatifResult) -> impl Iterator<Item = &WhatifAxis> {
    result.axes.iter().filter(|axis| axis.values.len() == 1)
}

fn varying(result: &WhatifResult) -> impl Iterator<Item = &WhatifAxis> {
    result.axes.iter().filter(|axis| axis.values.len() > 1)
}

/// A value of an axis.
fn value(axis: &WhatifAxis, value: &Value) -> String {
    match (axis.unit, value.as_f64()) {
        (WhatifUnit::Percent, Some(percent)) => format!("{percent} %"),
        (WhatifUnit::Bytes, Some(bytes)) => io_size(bytes as u64),
        (_, Some(number)) => number.to_string(),
        _ => value.as_str().unwrap_or("-").to_owned(),
    }
}

/// `fill 50 %`, `rndwr`.
fn named(axis: &WhatifAxis, of: &Value) -> String {
    let text = value(axis, of);
    if axis.key == "load" { text } else { format!("{} {text}", axis.key.replace('_', " ")) }
}

fn value_at(axis: &WhatifAxis, at: &Map<String, Value>) -> String {
    at.get(&axis.key).map_or_else(|| "-".to_owned(), |found| value(axis, found))
}

type Column = (&'static str, fn(&WhatifAnswer) -> String);

const COLUMNS_OF_A_POINT: [Column; 8] = [
    ("MB/s", |a| mb_per_s(a.bw_bytes)),
    ("IOPS", |a| three_digits(a.iops)),
    ("mean", |a| duration(a.lat_ns.mean)),
    ("p50", |a| duration(a.lat_ns.p50 as f64)),
    ("p99", |a| duration(a.lat_ns.p99 as f64)),
    ("p99.9", |a| duration(a.lat_ns.p99_9 as f64)),
    ("WAF", |a| a.waf.map_or_else(|| "-".to_owned(), |waf| format!("{waf:.2}"))),
    ("steady", |a| if a.steady { "yes" } else { "NO" }.to_owned()),
];

/// Columns of a card that is a cache.
const COLUMNS_OF_A_CACHE: [Column; 2] = [
    ("hits", |a| a.hit_rate.map_or_else(|| "-".to_owned(), percent)),
    ("years", |a| a.years_at_rating.map_or_else(|| "-".to_owned(), three_digits)),
];

/// Columns that are left out one after the other where a line would be too long.
const EXPENDABLE: [&str; 4] = ["mean", "p50", "IOPS", "p99.9"];

fn grid(result: &WhatifResult) -> String {
    let mut left_out: Vec<&str> = Vec::new();
    loop {
        let text = points(result, &left_out);
        let fits = text.lines().all(|line| line.chars().count() <= COLUMNS);
        let Some(next) = EXPENDABLE.get(left_out.len()).filter(|_| !fits) else {
            let note = match left_out.as_slice() {
                [] => String::new(),
                names => format!("(--csv has {} as well)\n", names.join(", ")),
            };
            // Names that are too long even so are the person's own.
            return text.lines().map(|line| cut(line) + "\n").collect::<String>() + &note + &failures(result);
        };
        left_out.push(next);
    }
}

fn cut(line: &str) -> String {
    line.chars().take(COLUMNS).collect::<String>().trim_end().to_owned()
}

fn has_cache(result: &WhatifResult) -> bool {
    result.points.iter().any(|point| point.answer.is_some_and(|answer| answer.hit_rate.is_some()))
}

fn points(result: &WhatifResult, left_out: &[&str]) -> String {
    let of_cache: &[Column] = if has_cache(result) { &COLUMNS_OF_A_CACHE } else { &[] };
    let all = of_cache.iter().chain(&COLUMNS_OF_A_POINT);
    let columns: Vec<&Column> = all.filter(|(name, _)| !left_out.contains(name)).collect();
    let axes: Vec<&WhatifAxis> = varying(result).collect();
    let mut table = Table::new(vec![Align::Right; axes.len() + columns.len()]);
    let head = axes.iter().map(|axis| axis.key.replace('_', " "));
    table.row(head.chain(columns.iter().map(|(name, _)| (*name).to_owned())));
    for point in &result.points {
        let at = axes.iter().map(|axis| value_at(axis, &point.at));
        let cells = columns.iter().map(|(_, cell)| point.answer.as_ref().map_or_else(|| "-".to_owned(), cell));
        table.row(at.chain(cells));
    }
    table.render()
}

/// Explains why points have no figures.
fn failures(result: &WhatifResult) -> String {
    let failed = result.points.iter().filter_map(|point| Some((point, point.failed.as_ref()?)));
    let words = |point: &WhatifPoint| -> String {
        varying(result).map(|axis| format!("{} {}", axis.key, value_at(axis, &point.at))).collect::<Vec<_>>().join(", ")
    };
    failed.map(|(point, why)| wrap("", 2, &format!("{}: {why}", words(point)))).collect()
}

fn search(result: &WhatifResult, search: &WhatifSearch) -> String {
    let Some(axis) = result.axes.iter().find(|axis| axis.key == search.axis) else { return String::new() };
    let mut bounds = Vec::new();
    bounds.extend(search.target_p99_ns.map(|ns| format!("99 of 100 requests within {}", duration(ns as f64))));
    bounds.extend(search.min_bw_bytes.map(|bytes| format!("at least {} MB/s", mb_per_s(bytes))));
    let wanted = match (search.wanted, search.axis.as_str()) {
        (WhatifWanted::Most, "fill") => "fullest",
        (WhatifWanted::Most, _) => "most threads",
        (WhatifWanted::Least, "reserve") => "smallest reserve",
        (WhatifWanted::Least, _) => "fewest threads",
    };
    let mut out = wrap("", 2, &format!("{} with {}:", capital(wanted), bounds.join(" and ")));
    let others: Vec<&WhatifAxis> = varying(result).filter(|axis| axis.key != search.axis).collect();
    let mut table = Table::new(vec![Align::Right; others.len() + 7]);
    let head = others.iter().map(|axis| axis.key.replace('_', " "));
    let figures = ["holds", "p99", "MB/s", "WAF", "breaks", "p99", "MB/s"].map(str::to_owned);
    table.row(head.chain(figures));
    for found in &search.found {
        let at = others.iter().map(|axis| value_at(axis, &found.at));
        let mut cells = Vec::new();
        for (figure, waf) in [(found.holds, true), (found.breaks, false)] {
            let answer = figure.and_then(|figure| answer_at(result, found, &axis.key, figure));
            cells.push(figure.map_or_else(|| "-".to_owned(), |figure| value(axis, &Value::from(figure))));
            let of = |cell: fn(&WhatifAnswer) -> String| answer.map_or_else(|| "-".to_owned(), cell);
            cells.push(of(COLUMNS_OF_A_POINT[4].1));
            cells.push(of(COLUMNS_OF_A_POINT[0].1));
            if waf {
                cells.push(of(COLUMNS_OF_A_POINT[6].1));
            }
        }
        table.row(at.chain(cells));
    }
    out.extend(table.render().lines().map(|line| cut(line) + "\n"));
    let several = search.found.len() > 1;
    for found in &search.found {
        let Some(remark) = remark(axis, found) else { continue };
        let at: Vec<String> = others.iter().map(|axis| named(axis, &found.at[&axis.key])).collect();
        let first = if several { format!("{}: ", at.join(", ")) } else { String::new() };
        out.push_str(&wrap("", 2, &format!("{first}{remark}")));
    }
    out
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The point of a search at a value.
fn answer_at<'a>(result: &'a WhatifResult, found: &WhatifFound, axis: &str, figure: f64) -> Option<&'a WhatifAnswer> {
    let same = |point: &&WhatifPoint| {
        point.at.get(axis).and_then(Value::as_f64) == Some(figure)
            && found.at.iter().all(|(key, value)| point.at.get(key) == Some(value))
    };
    result.points.iter().find(same)?.answer.as_ref()
}

/// Remarks beyond the figures.
fn remark(axis: &WhatifAxis, found: &WhatifFound) -> Option<String> {
    let list = |holds: bool| -> String {
        let values = found.tried.iter().filter(|tried| tried.holds == holds);
        values.map(|tried| value(axis, &Value::from(tried.value))).collect::<Vec<_>>().join(", ")
    };
    match found.outcome {
        WhatifOutcome::Found => None,
        WhatifOutcome::Every => Some(format!("every value that was tried holds: {}", list(true))),
        WhatifOutcome::None => Some(format!("no value that was tried holds: {}", list(false))),
        WhatifOutcome::NotMonotone => Some(format!(
            "NOT MONOTONE: {} hold, {} break; what is shown is the first break from the easy end",
            list(true),
            list(false)
        )),
        WhatifOutcome::Stopped => Some("stopped before it was found".into()),
    }
}

/// The answers as CSV: a row for each point, units in the names of the columns.
pub fn whatif_csv(result: &WhatifResult) -> String {
    let latency = |lat: Option<&WhatifLatency>| -> Vec<String> {
        let of = |f: fn(&WhatifLatency) -> String| lat.map_or_else(String::new, f);
        vec![
            of(|l| l.mean.to_string()),
            of(|l| l.p50.to_string()),
            of(|l| l.p99.to_string()),
            of(|l| l.p99_9.to_string()),
        ]
    };
    let mut head: Vec<String> = result.axes.iter().map(|axis| axis.key.clone()).collect();
    head.extend(["user_bytes", "used_bytes", "bw_bytes", "iops"].map(str::to_owned));
    for class in ["", "read_", "write_"] {
        head.extend(["mean", "p50", "p99", "p99.9"].map(|figure| format!("{class}{figure}_ns")));
    }
    let cached = has_cache(result);
    if cached {
        head.extend(["hit_rate", "years_at_rating"].map(str::to_owned));
    }
    head.extend(["waf", "effective_spare_factor", "steady", "failed"].map(str::to_owned));
    let mut out = line(&head);
    for point in &result.points {
        let answer = point.answer.as_ref();
        let of = |f: &dyn Fn(&WhatifAnswer) -> String| answer.map_or_else(String::new, f);
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut row: Vec<String> =
            result.axes.iter().map(|axis| point.at.get(&axis.key).map_or_else(String::new, plain)).collect();
        row.extend([point.user_bytes.to_string(), point.used_bytes.to_string()]);
        row.extend([of(&|a| a.bw_bytes.to_string()), of(&|a| a.iops.to_string())]);
        row.extend(latency(answer.map(|a| &a.lat_ns)));
        row.extend(latency(answer.and_then(|a| a.read_lat_ns.as_ref())));
        row.extend(latency(answer.and_then(|a| a.write_lat_ns.as_ref())));
        let optional = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        if cached {
            row.extend([of(&|a| optional(a.hit_rate)), of(&|a| optional(a.years_at_rating))]);
        }
        row.extend([
            of(&|a| optional(a.waf)),
            of(&|a| optional(a.effective_spare_factor)),
            of(&|a| a.steady.to_string()),
        ]);
        row.push(point.failed.clone().unwrap_or_default());
        out.push_str(&line(&row));
    }
    out
}

/// A line of CSV (RFC 4180, ended as Unix does).
fn line(cells: &[String]) -> String {
    let quoted = |cell: &String| {
        if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() }
    };
    cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
}
