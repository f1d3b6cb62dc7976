//! The disks' power goes at any moment.

use crate::common::{Holds, SHAPE, Sim, block, create, holds, open, unit};
use device::Rng;
use files::Files;
use media::{Ended, HEADER_BYTES, Media, MediaError, Unit, UnitAt};
use std::collections::{BTreeMap, BTreeSet};

/// The versions that a unit may hold after a cut: the one that was synced, if any, or later ones, but no older one.
#[derive(Clone, Debug, Default)]
struct Allowed {
    synced: Option<u64>,
    /// Programmed since the block's erase that was reported last.
    written: Option<u64>,
}

/// A host of the medium that begins things on all dies, and knows what it may find.
struct Host {
    files: Files,
    rng: Rng,
    units: BTreeMap<UnitAt, Allowed>,
    /// Next row of each block.
    next_row: BTreeMap<(u32, u32, u32), u32>,
    /// Blocks whose erase is or was under way: all may be gone, or nothing.
    erasing: BTreeSet<(u32, u32, u32)>,
    begun: BTreeMap<(u32, u32), Begun>,
    bad: BTreeSet<(u32, u32, u32)>,
    /// Blocks that may be marked bad: these, and those whose mark was under way in a cut.
    given_up: BTreeSet<(u32, u32, u32)>,
    version: u64,
}

#[derive(Clone, Copy)]
enum Begun {
    Program(UnitAt, u64),
    Erase(u32),
    Read(UnitAt),
}

impl Host {
    fn new(files: Files, seed: u64) -> Host {
        Host {
            files,
            rng: Rng::stream(seed, "host"),
            units: BTreeMap::new(),
            next_row: BTreeMap::new(),
            erasing: BTreeSet::new(),
            begun: BTreeMap::new(),
            bad: BTreeSet::new(),
            given_up: BTreeSet::new(),
            version: 0,
        }
    }

    fn begin(&mut self) {
        let (module, die) = (self.rng.below(2) as u32, self.rng.below(3) as u32);
        if self.begun.contains_key(&(module, die)) {
            return;
        }
        let number = self.rng.below(4) as u32;
        let at = block(module, die, number);
        let key = (module, die, number);
        if self.given_up.contains(&key) {
            return;
        }
        let row = *self.next_row.get(&key).unwrap_or(&0);
        if self.rng.below(10) == 0 {
            let at = UnitAt { block: at, row: self.rng.below(4) as u32 };
            self.files.begin_read(at);
            self.begun.insert((module, die), Begun::Read(at));
        } else if row == SHAPE.rows_per_block || self.rng.below(20) == 0 {
            self.erasing.insert(key);
            self.files.begin_erase(at);
            self.begun.insert((module, die), Begun::Erase(number));
        } else {
            self.version += 1;
            let at = UnitAt { block: at, row };
            self.next_row.insert(key, row + 1);
            self.files.begin_program(at, &unit(&SHAPE, at, self.version));
            self.begun.insert((module, die), Begun::Program(at, self.version));
            self.units.entry(at).or_default().written = Some(self.version);
        }
    }

    fn collect(&mut self, module: u32, die: u32) {
        let begun = self.begun.remove(&(module, die)).unwrap();
        assert!(!self.files.is_under_way(module, die));
        match begun {
            Begun::Read(at) => {
                let mut found = Unit::new(&SHAPE);
                self.files.read(at, &mut found).unwrap();
                let written = self.units.get(&at).and_then(|allowed| allowed.written);
                // An earlier life may have left anything here.
                if let Some(version) = written {
                    assert_eq!(holds(&SHAPE, at, &found), [Holds::Version(version); 10], "{at:?}");
                }
            }
            Begun::Program(at, version) => self.files.program(at, &unit(&SHAPE, at, version)).unwrap(),
            Begun::Erase(number) => {
                self.files.erase(block(module, die, number)).unwrap();
                self.erasing.remove(&(module, die, number));
                self.next_row.remove(&(module, die, number));
                for row in 0..SHAPE.rows_per_block {
                    self.units.remove(&UnitAt { block: block(module, die, number), row });
                }
            }
        }
    }

    fn sync(&mut self, module: u32, sim: &Sim) {
        let under_way = |at: &UnitAt| {
            let begun = self.begun.get(&(at.block.module, at.block.die));
            matches!(begun, Some(Begun::Program(begun, _)) if begun == at)
        };
        let covered: Vec<UnitAt> =
            self.units.keys().copied().filter(|at| at.block.module == module && !under_way(at)).collect();
        self.files.begin_sync(module);
        self.files.sync(module).unwrap();
        if sim.with(|world| world.left.is_none()) {
            for at in covered {
                let allowed = self.units.get_mut(&at).unwrap();
                allowed.synced = allowed.written;
            }
        }
    }

    fn check(&mut self, seed: u64) {
        for module in 0..2 {
            for die in 0..3 {
                for number in 0..4 {
                    for row in 0..4 {
                        self.check_unit(UnitAt { block: block(module, die, number), row }, seed);
                    }
                }
            }
        }
    }

    fn check_unit(&mut self, at: UnitAt, seed: u64) {
        let mut found = Unit::new(&SHAPE);
        self.files.read(at, &mut found).unwrap();
        let allowed = self.units.get(&at).cloned().unwrap_or_default();
        let key = (at.block.module, at.block.die, at.block.block);
        let what = holds(&SHAPE, at, &found);
        for held in &what {
            match *held {
                Holds::Version(version) => assert_eq!(Some(version), allowed.written, "seed {seed}: {at:?}"),
                Holds::Damaged => assert!(
                    allowed.synced.is_none() && allowed.written.is_some(),
                    "seed {seed}: {at:?} is damaged: {allowed:?}"
                ),
                Holds::Erased => {
                    assert!(allowed.synced.is_none() || self.erasing.contains(&key), "seed {seed}: {at:?} is gone")
                }
            }
        }
        // A unit that was torn counts as one that was never programmed.
        assert!(what.iter().all(|held| *held == what[0]), "seed {seed}: {at:?} is mixed: {what:?}");
    }
}

#[test]
fn after_any_cut_what_was_synced_is_there_and_nothing_of_before_an_erase() {
    let (mut torn, mut cuts_in_open) = (0, 0);
    for seed in 0..200 {
        let sim = Sim::new(seed);
        let mut host = Host::new(create(&sim, SHAPE), seed);
        let mut rng = Rng::stream(seed, "cuts");
        for life in 0..3 {
            let at = sim.with(|world| world.ended) + 1 + rng.below(if life == 0 { 300 } else { 60 });
            sim.with(|world| world.cut_at = Some(at));
            let mut ended = Vec::new();
            if life > 0 {
                // Erased before anything is written: a found block is never written to.
                for number in 0..4 {
                    for (module, die) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
                        if host.given_up.contains(&(module, die, number)) || sim.with(|world| world.left.is_some()) {
                            continue;
                        }
                        host.erasing.insert((module, die, number));
                        host.begun.insert((module, die), Begun::Erase(number));
                        host.files.begin_erase(block(module, die, number));
                        while host.files.is_under_way(module, die) {
                            host.files.wait(None, &mut ended).unwrap();
                        }
                        if sim.with(|world| world.left.is_some()) {
                            break;
                        }
                        host.collect(module, die);
                    }
                }
                ended.clear();
            }
            while sim.with(|world| world.left.is_none()) {
                for _ in 0..1 + host.rng.below(6) {
                    host.begin();
                }
                host.files.wait(None, &mut ended).unwrap();
                if sim.with(|world| world.left.is_some()) {
                    break;
                }
                for ended in ended.drain(..) {
                    if let Ended::Die { module, die } = ended
                        && host.begun.contains_key(&(module, die))
                        && !host.files.is_under_way(module, die)
                    {
                        host.collect(module, die);
                    }
                }
                if host.rng.below(12) == 0 {
                    let module = host.rng.below(2) as u32;
                    host.sync(module, &sim);
                }
                if host.rng.below(100) == 0 && sim.with(|world| world.left.is_none()) {
                    let (module, die, number) = (host.rng.below(2) as u32, host.rng.below(3) as u32, 3);
                    let at = block(module, die, number);
                    if !host.begun.contains_key(&(module, die)) {
                        host.given_up.insert((module, die, number));
                        host.files.mark_bad(at).unwrap();
                        if sim.with(|world| world.left.is_none()) {
                            host.bad.insert((module, die, number));
                        }
                    }
                }
            }
            // A cut while it is being opened, too.
            drop(std::mem::replace(&mut host.files, create(&Sim::new(1), SHAPE)));
            sim.power_on();
            if rng.below(2) == 0 {
                sim.with(|world| world.cut_at = Some(world.ended + 1 + rng.below(20)));
                drop(open(&sim, SHAPE));
                cuts_in_open += u32::from(sim.with(|world| world.left.is_some()));
                sim.power_on();
            }
            host.files = open(&sim, SHAPE);
            assert!(host.files.notes().is_empty(), "{:?}", host.files.notes());
            host.begun.clear();
            host.check(seed);
            torn += host.units.values().filter(|allowed| allowed.synced.is_none()).count();
            for &(module, die, number) in &host.bad {
                assert!(host.files.is_bad(block(module, die, number)));
            }
            // The contents that are there now stay as they are.
            for at in host.units.keys().copied().collect::<Vec<_>>() {
                let mut found = Unit::new(&SHAPE);
                host.files.read(at, &mut found).unwrap();
                let allowed = host.units.get_mut(&at).unwrap();
                allowed.written = match holds(&SHAPE, at, &found)[0] {
                    Holds::Version(version) => Some(version),
                    _ => None,
                };
                if allowed.written.is_none() {
                    host.units.remove(&at);
                }
            }
            for module in 0..2 {
                host.sync(module, &sim);
            }
            // An erase that was cut is done or not: what was seen stays.
            host.erasing.clear();
            for at in host.units.keys().copied().collect::<Vec<_>>() {
                host.next_row.insert((at.block.module, at.block.die, at.block.block), SHAPE.rows_per_block);
            }
        }
    }
    assert!(torn > 1_000 && cuts_in_open > 50, "{torn} units were under way, {cuts_in_open} cuts while opening");
}

#[test]
fn a_header_that_was_written_is_there_and_a_cut_one_spoils_no_other_copy() {
    for seed in 0..300 {
        let sim = Sim::new(seed);
        let mut files = create(&sim, SHAPE);
        let header = |byte: u8| vec![byte; HEADER_BYTES];
        files.write_header(0, 0, &header(1)).unwrap();
        files.write_header(0, 1, &header(2)).unwrap();
        assert_eq!(files.read_header(1, 0), Ok(None), "never written");
        let begun = sim.with(|world| world.ended);
        // During the write, or after it.
        sim.with(|world| world.cut_at = Some(begun + seed % 2));
        if seed % 2 == 0 {
            sim.cut();
        }
        files.write_header(0, 0, &header(3)).unwrap();
        drop(files);
        sim.power_on();
        let mut files = open(&sim, SHAPE);
        assert_eq!(files.read_header(0, 1), Ok(Some(header(2))));
        let expected = if seed % 2 == 1 { header(3) } else { header(1) };
        assert_eq!(files.read_header(0, 0), Ok(Some(expected)));
    }
}

#[test]
fn headers_that_are_begun_are_written_side_by_side_and_each_ends_as_it_did() {
    for seed in 0..100 {
        let sim = Sim::new(seed);
        let mut files = create(&sim, SHAPE);
        let header = |byte: u8| vec![byte; HEADER_BYTES];
        let ended = || sim.with(|world| world.ended);
        for module in 0..SHAPE.modules {
            files.begin_header(module, 0, &header(module as u8 + 1));
        }
        let before = ended();
        files.submit();
        for module in 0..SHAPE.modules {
            assert_eq!(files.write_header(module, 0, &header(module as u8 + 1)), Ok(()));
        }
        assert_eq!(ended(), before + u64::from(SHAPE.modules), "each is written once");
        // Begun with something else, or another copy: what is asked for is written, and last.
        files.begin_header(0, 0, &header(8));
        assert_eq!(files.write_header(0, 0, &header(9)), Ok(()));
        files.begin_header(0, 1, &header(10));
        files.begin_header(0, 1, &header(11));
        assert_eq!(files.write_header(1, 1, &header(12)), Ok(()));
        assert_eq!(files.write_header(0, 1, &header(11)), Ok(()));
        sim.cut();
        drop(files);
        sim.power_on();
        let mut files = open(&sim, SHAPE);
        assert_eq!(files.read_header(0, 0), Ok(Some(header(9))));
        assert_eq!(files.read_header(0, 1), Ok(Some(header(11))));
        assert_eq!(files.read_header(1, 0), Ok(Some(header(2))));
        assert_eq!(files.read_header(1, 1), Ok(Some(header(12))));
    }
}

#[test]
fn a_claim_outlives_its_controller_and_lower_ones_are_refused() {
    let sim = Sim::new(1);
    let mut files = create(&sim, SHAPE);
    assert_eq!(files.claim(0, 7), Ok(()));
    assert_eq!(files.claim(0, 7), Ok(()), "it is ours");
    drop(files);
    sim.power_on();
    let mut files = open(&sim, SHAPE);
    assert_eq!(files.claim(0, 7), Err(MediaError::Fenced));
    assert_eq!(files.claim(0, 8), Ok(()));
    assert_eq!(files.claim(1, 1), Ok(()));
}

#[test]
fn a_band_that_was_erased_is_discarded_and_programs_after_it_stay() {
    let dies = 0..SHAPE.dies_per_module;
    let at = |die, row| UnitAt { block: block(0, die, 1), row };
    let is_version = |files: &mut Files, version| {
        for die in 0..SHAPE.dies_per_module {
            let mut read = Unit::new(&SHAPE);
            files.read(at(die, 0), &mut read).unwrap();
            let expected = vec![Holds::Version(version); SHAPE.unit_sectors as usize];
            assert_eq!(holds(&SHAPE, at(die, 0), &read), expected, "die {die}");
            files.read(at(die, 1), &mut read).unwrap();
            assert!(holds(&SHAPE, at(die, 1), &read).iter().all(|holds| *holds == Holds::Erased), "die {die}");
        }
    };
    let mut discards = 0;
    for seed in 0..40 {
        let sim = Sim::new(seed);
        let mut files = create(&sim, SHAPE);
        for version in 1..=5 {
            dies.clone().for_each(|die| files.begin_erase(block(0, die, 1)));
            // Nobody waits for the discard, and the next program begins at once.
            dies.clone().for_each(|die| files.erase(block(0, die, 1)).unwrap());
            dies.clone().for_each(|die| files.begin_program(at(die, 0), &unit(&SHAPE, at(die, 0), version)));
            dies.clone().for_each(|die| files.program(at(die, 0), &unit(&SHAPE, at(die, 0), version)).unwrap());
            files.sync(0).unwrap();
            is_version(&mut files, version);
        }
        discards += sim.with(|world| world.discards);
        sim.cut();
        drop(files);
        sim.power_on();
        is_version(&mut open(&sim, SHAPE), 5);
    }
    assert!(discards > 100, "{discards} bands were discarded");
}
