//! Whether the machine keeps up with the card.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Being later than this is no accident of the scheduler.
const LATE_NS: u64 = 1_000_000;
/// Seconds that are looked back on.
const SECONDS: usize = 60;

/// How far a card that is modelled against the clock is behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// The latest of the events of the last minute, in nanoseconds.
    pub most_behind_ns: u64,
    /// Share of the last minute's events that came more than a millisecond late.
    pub late_share: f64,
}

impl Pace {
    /// The machine is not fast enough for this card under this load.
    pub fn is_behind(&self) -> bool {
        self.late_share > 0.01
    }
}

/// Counts by second.
#[derive(Debug, Default)]
pub(crate) struct Lateness {
    seconds: VecDeque<(u64, Second)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Second {
    events: u64,
    late: u64,
    most_ns: u64,
}

impl Lateness {
    /// At `now_ns` something was done that was due `late_ns` before.
    pub fn note(&mut self, now_ns: u64, late_ns: u64) {
        let second = now_ns / 1_000_000_000;
        if self.seconds.back().is_none_or(|(last, _)| *last != second) {
            self.seconds.push_back((second, Second::default()));
            self.forget(second);
        }
        let (_, counts) = self.seconds.back_mut().expect("just pushed");
        counts.events += 1;
        counts.late += u64::from(late_ns > LATE_NS);
        counts.most_ns = counts.most_ns.max(late_ns);
    }

    fn forget(&mut self, now: u64) {
        while self.seconds.front().is_some_and(|(second, _)| second + (SECONDS as u64) < now) {
            self.seconds.pop_front();
        }
    }

    /// The last minute.
    pub fn pace(&mut self, now_ns: u64) -> Pace {
        self.forget(now_ns / 1_000_000_000);
        let total = self.seconds.iter().fold(Second::default(), |sum, (_, second)| Second {
            events: sum.events + second.events,
            late: sum.late + second.late,
            most_ns: sum.most_ns.max(second.most_ns),
        });
        Pace { most_behind_ns: total.most_ns, late_share: total.late as f64 / total.events.max(1) as f64 }
    }
}
