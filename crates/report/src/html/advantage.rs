//! Advantages of one device over another, figure by figure.

use crate::advantage::{AdvantageRow, AdvantageTable, Better, table};
use crate::devices::Devices;
use maud::{Markup, html};

/// The handful that a decision begins with.
pub fn summary(devices: &Devices) -> Markup {
    let table = of(devices);
    let rows: Vec<&AdvantageRow> = table.rows.iter().filter(|row| row.key).collect();
    html! {
        @if !rows.is_empty() {
            section aria-labelledby="advantage" {
                h2 #advantage { "In figures" }
                (explained(&table))
                (markup(&table, &rows, "The figures to begin with"))
                p.note { a href="#advantage-all" { "All figures" } " are at the end." }
            }
        }
    }
}

/// All of them.
pub fn everything(devices: &Devices) -> Markup {
    let table = of(devices);
    let rows: Vec<&AdvantageRow> = table.rows.iter().collect();
    html! {
        section aria-labelledby="advantage-all" {
            h2 #advantage-all { "All figures" }
            details {
                summary { (rows.len()) " figures, point by point" }
                (explained(&table))
                (markup(&table, &rows, "All figures"))
            }
        }
    }
}

/// Why figures of the page cache win nothing.
const BUFFERED: &str = "fio asked without direct=1, so the page cache and not the device gave these figures.";

/// Why figures of a busy machine win nothing.
const LIMITED: &str = "the machine that asked was the limit, and the device can do more.";

fn of(devices: &Devices) -> AdvantageTable {
    let results: Vec<_> = devices.iter().map(|(_, _, result)| result).collect();
    table(&results)
}

fn explained(table: &AdvantageTable) -> Markup {
    let first = table.devices.first().map_or("", String::as_str);
    html! {
        p.note {
            "Each is held against " (first) ": twice as good is twice the throughput, or half the time or price. A dash: no "
            "figure at this very point, so no comparison."
            @if table.buffered.contains(&true) { " Buffered: " (BUFFERED) }
            @if table.is_limited() { " Grey, with an h: " (LIMITED) }
        }
    }
}

fn markup(table: &AdvantageTable, rows: &[&AdvantageRow], caption: &str) -> Markup {
    let first = table.devices.first().map_or("", String::as_str);
    let columns = 2 * table.devices.len() + 1;
    html! {
        div.scroll tabindex="0" role="region" aria-label=(format!("Table: {caption}")) {
            table.advantage {
                caption { (caption) }
                thead { tr {
                    th scope="col" { "Figure" }
                    @for name in &table.devices { th scope="col" { (name) } }
                    @for name in table.devices.iter().skip(1) { th scope="col" { (name) " over " (first) } }
                    th scope="col" .words { "Better" }
                } }
                @for (i, row) in rows.iter().enumerate() {
                    @if i == 0 || rows[i - 1].group != row.group {
                        tbody.group { tr { th scope="rowgroup" colspan=(columns) { (row.group) } } }
                    }
                    tbody { (line(table, row)) }
                }
            }
        }
    }
}

fn line(table: &AdvantageTable, row: &AdvantageRow) -> Markup {
    let better = match row.better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    };
    html! {
        tr {
            th scope="row" { (row.label) }
            @for device in 0..table.devices.len() {
                @if row.limited[device] && row.values[device].is_some() { td.limited { (row.show(device)) " h" } }
                @else { td { (row.show(device)) } }
            }
            @for device in 1..table.devices.len() {
                @let fair = table.counts(row, 0) && table.counts(row, device);
                @let class = match row.advantage(device).filter(|_| fair) {
                    Some(percent) if percent >= 0.05 => "better",
                    Some(percent) if percent <= -0.05 => "worse",
                    None if row.limited[0] || row.limited[device] => "limited",
                    _ => "",
                };
                td class=(class) { (row.show_times(device)) }
            }
            td.words { (better) }
        }
    }
}
