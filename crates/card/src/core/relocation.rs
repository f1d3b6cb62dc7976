//! Relocations under way.

use device::Time;
use ftl::Relocation;
use slab::Slab;
use std::collections::VecDeque;

/// Relocations of a card. Their number is bounded by `relocation_sectors` of the card.
#[derive(Clone, Debug)]
pub struct Relocations {
    /// Being read.
    pub reading: Slab<Relocation>,
    /// Read, while what could not be read of them is rebuilt.
    pub filling: usize,
    /// Read, and on their way through the host; times do not fall.
    pub through_host: VecDeque<(Time, Relocation)>,
    /// Read, and waiting for room: a die has gone, and there is less of it than was counted on.
    pub waiting: VecDeque<Relocation>,
    /// Sectors read or waiting to be on flash.
    pub sectors_in_flight: u32,
}

impl Relocations {
    pub fn new() -> Relocations {
        Relocations {
            reading: Slab::new(),
            filling: 0,
            through_host: VecDeque::new(),
            waiting: VecDeque::new(),
            sectors_in_flight: 0,
        }
    }

    /// Relocations that are read or carried, those that wait for room not counted.
    pub fn on_their_way(&self) -> usize {
        self.reading.len() + self.filling + self.through_host.len()
    }
}
