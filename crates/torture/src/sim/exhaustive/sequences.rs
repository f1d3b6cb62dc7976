//! All short sequences of requests.
//!
//! Sequences that begin with the same requests have the same points up to where they part: they are a tree, and each of
//! its points is cut once.

use super::explorer::{Explorer, Wrong};
use super::limits::{CutFailure, Cuts, Limits};
use crate::sim::{Ask, Bench, HostStep, Lba, Subject};

/// The requests of sequences: write, FUA write, trim and write-zeroes on each of the sectors, and flush.
fn alphabet(sectors: &[Lba]) -> Vec<Ask> {
    let mut alphabet = vec![Ask::Flush];
    for &lba in sectors {
        alphabet.push(Ask::Write { lba, count: 1, fua: false });
        alphabet.push(Ask::Write { lba, count: 1, fua: true });
        alphabet.push(Ask::Trim { lba, count: 1 });
        alphabet.push(Ask::WriteZeroes { lba, count: 1, fua: false });
    }
    alphabet
}

/// All sequences of one to `longest` requests: write, FUA write, trim and write-zeroes on each of the sectors, and
/// flush.
pub fn sequences(sectors: &[Lba], longest: usize) -> Vec<Vec<Ask>> {
    let alphabet = alphabet(sectors);
    let mut all: Vec<Vec<Ask>> = Vec::new();
    let mut shorter: Vec<Vec<Ask>> = vec![Vec::new()];
    for _ in 0..longest {
        let longer: Vec<Vec<Ask>> = shorter
            .iter()
            .flat_map(|start| alphabet.iter().map(move |&ask| start.iter().copied().chain([ask]).collect()))
            .collect();
        all.extend(longer.iter().cloned());
        shorter = longer;
    }
    all
}

/// Requests as a script with so many in flight.
pub fn script(asks: &[Ask], depth: u32) -> Vec<HostStep> {
    [HostStep::Depth(depth)].into_iter().chain(asks.iter().map(|&ask| HostStep::Ask(ask))).collect()
}

/// Cuts all sequences of [`sequences`] that begin with `first`, with at most `depth` requests in flight, at all points
/// that come when all of `first` was submitted. How many sequences there were, and how they were cut.
pub fn cut_sequences<S: Subject + Clone>(
    start: &Bench<S>,
    first: &[Ask],
    sectors: &[Lba],
    longest: usize,
    depth: u32,
    limits: &Limits,
) -> Result<(u64, Cuts), Box<CutFailure>> {
    let mut tree = Tree {
        explorer: Explorer::new(limits),
        alphabet: alphabet(sectors),
        longest,
        depth: depth.max(1) as usize,
        asks: Vec::new(),
        sequences: 0,
    };
    match tree.grow_along(start.clone(), first) {
        Ok(()) => Ok((tree.sequences, tree.explorer.cuts)),
        Err(wrong) => Err(tree.explorer.failure(wrong, script(&tree.asks, depth))),
    }
}

struct Tree<'a> {
    explorer: Explorer<'a>,
    alphabet: Vec<Ask>,
    longest: usize,
    depth: usize,
    /// The way to where the tree grows.
    asks: Vec<Ask>,
    sequences: u64,
}

impl Tree<'_> {
    /// Plays `first` uncut but for the last of it, and grows from there.
    fn grow_along<S: Subject + Clone>(&mut self, mut bench: Bench<S>, first: &[Ask]) -> Result<(), Wrong> {
        let Some((last, before)) = first.split_last() else { return self.grow(&bench) };
        for ask in before {
            self.asks.push(*ask);
            bench.submit(ask)?;
            while bench.in_flight() >= self.depth {
                bench.step(device::Time::NEVER)?;
            }
        }
        self.ask(&bench, *last)
    }

    /// Submits one more request, and goes on from where the next can be.
    fn ask<S: Subject + Clone>(&mut self, bench: &Bench<S>, ask: Ask) -> Result<(), Wrong> {
        self.asks.push(ask);
        let mut bench = bench.clone();
        bench.submit(&ask)?;
        self.explorer.cut_here(&bench)?;
        while bench.in_flight() >= self.depth {
            self.explorer.step(&mut bench)?;
        }
        self.grow(&bench)?;
        self.asks.pop();
        Ok(())
    }

    fn grow<S: Subject + Clone>(&mut self, bench: &Bench<S>) -> Result<(), Wrong> {
        if !self.asks.is_empty() {
            self.sequences += 1;
            self.explorer.run_out(bench.clone())?;
        }
        if self.asks.len() < self.longest {
            for ask in self.alphabet.clone() {
                self.ask(bench, ask)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sequences_of_three_requests_on_three_sectors_are_2379() {
        let all = sequences(&[Lba(0), Lba(1), Lba(2)], 3);
        assert_eq!(all.len(), 13 + 13 * 13 + 13 * 13 * 13);
    }
}
