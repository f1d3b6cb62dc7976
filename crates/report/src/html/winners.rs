//! The opening of a comparison: who wins at what, by how many times.

use crate::advantage::table;
use crate::devices::Devices;
use crate::winners::{score, wins};
use maud::{Markup, html};

/// The key figures that two devices or more have of their own, each with its winner.
pub fn section(devices: &Devices) -> Markup {
    let results: Vec<_> = devices.iter().map(|(_, _, result)| result).collect();
    let table = table(&results);
    let wins = wins(&table);
    html! {
        @if !wins.is_empty() {
            section.winners aria-labelledby="winners" {
                h2 #winners { "Who wins at what" }
                p.sentence { (score(&table, &wins)) }
                ul.claims { @for win in &wins {
                    li class=(if win.is_even() { "neutral" } else { "good" }) {
                        span.tone { (if win.is_even() { "Even" } else { table.devices[win.winner].as_str() }) }
                        span {
                            (win.row.group) ", " (win.row.label) ": "
                            @if !win.is_even() { b { (win.lead_words()) } " better than " (table.devices[win.second]) ", " }
                            (win.row.show(win.winner)) " against " (win.row.show(win.second))
                        }
                    }
                } }
            }
        }
    }
}
