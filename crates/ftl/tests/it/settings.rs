//! Flash management that is changed while the card works.

use crate::common::{Card, PACED, PLAIN, STOP_THE_WORLD, assert_all_readable};
use device::Rng;
use ftl::{Ftl, FtlError, GcMode, Lba};

fn overwrite(ftl: &mut Ftl, rng: &mut Rng, writes: u32) {
    for _ in 0..writes {
        let lba = rng.below(ftl.user_sectors());
        ftl.write_now(Lba(lba as u32)).expect("a card of good blocks takes writes for ever");
    }
}

/// Free bands above the reserve: least and most over so many writes.
fn free_between(ftl: &mut Ftl, rng: &mut Rng, writes: u32) -> (u32, u32) {
    let reserve = ftl.config().reserve_bands;
    (0..writes).fold((u32::MAX, 0), |(least, most), _| {
        overwrite(ftl, rng, 1);
        let free = ftl.free_bands().saturating_sub(reserve);
        (least.min(free), most.max(free))
    })
}

#[test]
fn free_space_follows_a_target_that_is_changed() {
    let mut ftl = PLAIN.filled();
    let mut rng = Rng::stream(1, "overwrites");
    overwrite(&mut ftl, &mut rng, 40_000);
    for target_free_bands in [4, 12, 2, 20] {
        ftl.set_gc(GcMode::Paced { target_free_bands }).unwrap();
        overwrite(&mut ftl, &mut rng, 40_000);
        let (least, most) = free_between(&mut ftl, &mut rng, 4_000);
        // The open bands' room and the stale bands count into the target, and are not free.
        assert!(least + 3 >= target_free_bands && most <= target_free_bands, "{target_free_bands}: {least} to {most}");
        assert_eq!(ftl.config().gc, GcMode::Paced { target_free_bands });
    }
    assert_all_readable(&ftl);
}

#[test]
fn a_card_stops_for_collection_when_it_is_told_to_and_no_more_when_it_is_not() {
    let mut ftl = PLAIN.filled();
    let mut rng = Rng::stream(2, "overwrites");
    for _ in 0..4 {
        ftl.set_gc(GcMode::StopTheWorld { start_free_bands: 2, stop_free_bands: 9 }).unwrap();
        overwrite(&mut ftl, &mut rng, 20_000);
        let (least, most) = free_between(&mut ftl, &mut rng, 4_000);
        assert!(least <= 3 && most >= 8, "{least} to {most}");
        // In the midst of it.
        let free = ftl.free_bands() - ftl.config().reserve_bands;
        ftl.set_gc(GcMode::StopTheWorld { start_free_bands: free, stop_free_bands: free + 4 }).unwrap();
        assert!(ftl.stopped_for_gc());
        ftl.set_gc(PACED).unwrap();
        assert!(!ftl.stopped_for_gc());
        overwrite(&mut ftl, &mut rng, 20_000);
        let (least, most) = free_between(&mut ftl, &mut rng, 4_000);
        assert!(least >= 1 && most <= 4, "{least} to {most}");
    }
    assert_all_readable(&ftl);
}

#[test]
fn changes_at_any_moment_lose_nothing() {
    for seed in 0..20 {
        let separate_streams = seed % 2 == 0;
        let mut ftl =
            Card { dies: 4, width: 4, parity_units: 1, pages_per_block: 16, separate_streams, ..PLAIN }.filled();
        let mut rng = Rng::stream(seed, "changes");
        for _ in 0..100 {
            let writes = rng.below(400) as u32;
            overwrite(&mut ftl, &mut rng, writes);
            let bands = 1 + rng.below(12) as u32;
            let gc = match rng.below(2) {
                0 => GcMode::Paced { target_free_bands: bands },
                _ => GcMode::StopTheWorld { start_free_bands: bands - 1, stop_free_bands: bands },
            };
            // A refused setting changes nothing.
            let before = *ftl.config();
            if ftl.set_gc(gc).is_err() {
                assert_eq!(*ftl.config(), before);
            }
            ftl.check().unwrap();
        }
        ftl.settle_now();
        assert_all_readable(&ftl);
    }
}

#[test]
fn what_collection_could_not_reach_is_refused() {
    let mut ftl = PLAIN.filled();
    for gc in [
        GcMode::Paced { target_free_bands: 0 },
        GcMode::StopTheWorld { start_free_bands: 4, stop_free_bands: 4 },
        GcMode::StopTheWorld { start_free_bands: u32::MAX, stop_free_bands: 0 },
    ] {
        assert_eq!(ftl.set_gc(gc).unwrap_err(), FtlError::GcBounds);
    }
    for gc in [
        GcMode::Paced { target_free_bands: 60 },
        GcMode::StopTheWorld { start_free_bands: 1, stop_free_bands: 60 },
        GcMode::Paced { target_free_bands: u32::MAX },
        GcMode::StopTheWorld { start_free_bands: u32::MAX - 1, stop_free_bands: u32::MAX },
    ] {
        assert!(matches!(ftl.set_gc(gc), Err(FtlError::NoSpare { .. })), "{gc:?}");
    }
    assert_eq!(ftl.config().gc, PACED);
    // The most that is allowed can be lived with.
    let most = (1..60)
        .rev()
        .find(|&stop| ftl.set_gc(GcMode::StopTheWorld { start_free_bands: stop - 1, stop_free_bands: stop }).is_ok());
    assert!(most.is_some_and(|most| most >= 40), "{most:?}");
    let mut rng = Rng::stream(3, "overwrites");
    overwrite(&mut ftl, &mut rng, 40_000);
    ftl.set_gc(STOP_THE_WORLD).unwrap();
    overwrite(&mut ftl, &mut rng, 10_000);
    ftl.settle_now();
    assert_all_readable(&ftl);
}
