//! The places of the volume table and of the extents on a card.

use super::VolumeError;
use format::{OWNERS_PER_PAGE, VOLUME_PAGE_BYTES, VolumeDirectory};

const PAGE: u64 = VOLUME_PAGE_BYTES as u64;
/// The fewest bytes of an extent.
const MIN_EXTENT_BYTES: u64 = 1 << 20;
/// The most extents of a card; larger cards have larger extents.
const MAX_EXTENTS: u64 = 1 << 20;
/// The fewest extents that a card is divided into.
const MIN_EXTENTS: u64 = 4;

/// The table lies at the card's first addresses, two copies of each page side by side; extents follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The bytes of an extent, a power of two.
    pub extent_bytes: u64,
    /// The number of extents.
    pub extents: u32,
    /// The address at which the first extent begins.
    pub first_byte: u64,
}

impl Layout {
    /// The layout of a card of so many bytes.
    pub fn of_card(size_bytes: u64) -> Result<Layout, VolumeError> {
        let extent_bytes = size_bytes.div_ceil(MAX_EXTENTS).next_power_of_two().max(MIN_EXTENT_BYTES);
        let first_byte = first_byte(size_bytes / extent_bytes, extent_bytes);
        let extents = size_bytes.saturating_sub(first_byte) / extent_bytes;
        match u32::try_from(extents) {
            Ok(extents) if u64::from(extents) >= MIN_EXTENTS => Ok(Layout { extent_bytes, extents, first_byte }),
            _ => Err(VolumeError::CardTooSmall { size_bytes, needed_bytes: (MIN_EXTENTS + 1) * MIN_EXTENT_BYTES }),
        }
    }

    /// Whether a directory has been written for this layout.
    pub fn is_of(&self, directory: &VolumeDirectory) -> bool {
        (self.extent_bytes, self.extents) == (directory.extent_bytes, directory.extents)
    }

    /// The number of pages of the table.
    pub fn pages(&self) -> u32 {
        pages(self.extents.into()) as u32
    }

    /// The page that has the owner of an extent.
    pub fn page_of(&self, extent: u32) -> u32 {
        1 + extent / OWNERS_PER_PAGE as u32
    }

    /// The extents whose owners a page has.
    pub fn extents_of(&self, page: u32) -> std::ops::Range<u32> {
        let first = (page - 1) * OWNERS_PER_PAGE as u32;
        first..(first + OWNERS_PER_PAGE as u32).min(self.extents)
    }

    /// The address of the copy of a page that a writing of this number takes.
    pub fn copy_at(&self, page: u32, sequence: u64) -> u64 {
        (u64::from(page) * 2 + sequence % 2) * PAGE
    }

    /// The address of an extent.
    pub fn extent_at(&self, extent: u32) -> u64 {
        self.first_byte + u64::from(extent) * self.extent_bytes
    }
}

fn pages(extents: u64) -> u64 {
    1 + extents.div_ceil(OWNERS_PER_PAGE as u64)
}

fn first_byte(extents: u64, extent_bytes: u64) -> u64 {
    (pages(extents) * 2 * PAGE).next_multiple_of(extent_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_ends_before_the_extents_and_the_extents_before_the_card() {
        for size_bytes in [5 << 20, (64 << 20) + 4096, 10 << 30, (1 << 40) + (3 << 20), 1 << 50] {
            let layout = Layout::of_card(size_bytes).unwrap();
            let last = layout.pages() - 1;
            assert!(layout.copy_at(last, 1) + PAGE <= layout.first_byte, "{size_bytes}: {layout:?}");
            assert!(layout.extent_at(layout.extents) <= size_bytes);
            assert!(
                layout.extent_at(layout.extents) + 2 * layout.extent_bytes > size_bytes,
                "{size_bytes}: {layout:?}"
            );
            assert_eq!(layout.extents_of(last).end, layout.extents);
            assert!((0..layout.extents).step_by(97).all(|at| layout.extents_of(layout.page_of(at)).contains(&at)));
        }
        assert!(matches!(Layout::of_card(4 << 20), Err(VolumeError::CardTooSmall { .. })));
    }
}
