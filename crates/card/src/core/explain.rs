//! The account of a card's work: what the flash did, and where the time of each request went. The latter is kept only
//! when asked for.

use super::counters::MediaCounters;
use super::die_op::Work;
use super::dies::Started;
use device::{Cause, Parts, RequestId, Time};

/// The work that a card has done so far.
#[derive(Clone, Debug)]
pub struct Account {
    media: MediaCounters,
    activity: Activity,
    /// Since when host writes have been stopped for collection.
    stopped_since: Option<Time>,
    /// By request, when the card explains where time went; else empty.
    records: Vec<Record>,
}

impl Account {
    /// The account of a card that has done nothing yet.
    pub fn new(max_requests: usize, explain: bool) -> Account {
        let records = if explain { vec![Record::default(); max_requests] } else { Vec::new() };
        Account { media: MediaCounters::default(), activity: Activity::default(), stopped_since: None, records }
    }

    pub fn media(&self) -> MediaCounters {
        self.media
    }

    /// From now on where the time of each request goes is kept.
    pub fn explain(&mut self, max_requests: usize) {
        self.records = vec![Record::default(); max_requests];
    }

    /// Where the time of each request goes is kept.
    #[inline]
    pub fn explains(&self) -> bool {
        !self.records.is_empty()
    }

    /// The record of a request, when records are kept.
    #[inline]
    pub fn record(&mut self, id: RequestId) -> Option<&mut Record> {
        self.records.get_mut(id.0 as usize)
    }

    /// A read has begun that is no operation of a die.
    pub fn read_beside_dies(&mut self) {
        self.media.reads += 1;
    }

    /// A die has begun something.
    #[inline]
    pub fn began(&mut self, started: &Started) {
        match started.work {
            Work::HostRead(_) => {
                self.media.reads += 1;
            }
            Work::MapRead(_) | Work::RelocationRead(_) | Work::RepairRead(_) => {
                self.media.reads += 1;
                self.activity.relocation_ns += started.busy_ns;
            }
            Work::Program { cause, .. } => {
                let ns = match cause {
                    Cause::DieParity => &mut self.activity.parity_ns,
                    Cause::DieRelocationProgram | Cause::DieMap => &mut self.activity.relocation_ns,
                    _ => &mut self.activity.host_program_ns,
                };
                *ns += started.busy_ns;
                self.media.programs += u64::from(started.fresh);
            }
            Work::RebuildProgram => {
                self.activity.relocation_ns += started.busy_ns;
                self.media.programs += u64::from(started.fresh);
            }
            Work::RebuildErase | Work::Erase(_) => {
                self.activity.erase_ns += started.busy_ns;
                self.media.erases += u64::from(started.fresh);
            }
        }
    }

    /// Activity until now.
    pub fn activity_at(&self, now: Time) -> Activity {
        let mut activity = self.activity;
        if let Some(since) = self.stopped_since {
            activity.stopped_ns += now - since;
        }
        activity
    }

    /// Whether host writes are stopped for collection from now on.
    #[inline]
    pub fn note_stopped(&mut self, now: Time, stopped: bool) {
        match (stopped, self.stopped_since) {
            (true, None) => self.stopped_since = Some(now),
            (false, Some(since)) => {
                self.activity.stopped_ns += now - since;
                self.stopped_since = None;
            }
            _ => {}
        }
    }
}

/// Die time started so far by what it was for, and time that the host was stopped: their growth while a request waits for
/// buffer space says what it waited for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Activity {
    pub host_program_ns: u64,
    pub relocation_ns: u64,
    pub parity_ns: u64,
    pub erase_ns: u64,
    pub stopped_ns: u64,
}

/// The times of one request, as far as they are known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    /// Up to the request's present stage.
    pub settled: Parts,
    /// Times of the operation on flash that finished last: the critical path, so far, of the present stage.
    pub flash: Parts,
    /// When it began to wait for buffer space.
    pub wait_since: Time,
    /// Activity at that moment.
    pub activity: Activity,
}

impl Record {
    /// The stage on flash is over.
    pub fn settle_flash(&mut self) {
        self.settled.merge(&self.flash);
        self.flash = Parts::default();
    }

    /// The wait for buffer space is over: splits it by what the card did meanwhile.
    pub fn settle_wait(&mut self, now: Time, activity: &Activity) {
        let waited = now - self.wait_since;
        let stopped = (activity.stopped_ns - self.activity.stopped_ns).min(waited);
        self.settled.add(Cause::GcStall, stopped);
        let rest = waited - stopped;
        let parts = [
            (Cause::BufferRelocation, activity.relocation_ns - self.activity.relocation_ns),
            (Cause::BufferParity, activity.parity_ns - self.activity.parity_ns),
            (Cause::BufferErase, activity.erase_ns - self.activity.erase_ns),
            (Cause::BufferHostProgram, activity.host_program_ns - self.activity.host_program_ns),
        ];
        let total: u64 = parts.iter().map(|p| p.1).sum();
        let mut left = rest;
        if total > 0 {
            for (cause, ns) in parts {
                let share = (u128::from(rest) * u128::from(ns) / u128::from(total)) as u64;
                self.settled.add(cause, share);
                left -= share;
            }
        }
        // Rounding left it, or no die began anything during the wait.
        self.settled.add(Cause::BufferHostProgram, left);
    }
}
