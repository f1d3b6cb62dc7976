//! What can be changed about a card while it works.

use crate::card::Card;
use device::{Completion, Time};
use ftl::{FtlError, GcMode};

impl Card {
    /// Collects in another way from now on ([`ftl::Ftl::set_gc`]). Writes that waited for collection may go on at once.
    pub fn set_gc(&mut self, now: Time, gc: GcMode, done: &mut Vec<Completion>) -> Result<(), FtlError> {
        self.ftl.set_gc(gc)?;
        self.config.ftl.gc = gc;
        if !self.halted {
            self.go_on(now, done);
        }
        Ok(())
    }
}
