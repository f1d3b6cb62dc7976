//! How much of a card's life is spent, and what happened in it: in the words of the NVMe log of health information.
//!
//! Totals lie in the modules' headers, so they survive the power. They are written at each start, when the card is shut down
//! in order, when its spare is used up, and in between once a minute or once as many sectors were transferred as
//! the card has ([`MIN_LAG_SECTORS`] at least). So after a power cut they lag by that much, and by what was in flight.

use crate::card::Card;
use device::{SECTOR_BYTES, Time};
use format::SlotState;
use ftl::StreamId;
use media::MediaError;

/// Totals on the media lag by so many sectors at least: 16 MiB.
const MIN_LAG_SECTORS: u64 = 4096;
/// They lag by so long at most while the host asks for something: a minute.
const MAX_LAG_NS: u64 = 60_000_000_000;
const HOUR_NS: u64 = 3_600_000_000_000;
const MINUTE_NS: u64 = 60_000_000_000;
/// Bytes of a data unit: a thousand times 512.
const DATA_UNIT_BYTES: u64 = 512_000;

/// What needs attention: the bits of `critical_warning` of an NVMe drive that a card can have.
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
    /// What needs attention.
    pub critical_warning: CriticalWarning,
    /// Share of the spare space of a new card that is left, in percent: 0 when the card is read-only.
    pub available_spare: u8,
    /// Below this there is a warning, in percent.
    pub available_spare_threshold: u8,
    /// Mean P/E cycles of the blocks over the rated ones, in percent. It may exceed 100, and stops at 255.
    pub percentage_used: u8,
    /// What the host read, in thousands of 512 bytes, rounded up.
    pub data_units_read: u64,
    /// What the host wrote, in thousands of 512 bytes, rounded up.
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
    pub now: Time,
    busy_since: Option<Time>,
    /// When totals were written last, and how many bytes had been transferred.
    saved: (Time, u64),
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

    fn busy_ns(&self) -> u64 {
        self.busy_ns + self.busy_since.map_or(0, |since| self.now - since)
    }

    fn power_on_ns(&self) -> u64 {
        self.power_on_before_ns + self.started.map_or(0, |since| self.now - since)
    }
}

impl Card {
    /// The card's health, as of the last event.
    pub fn health(&self) -> Health {
        let life = &self.life;
        let common = self.store.as_ref().map(|store| &store.headers.common);
        let available_spare = self.available_spare();
        let threshold = self.config.spare_threshold_percent;
        Health {
            critical_warning: CriticalWarning {
                spare_below_threshold: available_spare < threshold,
                reliability_degraded: self.is_degraded(),
                read_only: self.read_only,
            },
            available_spare,
            available_spare_threshold: threshold,
            percentage_used: self.percentage_used(),
            data_units_read: life.read_bytes.div_ceil(DATA_UNIT_BYTES),
            data_units_written: life.written_bytes.div_ceil(DATA_UNIT_BYTES),
            host_read_commands: life.reads,
            host_write_commands: life.writes,
            controller_busy_time: life.busy_ns() / MINUTE_NS,
            power_cycles: common.map_or(0, |common| common.power_cycles),
            power_on_hours: life.power_on_ns() / HOUR_NS,
            unsafe_shutdowns: common.map_or(0, |common| common.unsafe_shutdowns),
            media_errors: self.media_errors(),
        }
    }

    fn media_errors(&self) -> u64 {
        self.life.media_errors_before + self.store.as_ref().map_or(0, |store| store.counters.lost_sectors)
    }

    /// A die or a module is missing, or not filled yet.
    pub(crate) fn is_degraded(&self) -> bool {
        let dead = (0..self.ftl.layout().dies).any(|die| self.ftl.blocks().is_dead(die));
        let active =
            |store: &crate::store::Store| store.headers.common.slots.iter().all(|slot| slot.state == SlotState::Active);
        dead || self.store.as_ref().is_some_and(|store| !active(store))
    }

    /// What is left of the spare space that a new card has, in percent.
    fn available_spare(&self) -> u8 {
        if self.read_only {
            return 0;
        }
        let kept = self.ftl.min_data_sectors();
        let new = self.store.as_ref().map_or(0, |store| store.headers.common.new_data_sectors);
        let new = if new == 0 { self.ftl.new_data_sectors() } else { new };
        let left = self.ftl.data_sectors().saturating_sub(kept);
        // While it can be written there is some left.
        (left * 100 / new.saturating_sub(kept).max(1)).clamp(1, 100) as u8
    }

    /// Dead dies and missing modules are left out: what they have gone through is not known.
    fn percentage_used(&self) -> u8 {
        let blocks = self.ftl.blocks();
        let dies = (0..self.ftl.layout().dies).filter(|&die| !blocks.is_dead(die));
        let (mut sum, mut count) = (0, 0);
        for die in dies {
            sum += (0..self.ftl.bands()).map(|band| u64::from(blocks.cycles(band, die))).sum::<u64>();
            count += u64::from(self.ftl.bands());
        }
        let rated = u64::from(self.config.nand.endurance.rated_cycles.max(1));
        (sum * 100 / (count * rated).max(1)).min(255) as u8
    }

    /// Goes on from what the headers say.
    pub(crate) fn restore_totals(&mut self) {
        let Some(store) = &self.store else { return };
        let common = &store.headers.common;
        self.life = Life {
            read_bytes: common.host_sectors_read.saturating_mul(SECTOR_BYTES),
            written_bytes: common.host_sectors_written.saturating_mul(SECTOR_BYTES),
            reads: common.host_read_commands,
            writes: common.host_write_commands,
            media_errors_before: common.media_errors,
            busy_ns: common.busy_ns,
            power_on_before_ns: common.power_on_ns,
            ..Life::default()
        };
        self.life.saved.1 = self.life.read_bytes.saturating_add(self.life.written_bytes);
        self.read_only = common.read_only;
    }

    /// Puts the totals into the headers, to be written.
    fn note_totals(&mut self) {
        self.note_durable();
        let (life, media_errors) = (self.life, self.media_errors());
        let common = &mut self.contents().headers.common;
        // Rounded up, so that no figure falls when the power comes back.
        common.host_sectors_read = life.read_bytes.div_ceil(SECTOR_BYTES);
        common.host_sectors_written = life.written_bytes.div_ceil(SECTOR_BYTES);
        common.host_read_commands = life.reads;
        common.host_write_commands = life.writes;
        common.media_errors = media_errors;
        common.busy_ns = life.busy_ns();
        common.power_on_ns = life.power_on_ns();
        self.life.saved = (life.now, life.read_bytes + life.written_bytes);
    }

    /// Writes the totals when they lag too much.
    pub(crate) fn save_totals_if_due(&mut self) {
        let life = &self.life;
        let lag_bytes = self.ftl.user_sectors().max(MIN_LAG_SECTORS) * SECTOR_BYTES;
        let (time, bytes) = life.saved;
        if life.now - time >= MAX_LAG_NS || life.read_bytes + life.written_bytes - bytes >= lag_bytes {
            self.save_totals();
        }
    }

    pub(crate) fn save_totals(&mut self) {
        if self.halted || self.draining {
            return;
        }
        self.note_totals();
        let crate::store::Store { media, headers, slots, .. } = self.contents();
        let written = headers.write_totals(&mut **media, slots);
        if written.is_err_and(|failed| matches!(failed.error, MediaError::NoPower | MediaError::Fenced)) {
            self.halted = true;
        }
    }

    /// Shuts the card down in order: all that it has acknowledged is put on flash, and the headers say so. Returns when that
    /// was done; the card does nothing any more from then on. When a flush could not work ([`Card::health`] says that the
    /// card is read-only, and it owes trims), or the media do not answer, the next start counts as one after an unsafe
    /// shutdown.
    ///
    /// # Panics
    /// When requests are in flight.
    pub fn shut_down(&mut self, now: Time, done: &mut Vec<device::Completion>) -> Time {
        assert_eq!(self.in_flight, 0, "requests are in flight");
        self.life.tick(now);
        self.draining = true;
        self.wait_at_once(now, done);
        self.finish_own_work(done);
        self.sync_what_is_left(now, done);
        if self.store.is_some() && !self.halted {
            let now = self.life.now;
            let host_has_room = self.ftl.open_band_of(StreamId::Host).is_some() || self.ftl.free_bands() > 0;
            if host_has_room {
                let as_of = self.contents().next_version;
                if !self.config.power_loss_protection {
                    self.flush_for_holes(now, done);
                }
                self.write_owed_holes(now, as_of);
            }
            self.ftl.seal_for_durability(StreamId::Relocation);
            self.ftl.seal_for_durability(StreamId::Host);
            self.program_sealed(now);
            // With capacitors, as when power fails: room is made for what is owed, where any can be.
            self.drain(now);
            self.finish_own_work(done);
            if self.contents().dirty_holes.is_empty() && self.failed_stripes.is_empty() && !self.halted {
                self.write_last_headers();
            }
        }
        self.halted = true;
        self.life.now
    }

    /// What the host wrote has to be durable before a list says that something is a hole no more.
    fn flush_for_holes(&mut self, now: Time, done: &mut Vec<device::Completion>) {
        if self.contents().dirty_holes.is_empty() {
            return;
        }
        let as_of = self.contents().next_version - 1;
        self.ftl.seal_for_durability(StreamId::Host);
        self.program_sealed(now);
        self.finish_own_work(done);
        self.durable_up_to(as_of);
    }

    fn finish_own_work(&mut self, done: &mut Vec<device::Completion>) {
        use device::Device;
        while self.dies.in_flight() > 0 || self.relocations.on_their_way() > 0 {
            let next = self.next_event();
            if next == Time::NEVER || self.halted {
                return;
            }
            self.advance(next, done);
        }
    }

    fn write_last_headers(&mut self) {
        self.note_totals();
        let crate::store::Store { media, headers, slots, .. } = self.contents();
        headers.common.clean = true;
        headers.common.lost_writes = false;
        // What can't be written is what an unsafe shutdown leaves: the next start says so.
        let _unsafe = headers.claim(&mut **media, slots).and_then(|()| headers.write(&mut **media, slots));
    }

    /// The spare is used up, for good: the headers say so.
    pub(crate) fn save_read_only(&mut self) {
        // With a die or a module missing there is less room, but not for good.
        if self.store.is_none() || self.is_degraded() {
            return;
        }
        self.contents().headers.common.read_only = true;
        self.save_totals();
    }
}
