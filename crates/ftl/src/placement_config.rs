//! Handles of a card: how many there are, and what becomes of their data.

/// Handles that a card may have.
pub const MAX_HANDLES: usize = 16;

/// Whether relocation mixes data of different handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Data of different handles are apart until they are moved; what is moved shares bands.
    Initial,
    /// They are apart for good: each handle has a band for what is moved of it.
    Persistent,
}

/// Handles of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacementConfig {
    /// How many there are: 2 to [`MAX_HANDLES`].
    pub handles: u32,
    /// The lot of data that are moved.
    pub isolation: Isolation,
}

impl PlacementConfig {
    /// Bands that are filled at the same time.
    pub fn open_bands(&self) -> u32 {
        match self.isolation {
            Isolation::Initial => self.handles + 1,
            Isolation::Persistent => 2 * self.handles,
        }
    }
}
