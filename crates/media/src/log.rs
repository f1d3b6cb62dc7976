//! The log area of a module, and that of emulated flash.
//!
//! A log area is written in place, like a header, and a write of it is durable when it ends. A power cut may leave any
//! part of the last write.

use crate::error::MediaError;
use crate::fault::HostTrouble;
use crate::flash::{Flash, traced};
use crate::outcome::CutOutcome;
use crate::place::LogArea;
use std::sync::Arc;

/// Emulated flash takes writes of its log in multiples of so many bytes.
const ALIGN_BYTES: u32 = 16;

impl Flash {
    pub(crate) fn area_of_log(&self) -> Option<LogArea> {
        // Only what may lose a program before a sync needs a log.
        let bytes = u64::from(self.physics.log_bytes);
        (self.physics.volatile_cache && bytes > 0).then_some(LogArea { bytes, align_bytes: ALIGN_BYTES })
    }

    pub(crate) fn try_read_log(&mut self, module: u32) -> Result<Vec<u8>, MediaError> {
        if self.host_trouble(module, false).is_some() {
            return Err(MediaError::Host);
        }
        let slot = self.slots[module as usize].as_ref().ok_or(MediaError::NoModule)?;
        slot.live.answers(None)?;
        let mut bytes = slot.live.log.to_vec();
        bytes.resize(self.physics.log_bytes as usize, 0);
        Ok(bytes)
    }

    pub(crate) fn try_write_log(&mut self, module: u32, offset_bytes: u64, bytes: &[u8]) -> Result<(), MediaError> {
        match self.host_trouble(module, true) {
            None => {}
            Some(HostTrouble::NoSpace) => return Err(MediaError::NoSpace),
            Some(HostTrouble::Error) => return Err(MediaError::Host),
            Some(HostTrouble::Short) => {
                self.settle_log(module, offset_bytes, bytes, CutOutcome::prefix(1));
                return Err(MediaError::Host);
            }
        }
        self.writable(module, None)?;
        self.settle_log(module, offset_bytes, bytes, CutOutcome::Done);
        Ok(())
    }

    /// Ends a write of a log as a power cut may end it.
    pub(crate) fn settle_log(&mut self, module: u32, offset_bytes: u64, bytes: &[u8], outcome: CutOutcome) {
        let area = self.physics.log_bytes as usize;
        let start = offset_bytes as usize;
        assert!(start + bytes.len() <= area, "illegal address: {} bytes at {start} of a log", bytes.len());
        let half = bytes.len() / 2;
        let written = match outcome {
            CutOutcome::NotBegun => return,
            CutOutcome::Done => 0..bytes.len(),
            CutOutcome::Torn { .. } | CutOutcome::PartlyErased => 0..half,
            CutOutcome::Garbage { .. } | CutOutcome::Weak => half..bytes.len(),
        };
        if self.writable(module, None).is_err() {
            return;
        }
        let Some(slot) = &mut self.slots[module as usize] else { return };
        slot.physical(|module| {
            let log = Arc::make_mut(&mut module.log);
            log.resize(area, 0);
            log[start..][written.clone()].copy_from_slice(&bytes[written.clone()]);
        });
    }

    pub(crate) fn write_log_or_cut(
        &mut self,
        module: u32,
        offset_bytes: u64,
        bytes: &[u8],
        cut: Option<CutOutcome>,
    ) -> Result<(), MediaError> {
        let Some(outcome) = cut else { return self.try_write_log(module, offset_bytes, bytes) };
        self.settle_log(module, offset_bytes, bytes, outcome);
        self.note_settled(traced::LOG, [u64::from(module), offset_bytes], crc32c::crc32c(bytes), outcome);
        self.lose_power();
        Err(MediaError::NoPower)
    }
}
