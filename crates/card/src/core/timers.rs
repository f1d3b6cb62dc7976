//! The card's next events: one for each die, one for each request, and a few of its own.

use device::{EventTable, RequestId, Time};

/// The owner of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    Die(usize),
    /// A plane that reads on its own.
    Plane(usize),
    Request(RequestId),
    /// The first of the relocations on their way through the host is back.
    HostPath,
    /// The host has been idle for [`IDLE_NS`](crate::IDLE_NS), or the next relocation out of the SLC cache is due.
    Idle,
    /// The next unit of a rebuild that is held to a rate.
    Rebuild,
    /// A sync that is due though nobody waits for it.
    Sync,
    /// The first of the reads past the dies is due.
    DirectReads,
    /// Writes are held back until then.
    Admission,
    /// A record of the log is written, or its module has had its time.
    Log,
    /// A scrub goes on after a rest.
    Scrub,
    /// The next step of the temperature.
    Thermal,
}

/// When each owner's next event is.
#[derive(Clone, Debug)]
pub struct Timers {
    /// Slots: dies, then their planes, then requests, then the others.
    table: EventTable,
    dies: usize,
    /// Dies and planes.
    media: usize,
    requests: usize,
}

impl Timers {
    /// `planes`: those that read on their own, of all dies. Only a card that `warms` has an event for its temperature.
    pub fn new(dies: usize, requests: usize, planes: usize, warms: bool) -> Timers {
        let others = 8 + usize::from(warms);
        Timers { table: EventTable::new(dies + planes + requests + others), dies, media: dies + planes, requests }
    }

    /// The table, of which the dies have the first slots, and their planes the next.
    #[inline]
    pub fn of_dies(&mut self) -> &mut EventTable {
        &mut self.table
    }

    pub fn dies(&self) -> usize {
        self.dies
    }

    #[inline]
    fn slot(&self, timer: Timer) -> usize {
        let others = self.media + self.requests;
        match timer {
            Timer::Die(die) => die,
            Timer::Plane(plane) => self.dies + plane,
            Timer::Request(id) => self.media + id.0 as usize,
            Timer::HostPath => others,
            Timer::Idle => others + 1,
            Timer::Rebuild => others + 2,
            Timer::Sync => others + 3,
            Timer::DirectReads => others + 4,
            Timer::Admission => others + 5,
            Timer::Log => others + 6,
            Timer::Scrub => others + 7,
            Timer::Thermal => others + 8,
        }
    }

    /// Sets, moves or clears an event.
    #[inline]
    pub fn set(&mut self, timer: Timer, at: Time) {
        self.table.set(self.slot(timer), at);
    }

    pub fn clear(&mut self, timer: Timer) {
        self.set(timer, Time::NEVER);
    }

    pub fn time(&self, timer: Timer) -> Time {
        self.table.time(self.slot(timer))
    }

    pub fn is_set(&self, timer: Timer) -> bool {
        self.time(timer) != Time::NEVER
    }

    /// When the earliest event is.
    #[inline]
    pub fn next(&self) -> Time {
        self.table.next()
    }

    /// No event is to come.
    pub fn are_over(&self) -> bool {
        self.next() == Time::NEVER
    }

    /// The earliest event.
    #[inline]
    pub fn earliest(&self) -> (Time, Timer) {
        let (time, slot) = self.table.earliest();
        let timer = match slot {
            slot if slot < self.dies => Timer::Die(slot),
            slot if slot < self.media => Timer::Plane(slot - self.dies),
            slot if slot < self.media + self.requests => Timer::Request(RequestId((slot - self.media) as u32)),
            slot => match slot - self.media - self.requests {
                0 => Timer::HostPath,
                1 => Timer::Idle,
                2 => Timer::Rebuild,
                3 => Timer::Sync,
                4 => Timer::DirectReads,
                5 => Timer::Admission,
                6 => Timer::Log,
                7 => Timer::Scrub,
                _ => Timer::Thermal,
            },
        };
        (time, timer)
    }
}
