//! Winners and their leads; then devices side by side, and what each has over the first.

use super::plain::{plain, short};
use super::printable;
use crate::table::{Align, COLUMNS, Table, wrap};
use crate::units::counted;
use report::advantage::{AdvantageRow, AdvantageTable};
use report::repeats::{Estimate, SideTable};
use report::winners::{score, wins};
use results::words::{three_digits, times};
use std::path::Path;

/// Room for a device's name above its column.
const NAME: usize = 18;
/// Room for the name of a group of figures.
const GROUP: usize = 40;

/// A table for each device but the first; the key figures, or all.
pub fn advantage(sides: &SideTable, all: bool, page: Option<&Path>) -> String {
    let table = &sides.table;
    let of_all = || table.rows.iter().zip(&sides.advantages).map(|(row, intervals)| Line { row, intervals });
    let chosen: Vec<Line> = of_all().filter(|line| all || line.row.key).collect();
    // Results that share no key figure still have others.
    let rows = if chosen.is_empty() { of_all().collect() } else { chosen };
    let others: Vec<usize> = if table.devices.len() == 1 { vec![0] } else { (1..table.devices.len()).collect() };
    let mut blocks: Vec<String> = others.into_iter().map(|other| pair(table, &rows, other)).collect();
    if sides.is_repeated() {
        let repeats: Vec<String> = sides.repeats.iter().map(usize::to_string).collect();
        let method = format!(
            "Geometric means of {} repeats; behind the advantage stands the interval that holds it with 95 % (Welch's t \
             test on logarithms).",
            repeats.join(" and "),
        );
        blocks.insert(0, wrap("", 0, &method));
    }
    blocks.insert(0, winners(table));
    let left_out = table.rows.len() - rows.len();
    let mut end = String::new();
    if left_out > 0 {
        end.push_str(&format!("{} more with --all\n", counted(left_out as u64, "figure")));
    }
    if table.buffered.contains(&true) {
        end.push_str(&wrap(
            "* ",
            2,
            "buffered: fio asked without direct=1, so the page cache and not the device gave these figures",
        ));
    }
    if of_all().any(|line| (all || line.row.key) && line.row.limited.contains(&true)) {
        end.push_str(&wrap(
            "h ",
            2,
            "the machine that asked was the limit: the device can do more, and nothing is won or lost",
        ));
    }
    if let Some(page) = page {
        end.push_str(&printable(&wrap("page:   ", 8, &page.display().to_string())));
    }
    blocks.push(end);
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

/// Winners and by how many times they lead: a line for each group of figures.
fn winners(table: &AdvantageTable) -> String {
    let wins = wins(table);
    if wins.is_empty() {
        return String::new();
    }
    let mut out = wrap("", 0, &plain(&score(table, &wins)));
    let mut groups: Vec<&str> = Vec::new();
    for win in &wins {
        if !groups.contains(&win.row.group.as_str()) {
            groups.push(&win.row.group);
        }
    }
    for group in groups {
        let of_group = || wins.iter().filter(|win| win.row.group == group);
        let won = (0..table.devices.len()).filter_map(|device| {
            let leads: Vec<f64> =
                of_group().filter(|win| win.winner == device && !win.is_even()).map(|win| win.lead).collect();
            let (least, most) =
                leads.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), lead| (l.min(*lead), m.max(*lead)));
            let (least, most) = (times(least), times(most));
            let lead = if least == most { most } else { format!("{} to {most}", least.replace(" times", "")) };
            (!leads.is_empty()).then(|| format!("{} {lead}", short(&plain(&table.devices[device]), NAME)))
        });
        let mut parts: Vec<String> = won.collect();
        if of_group().any(|win| win.is_even()) {
            parts.push("even".into());
        }
        out.push_str(&wrap(&format!("  {}: ", short(&plain(group), GROUP)), 4, &parts.join(", ")));
    }
    out
}

/// A row, and for each device the interval of its advantage.
struct Line<'a> {
    row: &'a AdvantageRow,
    intervals: &'a [Option<Estimate>],
}

/// `1.08…1.16`, how many times better or worse, as its estimate is; nothing where nothing was repeated.
fn interval(estimate: Option<Estimate>) -> String {
    let Some(estimate) = estimate else { return String::new() };
    let Some((low, high)) = estimate.interval else { return String::new() };
    let (low, high) = if estimate.value < 1.0 { (1.0 / high, 1.0 / low) } else { (low, high) };
    let end = |ratio: f64| if ratio < 9.95 { format!("{ratio:.2}") } else { three_digits(ratio) };
    format!("{}…{}", end(low), end(high))
}

fn pair(table: &AdvantageTable, rows: &[Line], other: usize) -> String {
    let alone = other == 0;
    let repeated = rows.iter().any(|line| line.intervals[other].is_some_and(|estimate| estimate.interval.is_some()));
    let columns = if alone { 2 } else { 4 + usize::from(repeated) };
    let name = |i: usize| {
        let name = plain(&table.devices[i]);
        if table.buffered[i] { short(&name.replace(" (buffered)", ""), NAME - 2) + " *" } else { short(&name, NAME) }
    };
    let mut cells: Vec<Vec<String>> = vec![vec![String::new(), name(0)]];
    if !alone {
        cells[0].extend([name(other), "advantage".to_owned()]);
        cells[0].extend(repeated.then(|| "95 %".to_owned()));
    }
    let mut group = "";
    for Line { row, intervals } in rows {
        // A figure that neither has is another pair's.
        if row.values[0].is_none() && row.values[other].is_none() {
            continue;
        }
        if row.group != group {
            group = &row.group;
            cells.push(vec![short(&plain(group), COLUMNS)]);
        }
        let figure = |cell: String| short(&plain(&cell), NAME);
        let show = |device: usize| {
            let limited = row.limited[device] && row.values[device].is_some();
            row.show(device) + if limited { " h" } else { "" }
        };
        let mut line = vec![plain(&format!("  {}", row.label)), figure(show(0))];
        if !alone {
            line.extend([show(other), row.show_times(other)].map(figure));
            line.extend(repeated.then(|| interval(intervals[other])));
        }
        cells.push(line);
    }
    // Labels get what the figures leave; the name of a group has its line for itself.
    let of_table = || cells.iter().filter(|row| row.len() > 1);
    let width = |c: usize| of_table().map(|row| row[c].chars().count()).max().unwrap_or(0);
    let room = COLUMNS.saturating_sub((1..columns).map(|c| width(c) + 2).sum::<usize>());
    let mut align = vec![Align::Right; columns];
    align[0] = Align::Left;
    let mut table = Table::new(align);
    for row in of_table() {
        table.row(row.iter().enumerate().map(|(c, cell)| if c == 0 { short(cell, room) } else { cell.clone() }));
    }
    let rendered = table.render();
    let mut lines = rendered.lines();
    let mut out = String::new();
    for row in &cells {
        out.push_str(if let [group] = &row[..] { group } else { lines.next().unwrap_or_default() });
        out.push('\n');
    }
    out
}
