//! Flash that wears out and fades, and the patrol that looks after it.

use card::PatrolConfig;
use media::{ErrorRates, Physics};

/// Rated cycles of the cards here: so few that a life of some thousand requests wears a card out.
pub const RATED_CYCLES: u32 = 60;
/// Days between two passes of the patrol.
pub(crate) const PATROL_DAYS: f64 = 30.0;
const DAY_NS: u64 = 86_400_000_000_000;
/// Reads of a block after which the patrol looks at it.
pub(crate) const PATROL_READS: u32 = 5_000;
/// The patrol of cards whose flash fades.
pub(crate) const PATROL: PatrolConfig =
    PatrolConfig { interval_ns: PATROL_DAYS as u64 * DAY_NS, block_reads: PATROL_READS };

/// Flash like `physics`, for few cycles: blocks fail from the rated cycles on, programs a tenth as often as erases.
pub fn short_lived(physics: Physics) -> Physics {
    Physics { rated_cycles: RATED_CYCLES, erase_fail_ppm_at_rated: 20_000, program_fail_ppm_at_rated: 300, ..physics }
}

/// Two bits a cell that fade fast: what the patrol does not look at for years is lost, what it looks at is not. A block
/// read as often as the patrol allows needs correction, one read ten times as often is lost.
pub const FADING: Physics = Physics {
    rated_cycles: RATED_CYCLES,
    factory_bad_ppm: 0,
    errors: ErrorRates { fresh: 1e-5, cycles: 2e-4, retention_year: 1e-2, disturb_read: 1e-6 },
    ..Physics::MLC
};
