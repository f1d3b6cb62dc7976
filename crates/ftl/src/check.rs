//! The self-check of flash management: do all tables agree?

use crate::bands::BandState;
use crate::ftl::Ftl;
use crate::layout::{BandId, Lba, NONE, Ppa};

/// A disagreement between the tables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum Inconsistency {
    /// The map points at an address that is stale or belongs to another sector.
    #[error("LBA {lba:?} is mapped to {ppa:?}, which is stale or holds another sector")]
    Map { lba: Lba, ppa: Ppa },
    /// The valid count of a band differs from its bits in the valid map.
    #[error("{band:?} counts {counted} valid sectors and has {found}")]
    ValidCount { band: BandId, counted: u32, found: u32 },
    /// The number of valid addresses differs from the number of mapped sectors.
    #[error("{valid} addresses are valid and {mapped} sectors are mapped")]
    Orphans { valid: u64, mapped: u64 },
    /// A band that is free, stale or retired holds valid sectors.
    #[error("{band:?} is {state:?} and holds {valid} valid sectors")]
    State { band: BandId, state: BandState, valid: u32 },
}

impl Ftl {
    /// Checks every invariant that can be seen from the tables; linear in the card's size.
    pub fn check(&self) -> Result<(), Inconsistency> {
        let mut mapped = 0;
        for (lba, ppa) in self.map.iter().enumerate() {
            if ppa == NONE {
                continue;
            }
            mapped += 1;
            if !self.valid.is_valid(ppa) || self.reverse.get(ppa as usize) != lba as u32 {
                return Err(Inconsistency::Map { lba: Lba(lba as u32), ppa: Ppa(ppa) });
            }
        }
        let mut valid = 0;
        for b in 0..self.bands.count() {
            let band = BandId(b);
            let (sectors, found) = self.count_valid(band);
            let counted = self.bands.valid[b as usize];
            if found != counted {
                return Err(Inconsistency::ValidCount { band, counted, found });
            }
            let state = self.bands.get(band).state;
            if found > 0 && matches!(state, BandState::Free | BandState::Stale | BandState::Retired) {
                return Err(Inconsistency::State { band, state, valid: found });
            }
            valid += u64::from(sectors);
        }
        if valid != mapped {
            return Err(Inconsistency::Orphans { valid, mapped });
        }
        Ok(())
    }
}
