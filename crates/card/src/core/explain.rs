//! Where the time of a request went. Kept only when asked for.

use device::{Cause, Parts, Time};

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

/// What is known of one request so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    /// Up to the request's present stage.
    pub settled: Parts,
    /// Of the operation on flash that finished last: the critical path, so far, of the present stage.
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
        // What rounding left, or a wait in which no die began anything.
        self.settled.add(Cause::BufferHostProgram, left);
    }
}
