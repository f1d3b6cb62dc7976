//! How much of a card's life is spent, and what happened in it: in the words of the NVMe log of health information.
//!
//! Totals lie in the modules' headers, so they survive the power. They are written at each start, when the card is shut down
//! in order, when its spare is used up, and in between once a minute or once as many sectors were transferred as
//! the card has ([`MIN_LAG_SECTORS`] at least). So after a power cut they lag by that much, and by what was in flight.

use device::Time;

/// Totals on the media lag by so many sectors at least: 16 MiB.
pub const MIN_LAG_SECTORS: u64 = 4096;

/// They lag by so long at most while the host asks for something: a minute.
pub const MAX_LAG_NS: u64 = 60_000_000_000;

pub const HOUR_NS: u64 = 3_600_000_000_000;

pub const MINUTE_NS: u64 = 60_000_000_000;

/// Bytes of a data unit: a thousand times 512.
pub const DATA_UNIT_BYTES: u64 = 512_000;

/// The states that need attention: the bits of `critical_warning` of an NVMe drive that a card can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CriticalWarning {
    /// Bit 0: the available spare is below its threshold.
    pub spare_below_threshold: bool,
    /// Bit 2: a die or a module is missing, or being rebuilt: the next loss may cost data.
    pub reliability_degraded: bool,
    /// Bit 3: the card takes no more writes.
    pub read_only: bool,
}

impl CriticalWarning {
    /// The byte of the log.
    pub fn bits(self) -> u8 {
        u8::from(self.spare_below_threshold) | u8::from(self.reliability_degraded) << 2 | u8::from(self.read_only) << 3
    }
}

/// A card's health, as of the last event. Names and units are those of the NVMe base specification's SMART / Health
/// Information log (page 02h); of its fields those are left out that a card has nothing to say to (temperatures, error
/// log entries).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// The states of the card that need attention.
    pub critical_warning: CriticalWarning,
    /// Share of the spare space of a new card that is left, in percent: 0 when the card is read-only.
    pub available_spare: u8,
    /// Below this there is a warning, in percent.
    pub available_spare_threshold: u8,
    /// Mean P/E cycles of the blocks over the rated ones, in percent. It may exceed 100, and stops at 255.
    pub percentage_used: u8,
    /// Data that the host read, in thousands of 512 bytes, rounded up.
    pub data_units_read: u64,
    /// Data that the host wrote, in thousands of 512 bytes, rounded up.
    pub data_units_written: u64,
    /// Reads that were answered.
    pub host_read_commands: u64,
    /// Writes that were answered.
    pub host_write_commands: u64,
    /// Time with requests in flight, in minutes.
    pub controller_busy_time: u64,
    /// Times the card was started.
    pub power_cycles: u64,
    /// Time with power, in hours.
    pub power_on_hours: u64,
    /// Times it was started without having been shut down in order.
    pub unsafe_shutdowns: u64,
    /// Sectors that could be read neither where they lie nor from the rest of their stripe.
    pub media_errors: u64,
}

/// Totals of the card's life.
#[derive(Clone, Copy, Debug, Default)]
pub struct Life {
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub reads: u64,
    pub writes: u64,
    /// Before this start.
    pub media_errors_before: u64,
    pub busy_ns: u64,
    /// Before this start.
    pub power_on_before_ns: u64,
    pub started: Option<Time>,
    /// The time of the last event.
    pub now: Time,
    pub busy_since: Option<Time>,
    /// When totals were written last, and how many bytes had been transferred.
    pub saved: (Time, u64),
}

impl Life {
    /// Power is on.
    pub fn tick(&mut self, now: Time) {
        self.now = now;
        self.started.get_or_insert(now);
    }

    /// The first request after a pause.
    pub fn busy(&mut self, now: Time) {
        self.busy_since = Some(now);
    }

    /// No more requests are in flight.
    pub fn idle(&mut self, now: Time) {
        self.busy_ns += self.busy_since.take().map_or(0, |since| now - since);
    }

    /// A read was answered.
    pub fn read(&mut self, bytes: u32) {
        self.reads += 1;
        self.read_bytes += u64::from(bytes);
    }

    /// A write was answered.
    pub fn wrote(&mut self, bytes: u32) {
        self.writes += 1;
        self.written_bytes += u64::from(bytes);
    }

    pub fn busy_ns(&self) -> u64 {
        self.busy_ns + self.busy_since.map_or(0, |since| self.now - since)
    }

    pub fn power_on_ns(&self) -> u64 {
        self.power_on_before_ns + self.started.map_or(0, |since| self.now - since)
    }
}
