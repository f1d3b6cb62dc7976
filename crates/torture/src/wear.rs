//! Flash that wears, fades and is disturbed: cards and physics for it, and the faults that are nothing but time and reads.

use crate::sim::{FaultKind, Impact};
use crate::{CardUnderTest, Kind, tiny};
use card::{CardConfig, PatrolConfig};
use device::{Device, Rng, Time};
use ftl::UnitAddress;
use media::{ErrorRates, Physics};

/// Rated cycles of the cards here: so few that a life of some thousand requests wears a card out.
pub const RATED_CYCLES: u32 = 60;
/// Days between two passes of the patrol.
const PATROL_DAYS: f64 = 30.0;
const DAY_NS: u64 = 86_400_000_000_000;
/// Reads of a block after which the patrol looks at it.
const PATROL_READS: u32 = 5_000;
/// The patrol of cards whose flash fades.
pub(crate) const PATROL: PatrolConfig =
    PatrolConfig { interval_ns: PATROL_DAYS as u64 * DAY_NS, block_reads: PATROL_READS };
/// Steps that a card may take until it rests.
const SETTLE_STEPS: u32 = 1_000_000;

/// The tiny card, with a patrol, on flash of few cycles.
pub fn wearing(kind: Kind) -> CardConfig {
    let mut config = tiny(kind);
    config.nand.endurance.rated_cycles = RATED_CYCLES;
    config.patrol = Some(PATROL);
    config
}

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

impl CardUnderTest {
    /// Lets days pass; the patrol does what is due meanwhile. Without power nobody looks.
    pub fn rest(&mut self, days: f64) {
        let mut left = days;
        while left > 0.0 {
            let step = left.min(PATROL_DAYS);
            left -= step;
            let Some(card) = &mut self.card else {
                self.flash_mut().advance_time(step);
                continue;
            };
            card.rest(self.now, step, &mut self.completions);
            self.settle();
        }
    }

    /// Goes on until nothing is left to do: the pass is over, what it found is written elsewhere, and what the host asked
    /// for is answered.
    fn settle(&mut self) {
        let Some(card) = &mut self.card else { return };
        for _ in 0..SETTLE_STEPS {
            let next = card.next_event();
            // One that has stopped nobody drives any more: what was asked of it is answered for it.
            if next == Time::NEVER || card.is_halted() {
                return;
            }
            self.now = next;
            card.advance(next, &mut self.completions);
        }
        panic!("the card never rests");
    }

    /// Time and reads, as much as the patrol stands; `None` where flash does not mind, or nobody looks.
    pub(crate) fn fade(&mut self, kind: FaultKind, rng: &mut Rng) -> Option<Impact> {
        let errors = self.flash().physics().errors;
        self.config().patrol?;
        match kind {
            FaultKind::Retention if errors.retention_year > 0.0 => {
                let intervals = if self.card.is_some() { 1 + rng.below(6) } else { 1 };
                self.rest(PATROL_DAYS * intervals as f64);
            }
            FaultKind::ReadDisturb if errors.disturb_read > 0.0 => {
                let card = self.card.as_mut()?;
                let (dies, bands) = (card.ftl().layout().dies, card.ftl().bands());
                let (die, band) = (rng.below(dies.into()) as u32, ftl::BandId(rng.below(bands.into()) as u32));
                card.read_often(self.now, UnitAddress { band, die, row: 0 }, PATROL_READS, &mut self.completions);
            }
            _ => return None,
        }
        Some(Impact::default())
    }
}
