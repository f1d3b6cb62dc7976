//! The ways in which one cut can end.

use super::explorer::{Explorer, Wrong};
use crate::sim::{Bench, Chooser, CutOutcome, Paths, Subject};
use device::Rng;

/// The enumeration of a cut's ways is given up after this many times the limit.
const RUNAWAY: u64 = 4;

/// Takes what was chosen before, and writes down of how many.
#[derive(Clone, Debug, Default)]
struct Given {
    choices: Vec<u64>,
    bounds: Vec<u64>,
}

impl Chooser for Given {
    fn choose(&mut self, bound: u64) -> u64 {
        if bound <= 1 {
            return 0;
        }
        let choice = self.choices.get(self.bounds.len()).copied().unwrap_or(0);
        self.bounds.push(bound);
        choice.min(bound - 1)
    }
}

impl Explorer<'_> {
    /// Cuts the power between two steps, in every way or in many.
    pub(super) fn cut_here<S: Subject + Clone>(&mut self, bench: &Bench<S>) -> Result<(), Wrong> {
        let mut rng = Rng::stream(self.limits.seed ^ self.cuts.points, "cut point");
        self.cuts.points += 1;
        let mut first = Given::default();
        let mut cut = bench.clone();
        cut.cut(CutOutcome::Any, &mut first);
        let ways = first.bounds.iter().fold(1, |ways: u64, bound| ways.saturating_mul(*bound));
        if ways > self.limits.outcomes {
            self.cuts.sampled_points += 1;
            return self.sample(bench, &first.bounds, &mut rng);
        }
        let mut paths = Paths::new();
        for _ in 0..self.limits.outcomes.saturating_mul(RUNAWAY) {
            let mut cut = bench.clone();
            cut.cut(CutOutcome::Any, &mut paths);
            self.check(cut, &mut rng).map_err(|wrong| Wrong { choices: paths.taken(), ..wrong })?;
            if !paths.advance() {
                return Ok(());
            }
        }
        self.cuts.sampled_points += 1;
        Ok(())
    }

    /// Each end of each operation while the others are at their first and at their second end, and some that are drawn.
    fn sample<S: Subject + Clone>(&mut self, bench: &Bench<S>, bounds: &[u64], rng: &mut Rng) -> Result<(), Wrong> {
        let mut all: Vec<Vec<u64>> = Vec::new();
        for others in [0, 1].into_iter().filter(|_| self.limits.each_end) {
            for (at, bound) in bounds.iter().enumerate() {
                for end in 0..*bound {
                    let mut choices = vec![others; bounds.len()];
                    choices[at] = end;
                    all.push(choices);
                }
            }
        }
        for _ in 0..self.limits.outcomes {
            all.push(bounds.iter().map(|bound| rng.below(*bound)).collect());
        }
        all.sort();
        all.dedup();
        for choices in all {
            let mut given = Given { choices, bounds: Vec::new() };
            let mut cut = bench.clone();
            cut.cut(CutOutcome::Any, &mut given);
            self.check(cut, rng).map_err(|wrong| Wrong { choices: given.choices, ..wrong })?;
        }
        Ok(())
    }

    /// Cuts the power during what the step from `before` to `after` wrote at once.
    pub(super) fn cut_within<S: Subject + Clone>(&mut self, before: &Bench<S>, after: &Bench<S>) -> Result<(), Wrong> {
        let mut rng = Rng::stream(self.limits.seed ^ self.cuts.points, "cut within a step");
        for number in 0..after.subject.media_ops() - before.subject.media_ops() {
            let mut paths = Paths::new();
            for n in 0..self.limits.outcomes {
                let mut cut = before.clone();
                if !cut.cut_within(number, &mut paths) {
                    return Ok(());
                }
                self.cuts.points += u64::from(n == 0);
                self.check(cut, &mut rng).map_err(|wrong| Wrong { choices: paths.taken(), ..wrong })?;
                if !paths.advance() {
                    break;
                }
            }
        }
        Ok(())
    }
}
