//! The same seed gives the same run, to the nanosecond.

use crate::common::{Rig, small};
use card::CardConfig;
use device::{Request, Rng};
use ftl::{GcMode, VictimPolicy};

/// FNV-1a over the order, times and causes of all completions.
fn hash_of_run(config: &CardConfig, seed: u64) -> u64 {
    let mut rig = Rig::new(config, 16).filled().overwritten(1);
    let mut rng = Rng::stream(seed, "requests");
    let sectors = rig.ftl().user_sectors();
    let finished = rig.closed_loop(16, 5_000, || {
        let (offset, len) = (rng.below(sectors - 16) * 4096, 512 * (1 + rng.below(64)) as u32);
        match rng.below(10) {
            0 => Request::flush(),
            1 => Request::trim(offset, len),
            2..5 => Request::read(offset, len),
            _ => Request { fua: rng.below(8) == 0, ..Request::write(offset, len) },
        }
    });
    let words = finished.iter().flat_map(|f| {
        let parts = device::Cause::ALL.map(|cause| f.parts.get(cause));
        [f.id.0.into(), f.submitted.0, f.at.0].into_iter().chain(parts)
    });
    words.fold(0xcbf2_9ce4_8422_2325, |h: u64, word| (h ^ word).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn the_same_seed_gives_the_same_completions_and_another_seed_others() {
    let gcs =
        [GcMode::Paced { target_free_bands: 4 }, GcMode::StopTheWorld { start_free_bands: 1, stop_free_bands: 4 }];
    for gc in gcs {
        for victim in [VictimPolicy::Greedy, VictimPolicy::RandomD(3)] {
            let mut config = CardConfig { power_loss_protection: false, ..small() };
            (config.ftl.gc, config.ftl.victim) = (gc, victim);
            config.nand.endurance.factory_bad_ppm = 5_000;
            assert_eq!(hash_of_run(&config, 1), hash_of_run(&config, 1));
            assert_ne!(hash_of_run(&config, 1), hash_of_run(&config, 2));
        }
    }
}

#[test]
fn a_clone_goes_on_like_the_original() {
    let mut original = Rig::new(&small(), 16).filled().overwritten(2);
    let mut rng = Rng::stream(4, "requests");
    let sectors = original.ftl().user_sectors();
    original.closed_loop(16, 500, || crate::common::write(rng.below(sectors), 1));
    let run = |card: card::ModelCard, mut rng: Rng| {
        let mut rig = Rig::new(&small(), 16);
        rig.now = original.now;
        rig.card = card;
        let finished = rig.closed_loop(16, 2_000, || crate::common::write(rng.below(sectors), 1));
        finished.iter().map(|f| (f.id, f.at)).collect::<Vec<_>>()
    };
    assert_eq!(run(original.card.clone(), rng.clone()), run(original.card.clone(), rng));
}
