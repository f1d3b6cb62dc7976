//! Bugs of the ownership of a shared array, and of what stands around it, that are planted one at a time: each is found.

use session::canary::{Canary, plant};
use torture::takeovers::{Campaign, Flaw};

/// Lives in which each bug is looked for.
const LIVES: u64 = 30_000;

/// Lives in which bugs were found before, so that most are found at once.
const BEFORE: [u64; 16] = [0, 3, 4, 5, 18, 33, 68, 99, 110, 154, 650, 1_184, 1_259, 1_496, 1_605, 16_174];

/// The number of the first life that goes wrong, and how.
fn look_for(flaw: Option<Flaw>, canary: Option<Canary>) -> Option<(u64, String)> {
    let campaign = Campaign { seed: 1, flaw };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|thread| {
                scope.spawn(move || {
                    plant(canary);
                    BEFORE.into_iter().chain((thread..LIVES).step_by(2)).find_map(|life| {
                        let wrong = campaign.live(life, &campaign.plan(life)).wrong?;
                        Some((life, wrong.to_string()))
                    })
                })
            })
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().expect("a life does not panic")).min()
    })
}

#[test]
fn every_planted_bug_of_the_ownership_is_found() {
    let flaws = Flaw::ALL.into_iter().map(|flaw| (format!("{flaw:?}"), Some(flaw), None));
    let canaries = Canary::OF_OWNERSHIP.into_iter().map(|canary| (canary.name().to_owned(), None, Some(canary)));
    let only = std::env::var("CANARY").ok();
    let mut missed = Vec::new();
    for (name, flaw, canary) in flaws.chain(canaries).filter(|(name, ..)| only.as_ref().is_none_or(|only| only == name))
    {
        match look_for(flaw, canary) {
            Some((life, wrong)) => println!("{name}: life {life}: {wrong}"),
            None => missed.push(name),
        }
    }
    assert!(missed.is_empty(), "not found in {LIVES} lives: {missed:?}");
}
