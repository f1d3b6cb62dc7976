//! The errors of the file or the drive that holds a module, and the fate of its volatile cache.

use crate::CardUnderTest;
use crate::sim::plan::HostError;
use crate::sim::{Impact, Lost};
use device::Rng;
use media::{Fault, Media};
use std::collections::BTreeSet;

impl CardUnderTest {
    /// The fault of one module's file or drive; `None` where the media have no cache to be synced.
    pub(crate) fn host_fault(&self, error: HostError, for_ever: bool, rng: &mut Rng) -> Option<Fault> {
        let slot = rng.below(u64::from(self.flash().shape().modules)) as u32;
        let (module, after) = (Some(slot), rng.below(4));
        Some(match error {
            HostError::Eio => Fault::HostError { module, after, for_ever },
            HostError::Enospc => Fault::NoSpace { module, after, for_ever },
            HostError::Short => Fault::ShortIo { module, after, for_ever },
            HostError::FailedSync if !self.flash().is_volatile() => return None,
            HostError::FailedSync => Fault::FailSync { module: slot, drops: rng.below(2) == 0, for_ever },
        })
    }

    /// Two modules or more are out of reach, at the same time or one soon after the other, and are back at the next start,
    /// with all that they hold. The card may stop; what its capacitors held then is lost.
    pub(crate) fn out_of_reach(&mut self, rng: &mut Rng) -> Option<Impact> {
        let mut modules: Vec<u32> = (0..self.flash().shape().modules).collect();
        let count = 2 + rng.below(modules.len() as u64 - 1);
        let mut up_to = |bits| 1 << rng.below(bits);
        let (begin_within, apart) = (up_to(10), up_to(8));
        let first = rng.below(begin_within);
        for _ in 0..count {
            let module = modules.swap_remove(rng.below(modules.len() as u64) as usize);
            let after = first + rng.below(apart);
            self.flash_mut().inject(Fault::OutOfReach { module, after });
        }
        let may_refuse = self.config().power_loss_protection;
        Some(Impact { lost: Lost::These(BTreeSet::new()), may_refuse, may_stop: true, ..Impact::default() })
    }

    /// Something was reported that no sync has made durable.
    pub(crate) fn has_unsynced(&self) -> bool {
        let flash = self.flash();
        (0..flash.shape().modules).any(|slot| flash.unsynced(slot) > 0)
    }
}
