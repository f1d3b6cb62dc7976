//! Devices over time.

use super::plain::{plain, short};
use super::printable;
use crate::table::{Align, COLUMNS, Table, wrap};
use report::history::{CHANGED, DeviceHistory, Trend};
use std::path::Path;

/// Room for a value.
const VALUE: usize = 14;
/// Steps of a small chart, from nothing to the most.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Reviews that a small chart shows: the last ones.
const CHARTED: usize = 12;

/// A sentence and a table for each device.
pub fn history(histories: &[DeviceHistory], page: Option<&Path>) -> String {
    let mut blocks: Vec<String> = histories.iter().map(device).collect();
    if let Some(page) = page {
        blocks.push(printable(&wrap("page:   ", 8, &page.display().to_string())));
    }
    blocks.join("\n")
}

fn device(history: &DeviceHistory) -> String {
    let mut out = printable(&wrap("", 2, &plain(&history.title)));
    out.push_str(&printable(&wrap("", 2, &plain(&history.sentence()))));
    let width = history.when.len().min(CHARTED);
    let mut table = Table::new([Align::Left, Align::Right, Align::Right, Align::Right, Align::Left, Align::Left]);
    let (first, last) = (&history.when[0], &history.when[history.when.len() - 1]);
    let head = |when: &str| short(&plain(when), VALUE);
    table.row([String::new(), head(first), head(last), "change".into(), String::new(), String::new()]);
    let room = COLUMNS - 2 * (VALUE + 2) - 10 - (width + 2) - 3;
    for trend in &history.trends {
        let Some((from, to)) = trend.ends() else { continue };
        let change = trend.change();
        let mark = match change {
            Some(change) if change < 1.0 / (1.0 + CHANGED) => "!",
            _ => "",
        };
        let value = |i: usize| short(&plain(&trend.row.show(i)), VALUE);
        let change = change.map_or("-".to_owned(), |change| format!("{:+.0} %", (change - 1.0) * 100.0));
        table.row([short(&plain(&trend.name()), room), value(from), value(to), change, chart(trend), mark.to_owned()]);
    }
    out.push_str(&table.render());
    out
}

/// A bar for each of the last reviews; a blank where one has no such figure.
fn chart(trend: &Trend) -> String {
    let values = &trend.row.values[trend.row.values.len().saturating_sub(CHARTED)..];
    let most = values.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
    let bar = |value: &Option<f64>| match value {
        None => ' ',
        Some(value) => BARS[((value / most * 8.0).ceil() as usize).clamp(1, 8) - 1],
    };
    values.iter().map(bar).collect()
}
