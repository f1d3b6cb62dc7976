//! What can be changed about flash management while the card works.

use crate::ftl::Ftl;
use crate::pacing::Pacing;
use crate::{FtlError, GcMode};

impl Ftl {
    /// Collects in another way, or towards another amount of free space, from now on. Refused when collection could not
    /// get there: a card that stops the world until it has freed more than it can would never write again.
    pub fn set_gc(&mut self, gc: GcMode) -> Result<(), FtlError> {
        gc.check()?;
        let mut config = self.config;
        config.gc = gc;
        let usable_sectors = self.usable_sectors(config.overhead_bands().max(config.most_bands_kept()));
        if config.user_sectors >= usable_sectors {
            return Err(FtlError::NoSpare { user_sectors: config.user_sectors, usable_sectors });
        }
        self.config = config;
        // What was earned under the other rule says nothing about this one.
        self.gc.pacing = Pacing::new(gc.target_free_bands().max(1));
        self.gc.collecting = false;
        self.update_collecting();
        self.adjust_pace();
        Ok(())
    }
}
