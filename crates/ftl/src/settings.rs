//! Settings of flash management that can be changed while the card runs.

use crate::config::GcMode;
use crate::error::FtlError;
use crate::ftl::Ftl;
use crate::pacing::Pacing;

impl Ftl {
    /// Changes the mode of collection, or the amount of free space that it works towards. Fails if collection could not
    /// reach that amount: a card that stops the world until it has freed more than it can would never write again.
    pub fn set_gc(&mut self, gc: GcMode) -> Result<(), FtlError> {
        gc.check()?;
        let mut config = self.config;
        config.gc = gc;
        let usable_sectors = self.usable_sectors(config.overhead_bands().max(config.max_bands_kept()));
        if config.user_sectors >= usable_sectors {
            return Err(FtlError::NoSpare { user_sectors: config.user_sectors, usable_sectors });
        }
        self.config = config;
        // Credit that was earned under the old mode means nothing under the new one.
        self.gc.pacing = Pacing::new(config.target_free_bands().max(1), self.sector_room);
        self.gc.collecting = false;
        self.gc.note_reasons();
        self.update_collecting();
        self.adjust_pace();
        Ok(())
    }
}
