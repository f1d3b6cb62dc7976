//! Every cut of short scripts. `LENGTH=3 cargo test -p torture --test cuts` takes longer ones, and hours.

use media::Physics;
use sim::exhaustive::{Cuts, Limits, cut_everywhere, script, sequences};
use sim::{Bench, Bounds, HostConfig, Lba, player};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use torture::{CardUnderTest, Kind, tiny};

/// A fresh card, and one whose collection has begun.
fn starts(kind: Kind) -> [Bench<CardUnderTest>; 2] {
    let fresh = Bench::new(CardUnderTest::new(tiny(kind), Physics::IDEAL, 1), Bounds::default());
    let mut used = fresh.clone();
    let asks = HostConfig { asks: 600, ..HostConfig::life(36) }.script(7);
    let mut player = player::Player::new(&asks);
    while player.play(&mut used).unwrap() != player::Played::Over {}
    assert!(used.subject.card().unwrap().ftl().counters().erases > 0);
    [fresh, used]
}

/// All sequences of requests, cut everywhere, from each start.
fn cut_all(length: usize, limits: &Limits) -> Cuts {
    let mut total = Cuts::default();
    for kind in Kind::ALL {
        for start in starts(kind) {
            let all = sequences(&[Lba(0), Lba(1), Lba(20)], length);
            let next = AtomicUsize::new(0);
            let sum = Mutex::new(&mut total);
            std::thread::scope(|scope| {
                for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                    scope.spawn(|| {
                        loop {
                            let Some(asks) = all.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                            match cut_everywhere(&start, &script(asks, 2), limits) {
                                Ok(cuts) => sum.lock().unwrap().add(cuts),
                                Err(failure) => panic!("{kind:?}: {failure}"),
                            }
                        }
                    });
                }
            });
        }
    }
    println!("{total:?}");
    total
}

#[test]
fn sequences_of_requests_survive_every_cut() {
    let length = std::env::var("LENGTH").map_or(1, |n| n.parse().unwrap());
    let limits = Limits { outcomes: 64, nested: 2, ..Limits::default() };
    let cuts = cut_all(length, &limits);
    assert!(cuts.outcomes > 1_000);
}
