//! Plays a script and cuts it at every point.

use super::limits::{CutFailure, Cuts, Limits};
use crate::sim::bench::{Recovered, guarded};
use crate::sim::oracle::Moment;
use crate::sim::player::{Played, Player};
use crate::sim::{Bench, CutOutcome, Failure, HostStep, RecoveryReport, Subject};
use device::{Rng, Time};
use std::collections::HashSet;

/// Cuts a script at every point. The card's answers without a cut are checked too.
pub fn cut_everywhere<S: Subject + Clone>(
    start: &Bench<S>,
    steps: &[HostStep],
    limits: &Limits,
) -> Result<Cuts, Box<CutFailure>> {
    let mut explorer = Explorer::new(limits);
    let mut player = Player::new(steps);
    match explorer.play(start.clone(), &mut player) {
        Ok(()) => Ok(explorer.cuts),
        Err(wrong) => Err(explorer.failure(wrong, steps.to_vec())),
    }
}

/// A failure, and the way that led to it.
pub(super) struct Wrong {
    pub failure: Failure,
    pub choices: Vec<u64>,
    pub nested: Vec<u64>,
}

impl From<Failure> for Wrong {
    fn from(failure: Failure) -> Wrong {
        Wrong { failure, choices: Vec::new(), nested: Vec::new() }
    }
}

pub(super) struct Explorer<'a> {
    pub limits: &'a Limits,
    pub cuts: Cuts,
    /// States without power that cuts left to a host that has seen what it had at this moment.
    seen: HashSet<u64>,
    seen_at: Option<Moment>,
}

impl<'a> Explorer<'a> {
    pub fn new(limits: &'a Limits) -> Explorer<'a> {
        Explorer { limits, cuts: Cuts::default(), seen: HashSet::new(), seen_at: None }
    }

    pub fn failure(&self, wrong: Wrong, script: Vec<HostStep>) -> Box<CutFailure> {
        let Wrong { failure, choices, nested } = wrong;
        let point = self.cuts.points.saturating_sub(1);
        Box::new(CutFailure { script, point, choices, nested, cuts: self.cuts.total(), failure })
    }

    /// Plays a script to its end and on, cutting at every point.
    fn play<S: Subject + Clone>(&mut self, mut bench: Bench<S>, player: &mut Player) -> Result<(), Wrong> {
        self.cut_here(&bench)?;
        loop {
            let before = bench.clone();
            let played = guarded(|| player.play(&mut bench))??;
            if played == Played::Over {
                return self.run_out(bench);
            }
            if played == Played::Stepped {
                self.cut_within(&before, &bench)?;
            }
            self.cut_here(&bench)?;
        }
    }

    /// The script is over. The card goes on by itself, and what it does then can be cut as well. The present point was
    /// cut.
    pub fn run_out<S: Subject + Clone>(&mut self, mut bench: Bench<S>) -> Result<(), Wrong> {
        let mut after = 0;
        while bench.in_flight() > 0 || after < self.limits.steps_after && !bench.at_rest()? {
            after = if bench.in_flight() > 0 { 0 } else { after + 1 };
            if !self.step(&mut bench)? {
                break;
            }
        }
        guarded(|| bench.read_back())??;
        Ok(())
    }

    /// A step of the card, with cuts within it and after it. `false`: there was none.
    pub fn step<S: Subject + Clone>(&mut self, bench: &mut Bench<S>) -> Result<bool, Wrong> {
        let before = bench.clone();
        if !guarded(|| bench.step(Time::NEVER))?? {
            return Ok(false);
        }
        self.cut_within(&before, bench)?;
        self.cut_here(bench)?;
        Ok(true)
    }

    /// A card without power: it recovers, and twice is the same as once.
    pub fn check<S: Subject + Clone>(&mut self, cut: Bench<S>, rng: &mut Rng) -> Result<(), Wrong> {
        let moment = cut.oracle.moment();
        if self.seen_at != Some(moment) {
            self.seen_at = Some(moment);
            self.seen.clear();
        }
        if cut.subject.state_without_power().is_some_and(|state| !self.seen.insert(state)) {
            self.cuts.same += 1;
            return Ok(());
        }
        self.cuts.outcomes += 1;
        let mut nested = Vec::new();
        guarded(|| self.recover(cut, rng, &mut nested))
            .and_then(|recovered| recovered)
            .map_err(|failure| Wrong { nested, ..Wrong::from(failure) })
    }

    fn recover<S: Subject + Clone>(
        &mut self,
        cut: Bench<S>,
        rng: &mut Rng,
        nested: &mut Vec<u64>,
    ) -> Result<(), Failure> {
        let limits = self.limits;
        if !self.cuts.outcomes.is_multiple_of(limits.nested_every.max(1)) {
            let mut once = cut;
            start_and_read(&mut once, rng)?;
            return Ok(());
        }
        let mut once = cut.clone();
        let Some(report) = start_and_read(&mut once, rng)? else { return Ok(()) };
        for _ in 0..rng.below(limits.linger + 1) {
            if !once.step(Time::NEVER)? {
                break;
            }
        }
        once.cut(CutOutcome::Any, rng);
        self.cuts.nested += 1;
        start_and_read(&mut once, rng)?;
        self.lose(&mut once, rng)?;
        let all = report.media_ops <= limits.nested;
        for i in 0..report.media_ops.min(limits.nested) {
            nested.clear();
            let mut bench = cut.clone();
            let mut next = if all { i } else { rng.below(report.media_ops) };
            for _ in 0..=rng.below(limits.depth.max(1)) {
                nested.push(next);
                self.cuts.nested += 1;
                if bench.recover(Some(next), rng)? != Recovered::CutAgain {
                    // It had fewer operations this time: the cut comes after the last.
                    bench.cut(CutOutcome::Any, rng);
                    break;
                }
                next = rng.below(report.media_ops);
            }
            start_and_read(&mut bench, rng)?;
            self.lose(&mut bench, rng)?;
        }
        nested.clear();
        Ok(())
    }

    /// Pulls a module of a card that has recovered, and reads every sector.
    fn lose<S: Subject>(&mut self, bench: &mut Bench<S>, rng: &mut Rng) -> Result<(), Failure> {
        let slots = u64::from(bench.subject.slots());
        if self.limits.loses && bench.subject.pull(rng.below(slots) as u32).is_some() {
            self.cuts.losses += 1;
            bench.read_back()?;
        }
        Ok(())
    }
}

/// Starts the card and reads every sector; `None`: it refuses, and may.
fn start_and_read<S: Subject>(bench: &mut Bench<S>, rng: &mut Rng) -> Result<Option<RecoveryReport>, Failure> {
    let Recovered::Serves(report) = bench.recover(None, rng)? else { return Ok(None) };
    bench.read_back()?;
    Ok(Some(report))
}
