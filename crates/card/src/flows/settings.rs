//! Settings of a card that can be changed while it works.

use crate::card::{Card, Contents, Done};
use device::Time;
use ftl::{FtlError, GcMode};

impl<C: Contents> Card<C> {
    /// Collects in another way from now on ([`ftl::Ftl::set_gc`]). Writes that waited for collection may go on at once.
    pub fn set_gc(&mut self, now: Time, gc: GcMode, done: &mut Done<C>) -> Result<(), FtlError> {
        self.core.ftl.set_gc(gc)?;
        self.core.config.ftl.gc = gc;
        if !self.core.phase.is_halted() {
            self.resume(now, done);
        }
        Ok(())
    }
}
