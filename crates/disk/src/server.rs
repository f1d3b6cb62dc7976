//! A server that does one job after another, in order of arrival: firmware, interface, controller.
//!
//! Invariant: jobs end in the order in which they came.

use device::Time;
use std::collections::VecDeque;

/// Its jobs carry a `J`. [`Server::new`] is given the limit on the number that may wait.
#[derive(Clone, Debug)]
pub(crate) struct Server<J> {
    limit: usize,
    free_at: Time,
    jobs: VecDeque<(Time, J)>,
}

impl<J: Copy> Server<J> {
    pub fn new(limit: usize) -> Server<J> {
        Server { limit, free_at: Time::ZERO, jobs: VecDeque::new() }
    }

    /// A job of `service_ns` that is ready at `now`.
    pub fn push(&mut self, now: Time, service_ns: u64, job: J) {
        self.push_streamed(now, now, service_ns, job);
    }

    /// A job of `service_ns` that could start at `from` (not after `now`) because its input came piece by piece, the
    /// last piece at `now`: it ends at `now` at the earliest.
    pub fn push_streamed(&mut self, now: Time, from: Time, service_ns: u64, job: J) {
        assert!(self.jobs.len() < self.limit, "a disk model's server was given more than {} jobs", self.limit);
        let end = (self.free_at.max(from) + service_ns).max(now);
        self.free_at = end;
        self.jobs.push_back((end, job));
    }

    /// When the next job ends.
    pub fn next(&self) -> Time {
        self.jobs.front().map_or(Time::NEVER, |&(end, _)| end)
    }

    /// A job that has ended.
    pub fn pop(&mut self, now: Time) -> Option<J> {
        if self.next() <= now { self.jobs.pop_front().map(|(_, job)| job) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_end_one_after_another() {
        let mut server = Server::new(3);
        server.push(Time(10), 5, 'a');
        server.push(Time(11), 5, 'b');
        server.push_streamed(Time(30), Time(12), 5, 'c');
        assert_eq!(server.next(), Time(15));
        assert_eq!(server.pop(Time(14)), None);
        assert_eq!(server.pop(Time(15)), Some('a'));
        assert_eq!(server.next(), Time(20));
        assert_eq!(server.pop(Time(20)), Some('b'));
        assert_eq!(server.next(), Time(30));
    }
}
