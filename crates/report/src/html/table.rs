//! Tables of the page.

use crate::heat::{HeatMap, STEPS};
use crate::plot::Table;
use maud::{Markup, html};

/// Tables with more rows than this stay on the screen.
const ROWS_ON_PAPER: usize = 6;

/// A table that scrolls on its own where it is wider than the page.
pub fn table(table: &Table) -> Markup {
    let words_from = table.columns.len() - table.text_columns.min(table.columns.len());
    html! {
        div.scroll .long[table.rows.len() > ROWS_ON_PAPER] tabindex="0" role="region"
            aria-label=(format!("Table: {}", table.caption)) {
            table {
                caption { (table.caption) }
                thead {
                    tr { @for (i, column) in table.columns.iter().enumerate() {
                        th scope="col" .words[i >= words_from] { (column) }
                    } }
                }
                tbody {
                    @for row in &table.rows {
                        tr { @for (i, cell) in row.iter().enumerate() {
                            @if i == 0 { th scope="row" { (cell) } }
                            @else { td .words[i >= words_from] { (cell) } }
                        } }
                    }
                }
            }
        }
    }
}

/// A table of coloured cells; what the colours mean stands in the cells and below.
pub fn heat_map(map: &HeatMap) -> Markup {
    let hue = if map.more_is_better { "cool" } else { "warm" };
    html! {
        div.scroll tabindex="0" role="region" aria-label=(format!("Table: {}", map.caption)) {
            table.heat .(hue) {
                caption { (map.caption) }
                thead { tr {
                    th scope="col" { (map.corner) }
                    @for column in &map.columns { th scope="col" { (column) } }
                } }
                tbody { @for (label, cells) in &map.rows { tr {
                    th scope="row" { (label) }
                    @for cell in cells {
                        @match cell.step {
                            Some(step) => td .(format!("heat-{}", step.min(STEPS - 1))) { (cell.text) },
                            None => td { (cell.text) },
                        }
                    }
                } } }
            }
        }
    }
}

/// Pairs of label and value.
pub fn facts(pairs: &[(String, String)]) -> Markup {
    html! {
        dl.facts { @for (label, value) in pairs {
            div { dt { (label) } dd { (value) } }
        } }
    }
}
