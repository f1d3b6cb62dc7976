//! Every cut of a short script.
//!
//! From a snapshot, a script is played one thing at a time. Before each, power is cut in every way that the card's
//! operations under way allow; the card recovers, with cuts in the recovery too, and every sector is read.

use crate::bench::Recovered;
use crate::player::{Played, Player};
use crate::{Ask, Bench, CutOutcome, Failure, HostStep, Lba, Paths, Subject};
use device::{Rng, Time};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Outcomes of one cut that are all taken; of more, as many again are drawn.
    pub outcomes: u64,
    /// Cuts in the recovery after each outcome. All are taken when a recovery has no more operations than this.
    pub nested: u64,
    /// Cuts in one recovery after the other.
    pub depth: u32,
    /// Steps of the card after the last answer at which power is cut.
    pub steps_after: u32,
    /// What is drawn, is drawn from this seed.
    pub seed: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { outcomes: 256, nested: 3, depth: 2, steps_after: 64, seed: 0 }
    }
}

/// What was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Places where power was cut.
    pub points: u64,
    /// Ways in which it was.
    pub outcomes: u64,
    /// Points that have more outcomes than the limit.
    pub sampled_points: u64,
    /// Cuts in recoveries.
    pub nested: u64,
}

impl Cuts {
    /// Both.
    pub fn add(&mut self, other: Cuts) {
        self.points += other.points;
        self.outcomes += other.outcomes;
        self.sampled_points += other.sampled_points;
        self.nested += other.nested;
    }
}

/// A cut that made the card lie.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cut at point {point} with choices {choices:?}, nested {nested:?}, of {script:?}: {failure}")]
pub struct CutFailure {
    /// The script.
    pub script: Vec<HostStep>,
    /// Which of its points.
    pub point: u64,
    /// What was chosen there; empty when it was drawn.
    pub choices: Vec<u64>,
    /// Operations of the recovery before it was cut too.
    pub nested: Option<u64>,
    /// What was wrong.
    pub failure: Failure,
}

/// Cuts a script at every point. What the card does without a cut is checked too.
pub fn cut_everywhere<S: Subject + Clone>(
    start: &Bench<S>,
    script: &[HostStep],
    limits: &Limits,
) -> Result<Cuts, Box<CutFailure>> {
    let mut bench = start.clone();
    let mut player = Player::new(script);
    let mut cuts = Cuts::default();
    let mut after = 0;
    loop {
        let point = cuts.points;
        let fail = |f: Wrong| {
            let Wrong { failure, choices, nested } = f;
            Box::new(CutFailure { script: script.to_vec(), point, choices, nested, failure })
        };
        cut_here(&bench, limits, &mut cuts).map_err(fail)?;
        if player.play(&mut bench).map_err(|f| fail(f.into()))? == Played::Over {
            // The card goes on by itself: what it does then can be cut as well.
            let over = bench.at_rest().map_err(|f| fail(f.into()))? || after == limits.steps_after;
            if over || !bench.step(Time::NEVER).map_err(|f| fail(f.into()))? {
                bench.read_back().map_err(|f| fail(f.into()))?;
                return Ok(cuts);
            }
            after += 1;
        }
    }
}

struct Wrong {
    failure: Failure,
    choices: Vec<u64>,
    nested: Option<u64>,
}

impl From<Failure> for Wrong {
    fn from(failure: Failure) -> Wrong {
        Wrong { failure, choices: Vec::new(), nested: None }
    }
}

fn cut_here<S: Subject + Clone>(bench: &Bench<S>, limits: &Limits, cuts: &mut Cuts) -> Result<(), Wrong> {
    let mut rng = Rng::stream(limits.seed ^ cuts.points, "cut point");
    cuts.points += 1;
    let mut paths = Paths::new();
    for n in 0.. {
        if n == limits.outcomes {
            cuts.sampled_points += 1;
            for _ in 0..limits.outcomes {
                let mut cut = bench.clone();
                cut.cut(CutOutcome::Any, &mut rng);
                check(cut, limits, cuts, &mut rng)?;
            }
            break;
        }
        let mut cut = bench.clone();
        cut.cut(CutOutcome::Any, &mut paths);
        check(cut, limits, cuts, &mut rng).map_err(|wrong| Wrong { choices: paths.taken(), ..wrong })?;
        if !paths.advance() {
            break;
        }
    }
    Ok(())
}

/// A card without power: it recovers, and twice is the same as once.
fn check<S: Subject + Clone>(cut: Bench<S>, limits: &Limits, cuts: &mut Cuts, rng: &mut Rng) -> Result<(), Wrong> {
    cuts.outcomes += 1;
    let mut once = cut.clone();
    let Recovered::Serves(report) = once.recover(None, rng)? else { return Ok(()) };
    once.read_back()?;
    once.cut(CutOutcome::Any, rng);
    if let Recovered::Serves(_) = once.recover(None, rng)? {
        once.read_back()?;
    }
    let all = report.media_ops <= limits.nested;
    for i in 0..report.media_ops.min(limits.nested) {
        let cut_after = if all { i } else { rng.below(report.media_ops) };
        let wrong = |failure| Wrong { nested: Some(cut_after), ..Wrong::from(failure) };
        let mut nested = cut.clone();
        let mut next = cut_after;
        for _ in 0..limits.depth {
            if nested.recover(Some(next), rng).map_err(wrong)? != Recovered::CutAgain {
                nested.cut(CutOutcome::Any, rng);
                break;
            }
            cuts.nested += 1;
            next = rng.below(report.media_ops);
        }
        if let Recovered::Serves(_) = nested.recover(None, rng).map_err(wrong)? {
            nested.read_back().map_err(wrong)?;
        }
    }
    Ok(())
}

/// All sequences of one to `longest` requests: write, FUA write, trim and write-zeroes on each of the sectors, and
/// flush.
pub fn sequences(sectors: &[Lba], longest: usize) -> Vec<Vec<Ask>> {
    let mut alphabet = vec![Ask::Flush];
    for &lba in sectors {
        alphabet.push(Ask::Write { lba, count: 1, fua: false });
        alphabet.push(Ask::Write { lba, count: 1, fua: true });
        alphabet.push(Ask::Trim { lba, count: 1 });
        alphabet.push(Ask::WriteZeroes { lba, count: 1, fua: false });
    }
    let mut all: Vec<Vec<Ask>> = Vec::new();
    let mut shorter: Vec<Vec<Ask>> = vec![Vec::new()];
    for _ in 0..longest {
        let longer: Vec<Vec<Ask>> = shorter
            .iter()
            .flat_map(|start| alphabet.iter().map(move |&ask| start.iter().copied().chain([ask]).collect()))
            .collect();
        all.extend(longer.iter().cloned());
        shorter = longer;
    }
    all
}

/// Requests as a script with so many in flight.
pub fn script(asks: &[Ask], depth: u32) -> Vec<HostStep> {
    [HostStep::Depth(depth)].into_iter().chain(asks.iter().map(|&ask| HostStep::Ask(ask))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sequences_of_three_requests_on_three_sectors_are_2379() {
        let all = sequences(&[Lba(0), Lba(1), Lba(2)], 3);
        assert_eq!(all.len(), 13 + 13 * 13 + 13 * 13 * 13);
    }
}
