//! The errors of the file or the drive that holds a module, and the fate of its volatile cache.

use crate::CardUnderTest;
use crate::sim::plan::HostError;
use device::Rng;
use media::{Fault, Media};

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

    /// Something was reported that no sync has made durable.
    pub(crate) fn has_unsynced(&self) -> bool {
        let flash = self.flash();
        (0..flash.shape().modules).any(|slot| flash.unsynced(slot) > 0)
    }
}
