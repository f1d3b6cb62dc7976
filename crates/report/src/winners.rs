//! A comparison opens with winners and their leads, on the page and in the terminal.

use crate::advantage::AdvantageTable;
use crate::devices::positive;
use crate::row::{AdvantageRow, Better};
use results::words::times;

/// Less of a lead than this is none.
const EVEN: f64 = 1.05;

/// One figure, and the device that is best at it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Win<'a> {
    /// The figure that is compared.
    pub row: &'a AdvantageRow,
    /// The best device.
    pub winner: usize,
    /// The one that comes next.
    pub second: usize,
    /// How many times better the winner is than the second.
    pub lead: f64,
}

impl Win<'_> {
    /// Returns whether nobody is ahead by more than a hair.
    pub fn is_even(&self) -> bool {
        self.lead < EVEN
    }

    /// `17 times`, or `even`.
    pub fn lead_words(&self) -> String {
        if self.is_even() { "even".into() } else { times(self.lead) }
    }
}

/// The key figures that two devices or more have of their own, each with its winner.
pub fn wins(table: &AdvantageTable) -> Vec<Win<'_>> {
    table.rows.iter().filter(|row| row.key).filter_map(|row| win(table, row)).collect()
}

/// The winner of a figure. The page cache wins nothing, nor does the machine that asked; and nobody wins against them, for
/// the device behind can do more, or less.
fn win<'a>(table: &AdvantageTable, row: &'a AdvantageRow) -> Option<Win<'a>> {
    let own = row.values.iter().enumerate().filter(|(i, _)| table.counts(row, *i));
    let known = own.filter_map(|(i, value)| Some((i, positive((*value)?)?)));
    let mut known: Vec<(usize, f64)> = known.collect();
    known.sort_by(|a, b| match row.better {
        Better::Higher => b.1.total_cmp(&a.1),
        Better::Lower => a.1.total_cmp(&b.1),
    });
    let [(winner, best), (second, next), ..] = known[..] else { return None };
    Some(Win { row, winner, second, lead: if best > next { best / next } else { next / best } })
}

/// `NW-400 wins 9 of 12, by up to 17 times, SW-300 2, by up to 1.4 times; 1 is even.`
pub fn score(table: &AdvantageTable, wins: &[Win]) -> String {
    let of = |device: usize| wins.iter().filter(move |win| win.winner == device && !win.is_even());
    let mut devices: Vec<usize> = (0..table.devices.len()).filter(|&device| of(device).count() > 0).collect();
    devices.sort_by_key(|&device| std::cmp::Reverse(of(device).count()));
    let words = |(i, &device): (usize, &usize)| {
        let (name, won) = (&table.devices[device], of(device).count());
        let lead = times(of(device).map(|win| win.lead).fold(1.0, f64::max));
        let won = if i == 0 { format!("wins {won} of {}", wins.len()) } else { won.to_string() };
        format!("{name} {won}, by up to {lead}")
    };
    let parts: Vec<String> = devices.iter().enumerate().map(words).collect();
    let won = if parts.is_empty() { "Nobody wins".to_owned() } else { parts.join("; ") };
    let even = match wins.iter().filter(|win| win.is_even()).count() {
        0 => String::new(),
        1 => "; 1 is even".into(),
        n => format!("; {n} are even"),
    };
    format!("{won}{even}.")
}
