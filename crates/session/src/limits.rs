//! The limits of a session.

use device::SECTOR_BYTES;

/// Pieces that a device takes at once.
pub const MAX_IN_FLIGHT: u32 = 1024;
/// Requests that wait at most; a client that has more is told to wait itself.
pub const MAX_WAITING: usize = 4096;
/// A piece of a trim: a trim of everything holds nobody up.
pub const MAX_TRIM_BYTES: u64 = 64 << 20;
/// A piece of zeroes that are written.
pub const MAX_ZEROES_BYTES: u64 = 1 << 20;

/// The resources that a session may use up, and the sizes at which it divides requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Pieces in flight; the device was built for as many ids.
    pub max_in_flight: u32,
    /// Requests that wait.
    pub max_waiting: usize,
    /// Bytes of a piece of a trim: whole sectors.
    pub max_trim_bytes: u64,
    /// Bytes of a piece of zeroes that are written: whole sectors.
    pub max_zeroes_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_in_flight: MAX_IN_FLIGHT,
            max_waiting: MAX_WAITING,
            max_trim_bytes: MAX_TRIM_BYTES,
            max_zeroes_bytes: MAX_ZEROES_BYTES,
        }
    }
}

impl Limits {
    /// Pieces are whole sectors, and something can be in flight.
    pub(crate) fn check(&self) {
        for piece in [self.max_trim_bytes, self.max_zeroes_bytes] {
            assert!(piece > 0 && piece.is_multiple_of(SECTOR_BYTES) && piece <= u64::from(u32::MAX), "{self:?}");
        }
        assert!(self.max_in_flight > 0 && self.max_waiting > 0, "{self:?}");
    }
}
