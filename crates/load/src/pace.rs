//! The pace of a limited rate: when each request of a load is due.

use device::Time;

/// Request k of the load is due k / rate after the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    interval_ns: f64,
    /// Time of ticket 0; set by the first.
    start: Option<Time>,
    tickets: u64,
}

impl Pace {
    /// Bound on how far the schedule may lie in the past.
    const CATCH_UP_NS: u64 = 1_000_000_000;

    pub fn new(rate_iops: f64) -> Pace {
        Pace { interval_ns: 1e9 / rate_iops, start: None, tickets: 0 }
    }

    /// When the next request is due.
    pub fn ticket(&mut self, now: Time) -> Time {
        let start = *self.start.get_or_insert(now);
        let due = start + (self.tickets as f64 * self.interval_ns) as u64;
        self.tickets += 1;
        if now.since_ns(due) > Pace::CATCH_UP_NS {
            // Requests beyond the limit are given up: the schedule goes on from one second ago.
            self.start = Some(Time(now.0 - Pace::CATCH_UP_NS));
            self.tickets = 1;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_behind_its_rate_catches_up_by_one_second_at_most() {
        let mut pace = Pace::new(1_000.0);
        assert_eq!(pace.ticket(Time(0)), Time(0));
        let late = Time(60_000_000_000);
        let at_once = (0..100_000).take_while(|_| pace.ticket(late) <= late).count();
        assert!((1_000..=1_002).contains(&at_once), "{at_once}");
    }
}
