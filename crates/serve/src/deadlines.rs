//! The time that a client has for the whole of a request, and for taking its answers, however steadily its bytes trickle.

use crate::shared::Limits;
use std::time::{Duration, Instant};

/// The part of a message that took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooSlow {
    #[error("sent no whole request in {0:?}")]
    Request(Duration),
    #[error("took its answers for more than {0:?}")]
    Answers(Duration),
}

/// Bytes that are to go over the wire, and the time since which.
#[derive(Clone, Copy, Debug)]
struct Expected {
    since: Instant,
    bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Deadlines {
    limits: Limits,
    /// The request that has begun to arrive.
    request: Option<Expected>,
    /// The answers that were unsent at some time, and the number of sent bytes with which all of them are.
    answers: Option<(Expected, u64)>,
    sent: u64,
}

impl Deadlines {
    pub fn new(limits: Limits) -> Deadlines {
        Deadlines { limits, request: None, answers: None, sent: 0 }
    }

    /// A request has begun to arrive, and so many of its bytes are known to be missing.
    pub fn waits_for(&mut self, bytes: u64, now: Instant) {
        let expected = self.request.get_or_insert(Expected { since: now, bytes });
        expected.bytes = expected.bytes.max(bytes);
    }

    /// No request is waited for: it is whole, or it is not the client that is waited for.
    pub fn arrived(&mut self) {
        self.request = None;
    }

    /// More bytes were sent, and `unsent` are to be sent.
    pub fn sent(&mut self, bytes: usize, unsent: usize, now: Instant) {
        self.sent += bytes as u64;
        let is_done = self.answers.is_none_or(|(_, until)| self.sent >= until);
        // Those that came behind have a time of their own.
        if is_done {
            let expected = Expected { since: now, bytes: unsent as u64 };
            self.answers = (unsent > 0).then_some((expected, self.sent + unsent as u64));
        }
    }

    /// Nobody waits for the client to take its answers: they are withheld from it.
    pub fn withheld(&mut self) {
        self.answers = None;
    }

    fn allowed(&self, bytes: u64) -> Duration {
        self.limits.request + Duration::from_millis(bytes.saturating_mul(1000) / self.limits.least_rate.max(1))
    }

    /// The time of the next deadline.
    pub fn next(&self) -> Option<Instant> {
        let of = |expected: Expected| expected.since + self.allowed(expected.bytes);
        self.request.map(of).into_iter().chain(self.answers.map(|(expected, _)| of(expected))).min()
    }

    /// The part of a message that took too long, if there is one.
    pub fn missed(&self, now: Instant) -> Option<TooSlow> {
        let over = |expected: Expected| {
            let allowed = self.allowed(expected.bytes);
            (now >= expected.since + allowed).then_some(allowed)
        };
        let request = self.request.and_then(over).map(TooSlow::Request);
        request.or_else(|| self.answers.and_then(|(expected, _)| over(expected)).map(TooSlow::Answers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Duration = Duration::from_secs(30);

    fn deadlines() -> Deadlines {
        Deadlines::new(Limits { request: BASE, least_rate: 1024, ..Limits::default() })
    }

    #[test]
    fn a_request_has_a_time_for_the_whole_of_it_and_more_for_more_bytes() {
        let (mut deadlines, now) = (deadlines(), Instant::now());
        assert_eq!((deadlines.next(), deadlines.missed(now + 9 * BASE)), (None, None));
        deadlines.waits_for(0, now);
        // Its header says more, and bytes that trickle in change nothing.
        deadlines.waits_for(10 << 10, now + BASE / 2);
        for left in (0..10 << 10).rev() {
            deadlines.waits_for(left, now + BASE / 2);
        }
        let end = now + BASE + Duration::from_secs(10);
        assert_eq!((deadlines.next(), deadlines.missed(end - Duration::from_millis(1))), (Some(end), None));
        assert_eq!(deadlines.missed(end), Some(TooSlow::Request(end - now)));
        deadlines.arrived();
        assert_eq!(deadlines.missed(end), None);
    }

    #[test]
    fn answers_are_taken_in_time_or_not_and_later_ones_have_their_own() {
        let (mut deadlines, now) = (deadlines(), Instant::now());
        deadlines.sent(0, 1024, now);
        let end = now + BASE + Duration::from_secs(1);
        // More answers come while the first are taken byte by byte.
        (0..1023).for_each(|_| deadlines.sent(1, 5000, now + BASE));
        assert_eq!(deadlines.missed(end), Some(TooSlow::Answers(end - now)));
        deadlines.sent(1, 5000, now + BASE);
        assert_eq!(deadlines.missed(end), None);
        assert!(deadlines.next().unwrap() > end);
        deadlines.sent(5000, 0, end);
        assert_eq!(deadlines.next(), None);
    }
}
