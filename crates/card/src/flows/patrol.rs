//! A card with a patrol looks at everything once in a while, and at bands that are read often. `contents/patrol.rs` says
//! why; data that a read reports to be near its end are written elsewhere (`scrub.rs`).

use crate::card::{Card, Done};
use crate::contents::Storage;
use crate::contents::patrol::BlockReads;
use device::Time;
use ftl::{BandId, UnitAddress};

impl Card<Storage> {
    /// Counts from now on. After a start nobody knows how long the power was away, nor how often what was read before.
    pub(crate) fn begin_patrol(&mut self, is_due: bool) {
        let Some(config) = self.core.config.care.patrol else { return };
        let (dies, bands) = (self.core.ftl.layout().dies, self.core.ftl.bands());
        self.contents.patrol.demand(is_due);
        self.contents.store.reads = BlockReads::of_card(bands, dies, config.block_reads);
    }

    /// Begins what the patrol has to look at, while no pass is under way.
    pub(crate) fn begin_due_scrub(&mut self, now: Time) {
        let Some(config) = self.core.config.care.patrol else { return };
        let store = &mut self.contents.store;
        if self.contents.patrol.is_due(now, config.interval_ns) {
            self.contents.patrol.begin(now);
            store.reads.looks_at_all();
            self.scrub_bands(BandId(0), self.core.ftl.bands());
        } else if let Some(band) = store.reads.take_due() {
            self.scrub_bands(BandId(band), band + 1);
        }
    }

    /// Lets days pass in which nothing happens: what is on flash fades. The patrol is due when its interval is over; so
    /// whoever lets more than that pass at once simulates a card that was without power.
    pub fn rest(&mut self, now: Time, days: f64, done: &mut Done<Storage>) {
        self.contents.patrol.rest(days);
        self.contents.store.media.flash_mut().expect("only emulated flash knows another time").advance_time(days);
        self.resume(now, done);
    }

    /// Stands for so many reads of a block by the host: its neighbours are disturbed.
    pub fn read_often(&mut self, now: Time, at: UnitAddress, reads: u32, done: &mut Done<Storage>) {
        let store = &mut self.contents.store;
        if let Some(block) = store.block_at(at.die, at.band.0) {
            store.media.flash_mut().expect("only emulated flash can be read without being asked").disturb(block, reads);
        }
        store.reads.count(at.band.0, at.die, reads);
        self.resume(now, done);
    }
}
