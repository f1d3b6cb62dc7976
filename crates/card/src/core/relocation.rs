//! Relocations under way.

use device::{SECTOR_BYTES, Time};
use ftl::Relocation;
use slab::Slab;
use std::collections::VecDeque;

/// Relocations of a card. Their number is bounded by `relocation_sectors` of the card.
#[derive(Clone, Debug, Default)]
pub struct Relocations {
    /// Relocations whose sectors a die is reading.
    reading: Slab<Relocation>,
    /// Read, while what could not be read of them is rebuilt.
    filling: usize,
    /// Read, and on their way through the host; times do not fall.
    through_host: VecDeque<(Time, Relocation)>,
    /// Read, and waiting for room: a die has gone, and there is less of it than was counted on.
    waiting: VecDeque<Relocation>,
    /// Sectors read or waiting to be on flash.
    sectors_in_flight: u32,
    /// The most that may be.
    most_sectors: u32,
    /// The host has asked for nothing for [`IDLE_NS`](crate::IDLE_NS): the SLC cache may be emptied.
    long_idle: bool,
    /// When the next relocation out of the SLC cache may begin, where its rate is limited.
    fold_due: Time,
}

impl Relocations {
    /// None yet, of so many sectors at most: granules on a card that compresses.
    pub fn new(most_sectors: u32) -> Relocations {
        Relocations { most_sectors, ..Relocations::default() }
    }

    /// Whether more may be relocated.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.sectors_in_flight < self.most_sectors
    }

    /// Relocations that are read or carried, those that wait for room not counted.
    pub fn on_their_way(&self) -> usize {
        self.reading.len() + self.filling + self.through_host.len()
    }

    pub fn sectors_in_flight(&self) -> u32 {
        self.sectors_in_flight
    }

    /// Sectors of the card's own are about to be put on flash.
    #[inline]
    pub fn add_sectors(&mut self, sectors: u32) {
        self.sectors_in_flight += sectors;
    }

    /// Sectors are on flash, or need not go there any more.
    #[inline]
    pub fn remove_sectors(&mut self, sectors: u32) {
        self.sectors_in_flight -= sectors;
    }

    /// A relocation begins; its index among those that are read.
    #[inline]
    pub fn begin(&mut self, relocation: Relocation) -> u32 {
        self.sectors_in_flight += relocation.sectors();
        self.reading.insert(relocation) as u32
    }

    /// A relocation was read.
    #[inline]
    pub fn read(&mut self, index: u32) -> Relocation {
        self.reading.remove(index as usize)
    }

    /// The sectors that were read of a relocation are looked at, and rebuilt where need be.
    pub fn begin_filling(&mut self) {
        self.filling += 1;
    }

    /// The contents of a relocation are all there.
    pub fn end_filling(&mut self) {
        self.filling -= 1;
    }

    /// A relocation goes through the host; true when it is the only one there.
    pub fn send_through_host(&mut self, back_at: Time, relocation: Relocation) -> bool {
        self.through_host.push_back((back_at, relocation));
        self.through_host.len() == 1
    }

    /// The first relocation on its way through the host is back, and when the next one will be.
    pub fn back_from_host(&mut self) -> (Relocation, Time) {
        let (_, relocation) = self.through_host.pop_front().expect("its event came");
        (relocation, self.through_host.front().map_or(Time::NEVER, |next| next.0))
    }

    /// A relocation waits for room.
    pub fn wait(&mut self, relocation: Relocation) {
        self.waiting.push_back(relocation);
    }

    pub fn first_waiting(&self) -> Option<&Relocation> {
        self.waiting.front()
    }

    pub fn pop_waiting(&mut self) -> Option<Relocation> {
        self.waiting.pop_front()
    }

    /// The SLC cache may be emptied now.
    pub fn may_fold(&self, now: Time) -> bool {
        self.long_idle && now >= self.fold_due
    }

    /// The host has been idle for long, or is no more.
    pub fn set_long_idle(&mut self, long_idle: bool) {
        self.long_idle = long_idle;
    }

    /// Sectors go out of the SLC cache at a limited rate: when the next ones may.
    pub fn pace_fold(&mut self, now: Time, sectors: u32, bytes_per_s: u64) -> Time {
        let ns = u64::from(sectors) * SECTOR_BYTES * 1_000_000_000 / bytes_per_s.max(1);
        self.fold_due = self.fold_due.max(now) + ns;
        self.fold_due
    }
}
