//! The state of a running card at one moment, and the change since earlier ones.

use control::{Client, ClientError, Latencies, StatusReply, between, percentiles};
use live::{Latency, ModuleStatus, Stats};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Latencies are those of this long.
const LATENCIES_OF: Duration = Duration::from_secs(5);
/// Looks that are kept at most.
const MAX_LOOKS: usize = 64;

/// The state of a card at one moment.
#[derive(Clone, Debug)]
pub struct Look {
    pub at: Instant,
    pub reply: StatusReply,
    pub modules: Vec<ModuleStatus>,
    pub latencies: Latencies,
}

impl Look {
    pub fn at(client: &Client) -> Result<Look, ClientError> {
        let latencies = client.latencies()?;
        let modules = client.modules()?;
        let reply = client.status()?;
        Ok(Look { at: Instant::now(), reply, modules, latencies })
    }
}

/// The last looks, oldest first; at least one.
#[derive(Debug)]
pub struct Watched {
    looks: VecDeque<Look>,
}

/// The rates of one kind of request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub requests_per_s: f64,
    pub bytes_per_s: f64,
}

impl Watched {
    pub fn new(look: Look) -> Watched {
        Watched { looks: VecDeque::from([look]) }
    }

    pub fn add(&mut self, look: Look) {
        // A server that was started anew counts from the beginning.
        if requests(&look) < requests(self.last()) {
            self.looks.clear();
        }
        let now = look.at;
        self.looks.push_back(look);
        while self.looks.len() > MAX_LOOKS || self.looks.get(1).is_some_and(|next| now - next.at >= LATENCIES_OF) {
            self.looks.pop_front();
        }
    }

    pub fn last(&self) -> &Look {
        self.looks.back().expect("at least one")
    }

    fn before(&self) -> Option<&Look> {
        self.looks.iter().rev().nth(1)
    }

    /// Between the last two looks.
    pub fn rate(&self, of: impl Fn(&Stats) -> &Latency) -> Option<Rate> {
        let (before, last) = (self.before()?, self.last());
        let seconds = (last.at - before.at).as_secs_f64();
        let [before, now] = [before, last].map(|look| *of(&look.reply.status.stats));
        let per_s = |before: u64, now: u64| now.saturating_sub(before) as f64 / seconds;
        Some(Rate { requests_per_s: per_s(before.count, now.count), bytes_per_s: per_s(before.bytes, now.bytes) })
    }

    /// Between the last two looks; `None` when the host wrote nothing.
    pub fn write_amplification(&self) -> Option<f64> {
        let [before, now] = [self.before()?, self.last()].map(|look| &look.reply.status);
        // A card that was started anew counts from the beginning.
        let (host, moved) = match now.host_sectors.checked_sub(before.host_sectors) {
            Some(host) => (host, now.relocated_sectors.saturating_sub(before.relocated_sectors)),
            None => (now.host_sectors, now.relocated_sectors),
        };
        (host > 0).then(|| (host + moved) as f64 / host as f64)
    }

    /// Returns the time over which the latencies go back.
    pub fn span(&self) -> Duration {
        self.last().at - self.looks[0].at
    }

    /// Latencies in nanoseconds that these shares of the requests of the last seconds did not exceed; `None` when there
    /// were none.
    pub fn percentiles<const N: usize>(
        &self,
        of: impl Fn(&Latencies) -> &Vec<(u64, u64)>,
        shares: [f64; N],
    ) -> Option<[u64; N]> {
        let now = of(&self.last().latencies);
        match self.looks.len() {
            1 => percentiles(now, shares),
            _ => percentiles(&between(of(&self.looks[0].latencies), now), shares),
        }
    }
}

fn requests(look: &Look) -> u64 {
    let stats = &look.reply.status.stats;
    [stats.reads, stats.writes, stats.flushes, stats.trims].iter().map(|latency| latency.count).sum()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use live::{Gc, Pace, Settings, Status, Timing};

    /// A card that has done so much.
    pub fn look(at: Instant, writes: u64, moved: u64, latencies: &[(u64, u64)]) -> Look {
        let count = |count| Latency { count, bytes: count * 4096, ..Latency::default() };
        Look {
            at,
            reply: StatusReply {
                name: "disk".into(),
                card: "tachion-400".into(),
                version: "0".into(),
                clients_turned_away: 0,
                status: Status {
                    powered: true,
                    stopped: false,
                    read_only: false,
                    degraded: false,
                    size_bytes: 1 << 30,
                    timing: Timing::None,
                    pace: Pace::default(),
                    stats: Stats { writes: count(writes), ..Stats::default() },
                    host_sectors: writes,
                    relocated_sectors: moved,
                    parity_sectors: 0,
                    padding_sectors: 0,
                    metadata_sectors: 0,
                    write_amplification: 1.5,
                    free_bands: 9,
                    reserve_bands: 6,
                    bands: 64,
                    fill: 0.5,
                    collects: true,
                    scrub: None,
                    rebuild: Some(0.43),
                    recovery_ns: None,
                    start: None,
                    power_cuts: 0,
                    mismatched_sectors: 0,
                    rebuilt_sectors: 0,
                    lost_sectors: 0,
                    hedged_reads: 0,
                    log: None,
                    shards: 1,
                    settings: Settings { rebuild_bytes_per_s: None, gc: Gc::Paced, target_free_bands: 3 },
                },
            },
            modules: Vec::new(),
            latencies: Latencies { writes: latencies.to_vec(), ..Latencies::default() },
        }
    }

    #[test]
    fn what_is_shown_is_what_happened_between_looks() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut watched = Watched::new(look(at(0), 100, 10, &[(1_000, 100)]));
        assert_eq!(watched.rate(|stats| &stats.writes), None);
        assert_eq!(watched.percentiles(|of| &of.writes, [0.5]), Some([1_000]));
        watched.add(look(at(2), 300, 110, &[(1_000, 100), (5_000, 199), (9_000, 1)]));
        let rate = watched.rate(|stats| &stats.writes).unwrap();
        assert_eq!((rate.requests_per_s, rate.bytes_per_s), (100.0, 409_600.0));
        assert_eq!(watched.write_amplification(), Some(1.5));
        assert_eq!(watched.percentiles(|of| &of.writes, [0.005, 0.5, 0.99, 1.0]), Some([5_000, 5_000, 5_000, 9_000]));
        assert_eq!(watched.percentiles(|of| &of.reads, [0.5]), None);
        watched.add(look(at(4), 300, 110, &[(1_000, 100), (5_000, 199), (9_000, 1)]));
        assert_eq!(watched.write_amplification(), None);
        // Older moments do not count.
        for seconds in [6, 8, 10] {
            watched.add(look(at(seconds), 300, 110, &[(1_000, 100), (5_000, 199), (9_000, 1)]));
        }
        assert_eq!(watched.percentiles(|of| &of.writes, [0.5]), None);
        assert!((5..8).contains(&watched.span().as_secs()), "{:?}", watched.span());
    }

    #[test]
    fn a_card_or_a_server_that_was_started_anew_counts_from_the_beginning() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut watched = Watched::new(look(at(0), 500, 100, &[(1_000, 500)]));
        let mut card = look(at(1), 600, 0, &[(1_000, 600)]);
        (card.reply.status.host_sectors, card.reply.status.relocated_sectors) = (100, 50);
        watched.add(card);
        assert_eq!(watched.write_amplification(), Some(1.5));
        watched.add(look(at(2), 10, 5, &[(2_000, 10)]));
        assert_eq!(watched.rate(|stats| &stats.writes), None);
        assert_eq!(watched.percentiles(|of| &of.writes, [0.5]), Some([2_000]));
    }
}
