//! Devices side by side, and what each has over the first.

use super::{is_unprintable, printable};
use crate::table::{Align, COLUMNS, Table, wrap};
use crate::units::counted;
use report::advantage::{AdvantageRow, AdvantageTable};
use std::path::Path;

/// Room for a device's name above its column.
const NAME: usize = 18;

/// A table for each device but the first; the key figures, or all.
pub fn advantage(table: &AdvantageTable, all: bool, page: Option<&Path>) -> String {
    let chosen: Vec<&AdvantageRow> = table.rows.iter().filter(|row| all || row.key).collect();
    // Results that share no key figure still have others.
    let rows = if chosen.is_empty() { table.rows.iter().collect() } else { chosen };
    let others: Vec<usize> = if table.devices.len() == 1 { vec![0] } else { (1..table.devices.len()).collect() };
    let mut blocks: Vec<String> = others.into_iter().map(|other| pair(table, &rows, other)).collect();
    let left_out = table.rows.len() - rows.len();
    let mut end = String::new();
    if left_out > 0 {
        end.push_str(&format!("{} more with --all\n", counted(left_out as u64, "figure")));
    }
    if let Some(page) = page {
        end.push_str(&printable(&wrap("page:   ", 8, &page.display().to_string())));
    }
    blocks.push(end);
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

fn pair(table: &AdvantageTable, rows: &[&AdvantageRow], other: usize) -> String {
    let alone = other == 0;
    let columns = if alone { 2 } else { 4 };
    let name = |i: usize| short(&plain(&table.devices[i]), NAME);
    let mut cells: Vec<Vec<String>> = vec![vec![String::new(), name(0)]];
    if !alone {
        cells[0].extend([name(other), "advantage".to_owned()]);
    }
    let mut group = "";
    for row in rows {
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

/// Cut with an ellipsis where it is too long.
fn short(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// As the rest of a terminal's output is written: the page's thin separators and typographic minus are for paper. A
/// character that would move the cursor is shown as a mark.
fn plain(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let digit = |i: usize| chars.get(i).is_some_and(char::is_ascii_digit);
    let plain = |(i, &c): (usize, &char)| match c {
        '\u{202f}' if i > 0 && digit(i - 1) && digit(i + 1) => ',',
        '\u{202f}' => ' ',
        '\u{2212}' | '\u{2013}' => '-',
        c if is_unprintable(c) => '\u{fffd}',
        c => c,
    };
    chars.iter().enumerate().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_everywhere_else_in_a_terminal() {
        assert_eq!(plain("19\u{202f}500\u{202f}IOPS"), "19,500 IOPS");
        assert_eq!(plain("\u{2212}37\u{202f}%"), "-37 %");
        assert_eq!(short("a long name", 6), "a lon…");
        assert_eq!(plain("a\u{1b}[2J\nb"), "a\u{fffd}[2J\u{fffd}b");
    }
}
