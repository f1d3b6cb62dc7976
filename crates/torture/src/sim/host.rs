//! What does the host do in a life?
//!
//! A script is data: requests, and when to hold back. Stamps are given when a request is submitted, so that a script
//! keeps its meaning when steps are taken out of it.

use crate::sim::{Ask, Lba, PARTS};
use device::Rng;
use serde::{Deserialize, Serialize};

/// One step of a host's script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostStep {
    /// Submits a request, once fewer than the depth are in flight.
    Ask(Ask),
    /// From now on at most this many are in flight; at least 1.
    Depth(u32),
    /// Waits until nothing is in flight.
    Settle,
    /// Lets time pass.
    Pause {
        /// The virtual time that passes.
        ns: u64,
    },
    /// Has the card look at everything that is on its media.
    Scrub,
    /// From now on requests are this client's; at first the first one's, client 0.
    Client(u32),
    /// A client goes, with requests in flight, and another one comes in its place.
    Disconnect(u32),
}

/// Mean requests of a client before another one has its turn.
const CLIENT_ASKS: u64 = 3;
/// Mean requests between disconnects.
const DISCONNECT_ASKS: u64 = 60;

/// Requests of a script.
pub fn asks(steps: &[HostStep]) -> u32 {
    steps.iter().filter(|s| matches!(s, HostStep::Ask(_))).count() as u32
}

/// The habits of a host. Shares are out of 1,000 requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Requests of a script.
    pub asks: u32,
    /// Sectors that it uses.
    pub sectors: u32,
    /// Sectors of one request, at most.
    pub longest: u32,
    /// Sectors of one trim, at most.
    pub longest_trim: u32,
    /// Hot sectors, from the first on.
    pub hot_sectors: u32,
    /// Requests that go to hot sectors.
    pub hot: u32,
    /// Share of requests that read.
    pub reads: u32,
    /// Share of requests that trim.
    pub trims: u32,
    /// Share of requests that write zeroes.
    pub zeroes: u32,
    /// Share of requests that flush.
    pub flushes: u32,
    /// Writes with FUA, out of 1,000 writes.
    pub fua: u32,
    /// Requests in flight, at most.
    pub deepest: u32,
    /// Mean requests of a burst; between bursts the host waits, pauses or changes its depth.
    pub burst: u32,
    /// Longest pause between bursts.
    pub longest_pause_ns: u64,
    /// Mean requests between scrubs; 0 for none.
    pub scrub: u32,
    /// Clients that share the card; 0 for one that asks for nothing but whole sectors.
    pub clients: u32,
}

impl HostConfig {
    /// A usual life: 5,000 requests, a tenth of the sectors hot.
    pub fn life(sectors: u32) -> HostConfig {
        HostConfig {
            asks: 5_000,
            sectors,
            longest: 8,
            longest_trim: 32,
            hot_sectors: (sectors / 10).max(1),
            hot: 700,
            reads: 300,
            trims: 30,
            zeroes: 30,
            flushes: 40,
            fua: 50,
            deepest: 16,
            burst: 40,
            longest_pause_ns: 20_000_000,
            scrub: 400,
            clients: 0,
        }
    }

    /// The script of a seed.
    pub fn script(&self, seed: u64) -> Vec<HostStep> {
        let mut what = Rng::stream(seed, "host requests");
        let mut place = Rng::stream(seed, "host addresses");
        let mut pace = Rng::stream(seed, "host pace");
        let mut scrubs = Rng::stream(seed, "scrubs");
        let mut steps = vec![HostStep::Depth(1 + pace.below(u64::from(self.deepest)) as u32)];
        let mut shared = Rng::stream(seed, "clients");
        for _ in 0..self.asks {
            let ask = self.ask(&mut what, &mut place);
            let ask = if self.clients > 0 { self.shared(ask, &mut shared, &mut steps) } else { ask };
            steps.push(HostStep::Ask(ask));
            if pace.below(u64::from(self.burst.max(1))) == 0 {
                steps.push(match pace.below(4) {
                    0 => HostStep::Settle,
                    1 => HostStep::Pause { ns: pace.below(self.longest_pause_ns + 1) },
                    _ => HostStep::Depth(1 + pace.below(u64::from(self.deepest)) as u32),
                });
            }
            if self.scrub > 0 && scrubs.below(u64::from(self.scrub)) == 0 {
                steps.push(HostStep::Scrub);
            }
        }
        steps
    }

    fn ask(&self, what: &mut Rng, place: &mut Rng) -> Ask {
        let (drawn, fua) = (what.below(1000) as u32, what.below(1000) < u64::from(self.fua));
        let mut bound = self.reads;
        if drawn < bound {
            let (lba, count) = self.range(place, self.longest);
            return Ask::Read { lba, count };
        }
        bound += self.trims;
        if drawn < bound {
            let (lba, count) = self.range(place, self.longest_trim);
            return Ask::Trim { lba, count };
        }
        bound += self.zeroes;
        if drawn < bound {
            let (lba, count) = self.range(place, self.longest_trim);
            return Ask::WriteZeroes { lba, count, fua };
        }
        bound += self.flushes;
        if drawn < bound {
            return Ask::Flush;
        }
        let (lba, count) = self.range(place, self.longest);
        Ask::Write { lba, count, fua }
    }

    /// A request of one of several clients. Half of the writes, trims and zeroes cover parts of sectors.
    fn shared(&self, ask: Ask, rng: &mut Rng, steps: &mut Vec<HostStep>) -> Ask {
        if rng.below(CLIENT_ASKS) == 0 {
            steps.push(HostStep::Client(rng.below(u64::from(self.clients)) as u32));
        }
        if rng.below(DISCONNECT_ASKS) == 0 {
            steps.push(HostStep::Disconnect(rng.below(u64::from(self.clients)) as u32));
        }
        if rng.below(2) == 0 {
            return ask;
        }
        let mut parts = |lba: Lba, count: u32| {
            let first = rng.below(u64::from(PARTS)) as u32;
            // Some are within a sector, some end within another one.
            let most = (count * PARTS).min((self.sectors - lba.0) * PARTS - first);
            (first, 1 + rng.below(u64::from(most)) as u32)
        };
        match ask {
            Ask::Write { lba, count, fua } => {
                let (first, parts) = parts(lba, count);
                Ask::WriteParts { lba, first, parts, fua }
            }
            Ask::Trim { lba, count } => {
                let (first, parts) = parts(lba, count);
                Ask::TrimParts { lba, first, parts }
            }
            Ask::WriteZeroes { lba, count, fua } => {
                let (first, parts) = parts(lba, count);
                Ask::ZeroParts { lba, first, parts, keeps_room: rng.below(2) == 0, fua }
            }
            other => other,
        }
    }

    fn range(&self, place: &mut Rng, longest: u32) -> (Lba, u32) {
        let hot = place.below(1000) < u64::from(self.hot);
        let lba = place.below(u64::from(if hot { self.hot_sectors } else { self.sectors })) as u32;
        // Half of the requests have one sector: overlaps are then of whole requests and of parts of them.
        let count = if place.below(2) == 0 { 1 } else { 1 + place.below(u64::from(longest)) as u32 };
        (Lba(lba), count.min(self.sectors - lba))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_has_the_same_script() {
        let config = HostConfig::life(256);
        assert_eq!(config.script(1), config.script(1));
        assert_ne!(config.script(1), config.script(2));
    }

    #[test]
    fn a_script_stays_within_the_sectors_and_has_every_kind_of_request() {
        let steps = HostConfig::life(100).script(3);
        assert_eq!(asks(&steps), 5_000);
        let mut kinds = [0u32; 6];
        for step in steps {
            let HostStep::Ask(ask) = step else { continue };
            let (kind, lba, count) = match ask {
                Ask::WriteParts { .. } | Ask::ZeroParts { .. } | Ask::TrimParts { .. } => {
                    unreachable!("one client asks for whole sectors")
                }
                Ask::Write { lba, count, fua } => (usize::from(fua), lba, count),
                Ask::Trim { lba, count } => (2, lba, count),
                Ask::WriteZeroes { lba, count, .. } => (3, lba, count),
                Ask::Flush => (4, Lba(0), 1),
                Ask::Read { lba, count } => (5, lba, count),
            };
            kinds[kind] += 1;
            assert!(count > 0 && lba.0 + count <= 100);
        }
        assert!(kinds.iter().all(|&n| n > 50), "{kinds:?}");
    }
}
