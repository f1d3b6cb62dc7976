//! How much memory a card in memory takes.

use card::{CardConfig, shape};

/// Bytes beside each 4 KiB payload: its spare area, the map, what finds it. Resident memory of a tachIOn that was written
/// over is 1.45 times what it shows, of which spare and parity are 1.374.
const BESIDE_BYTES: u64 = 230;

/// Bytes of memory that a card takes once all of its flash has been written, which is soon: flash is erased only when
/// there is no other.
pub fn memory_bytes(config: &CardConfig) -> u64 {
    let shape = shape(config);
    let sectors = shape.blocks() * u64::from(shape.rows_per_block) * u64::from(shape.unit_sectors);
    sectors * (u64::from(shape.payload_bytes) + BESIDE_BYTES)
}
