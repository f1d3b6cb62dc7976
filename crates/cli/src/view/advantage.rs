//! Devices side by side, and what each has over the first.

use super::conditions::change_of_ends;
use super::plain::{plain, short};
use super::printable;
use crate::table::{Align, COLUMNS, Table, wrap};
use crate::units::counted;
use report::advantage::{AdvantageRow, AdvantageTable};
use report::repeats::{Estimate, SideTable};
use std::path::Path;

/// Room for a device's name above its column.
const NAME: usize = 18;

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
    if let Some(page) = page {
        end.push_str(&printable(&wrap("page:   ", 8, &page.display().to_string())));
    }
    blocks.push(end);
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

/// A row, and for each device the interval of its advantage.
struct Line<'a> {
    row: &'a AdvantageRow,
    intervals: &'a [Option<Estimate>],
}

/// `+8…+16 %`; nothing where nothing was repeated.
fn interval(estimate: Option<Estimate>) -> String {
    let Some((low, high)) = estimate.and_then(|estimate| estimate.interval) else { return String::new() };
    change_of_ends(low - 1.0, high - 1.0)
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
        let mut line = vec![plain(&format!("  {}", row.label)), figure(row.show(0))];
        if !alone {
            line.extend([row.show(other), row.show_advantage(other)].map(figure));
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
