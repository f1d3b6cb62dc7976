//! The result of lowering a profile: the configuration of a device.

use crate::cache::CacheConfig;
use crate::disks;
use card::CardConfig;
use device::SECTOR_BYTES;
use disk::{ArrayConfig, VolumeConfig};

/// A device that a run can be made on.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there are few of them, and they are not kept")]
#[allow(missing_docs)]
pub enum DeviceConfig {
    /// A flash card.
    Card(CardConfig),
    /// Equal flash cards that the host stripes over.
    Striped {
        cards: Vec<CardConfig>,
        /// Bytes on one card before the next one's turn.
        stripe_bytes: u64,
    },
    /// Equal flash cards that the host writes the same to: those that are there.
    Mirrored { cards: Vec<CardConfig> },
    /// Equal flash cards in RAID 5 by the host: those that are there.
    Raid5 {
        cards: Vec<CardConfig>,
        /// Bytes of a chunk on one card.
        chunk_bytes: u64,
        /// The first of all is gone.
        without_first: bool,
        /// Bytes a second that are rebuilt on a spare in its place, which is the first of the cards; 0: there is none.
        rebuild_bytes_per_s: u64,
    },
    /// Disks behind a controller.
    Disks(ArrayConfig),
    /// A volume of a cloud.
    Volume(VolumeConfig),
    /// Flash cards in front of a larger device.
    Cached(Box<CachedConfig>),
}

/// Flash cards as the cache of a larger device.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedConfig {
    /// The flash cards in front.
    pub front: DeviceConfig,
    /// The device behind it, whose size the host sees.
    pub back: DeviceConfig,
    /// Settings of the cache.
    pub cache: CacheConfig,
    /// Bytes that the whole flash can be programmed with at its rated cycles, at full size.
    pub rated_bytes: f64,
    /// Size of the model of the flash over that of the flash.
    pub ratio: f64,
}

impl DeviceConfig {
    /// Bytes that the host can address.
    pub fn user_bytes(&self) -> u64 {
        match self {
            DeviceConfig::Disks(array) => disks::user_bytes(array),
            DeviceConfig::Volume(volume) => volume.capacity_bytes,
            DeviceConfig::Cached(cached) => cached.back.user_bytes(),
            DeviceConfig::Card(card) => card.user_bytes(),
            DeviceConfig::Mirrored { cards } => {
                cards.iter().map(|card| card.ftl.user_sectors * SECTOR_BYTES).min().unwrap_or(0)
            }
            DeviceConfig::Raid5 { cards, chunk_bytes, without_first, rebuild_bytes_per_s } => {
                let rows = cards.iter().map(|c| c.ftl.user_sectors * SECTOR_BYTES / chunk_bytes).min().unwrap_or(0);
                let absent = u64::from(*without_first && *rebuild_bytes_per_s == 0);
                rows * chunk_bytes * (cards.len() as u64 + absent - 1)
            }
            DeviceConfig::Striped { cards, stripe_bytes } => {
                // Whole rows of stripes: what is left at the end of each card is not used.
                let stripes = cards.iter().map(|c| c.ftl.user_sectors * SECTOR_BYTES / stripe_bytes).min().unwrap_or(0);
                stripes * stripe_bytes * cards.len() as u64
            }
        }
    }

    /// The flash cards, those of a cache among them; none for disks and volumes.
    pub fn cards(&self) -> &[CardConfig] {
        match self {
            DeviceConfig::Card(card) => std::slice::from_ref(card),
            DeviceConfig::Striped { cards, .. }
            | DeviceConfig::Mirrored { cards }
            | DeviceConfig::Raid5 { cards, .. } => cards,
            DeviceConfig::Cached(cached) => cached.front.cards(),
            DeviceConfig::Disks(_) | DeviceConfig::Volume(_) => &[],
        }
    }
}
