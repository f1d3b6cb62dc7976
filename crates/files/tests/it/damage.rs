//! Bytes of a file are not what they were.

use crate::common::{Broken, Holds, SHAPE, Sim, block, create, holds, open, paths, some, unit};
use device::Rng;
use files::{Files, FilesError, PAGE_BYTES};
use media::{HEADER_BYTES, Media, MediaError, Unit, UnitAt};

fn all_units() -> impl Iterator<Item = UnitAt> {
    let blocks = (0..2).flat_map(|module| (0..3).flat_map(move |die| (0..4).map(move |at| block(module, die, at))));
    blocks.flat_map(|block| (0..4).map(move |row| UnitAt { block, row }))
}

/// The contents of a unit of the prepared modules: everything was programmed, blocks 1 and 2 were erased, and half of
/// block 2 was programmed again.
fn expected(at: UnitAt) -> Holds {
    match (at.block.block, at.row) {
        (1, _) | (2, 2..) => Holds::Erased,
        (2, _) => Holds::Version(2),
        _ => Holds::Version(1),
    }
}

fn prepared() -> Sim {
    let sim = Sim::new(5);
    let mut files = create(&sim, SHAPE);
    for at in all_units() {
        files.program(at, &unit(&SHAPE, at, 1)).unwrap();
    }
    for at in all_units().filter(|at| at.row == 0 && matches!(at.block.block, 1 | 2)) {
        files.erase(at.block).unwrap();
    }
    for at in all_units().filter(|at| expected(*at) == Holds::Version(2)) {
        files.program(at, &unit(&SHAPE, at, 2)).unwrap();
    }
    files.mark_bad(block(0, 0, 3)).unwrap();
    for (module, copy) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        files.sync(module).unwrap();
        files.write_header(module, copy, &[module as u8 + 1; HEADER_BYTES]).unwrap();
    }
    drop(files);
    sim.power_on();
    sim
}

fn read(files: &mut Files, at: UnitAt) -> Vec<Holds> {
    let mut found = Unit::new(&SHAPE);
    files.read(at, &mut found).unwrap();
    holds(&SHAPE, at, &found)
}

#[test]
fn damage_anywhere_never_panics_and_never_shows_what_was_not_there_last() {
    let sim = prepared();
    let path = &paths(2)[0];
    let whole = sim.bytes(path);
    let mut rng = Rng::stream(1, "damage");
    let (mut damaged_units, mut empty_slots) = (0, 0);
    for seed in 0..800 {
        let mut bytes = whole.clone();
        let at = rng.below(bytes.len() as u64) as usize;
        match seed % 4 {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => {
                let len = (1 + rng.below(20_000) as usize).min(bytes.len() - at);
                bytes[at..at + len].iter_mut().for_each(|byte| *byte = 1 + rng.below(255) as u8);
            }
            2 => bytes.truncate(at),
            // The table alone, a byte in each copy.
            _ => {
                let table = 4 * PAGE_BYTES as usize;
                bytes[table + rng.below(12 * 32) as usize] ^= 0x40;
                let second = bytes.len() - table;
                bytes[second + rng.below(12 * 32) as usize] ^= 0x40;
            }
        }
        sim.set_bytes(path, bytes);
        let mut files = open(&sim, SHAPE);
        if !files.has_module(0) {
            assert!(seed % 4 == 2 && files.notes().len() == 1, "{:?}", files.notes());
            empty_slots += 1;
        }
        for at in all_units() {
            if !files.has_module(at.block.module) {
                let mut found = Unit::new(&SHAPE);
                assert_eq!(files.read(at, &mut found).unwrap_err(), MediaError::NoModule);
                continue;
            }
            for held in read(&mut files, at) {
                let is_right = held == expected(at);
                let may_be_damaged = at.block.module == 0 && held == Holds::Damaged;
                assert!(is_right || may_be_damaged, "seed {seed}: {at:?} holds {held:?}");
                damaged_units += u32::from(!is_right);
            }
        }
        // It can be written to again, whatever was damaged.
        if files.has_module(0) {
            let at = UnitAt { block: block(0, 1, 2), row: 0 };
            files.erase(at.block).unwrap();
            files.program(at, &unit(&SHAPE, at, 3)).unwrap();
            assert_eq!(read(&mut files, at), [Holds::Version(3); 10]);
        }
        drop(files);
        sim.power_on();
        sim.set_bytes(&paths(2)[1], sim.bytes(&paths(2)[1]));
    }
    assert!(damaged_units > 100 && empty_slots > 150, "{damaged_units} damaged, {empty_slots} slots empty");
}

#[test]
fn one_copy_of_everything_is_enough_and_the_other_is_mended() {
    for back in [false, true] {
        for filling in [0, 0xff] {
            let sim = prepared();
            let path = &paths(2)[0];
            // First one copy is gone, and when it was mended, the other.
            for gone in [back, !back] {
                let mut bytes = sim.bytes(path);
                let area = 5 * PAGE_BYTES as usize;
                let end = bytes.len();
                match gone {
                    false => bytes[..area].fill(filling),
                    true => bytes[end - area + PAGE_BYTES as usize..].fill(filling),
                }
                sim.set_bytes(path, bytes);
                let mut files = open(&sim, SHAPE);
                assert!(files.has_module(0), "{:?}", files.notes());
                for at in all_units() {
                    assert_eq!(read(&mut files, at), [expected(at); 10], "{at:?}");
                }
                assert!(files.is_bad(block(0, 0, 3)));
                assert_eq!(files.cycles(block(0, 2, 1)), 1);
                if gone == back {
                    let other = u32::from(!back);
                    assert_eq!(files.read_header(0, other), Ok(Some(vec![1; HEADER_BYTES])));
                }
                drop(files);
                sim.power_on();
            }
        }
    }
}

#[test]
fn an_erase_that_a_cut_left_in_one_copy_is_in_both_after_the_next_start() {
    let sim = Sim::new(2);
    let mut files = create(&sim, SHAPE);
    let at = UnitAt { block: block(0, 1, 1), row: 0 };
    files.program(at, &unit(&SHAPE, at, 1)).unwrap();
    files.sync(0).unwrap();
    files.wait(None, &mut Vec::new()).unwrap();
    // Power goes when the first copy is written.
    sim.with(|world| world.cut_at = Some(world.ended + 1));
    files.erase(at.block).unwrap();
    drop(files);
    sim.power_on();
    let mut files = open(&sim, SHAPE);
    assert_eq!(read(&mut files, at), [Holds::Erased; 10]);
    drop(files);
    sim.power_on();
    let path = &paths(2)[0];
    let mut bytes = sim.bytes(path);
    bytes[4 * PAGE_BYTES as usize..5 * PAGE_BYTES as usize].fill(0x77);
    sim.set_bytes(path, bytes);
    let mut files = open(&sim, SHAPE);
    assert_eq!(read(&mut files, at), [Holds::Erased; 10]);
}

#[test]
fn a_block_of_which_nothing_is_known_is_usable_again_after_an_erase() {
    let sim = prepared();
    let path = &paths(2)[0];
    let mut bytes = sim.bytes(path);
    let end = bytes.len();
    bytes[4 * PAGE_BYTES as usize..5 * PAGE_BYTES as usize].fill(0);
    bytes[end - 4 * PAGE_BYTES as usize..end - 3 * PAGE_BYTES as usize].fill(0);
    sim.set_bytes(path, bytes);
    for _ in 0..2 {
        let mut files = open(&sim, SHAPE);
        for at in all_units().filter(|at| at.block.module == 0 && at.block.die > 0) {
            assert_eq!(read(&mut files, at), [Holds::Damaged; 10], "{at:?}");
            assert_eq!(files.program(at, &unit(&SHAPE, at, 9)), Err(MediaError::Failed));
        }
        files.erase(block(0, 0, 2)).unwrap();
        for row in 0..4 {
            let at = UnitAt { block: block(0, 0, 2), row };
            assert_eq!(read(&mut files, at), [Holds::Erased; 10], "{at:?}");
        }
        drop(files);
        sim.power_on();
    }
}

#[test]
fn a_place_that_the_disk_cannot_read_costs_its_unit_and_no_more() {
    let sim = prepared();
    let path = paths(2)[0].clone();
    let mut files = open(&sim, SHAPE);
    let layout = files.layout(0).unwrap();
    for victim in all_units().filter(|at| at.block.module == 0) {
        let place = layout.unit_offset(layout.unit(victim)) + 700;
        sim.with(|world| world.broken.insert(path.clone(), Broken::Place(place)));
        // Nothing of it was read before.
        drop(files);
        sim.power_on();
        files = open(&sim, SHAPE);
        for at in all_units() {
            let expected = if at == victim { Holds::Damaged } else { expected(at) };
            assert_eq!(read(&mut files, at), [expected; 10], "{at:?}, {victim:?} can't be read");
        }
        files.begin_read(victim);
        let mut ended = Vec::new();
        while files.is_under_way(0, victim.block.die) {
            files.wait(None, &mut ended).unwrap();
        }
        assert_eq!(read(&mut files, victim), [Holds::Damaged; 10]);
    }
    sim.with(|world| world.broken.insert(path.clone(), Broken::Place(layout.header(0))));
    assert_eq!(files.read_header(0, 0), Ok(None));
    assert_eq!(files.read_header(0, 1), Ok(Some(vec![1; HEADER_BYTES])));
}

#[test]
fn a_disk_that_fails_is_an_error_of_the_host() {
    let sim = prepared();
    let path = paths(2)[0].clone();
    let mut files = open(&sim, SHAPE);
    let at = UnitAt { block: block(0, 1, 2), row: 2 };
    let mut found = Unit::new(&SHAPE);
    for (errno, error) in [(5, MediaError::Host), (19, MediaError::NoModule), (28, MediaError::NoSpace)] {
        sim.with(|world| world.broken.insert(path.clone(), Broken::All(errno)));
        assert_eq!(files.read(at, &mut found), Err(error));
        assert_eq!(files.program(at, &unit(&SHAPE, at, 7)), Err(error));
        assert_eq!(files.sync(0), Err(error));
        assert_eq!(files.read_header(0, 0), Err(error));
        assert_eq!(files.write_header(0, 0, &[3; HEADER_BYTES]), Err(error));
        files.begin_header(0, 0, &[3; HEADER_BYTES]);
        assert_eq!(files.write_header(0, 0, &[3; HEADER_BYTES]), Err(error));
        assert_eq!(files.claim(0, 50 + errno as u64), Err(error));
        files.begin_read(at);
        let mut ended = Vec::new();
        while files.is_under_way(0, 1) {
            files.wait(None, &mut ended).unwrap();
        }
        assert_eq!(files.read(at, &mut found), Err(error));
    }
    sim.with(|world| world.broken.insert(path.clone(), Broken::Writes(5)));
    let erased = block(0, 2, 0);
    assert_eq!(files.erase(erased), Err(MediaError::Host));
    // Whether it is erased nobody knows.
    assert_eq!(read(&mut files, UnitAt { block: erased, row: 0 }), [Holds::Damaged; 10]);
    assert_eq!(files.mark_bad(block(0, 2, 3)), Err(MediaError::Host));
    assert_eq!(read(&mut files, UnitAt { block: block(0, 2, 3), row: 0 }), [Holds::Version(1); 10]);
    sim.with(|world| world.broken.clear());
    files.erase(erased).unwrap();
    assert_eq!(read(&mut files, UnitAt { block: erased, row: 0 }), [Holds::Erased; 10]);
    assert_eq!(files.claim(0, 60), Ok(()));
}

#[test]
fn after_a_sync_that_failed_no_later_one_speaks_for_what_it_was_to_cover() {
    let sim = Sim::new(3);
    let mut files = create(&sim, SHAPE);
    let at = UnitAt { block: block(0, 0, 0), row: 0 };
    files.program(at, &unit(&SHAPE, at, 1)).unwrap();
    sim.with(|world| world.broken.insert(paths(2)[0].clone(), Broken::Syncs(5)));
    assert_eq!(files.sync(0), Err(MediaError::Host));
    sim.with(|world| world.broken.clear());
    for _ in 0..3 {
        assert_eq!(files.sync(0), Ok(()), "it is told once");
    }
    let layout = files.layout(0).unwrap();
    drop(files);
    sim.power_on();
    // The kernel dropped half of it when its sync failed.
    let mut bytes = sim.bytes(&paths(2)[0]);
    let start = layout.unit_offset(layout.unit(at)) as usize;
    bytes[start..start + 2048].fill(0);
    sim.set_bytes(&paths(2)[0], bytes);
    let mut files = open(&sim, SHAPE);
    assert_eq!(read(&mut files, at), [Holds::Erased; 10]);
}

#[test]
fn bytes_of_chance_are_no_module() {
    let mut rng = Rng::stream(9, "bytes");
    for len in [0, 1, 4095, 4096, 10_000, 100_000] {
        let sim = Sim::new(1);
        let bytes = (0..len).map(|_| rng.below(256) as u8).collect();
        sim.set_bytes(&paths(1)[0], bytes);
        let error = Files::open_on(sim.boxed(), &some(&paths(1))).unwrap_err();
        assert!(matches!(error, FilesError::Nothing(_)) && !error.to_string().contains('\n'), "{error}");
    }
}
