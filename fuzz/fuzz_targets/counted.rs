//! Counts the bytes that a parser was given, for targets that are to have had some number of them.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes between two lines that tell how many there were: fewer than any target parses in the shortest time that it is given.
const STEP: u64 = 1_000_000;

static BYTES: AtomicU64 = AtomicU64::new(0);

/// More bytes were parsed. A line tells of each step that was reached, which `make fuzz` looks for.
pub fn parsed(bytes: usize) {
    let before = BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
    let now = before + bytes as u64;
    if before / STEP != now / STEP {
        eprintln!("parsed {} bytes", now / STEP * STEP);
    }
}
