//! A card with contents asks whether its energy suffices before it acknowledges another sector. `core/energy.rs` has the
//! formula, and says why the fullest die decides.

use crate::card::Card;
use crate::contents::Storage;
use crate::core::energy::MARGIN_ROWS;

impl Card<Storage> {
    /// The energy suffices for one more sector of the host. Asked of cards with contents: on others no stripe is narrower than
    /// [`CardConfig::durable_buffer_sectors`] counts with.
    pub(crate) fn energy_suffices(&self) -> bool {
        let Some(hold_up_ns) = self.core.config.hold_up_ns() else { return true };
        let suffices = |rows: u32| self.core.config.rows_drain_ns(u64::from(rows) + MARGIN_ROWS) <= hold_up_ns;
        // With nothing under way a sector is always taken: the configuration has energy for that. No die has more programs
        // than all together have, so most of the time nobody has to look for the fullest.
        let all = self.core.dies.programs();
        all == 0 || suffices(all) || suffices(self.core.dies.most_programs())
    }
}
