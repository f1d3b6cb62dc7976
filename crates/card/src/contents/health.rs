//! How much of a card's life is spent, and what happened in it: in the words of the NVMe log of health information.
//!
//! Totals lie in the modules' headers, so they survive the power. They are written at each start, when the card is shut down
//! in order, when its spare is used up, and in between once a minute or once as many sectors were transferred as
//! the card has ([`MIN_LAG_SECTORS`] at least). So after a power cut they lag by that much, and by what was in flight.

use device::{SECTOR_BYTES, Time};
use format::ModuleHeader;

/// Totals on the media lag by so many sectors at least: 16 MiB.
pub const MIN_LAG_SECTORS: u64 = 4096;

/// They lag by so long at most while the host asks for something: a minute.
const MAX_LAG_NS: u64 = 60_000_000_000;

const HOUR_NS: u64 = 3_600_000_000_000;

const MINUTE_NS: u64 = 60_000_000_000;

/// Bytes of a data unit: a thousand times 512.
const DATA_UNIT_BYTES: u64 = 512_000;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    read_bytes: u64,
    written_bytes: u64,
    reads: u64,
    writes: u64,
    /// Before this start.
    media_errors_before: u64,
    busy_ns: u64,
    /// Before this start.
    power_on_before_ns: u64,
    started: Option<Time>,
    /// The time of the last event.
    now: Time,
    busy_since: Option<Time>,
    /// When totals were written last, and how many bytes had been transferred.
    saved: (Time, u64),
}

impl Life {
    /// The life of a card that was found, as far as its headers tell.
    pub fn found(header: &ModuleHeader) -> Life {
        let read_bytes = header.host_sectors_read.saturating_mul(SECTOR_BYTES);
        let written_bytes = header.host_sectors_written.saturating_mul(SECTOR_BYTES);
        Life {
            read_bytes,
            written_bytes,
            reads: header.host_read_commands,
            writes: header.host_write_commands,
            media_errors_before: header.media_errors,
            busy_ns: header.busy_ns,
            power_on_before_ns: header.power_on_ns,
            saved: (Time::ZERO, read_bytes.saturating_add(written_bytes)),
            ..Life::default()
        }
    }

    /// Reads and writes of the host that were answered.
    pub fn commands(&self) -> u64 {
        self.reads + self.writes
    }

    /// Puts the totals into a header, to be written; so many sectors were lost since the start.
    pub fn save(&mut self, header: &mut ModuleHeader, lost_sectors: u64) {
        // Rounded up, so that no figure falls when the power comes back.
        header.host_sectors_read = self.read_bytes.div_ceil(SECTOR_BYTES);
        header.host_sectors_written = self.written_bytes.div_ceil(SECTOR_BYTES);
        header.host_read_commands = self.reads;
        header.host_write_commands = self.writes;
        header.media_errors = self.media_errors(lost_sectors);
        header.busy_ns = self.busy_ns();
        header.power_on_ns = self.power_on_ns();
        self.saved = (self.now, self.read_bytes + self.written_bytes);
    }

    /// The totals on the media lag by a minute, or by as many bytes as the card has.
    pub fn is_save_due(&self, user_sectors: u64) -> bool {
        let lag_bytes = user_sectors.max(MIN_LAG_SECTORS) * SECTOR_BYTES;
        let (time, bytes) = self.saved;
        self.now - time >= MAX_LAG_NS || self.read_bytes + self.written_bytes - bytes >= lag_bytes
    }

    /// Power is on.
    pub fn tick(&mut self, now: Time) {
        self.now = now;
        self.started.get_or_insert(now);
    }

    /// The time of the last event.
    pub fn now(&self) -> Time {
        self.now
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

    /// Sectors of the card's life that could not be read at all; so many of them since the start.
    pub fn media_errors(&self, lost_sectors: u64) -> u64 {
        self.media_errors_before + lost_sectors
    }

    /// The card's health, as far as its life tells.
    pub fn health(&self, lost_sectors: u64) -> Health {
        Health {
            data_units_read: self.read_bytes.div_ceil(DATA_UNIT_BYTES),
            data_units_written: self.written_bytes.div_ceil(DATA_UNIT_BYTES),
            host_read_commands: self.reads,
            host_write_commands: self.writes,
            controller_busy_time: self.busy_ns() / MINUTE_NS,
            power_on_hours: self.power_on_ns() / HOUR_NS,
            media_errors: self.media_errors(lost_sectors),
            ..Health::default()
        }
    }

    fn busy_ns(&self) -> u64 {
        self.busy_ns + self.busy_since.map_or(0, |since| self.now - since)
    }

    fn power_on_ns(&self) -> u64 {
        self.power_on_before_ns + self.started.map_or(0, |since| self.now - since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiny;

    /// The header of a new card.
    fn header() -> ModuleHeader {
        tiny::card().contents.store.headers.common
    }

    #[test]
    fn no_total_falls_when_the_card_is_found_again() {
        let (mut life, mut header) = (Life::default(), header());
        life.tick(Time(1_000));
        life.busy(Time(1_000));
        life.read(512);
        life.wrote(SECTOR_BYTES as u32 + 1);
        life.tick(Time(1_000 + HOUR_NS));
        life.save(&mut header, 3);
        let found = Life::found(&header);
        let (before, after) = (life.health(3), found.health(0));
        assert_eq!((after.controller_busy_time, after.power_on_hours, after.media_errors), (60, 1, 3));
        assert!(after.data_units_read >= before.data_units_read);
        assert_eq!(after.data_units_written, before.data_units_written);
        assert_eq!((after.host_read_commands, after.host_write_commands), (1, 1));
        assert_eq!((header.host_sectors_read, header.host_sectors_written), (1, 2));
    }

    #[test]
    fn totals_are_due_after_a_minute_and_after_as_many_bytes_as_the_card_has() {
        let (mut life, mut header) = (Life::default(), header());
        life.tick(Time(MAX_LAG_NS - 1));
        assert!(!life.is_save_due(0));
        life.tick(Time(MAX_LAG_NS));
        assert!(life.is_save_due(0));
        life.save(&mut header, 0);
        assert!(!life.is_save_due(0));
        life.read((MIN_LAG_SECTORS * SECTOR_BYTES - 1) as u32);
        assert!(!life.is_save_due(0));
        life.wrote(1);
        assert!(life.is_save_due(0) && !life.is_save_due(MIN_LAG_SECTORS + 1));
    }
}
