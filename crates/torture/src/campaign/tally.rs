//! The results of many lives, summed up.

use super::lived::Lived;
use crate::sim::{Activity, Coverage, FaultKind, LogMet, Met, Refusal};
use std::collections::BTreeMap;

/// The sum of the results of lives.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Lives that are counted here.
    pub lives: u64,
    /// Those that were lived twice, and went the same way.
    pub twice: u64,
    /// Requests of the host.
    pub operations: u64,
    /// Power cuts, those in recoveries too.
    pub power_cuts: u64,
    /// Those in recoveries.
    pub nested_cuts: u64,
    /// Times that the redundancy was restored.
    pub mends: u64,
    /// Sectors whose contents were checked.
    pub sectors_read: u64,
    /// Faults, by what the card did.
    pub coverage: Coverage,
    /// Counts of the events among clients that share a card.
    pub met: Met,
    /// Counts of what happened to the logs of cards.
    pub log: LogMet,
    /// Some of the cards have a log.
    pub has_logs: bool,
    /// Lives at whose end the card came to rest.
    pub rested: u64,
    /// Lives at whose end the card refused to start, as it may.
    pub halted: BTreeMap<String, u64>,
    /// Longest virtual time that a card took to come to rest.
    pub rest_ns: u64,
    /// A hash of all that happened.
    pub trace: u64,
}

/// Everything that a campaign did not try.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Faults that struck too rarely, and how often.
    pub rare: Vec<(FaultKind, u64)>,
    /// Events among clients, and of logs, that were met too rarely, and how often.
    pub unmet: Vec<(&'static str, u64)>,
    /// Faults that never struck during an activity in which they mean something.
    pub empty: Vec<(FaultKind, Activity)>,
}

impl Gaps {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rare.is_empty() && self.empty.is_empty() && self.unmet.is_empty()
    }
}

impl Tally {
    /// The gaps of these faults, when each of them should have struck so often.
    pub fn gaps(&self, kinds: &[FaultKind], at_least: u64) -> Gaps {
        let struck = |kind: FaultKind| Activity::ALL.iter().map(|&activity| self.coverage.of(kind, activity)).sum();
        let counted = kinds.iter().map(|&kind| (kind, struck(kind)));
        let empty = self.coverage.missing(kinds);
        let of_logs = self.log.counts().into_iter().filter(|_| self.has_logs);
        let met = self.met.counts().into_iter().chain(of_logs);
        let unmet = met.filter(|&(_, count)| count < at_least).collect();
        Gaps { rare: counted.filter(|&(_, count)| count < at_least).collect(), empty, unmet }
    }

    pub(super) fn add(&mut self, lived: &Lived) {
        let life = &lived.life;
        self.lives += 1;
        self.twice += u64::from(lived.twice);
        self.operations += u64::from(life.asks);
        self.power_cuts += u64::from(life.power_cuts);
        self.nested_cuts += u64::from(life.nested_cuts);
        self.mends += u64::from(life.mends);
        self.sectors_read += life.sectors_read;
        self.coverage.merge(&life.coverage);
        self.met.add(&life.met);
        self.log.add(&life.log);
        self.rest_ns = self.rest_ns.max(life.rest_ns);
        self.trace = (self.trace.rotate_left(23) ^ life.trace).wrapping_mul(0x0100_0000_01b3);
        if lived.wrong.is_some() {
            return;
        }
        match life.halted {
            None => self.rested += 1,
            Some(refusal) => *self.halted.entry(Refusal::to_string(&refusal)).or_default() += 1,
        }
    }
}
