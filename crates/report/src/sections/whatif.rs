//! The answers to a grid of questions: a figure against one axis as curves, against two as heat maps.

use super::sweep::{REQUESTS, RESPONSE, THROUGHPUT};
use super::{Question, Section};
use crate::devices::clip;
use crate::heat::{self, HeatMap};
use crate::plot::{NOT_STEADY, Plot, Scale, Series, Table, View, XAxis, YAxis};
use crate::unit::Unit;
use results::{WhatifAnswer, WhatifAxis, WhatifFound, WhatifOutcome, WhatifPoint, WhatifResult, WhatifUnit};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Most lines of a chart, points of a line, combinations that have heat maps of their own, rows and columns of a heat map, and rows of the
/// table of all points.
const MAX_LINES: usize = 10;
const MAX_OF_A_LINE: usize = 250;
const MAX_MAPS: usize = 12;
const MAX_OF_A_SIDE: usize = 32;
const MAX_ROWS: usize = 500;

const WAF: YAxis = YAxis { label: "Write amplification", unit: Unit::Ratio, scale: Scale::Linear };
const HITS: YAxis = YAxis { label: "Hits of the cache", unit: Unit::Percent, scale: Scale::Linear };

/// A figure of a point.
struct Figure {
    name: &'static str,
    axis: YAxis,
    more_is_better: bool,
    of: fn(&WhatifAnswer) -> Option<f64>,
}

const FIGURES: [Figure; 8] = [
    Figure { name: "MB/s", axis: THROUGHPUT, more_is_better: true, of: |a| Some(a.bw_bytes) },
    Figure { name: "IOPS", axis: REQUESTS, more_is_better: true, of: |a| Some(a.iops) },
    Figure { name: "Mean", axis: RESPONSE, more_is_better: false, of: |a| Some(a.lat_ns.mean) },
    Figure { name: "p50", axis: RESPONSE, more_is_better: false, of: |a| Some(a.lat_ns.p50 as f64) },
    Figure { name: "p99", axis: RESPONSE, more_is_better: false, of: |a| Some(a.lat_ns.p99 as f64) },
    Figure { name: "p99.9", axis: RESPONSE, more_is_better: false, of: |a| Some(a.lat_ns.p99_9 as f64) },
    Figure { name: "WAF", axis: WAF, more_is_better: false, of: |a| a.waf },
    Figure { name: "Hits", axis: HITS, more_is_better: true, of: |a| a.hit_rate.map(|share| 100.0 * share) },
];

/// Figures that have heat maps: `MB/s`, `p99`, `WAF`, `Hits`.
const ON_MAPS: [(usize, &str); 4] =
    [(0, "Throughput"), (4, "p99 of the response times"), (6, "Write amplification"), (7, "Hits of the cache")];

/// Returns the questions that the page answers.
pub fn questions(result: &WhatifResult) -> Vec<Question> {
    let axes: Vec<&WhatifAxis> = result.axes.iter().filter(|axis| axis.values.len() > 1).collect();
    let mut questions = Vec::new();
    if let Some(found) = found(result, &axes) {
        questions.push(Question { heading: "How far does it hold the bound?", sections: vec![found] });
    }
    let searched = result.search.as_ref().map(|search| search.axis.as_str());
    // Curves go along the axis that was searched, else along the numeric one with the most values.
    let numeric = || axes.iter().filter(|axis| axis.unit != WhatifUnit::Name);
    let longest = numeric().max_by_key(|axis| (Some(axis.key.as_str()) == searched, axis.values.len())).copied();
    if let Some(x) = longest {
        let mut sections = Vec::new();
        let y = numeric().filter(|axis| axis.key != x.key).max_by_key(|axis| axis.values.len());
        if let (Some(y), None) = (y, searched) {
            sections.push(maps(result, &axes, x, y));
        }
        sections.push(curves(result, &axes, x));
        sections.retain(|section| !section.is_empty());
        questions.push(Question { heading: "What would it do?", sections });
    }
    questions.push(Question { heading: "What does each point say?", sections: vec![points(result, &axes)] });
    questions.retain(|question| !question.sections.is_empty());
    questions
}

/// Returns the parameters that are the same for all points.
pub fn fixed(result: &WhatifResult) -> Vec<(String, String)> {
    let fixed = result.axes.iter().filter(|axis| axis.values.len() == 1);
    fixed.map(|axis| (clip(&axis.label, 80), show(axis, &axis.values[0]))).collect()
}

fn unit(axis: &WhatifAxis) -> Unit {
    match axis.unit {
        WhatifUnit::Percent => Unit::Percent,
        WhatifUnit::Bytes => Unit::BlockBytes,
        WhatifUnit::Count | WhatifUnit::Name => Unit::Count,
    }
}

fn show(axis: &WhatifAxis, value: &Value) -> String {
    match value.as_f64() {
        Some(number) if axis.unit == WhatifUnit::Count && number.fract() != 0.0 => number.to_string(),
        Some(number) => unit(axis).show(number),
        None => clip(value.as_str().unwrap_or("–"), 60),
    }
}

fn x_axis(axis: &WhatifAxis) -> XAxis {
    let numbers = || axis.values.iter().filter_map(Value::as_f64);
    let (least, most) = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(0.0, f64::max));
    let doubles = axis.unit != WhatifUnit::Percent && least > 0.0 && most >= 4.0 * least;
    let scale = if doubles { Scale::Log } else { Scale::Linear };
    XAxis { label: Cow::Owned(clip(&axis.label, 60)), suffix: "", unit: unit(axis), scale }
}

/// Values on some axes, in words: `fifo, 90 %`.
fn words(axes: &[&WhatifAxis], at: &Map<String, Value>) -> String {
    let known = axes.iter().filter_map(|axis| Some((axis, at.get(&axis.key)?)));
    let words: Vec<String> = known
        .map(|(axis, value)| match axis.unit {
            WhatifUnit::Name => show(axis, value),
            _ => format!("{} {}", clip(&axis.label.to_lowercase(), 40), show(axis, value)),
        })
        .collect();
    words.join(", ")
}

fn without<'a>(axes: &[&'a WhatifAxis], keys: &[&str]) -> Vec<&'a WhatifAxis> {
    axes.iter().filter(|axis| !keys.contains(&axis.key.as_str())).copied().collect()
}

/// The combinations of some axes that points have, in their order.
fn combinations(result: &WhatifResult, axes: &[&WhatifAxis]) -> Vec<Map<String, Value>> {
    let mut all: Vec<Map<String, Value>> = Vec::new();
    for point in &result.points {
        let known = axes.iter().filter_map(|axis| Some((axis.key.clone(), point.at.get(&axis.key)?.clone())));
        let at: Map<String, Value> = known.collect();
        if !all.contains(&at) {
            all.push(at);
        }
    }
    all
}

fn matches(point: &WhatifPoint, at: &Map<String, Value>) -> bool {
    at.iter().all(|(key, value)| point.at.get(key) == Some(value))
}

/// At most so many, evenly chosen.
fn some_of<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let count = all.len();
    let chosen = |i: usize| count <= most || (0..most).any(|k| k * (count - 1) / (most - 1).max(1) == i);
    all.into_iter().enumerate().filter(|(i, _)| chosen(*i)).map(|(_, item)| item).collect()
}

fn curves(result: &WhatifResult, axes: &[&WhatifAxis], x: &WhatifAxis) -> Section {
    let mut section = Section::new("curves", format!("Against {}", clip(&x.label, 60).to_lowercase()));
    let others = without(axes, &[&x.key]);
    let all = combinations(result, &others);
    let count = all.len();
    let lines = some_of(all, MAX_LINES);
    if lines.len() < count {
        section.note(format!("{} of {count} lines are drawn; the tables and the data have all points.", lines.len()));
    }
    let mut xs: Vec<f64> = result.points.iter().filter_map(|point| point.at.get(&x.key)?.as_f64()).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let measured = xs.len();
    let xs = some_of(xs, MAX_OF_A_LINE);
    if xs.len() < measured {
        section.note(format!("{} of {measured} points of a line are drawn; the data has all.", xs.len()));
    }
    let line = |style: usize, at: &Map<String, Value>, figure: &Figure| {
        let answers: Vec<Option<&WhatifAnswer>> = xs
            .iter()
            .map(|&value| {
                let here = |p: &&WhatifPoint| matches(p, at) && p.at.get(&x.key).and_then(Value::as_f64) == Some(value);
                result.points.iter().find(here)?.answer.as_ref()
            })
            .collect();
        let values = answers.iter().map(|answer| answer.and_then(figure.of).filter(|value| *value > 0.0)).collect();
        let marks =
            answers.iter().map(|answer| if answer.is_some_and(|a| !a.steady) { NOT_STEADY } else { 0 }).collect();
        let name = if others.is_empty() { figure.name.to_owned() } else { words(&others, at) };
        Series::line(name, style, values, marks)
    };
    let view = |figure: &Figure| {
        let series = lines.iter().enumerate().map(|(style, at)| line(style, at, figure));
        View::new(figure.name, figure.axis.clone(), series.collect())
    };
    let plots = [
        ("throughput", "Throughput", &FIGURES[..2]),
        ("response", "Response times of all requests", &FIGURES[2..6]),
        ("waf", "Write amplification", &FIGURES[6..7]),
        ("hits", "Hits of the cache", &FIGURES[7..]),
    ];
    for (id, title, figures) in plots {
        let has = |figure: &Figure| result.points.iter().any(|p| p.answer.as_ref().and_then(figure.of).is_some());
        if !figures.iter().any(has) {
            continue;
        }
        let views = figures.iter().map(view).collect();
        let plot = Plot::new(format!("plot-whatif-{id}"), title, x_axis(x), xs.clone(), views);
        section.plots.extend(plot.map(|plot| plot.starting_with(|view| view.name == "p99")));
    }
    section
}

fn maps(result: &WhatifResult, axes: &[&WhatifAxis], x: &WhatifAxis, y: &WhatifAxis) -> Section {
    let heading = format!("{} against {}", clip(&y.label, 60), clip(&x.label, 60).to_lowercase());
    let mut section = Section::new("maps", heading);
    let others = without(axes, &[&x.key, &y.key]);
    let all = combinations(result, &others);
    let count = all.len();
    let shown = some_of(all, MAX_MAPS);
    if shown.len() < count {
        section.note(format!("{} of {count} combinations are shown; the data have all points.", shown.len()));
    }
    let [columns, rows] = [x, y].map(|axis| some_of(axis.values.iter().collect(), MAX_OF_A_SIDE));
    if columns.len() < x.values.len() || rows.len() < y.values.len() {
        section.note(format!(
            "{} columns and {} rows, evenly chosen, are shown of {} and {}.",
            columns.len(),
            rows.len(),
            x.values.len(),
            y.values.len()
        ));
    }
    section.note("Blue: the deeper, the more of what is wanted. Orange: the deeper, the more of what is not.");
    for at in &shown {
        for (figure, title) in ON_MAPS {
            let Figure { of, axis, more_is_better, .. } = &FIGURES[figure];
            let figure_at = |row: &Value, column: &Value| {
                let here = |p: &&WhatifPoint| {
                    matches(p, at) && p.at.get(&y.key) == Some(row) && p.at.get(&x.key) == Some(column)
                };
                result.points.iter().find(here)?.answer.as_ref().and_then(of)
            };
            let figures: Vec<Vec<Option<f64>>> =
                rows.iter().map(|row| columns.iter().map(|column| figure_at(row, column)).collect()).collect();
            if figures.iter().flatten().all(Option::is_none) {
                continue;
            }
            let labels = rows.iter().map(|value| show(y, value));
            let caption = if others.is_empty() { title.to_owned() } else { format!("{title}: {}", words(&others, at)) };
            section.heat_maps.push(HeatMap {
                caption,
                corner: format!("{} \\ {}", clip(&y.label, 40), clip(&x.label, 40)),
                columns: columns.iter().map(|value| show(x, value)).collect(),
                rows: labels.zip(heat::cells(&figures, axis.unit)).collect(),
                more_is_better: *more_is_better,
            });
        }
    }
    section
}

/// Renders the outcome of a search.
fn found(result: &WhatifResult, axes: &[&WhatifAxis]) -> Option<Section> {
    let search = result.search.as_ref()?;
    let axis = result.axes.iter().find(|axis| axis.key == search.axis)?;
    let others = without(axes, &[&axis.key]);
    let mut section = Section::new("found", clip(&axis.label, 60));
    let mut bounds = Vec::new();
    bounds.extend(
        search.target_p99_ns.map(|ns| format!("99 of 100 requests within {}", Unit::Nanoseconds.show(ns as f64))),
    );
    bounds.extend(search.min_bw_bytes.map(|bytes| format!("at least {}", Unit::BytesPerSecond.show(bytes))));
    section.note(format!("The bound: {}.", bounds.join(" and ")));
    let show_value = |value: Option<f64>| value.map_or_else(|| "–".into(), |value| show(axis, &Value::from(value)));
    let row = |found: &WhatifFound| {
        let mut row: Vec<String> = vec![if others.is_empty() { "All".into() } else { words(&others, &found.at) }];
        row.extend([show_value(found.holds), show_value(found.breaks), found.tried.len().to_string()]);
        row.push(outcome(found.outcome).into());
        row
    };
    section.tables.push(Table {
        caption: "The last value that holds, and the first that breaks".into(),
        columns: ["Where", "Holds", "Breaks", "Tried", "Remark"].map(String::from).to_vec(),
        rows: search.found.iter().take(MAX_ROWS).map(row).collect(),
        text_columns: 1,
    });
    Some(section)
}

fn outcome(outcome: WhatifOutcome) -> &'static str {
    match outcome {
        WhatifOutcome::Found => "",
        WhatifOutcome::Every => "every value that was tried holds",
        WhatifOutcome::None => "no value that was tried holds",
        WhatifOutcome::NotMonotone => "not monotone: values beyond the first break hold",
        WhatifOutcome::Stopped => "stopped before it was found",
    }
}

fn points(result: &WhatifResult, axes: &[&WhatifAxis]) -> Section {
    let mut section = Section::new("points", "All points");
    if result.points.len() > MAX_ROWS {
        section.note(format!("The first {MAX_ROWS} of {} points.", result.points.len()));
    }
    let mut columns: Vec<String> = axes.iter().map(|axis| clip(&axis.label, 60)).collect();
    if columns.is_empty() {
        columns.push("Point".into());
    }
    // Devices without a cache have no hits.
    let answers = || result.points.iter().filter_map(|point| point.answer.as_ref());
    let has_hits = answers().any(|answer| answer.hit_rate.is_some());
    let figures = &FIGURES[..if has_hits { 8 } else { 7 }];
    columns.extend(figures.iter().map(|figure| figure.name.to_owned()));
    columns.push("Remarks".into());
    let row =
        |(i, point): (usize, &WhatifPoint)| {
            let mut row: Vec<String> =
                axes.iter().map(|axis| point.at.get(&axis.key).map_or_else(|| "–".into(), |v| show(axis, v))).collect();
            if row.is_empty() {
                row.push((i + 1).to_string());
            }
            let answer = point.answer.as_ref();
            row.extend(figures.iter().map(|figure| {
                answer.and_then(figure.of).map_or_else(|| "–".into(), |value| figure.axis.unit.show(value))
            }));
            let remark = match (&point.failed, answer) {
                (Some(why), _) => clip(why, 200),
                (None, Some(answer)) if !answer.steady => "not steady".into(),
                _ => String::new(),
            };
            row.push(remark);
            row
        };
    let rows = result.points.iter().enumerate().take(MAX_ROWS).map(row).collect();
    section.tables.push(Table { caption: "All points".into(), columns, rows, text_columns: 1 });
    section
}
