//! A fitted card: what each number is, how well it is determined, measured against fitted.

use super::printable;
use crate::table::{Align, Table, wrap};
use crate::units::{counted, duration, mb_per_s};
use std::path::Path;
use study::fit::{Fit, FittedFigure, Parameter};

/// The fitted parameters, the points that they were fitted to, and notes.
pub fn fit(fitted: &Fit, written: Option<&Path>) -> String {
    let heading = format!("fitted to {}; base {}, host {}", fitted.files.join(", "), fitted.base, fitted.host);
    let mut blocks = vec![wrap("", 2, &heading), parameters(fitted), points(fitted)];
    let notes: String = fitted.notes.iter().map(|note| wrap("note:    ", 9, note)).collect();
    if !notes.is_empty() {
        blocks.push(notes);
    }
    blocks.push(end(fitted, written));
    printable(&blocks.join("\n"))
}

fn parameters(fitted: &Fit) -> String {
    use Align::{Left, Right};
    let mut table = Table::new([Left, Right, Right, Right, Left]);
    table.row(["", "value", "low", "high", ""]);
    for parameter in &fitted.parameters {
        let Parameter { name, low, high, status, .. } = parameter;
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| figure(name, value));
        let value = parameter.number.map_or_else(|| parameter.value.clone(), |value| figure(name, value));
        table.row([name.clone(), value, number(*low), number(*high), status.words().to_owned()]);
    }
    table.render()
}

/// In the unit that a key ends in, for people.
fn figure(name: &str, value: f64) -> String {
    if name.ends_with("_ns") {
        duration(value)
    } else if name.ends_with("bytes_per_s") {
        format!("{} MB/s", mb_per_s(value))
    } else if name == "SLC cache, bytes" {
        format!("{:.1} GB", value / 1e9)
    } else if name == "buffer.bytes" || name.starts_with("bytes ") {
        format!("{:.1} MiB", value / f64::from(1 << 20))
    } else if name.contains("spare") {
        format!("{:.1} %", value * 100.0)
    } else if value < 10.0 && value.fract() != 0.0 {
        format!("{value:.3}")
    } else {
        format!("{value:.0}")
    }
}

fn points(fitted: &Fit) -> String {
    use Align::{Left, Right};
    let mut table = Table::new([Left, Left, Left, Right, Right, Right, Right]);
    table.row(["", "", "", "measured", "fitted", "error", "left out"]);
    for point in &fitted.points {
        for (i, figure) in point.figures.iter().enumerate() {
            let first = i == 0;
            let mark = if point.held_out && first { "-" } else { "" };
            let condition = if first { point.condition.clone() } else { String::new() };
            let (what, show) = figure_words(figure);
            let left_out = figure.predicted.map_or_else(String::new, |p| percent(p / figure.measured - 1.0));
            let (now, error) = if point.held_out {
                (String::new(), String::new())
            } else {
                (show(figure.fitted), percent(figure.error))
            };
            table.row([mark.to_owned(), condition, what.to_owned(), show(figure.measured), now, error, left_out]);
        }
    }
    let mut out = table.render();
    out.push_str("left out: error of a card that was fitted without the point");
    out.push_str(if fitted.points.iter().any(|point| point.held_out) { "; - held out\n" } else { "\n" });
    out
}

type Show = fn(f64) -> String;

fn figure_words(figure: &FittedFigure) -> (&'static str, Show) {
    match figure.figure {
        "bytes_per_s" => ("MB/s", mb_per_s),
        "fast_bytes" => ("fast", |bytes| format!("{:.1} GB", bytes / 1e9)),
        "fast_bytes_per_s" => ("fast MB/s", mb_per_s),
        "slow_bytes_per_s" => ("slow MB/s", mb_per_s),
        "read_mean_ns" => ("read mean", duration),
        "read_p05_ns" => ("read p5", duration),
        "read_p25_ns" => ("read p25", duration),
        "read_p50_ns" => ("read p50", duration),
        "read_p75_ns" => ("read p75", duration),
        "read_p90_ns" => ("read p90", duration),
        "read_p95_ns" => ("read p95", duration),
        "read_p99_ns" => ("read p99", duration),
        "read_p999_ns" => ("read p99.9", duration),
        "write_mean_ns" => ("write mean", duration),
        "write_p05_ns" => ("write p5", duration),
        "write_p25_ns" => ("write p25", duration),
        "write_p50_ns" => ("write p50", duration),
        "write_p75_ns" => ("write p75", duration),
        "write_p90_ns" => ("write p90", duration),
        "write_p95_ns" => ("write p95", duration),
        "write_p99_ns" => ("write p99", duration),
        "write_p999_ns" => ("write p99.9", duration),
        _ => ("longest write", duration),
    }
}

fn percent(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

fn end(fitted: &Fit, written: Option<&Path>) -> String {
    let errors = |what: &str, errors: &study::fit::Errors| {
        let words = format!(
            "{what}: {} in the median, {} at the 95th percentile, {} at most ({})",
            percent(errors.median),
            percent(errors.p95),
            percent(errors.most),
            counted(errors.figures as u64, "figure")
        );
        if errors.figures > 0 { wrap("left out ", 9, &words.replace('+', "")) } else { String::new() }
    };
    let mut out = errors("throughput", &fitted.left_out_throughput);
    out.push_str(&errors("latency", &fitted.left_out_latency));
    let undetermined: Vec<&str> = fitted
        .parameters
        .iter()
        .filter(|p| p.status == study::fit::Status::Undetermined)
        .map(|p| p.name.as_str())
        .collect();
    if !undetermined.is_empty() {
        let words = format!("{}: as the base has them", undetermined.join(", "));
        out.push_str(&wrap("nothing known of ", 9, &words));
    }
    let bound = percent(fitted.bound).replace('+', "");
    if fitted.good {
        out.push_str(&format!("good: half of what was left out is predicted better than {bound}\n"));
    } else {
        let words = format!("half of what was left out should be predicted better than {bound}");
        out.push_str(&wrap("NOT A GOOD FIT: ", 2, &words));
    }
    if let Some(path) = written {
        out.push_str(&wrap("card:    ", 9, &path.display().to_string()));
    }
    out
}
