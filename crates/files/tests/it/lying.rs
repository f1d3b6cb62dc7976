//! A disk that says it has written, and has lost the write or put it where another one belongs.

use crate::card::{Host, SECTORS};
use crate::common::{Sim, paths};
use device::{Request, Rng};
use media::RequestData;

#[test]
fn writes_that_a_disk_has_lost_or_misplaced_are_found_by_the_next_read_and_made_good() {
    let (mut lies, mut mismatched, mut rebuilt) = (0, 0, 0);
    for seed in 0..40 {
        let sim = Sim::new(seed);
        let mut rng = Rng::stream(seed, "lying");
        let mut host = Host::new(sim.clone());
        sim.with(|world| world.lying = Some((paths(3)[seed as usize % 3].clone(), 20)));
        let mut newest = vec![0; SECTORS as usize];
        for version in 1..400 {
            let lba = rng.below(SECTORS);
            match rng.below(10) {
                0 => assert!(host.is_done(Request::flush().with(RequestData::none()))),
                1..5 => assert_eq!(host.read(lba as u32), Ok(newest[lba as usize]), "seed {seed}: sector {lba}"),
                _ => {
                    assert!(host.write(lba as u32, version));
                    newest[lba as usize] = version;
                }
            }
        }
        assert!(host.is_done(Request::flush().with(RequestData::none())));
        // Twice: what was rebuilt is written elsewhere, perhaps as badly as before.
        for (lba, newest) in (0..).zip(&newest).chain((0..).zip(&newest)) {
            assert_eq!(host.read(lba), Ok(*newest), "seed {seed}: sector {lba}");
        }
        lies += sim.with(|world| world.lies);
        mismatched += host.card.store_counters().mismatched_sectors;
        rebuilt += host.card.store_counters().rebuilt_sectors;
        assert_eq!(host.card.store_counters().lost_sectors, 0, "seed {seed}");
    }
    assert!(lies > 1_000 && mismatched > 100 && rebuilt > 100, "{lies} {mismatched} {rebuilt}");
}

#[test]
fn what_was_rebuilt_is_written_elsewhere_and_reads_well_from_then_on() {
    let mut found = 0;
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let mut host = Host::new(sim.clone());
        sim.with(|world| world.lying = Some((paths(3)[1].clone(), 50)));
        (0..SECTORS as u32).for_each(|lba| assert!(host.write(lba, 1 + u64::from(lba))));
        assert!(host.is_done(Request::flush().with(RequestData::none())));
        sim.with(|world| world.lying = None);
        let read_all = |host: &mut Host| {
            let before = host.card.store_counters().mismatched_sectors;
            (0..SECTORS as u32).for_each(|lba| assert_eq!(host.read(lba), Ok(1 + u64::from(lba))));
            assert!(host.is_done(Request::flush().with(RequestData::none())));
            host.card.store_counters().mismatched_sectors - before
        };
        found += read_all(&mut host);
        assert_eq!(read_all(&mut host), 0, "seed {seed}: it is found once");
    }
    assert!(found > 50, "{found}");
}
