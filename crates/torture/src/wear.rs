//! Cards on flash that wears, fades and is disturbed, and the faults that are nothing but time and reads.

use crate::fading::{PATROL, PATROL_DAYS, PATROL_READS, RATED_CYCLES};
use crate::sim::{FaultKind, Impact};
use crate::{CardUnderTest, Kind, tiny};
use card::CardConfig;
use device::{Device, Rng, Time};
use ftl::UnitAddress;

/// Steps that a card may take until it rests.
const SETTLE_STEPS: u32 = 1_000_000;

/// The tiny card, with a patrol, on flash of few cycles.
pub fn wearing(kind: Kind) -> CardConfig {
    let mut config = tiny(kind);
    config.nand.endurance.rated_cycles = RATED_CYCLES;
    config.care.patrol = Some(PATROL);
    config
}

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

    /// Goes on until nothing is left to do: the pass is over, what it found is written elsewhere, and what the host
    /// asked for is answered.
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
        self.config().care.patrol?;
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
