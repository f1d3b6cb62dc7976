//! One process that applies transactions: it takes the next of the log, has each page that was changed in memory, and
//! changes it.

use super::log::Transaction;
use super::state::{Part, Replica};
use crate::cache::Update;
use crate::tpcc::Visit;
use crate::{ProcessId, Step};
use device::{Rng, Time};

#[derive(Clone, Debug)]
pub(super) struct Applier {
    rng: Rng,
    transaction: Transaction,
    /// The page that is next.
    next: usize,
    /// CPU time that was used and not yet spent in a step.
    cpu_ns: u64,
    computing_ns: u64,
    /// When its last step began, and what it is.
    waits: Option<(Time, Part)>,
    at: At,
}

/// An applier's next action when it is stepped.
#[derive(Clone, Copy, Debug)]
enum At {
    Take,
    /// Goes on when the transaction has arrived.
    Arrive,
    Apply,
    /// Asks for a page that is not in memory.
    Ask(u32),
    Reading(u32),
    Finish,
}

impl Applier {
    pub fn new(number: u32, seed: u64) -> Applier {
        Applier {
            rng: Rng::stream(seed, &format!("replica applier {number}")),
            transaction: Transaction::default(),
            next: 0,
            cpu_ns: 0,
            computing_ns: 0,
            waits: None,
            at: At::Take,
        }
    }

    pub fn step(&mut self, me: ProcessId, replica: &mut Replica, now: Time, wake: &mut Vec<ProcessId>) -> Step {
        if let Some((since, part)) = self.waits.take() {
            replica.counts.add(part, now.since_ns(since), self.computing_ns);
        }
        loop {
            match self.at {
                At::Take => {
                    replica.log.next(&mut self.transaction);
                    self.next = 0;
                    self.at = At::Arrive;
                }
                At::Arrive => {
                    if self.transaction.committed > now {
                        self.waits = Some((now, Part::Idle));
                        return Step::Sleep { until: self.transaction.committed };
                    }
                    self.cpu_ns = replica.config.cpu_per_transaction_ns;
                    self.at = At::Apply;
                }
                At::Apply => {
                    if let Some(step) = self.apply(me, replica, now, wake) {
                        return step;
                    }
                }
                At::Ask(page) => {
                    replica.counts.pages_missed += 1;
                    self.at = At::Reading(page);
                    self.waits = Some((now, Part::PageRead));
                    return Step::io(replica.instance.cache.area().read(page));
                }
                At::Reading(page) => {
                    replica.instance.cache.finish_update(page, wake);
                    self.at = At::Apply;
                }
                At::Finish => {
                    replica.applied(&self.transaction, now);
                    self.at = At::Take;
                }
            }
        }
    }

    /// Changes pages until something has to be waited for, or all are changed.
    fn apply(&mut self, me: ProcessId, replica: &mut Replica, now: Time, wake: &mut Vec<ProcessId>) -> Option<Step> {
        let cache = &mut replica.instance.cache;
        while let Some(&visit) = self.transaction.visits.get(self.next) {
            let page = visit.page();
            match cache.update(page, &mut self.rng, wake) {
                Update::Done => {}
                Update::Miss if visit == Visit::Create(page) => cache.finish_update(page, wake),
                Update::Miss => self.at = At::Ask(page),
                Update::NoBuffer => {
                    // Comes back to this page when it is woken.
                    if self.cpu_ns > 0 {
                        return Some(self.spend(now));
                    }
                    cache.wait_for_buffer(me);
                    self.waits = Some((now, Part::FreeBuffer));
                    return Some(Step::Park);
                }
            }
            self.next += 1;
            replica.counts.pages_visited += 1;
            self.cpu_ns += replica.config.cpu_per_page_ns;
            if matches!(self.at, At::Ask(_)) {
                return (self.cpu_ns > 0).then(|| self.spend(now));
            }
        }
        self.at = At::Finish;
        (self.cpu_ns > 0).then(|| self.spend(now))
    }

    fn spend(&mut self, now: Time) -> Step {
        self.computing_ns = std::mem::take(&mut self.cpu_ns);
        self.waits = Some((now, Part::Cpu));
        Step::Cpu { cpu_ns: self.computing_ns }
    }
}
