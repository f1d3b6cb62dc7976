//! The controller's battery-backed write cache.
//!
//! A write in it is durable. It goes to the disks in the background, in a sweep over the array, a whole row at a time
//! where rows share parity; what has gathered in a row or chunk meanwhile goes with it. The number of destages in
//! flight grows with the fill, so that the cache neither runs full while the disks have time nor gives up coalescing
//! while it has room.
//!
//! Invariants: a row or chunk has one destage at a time; a host that waits for room has all destages working for it.

use crate::cache::WriteCache;
use crate::mapping::Mapping;
use crate::span::Span;
use device::RequestId;
use std::collections::{BTreeSet, VecDeque};

/// Destages at once for each column at most: with as many, a disk finds a short way to the next one.
pub(crate) const DESTAGES_PER_COLUMN: usize = 8;
/// Fuller than this, destages compete with the host's requests.
const DESTAGE_FROM: f64 = 0.5;
/// Fuller than this, they do so with full force.
const DESTAGE_FULLY_FROM: f64 = 0.9;

#[derive(Clone, Debug)]
pub(crate) struct ControllerCache {
    pub cache: WriteCache,
    /// Writes that wait for room; at most all requests.
    pub room: VecDeque<RequestId>,
    columns: usize,
    /// Starts of the units on their way; at most `DESTAGES_PER_COLUMN` for each column.
    busy: BTreeSet<u64>,
    /// Block that the sweep has reached.
    sweep_lba: u64,
}

impl ControllerCache {
    pub fn new(capacity_bytes: u64, columns: usize) -> ControllerCache {
        ControllerCache {
            cache: WriteCache::new(capacity_bytes),
            room: VecDeque::new(),
            columns,
            busy: BTreeSet::new(),
            sweep_lba: 0,
        }
    }

    /// Returns the number of destages that should be in flight.
    fn wanted(&self, host_is_idle: bool) -> usize {
        let most = self.columns * DESTAGES_PER_COLUMN;
        if !self.room.is_empty() {
            return most;
        }
        let force = ((self.cache.fill() - DESTAGE_FROM) / (DESTAGE_FULLY_FROM - DESTAGE_FROM)).clamp(0.0, 1.0);
        let by_fill = (most as f64 * force) as usize;
        if host_is_idle { by_fill.max(self.columns) } else { by_fill }
    }

    /// The unit of the array to destage now, with its dirty parts taken: all of them where rows share parity, otherwise
    /// the next one.
    pub fn take(&mut self, mapping: &Mapping, host_is_idle: bool) -> Option<(Span, Vec<Span>)> {
        if self.cache.dirty().is_empty() || self.busy.len() >= self.wanted(host_is_idle) {
            return None;
        }
        let next = self.next_dirty(mapping, self.sweep_lba).or_else(|| self.next_dirty(mapping, 0))?;
        let unit = mapping.unit_around(next.start);
        let parts = if mapping.has_parity() { self.cache.dirty().within(unit).collect() } else { vec![next.and(unit)] };
        for &part in &parts {
            self.cache.take(part);
        }
        self.busy.insert(unit.start);
        self.sweep_lba = unit.end;
        Some((unit, parts))
    }

    /// The first dirty range from `lba` on whose unit is not on its way.
    fn next_dirty(&self, mapping: &Mapping, mut lba: u64) -> Option<Span> {
        loop {
            let dirty = self.cache.dirty().from(lba).next()?;
            let unit = mapping.unit_around(dirty.start);
            if !self.busy.contains(&unit.start) {
                return Some(dirty);
            }
            lba = unit.end;
        }
    }

    /// A unit is on the disks.
    pub fn arrived(&mut self, unit: Span) {
        self.cache.arrived(unit);
        assert!(self.busy.remove(&unit.start), "a destage ends once");
    }
}
