//! The host link and the card's command processor: each serves one after the other.

use super::config::{Housekeeping, LinkConfig};
use device::Time;

/// When the link and the command processor are free.
#[derive(Clone, Debug)]
pub struct Link {
    /// As it is now.
    config: LinkConfig,
    /// As it is at full speed.
    full: LinkConfig,
    command_free_at: Time,
    /// Bytes that the host may write before there is housekeeping to be done; without any, more than it ever writes.
    until_housekeeping: u64,
    /// Host to card; both directions where the link is half duplex.
    down_free_at: Time,
    up_free_at: Time,
}

/// When a command was taken, and when its data had crossed.
pub struct Passage {
    /// The command processor has taken it.
    pub taken: Time,
    /// Its data (of a write) are there.
    pub arrived: Time,
}

fn transfer_ns(bytes: u64, bytes_per_s: u64) -> u64 {
    // Requests are below 2^32 bytes, so the product fits.
    bytes * 1_000_000_000 / bytes_per_s
}

impl Link {
    /// An idle link with an idle command processor.
    pub fn new(config: LinkConfig) -> Link {
        Link {
            config,
            full: config,
            command_free_at: Time::ZERO,
            until_housekeeping: config.housekeeping.map_or(u64::MAX, |work| work.every_bytes),
            down_free_at: Time::ZERO,
            up_free_at: Time::ZERO,
        }
    }

    /// Commands and transfers go on at so many percent of their speed.
    pub fn set_speed(&mut self, percent: u32) {
        let slower = |ns: u64| ns * 100 / u64::from(percent);
        let rate = |bytes_per_s: u64| (bytes_per_s / 100 * u64::from(percent)).max(1);
        self.config = LinkConfig {
            read_bytes_per_s: rate(self.full.read_bytes_per_s),
            write_bytes_per_s: rate(self.full.write_bytes_per_s),
            read_command_ns: slower(self.full.read_command_ns),
            write_command_ns: slower(self.full.write_command_ns),
            housekeeping: self.full.housekeeping.map(|work| Housekeeping { takes_ns: slower(work.takes_ns), ..work }),
            ..self.full
        };
        if percent == 100 {
            self.config = self.full;
        }
    }

    fn take_command(&mut self, now: Time, ns: u64) -> Time {
        self.command_free_at = self.command_free_at.max(now) + ns;
        self.command_free_at
    }

    /// The command processor is busy with the next command for so much longer than usual.
    pub fn occupy(&mut self, now: Time, ns: u64) {
        self.take_command(now, ns);
    }

    /// A read, flush or trim goes down: a command without data.
    #[inline]
    pub fn send_command(&mut self, now: Time) -> Passage {
        let taken = self.take_command(now, self.config.read_command_ns);
        Passage { taken, arrived: taken + self.config.latency_ns }
    }

    /// A write goes down with its data.
    #[inline]
    pub fn send_write(&mut self, now: Time, bytes: u64) -> Passage {
        let taken = self.take_command(now, self.config.write_command_ns);
        if bytes < self.until_housekeeping {
            self.until_housekeeping -= bytes;
        } else {
            self.keep_house(bytes);
        }
        self.down_free_at = self.down_free_at.max(taken) + transfer_ns(bytes, self.config.write_bytes_per_s);
        Passage { taken, arrived: self.down_free_at + self.config.write_latency_ns }
    }

    /// A write has brought more than may be written before housekeeping: the next command waits for that.
    #[cold]
    fn keep_house(&mut self, bytes: u64) {
        let Some(Housekeeping { every_bytes, takes_ns }) = self.config.housekeeping else { return };
        let due = 1 + (bytes - self.until_housekeeping) / every_bytes;
        self.until_housekeeping = self.until_housekeeping + due * every_bytes - bytes;
        self.command_free_at += due * takes_ns;
    }

    /// A read's data go up; returns when they are there.
    #[inline]
    pub fn send_up(&mut self, now: Time, bytes: u64) -> Time {
        let free_at = if self.config.half_duplex { &mut self.down_free_at } else { &mut self.up_free_at };
        *free_at = (*free_at).max(now) + transfer_ns(bytes, self.config.read_bytes_per_s);
        *free_at
    }

    /// Sectors are relocated by way of the host: they go up and come down again on the path that the host's own writes
    /// take, and hold it up for so long.
    pub fn relocate_through_host(&mut self, now: Time, sectors: u32, sector_ns: u64) -> Time {
        self.down_free_at = self.down_free_at.max(now) + u64::from(sectors) * sector_ns;
        self.down_free_at
    }
}
