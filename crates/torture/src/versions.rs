//! Modules that another version of the format wrote.

use crate::CardUnderTest;
use crate::sim::Impact;
use format::HEADER_BYTES;
use media::{HEADER_COPIES, Media, persist};

/// Where the version stands in a header, and its checksum.
const VERSION_AT: usize = 8;
const CHECKSUM_AT: usize = HEADER_BYTES - 4;

impl CardUnderTest {
    /// Rewrites the version in all headers, checksums and all. The card is not asked.
    pub(crate) fn set_format_version(&mut self, version: u16) -> Option<Impact> {
        let media = self.media.as_mut()?;
        media.power_on();
        for slot in 0..media.shape().modules {
            for copy in 0..HEADER_COPIES {
                // Modules that don't answer keep theirs.
                let Ok(Some(mut bytes)) = persist(|| media.read_header(slot, copy)) else { continue };
                bytes[VERSION_AT..VERSION_AT + 2].copy_from_slice(&version.to_le_bytes());
                let checksum = crc32c::crc32c(&bytes[..CHECKSUM_AT]);
                bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
                let _unwritable = persist(|| media.write_header(slot, copy, &bytes));
            }
        }
        Some(Impact { may_refuse: true, ..Impact::default() })
    }
}
