//! Brings a card into a situation.

use super::situation::{Past, Situation};
use crate::sim::bench::Recovered;
use crate::sim::player::{Played, Player};
use crate::sim::{Ask, Bench, Bounds, CutOutcome, FaultSpec, HostConfig, HostStep, Subject};
use crate::{CardUnderTest, Kind, physics, tiny};
use device::{Rng, Time};
use media::{CacheLoss, Physics};

/// Steps that a card may take to come to where a situation begins.
const MOST_STEPS: u32 = 1_000_000;
/// Seeds that are tried for a fault that may be anywhere.
const SEEDS: u64 = 60;

impl Situation {
    /// A card in this situation. Its answers on the way are checked as always.
    ///
    /// # Panics
    /// When the past is not what it says: something was not applicable.
    pub fn build(&self, kind: Kind) -> Result<Bench<CardUnderTest>, crate::sim::Failure> {
        let media = if kind == Kind::Logged { physics(kind) } else { Physics::IDEAL };
        let mut subject = CardUnderTest::new(tiny(kind), media, 1);
        // Each cut loses all that was not synced: lives lose any part of it.
        subject.flash_mut().set_cache_loss(CacheLoss::All);
        let mut bench = Bench::new(subject, Bounds::default());
        for past in self.past {
            self.happen(&mut bench, past)?;
        }
        bench.rest_from_now();
        Ok(bench)
    }

    /// Nothing in its past has used up the redundancy.
    pub fn has_its_redundancy(&self) -> bool {
        !self.past.iter().any(|past| {
            matches!(
                past,
                Past::Fault(..) | Past::Faults(..) | Past::LostStripe(_) | Past::Pulled(_) | Past::Inserted(..)
            )
        })
    }

    fn happen(&self, bench: &mut Bench<CardUnderTest>, past: &Past) -> Result<(), crate::sim::Failure> {
        let name = self.name;
        match *past {
            Past::Use { asks, seed } => {
                play(bench, &HostConfig { asks, ..HostConfig::life(sectors(bench)) }.script(seed))?
            }
            Past::Full => {
                let count = sectors(bench);
                for lba in (0..count).step_by(4) {
                    let count = 4.min(count - lba);
                    play(bench, &[HostStep::Ask(Ask::Write { lba: crate::sim::Lba(lba), count, fua: false })])?;
                }
                play(bench, &[HostStep::Ask(Ask::Flush)])?;
            }
            Past::Hot(times) => {
                for _ in 0..times {
                    play(bench, &[HostStep::Ask(Ask::Write { lba: crate::sim::Lba(0), count: 4, fua: false })])?;
                }
            }
            Past::Asked(steps) => play(bench, steps)?,
            Past::Asks(steps) => {
                let mut player = Player::new(steps);
                let asks = crate::sim::host::asks(steps);
                while player.asks() < asks {
                    player.play(bench)?;
                }
            }
            Past::Steps(steps) => {
                for _ in 0..steps {
                    bench.step(Time::NEVER)?;
                }
            }
            Past::UntilItCollects => {
                let mut rng = Rng::stream(7, name);
                for _ in 0..MOST_STEPS {
                    if bench.subject.card().is_some_and(|card| card.collects()) {
                        return Ok(());
                    }
                    if bench.in_flight() == 0 {
                        let lba = crate::sim::Lba(rng.below(u64::from(sectors(bench))) as u32);
                        bench.submit(&Ask::Write { lba, count: 1, fua: false })?;
                    }
                    bench.step(Time::NEVER)?;
                }
                panic!("{name}: the card never collects");
            }
            Past::Rested => {
                bench.rest_from_now();
                while !bench.at_rest()? {
                    assert!(bench.step(Time::NEVER)? || bench.subject.idle(), "{name}: the card never rests");
                }
            }
            Past::Cut(seed) => {
                assert!(bench.cut(CutOutcome::Any, &mut Rng::stream(seed, "situation")), "{name}: no cut");
            }
            Past::Recovered(cuts) => {
                let mut rng = Rng::stream(cuts.iter().sum(), "situation");
                for after in cuts {
                    let recovered = bench.recover(Some(*after), &mut rng)?;
                    assert_eq!(recovered, Recovered::CutAgain, "{name}: the recovery was over before");
                }
            }
            Past::Started => {
                let recovered = bench.recover(None, &mut Rng::stream(0, "situation"))?;
                assert!(matches!(recovered, Recovered::Serves(_)), "{name}: the card does not start");
            }
            Past::Pulled(slot) => assert!(bench.subject.pull(slot).is_some(), "{name}: nothing to pull"),
            Past::Inserted(slot, what) => {
                assert!(bench.subject.insert(slot, what).is_some(), "{name}: nothing to insert");
            }
            Past::Permuted(order) => assert!(bench.subject.permute(order), "{name}: there is power"),
            Past::Fault(kind, seed) => {
                assert!(bench.subject.inject(&FaultSpec { kind, seed }).is_some(), "{name}: no such fault now");
            }
            Past::Faults(kind, most) => {
                let seeds = (0..SEEDS).map(|seed| FaultSpec { kind, seed });
                let happened = seeds.filter(|fault| bench.subject.inject(fault).is_some()).take(most as usize).count();
                assert!(happened > 0, "{name}: no such fault now");
            }
            Past::NewestHeaders => bench.subject.damage_newest_headers(),
            Past::LostStripe(lba) => {
                assert!(bench.subject.lose_stripe(lba), "{name}: no such stripe");
                bench.oracle.beyond();
            }
            Past::Scrubs => bench.subject.scrub(),
            Past::Checkpoints => {
                let now = bench.subject.now;
                let card = bench.subject.card.as_mut().expect("there is power");
                card.begin_checkpoint(now);
                assert!(card.writes_checkpoint(), "{name}: no checkpoint");
            }
            Past::UntilCheckpointed => {
                for _ in 0..MOST_STEPS {
                    if !bench.subject.card().is_some_and(|card| card.writes_checkpoint()) {
                        return Ok(());
                    }
                    if bench.in_flight() == 0 {
                        bench.submit(&Ask::Read { lba: crate::sim::Lba(0), count: 1 })?;
                    }
                    bench.step(Time::NEVER)?;
                }
                panic!("{name}: the checkpoint is never complete");
            }
        }
        Ok(())
    }
}

fn sectors(bench: &Bench<CardUnderTest>) -> u32 {
    bench.subject.sectors()
}

fn play(bench: &mut Bench<CardUnderTest>, steps: &[HostStep]) -> Result<(), crate::sim::Failure> {
    let mut player = Player::new(steps);
    while player.play(bench)? != Played::Over {}
    Ok(())
}
