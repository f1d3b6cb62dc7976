//! The opening of a comparison: who wins at what, by how many times.

use crate::advantage::{AdvantageRow, Better, table};
use crate::devices::{Devices, positive};
use maud::{Markup, html};
use results::words::times;

/// Less of a lead than this is none.
const EVEN: f64 = 1.05;

/// One figure, and the device that is best at it.
struct Win<'a> {
    row: &'a AdvantageRow,
    winner: usize,
    second: usize,
    /// How many times better the winner is than the second; below [`EVEN`] nobody wins.
    lead: f64,
}

/// The key figures that two devices or more have, each with its winner.
pub fn section(devices: &Devices) -> Markup {
    let results: Vec<_> = devices.iter().map(|(_, _, result)| result).collect();
    let table = table(&results);
    let wins: Vec<Win> = table.rows.iter().filter(|row| row.key).filter_map(|row| win(row, &table.buffered)).collect();
    let name = |device: usize| devices.name(device);
    html! {
        @if !wins.is_empty() {
            section.winners aria-labelledby="winners" {
                h2 #winners { "Who wins at what" }
                p.sentence { (score(devices, &wins)) }
                ul.claims { @for win in &wins {
                    li class=(if win.lead < EVEN { "neutral" } else { "good" }) {
                        span.tone { (if win.lead < EVEN { "Even" } else { name(win.winner) }) }
                        span {
                            (win.row.group) ", " (win.row.label) ": "
                            @if win.lead >= EVEN { b { (times(win.lead)) } " better than " (name(win.second)) ", " }
                            (win.row.show(win.winner)) " against " (win.row.show(win.second))
                        }
                    }
                } }
            }
        }
    }
}

/// The winner of a figure; the page cache, which answers for buffered devices, wins nothing.
fn win<'a>(row: &'a AdvantageRow, buffered: &[bool]) -> Option<Win<'a>> {
    let measured = row.values.iter().enumerate().filter(|(i, _)| !buffered[*i]);
    let known = measured.filter_map(|(i, value)| Some((i, positive((*value)?)?)));
    let mut known: Vec<(usize, f64)> = known.collect();
    known.sort_by(|a, b| match row.better {
        Better::Higher => b.1.total_cmp(&a.1),
        Better::Lower => a.1.total_cmp(&b.1),
    });
    let [(winner, best), (second, next), ..] = known[..] else { return None };
    Some(Win { row, winner, second, lead: if best > next { best / next } else { next / best } })
}

/// `NW-400 wins 9 of 12, SW-300 2; 1 is even.`
fn score(devices: &Devices, wins: &[Win]) -> String {
    let won = |device: usize| wins.iter().filter(|win| win.winner == device && win.lead >= EVEN).count();
    let mut scores: Vec<(usize, &str)> = devices.iter().map(|(i, name, _)| (won(i), name)).collect();
    scores.sort_by_key(|(won, _)| std::cmp::Reverse(*won));
    let even = wins.iter().filter(|win| win.lead < EVEN).count();
    let mut parts = scores.iter().filter(|(won, _)| *won > 0).enumerate().map(|(i, (won, name))| {
        if i == 0 { format!("{name} wins {won} of {}", wins.len()) } else { format!("{name} {won}") }
    });
    let first = parts.next().unwrap_or_else(|| "Nobody wins".into());
    let others: String = parts.map(|part| format!(", {part}")).collect();
    let even = match even {
        0 => String::new(),
        1 => "; 1 is even".into(),
        n => format!("; {n} are even"),
    };
    format!("{first}{others}{even}.")
}
