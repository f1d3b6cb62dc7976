//! Preconditioning that brought the device to the state in which it was measured.

use super::{Section, sweep};
use crate::devices::{Devices, clip, positive};
use crate::plot::{NOT_STEADY, Plot, Scale, Series, Table, View, XAxis, YAxis};
use crate::unit::{Unit, capacity, duration};
use results::{Preconditioning, SteadyState};
use std::borrow::Cow;

const ROUNDS: XAxis = XAxis { label: Cow::Borrowed("Round"), suffix: "", unit: Unit::Count, scale: Scale::Linear };
/// The rule of SNIA's performance test specification looks at so many rounds.
const WINDOW: usize = 5;
/// Rounds that are drawn: the last ones.
const DRAWN: usize = 500;

/// The rounds of each preconditioning, with the window that was judged.
pub fn section(devices: &Devices) -> Option<Section> {
    let mut section = Section::new("preconditioning", "Preconditioning");
    let mut views = Vec::new();
    let mut rows = Vec::new();
    let mut last = Vec::new();
    let mut longest = 0;
    for (i, _, result) in devices.iter() {
        for done in &result.preconditioning {
            let in_use = Unit::Percent.show(done.fill * 100.0);
            let label = format!("{in_use} in use, {}", clip(&done.pattern, 60));
            let label = devices.labelled(i, &label);
            rows.push(vec![
                label.clone(),
                capacity(done.sequential_bytes),
                capacity(done.overwritten_bytes),
                done.steady.rounds.len().to_string(),
                if done.took_s > 0.0 { duration(done.took_s) } else { "–".into() },
                judged(&done.steady),
            ]);
            last.push(last_rounds(&label, done));
            let view = view(&label, done);
            longest = longest.max(view.series.iter().map(|s| s.values.len()).max().unwrap_or(0));
            views.push(view);
        }
    }
    if rows.is_empty() {
        return None;
    }
    // All views share the axis: shorter ones end earlier.
    for series in views.iter_mut().flat_map(|v| &mut v.series) {
        series.values.resize(longest, None);
        if !series.marks.is_empty() {
            series.marks.resize(longest, 0);
        }
    }
    let xs = (1..=longest).map(|round| round as f64).collect();
    if let Some(mut plot) = Plot::new("plot-preconditioning", "Rounds of preconditioning", ROUNDS, xs, views) {
        plot.choice = "State";
        let columns = ["State".into()].into_iter().chain((0..WINDOW).rev().map(|n| match n {
            0 => "Last".into(),
            n => format!("{n} before"),
        }));
        plot.table = Some(Table {
            caption: "The last five rounds, which are judged".into(),
            columns: columns.collect(),
            rows: last,
            text_columns: 0,
        });
        // The full device is what most of the page is about.
        plot.first_view = plot.views.iter().rposition(|v| v.name.contains("100")).unwrap_or(0);
        section.plots.push(plot);
    }
    section.note(
        "Steady by the SNIA rule: over the last five rounds, the range is at most 20 % of the mean, and the line through \
         them rises or falls by at most 10 % of it.",
    );
    let columns = ["State", "Written once", "Overwritten", "Rounds", "Took", "Steady"].map(String::from).to_vec();
    section.tables.push(Table { caption: "Preconditioning".into(), columns, rows, text_columns: 1 });
    Some(section)
}

/// The rule in words.
pub fn judged(steady: &SteadyState) -> String {
    let figures = format!(
        "range {} of 20 %, slope {} of 10 %",
        Unit::Percent.show(steady.range * 100.0),
        Unit::Percent.show(steady.slope * 100.0)
    );
    format!("{}: {figures}", if steady.attained { "attained" } else { "not reached" })
}

/// Tables the rounds to which the rule is applied.
fn last_rounds(label: &str, done: &Preconditioning) -> Vec<String> {
    let rounds = &done.steady.rounds;
    let unit = axis(done).unit;
    let shown = (0..WINDOW).map(|at| match (rounds.len() + at).checked_sub(WINDOW) {
        Some(i) if i < rounds.len() => unit.show(rounds[i]),
        _ => "–".into(),
    });
    std::iter::once(label.to_string()).chain(shown).collect()
}

fn axis(done: &Preconditioning) -> YAxis {
    if done.metric.contains("bytes") {
        sweep::THROUGHPUT
    } else {
        YAxis { label: "Write amplification", unit: Unit::Ratio, scale: Scale::Linear }
    }
}

fn view(label: &str, done: &Preconditioning) -> View {
    let rounds = &done.steady.rounds[done.steady.rounds.len().saturating_sub(DRAWN)..];
    let values: Vec<Option<f64>> = rounds.iter().map(|&r| positive(r)).collect();
    let n = values.len();
    let mut marks = vec![0; n];
    if let Some(last) = marks.last_mut().filter(|_| !done.steady.attained) {
        *last = NOT_STEADY;
    }
    let mut series = vec![Series::line("Rounds", 0, values, marks)];
    if n >= WINDOW {
        let window = &rounds[n - WINDOW..];
        let mean = window.iter().sum::<f64>() / WINDOW as f64;
        // Least squares through five equidistant points, -2 … 2.
        let rise = window.iter().enumerate().map(|(i, r)| (i as f64 - 2.0) * r).sum::<f64>() / 10.0;
        let mut line = |name: &str, style, value: &dyn Fn(f64) -> f64| {
            let values = (0..n).map(|i| (i + WINDOW >= n).then(|| value((i + WINDOW - n) as f64 - 2.0)));
            let mut series_line = Series::line(name, style, values.collect(), Vec::new());
            series_line.thin = true;
            series.push(series_line);
        };
        line("Line through the last five", 1, &|at| mean + rise * at);
        line("Mean + 10 %", 3, &|_| mean * 1.1);
        line("Mean − 10 %", 3, &|_| mean * 0.9);
    }
    View::new(label, axis(done), series)
}
