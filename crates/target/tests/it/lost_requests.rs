//! A device that loses a request is found out.

use crate::common::{FixedDelay, MICROSECOND, SECOND, reads};
use device::{Completion, Device, HostConfig, Request, RequestId, Time};
use load::Fileio;
use target::{Machine, Stop, StopReason};

/// The fate of the requests that are lost.
#[derive(Clone, Copy, PartialEq)]
enum Loses {
    Nothing,
    /// Every request: it holds them for ever.
    All,
    /// One, and forgets that it had it.
    One,
}

struct Loser {
    inner: FixedDelay,
    loses: Loses,
    submitted: u64,
    held: u64,
}

impl Device for Loser {
    type Data = ();

    fn submit(&mut self, now: Time, id: RequestId, request: Request, done: &mut Vec<Completion>) {
        self.submitted += 1;
        match self.loses {
            Loses::All => self.held += 1,
            Loses::One if self.submitted == 100 => {}
            _ => self.inner.submit(now, id, request, done),
        }
    }

    fn next_event(&self) -> Time {
        self.inner.next_event()
    }

    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        self.inner.advance(now, done);
    }

    fn capacity_bytes(&self) -> u64 {
        self.inner.capacity_bytes()
    }

    fn in_flight(&self) -> u64 {
        self.inner.in_flight() + self.held
    }
}

fn run(loses: Loses) -> StopReason {
    let mut load = Fileio::new(reads(4), 1).unwrap();
    let device = Loser { inner: FixedDelay::new(50 * MICROSECOND), loses, submitted: 0, held: 0 };
    let mut machine = Machine::new(device, &mut load, HostConfig::UNLIMITED, false);
    machine.run_until(Stop::At(Time(SECOND / 10)))
}

#[test]
fn a_device_that_keeps_everything_is_no_loser() {
    assert_eq!(run(Loses::Nothing), StopReason::Reached);
}

#[test]
#[should_panic(expected = "lost a request")]
fn a_device_that_never_completes_panics_instead_of_hanging() {
    run(Loses::All);
}

#[test]
#[should_panic(expected = "a request was lost")]
fn a_device_that_forgets_one_request_of_many_panics() {
    run(Loses::One);
}
