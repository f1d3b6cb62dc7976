//! Modules that go in turn: each is away for a while, with writes meanwhile, and is rebuilt before the next one goes.

use device::{Rng, Time};
use torture::sim::{Ask, Bench, Bounds, CutOutcome, Failure, Lba, Subject, What};
use torture::{CardUnderTest, Kind, physics, tiny};

const ROUNDS: u32 = 12;

/// A life of a card whose modules go in turn: few writes of few sectors, so that nothing has to be collected, and a cut
/// in each round.
pub fn take_turns(kind: Kind, seed: u64) -> Result<(), Failure> {
    let subject = CardUnderTest::new(tiny(kind), physics(kind), seed);
    let (mut bench, mut rng) = (Bench::new(subject, Bounds::default()), Rng::stream(seed, "turns"));
    let mut away = None;
    for round in 0..ROUNDS {
        // A stripe that is programmed and not synced, now and then.
        if rng.below(3) == 0 {
            answered(&mut bench, &Ask::Write { lba: Lba(20 + rng.below(8) as u32), count: 4, fua: false })?;
            steps(&mut bench, rng.below(12))?;
        }
        for _ in 0..rng.below(14) {
            answered(&mut bench, &Ask::Write { lba: Lba(rng.below(12) as u32), count: 1, fua: true })?;
        }
        if rng.below(2) == 0 {
            bench.submit(&Ask::Write { lba: Lba(rng.below(12) as u32), count: 1, fua: true })?;
            steps(&mut bench, rng.below(4))?;
        }
        let how = if rng.below(2) == 0 { CutOutcome::Any } else { CutOutcome::CacheLost };
        if !bench.cut(how, &mut rng) {
            bench.cut(CutOutcome::Any, &mut rng);
        }
        match away.take() {
            Some(slot) => drop(bench.subject.insert(slot, What::Same)),
            None if round % 2 == 0 => {
                let slot = rng.below(3) as u32;
                bench.subject.pull(slot);
                away = Some(slot);
            }
            None => {}
        }
        while bench.subject.card().is_none() {
            let cut_after = (rng.below(3) == 0).then(|| rng.below(12));
            bench.recover(cut_after, &mut rng)?;
        }
        bench.read_back()?;
        if away.is_none() {
            // The module that was away is whole again before another one goes.
            bench.rest_from_now();
            while !bench.at_rest()? {
                bench.step(Time::NEVER)?;
            }
        }
    }
    Ok(())
}

fn answered(bench: &mut Bench<CardUnderTest>, ask: &Ask) -> Result<(), Failure> {
    bench.submit(ask)?;
    while bench.in_flight() > 0 {
        bench.step(Time::NEVER)?;
    }
    Ok(())
}

fn steps(bench: &mut Bench<CardUnderTest>, steps: u64) -> Result<(), Failure> {
    for _ in 0..steps {
        bench.step(Time::NEVER)?;
    }
    Ok(())
}
