//! All modules have forgotten the same place: what lies there is as it was earlier, and no redundancy tells.

use crate::card::{Host, SECTORS, config};
use crate::common::{Sim, paths, some};
use card::{OpenError, StorageCard};
use device::{Request, Rng};
use files::Files;
use ftl::recover::ScanError;
use media::{Medium, RequestData};

fn flush(host: &mut Host) {
    assert!(host.is_done(Request::flush().with(RequestData::none())));
}

#[test]
pub fn a_place_that_fell_back_in_all_modules_is_an_error_or_a_refusal_and_never_an_older_version() {
    let (mut refused, mut errors, mut right, mut refused_later) = (0, 0, 0, 0);
    for seed in 0..12 {
        let sim = Sim::new(seed);
        let mut host = Host::new(sim.clone());
        for version in 1..=SECTORS * (1 + seed % 3) {
            assert!(host.write((version % SECTORS) as u32, version));
        }
        flush(&mut host);
        let before: Vec<Vec<u8>> = paths(3).iter().map(|path| sim.bytes(path)).collect();
        let mut newest = vec![0; SECTORS as usize];
        for version in 1_000..1_000 + SECTORS * (1 + seed % 5) {
            newest[(version % SECTORS) as usize] = version;
            assert!(host.write((version % SECTORS) as u32, version));
        }
        flush(&mut host);
        // A record of a sync is durable with the sync that follows.
        for version in 2_000..2_003 {
            assert!(host.write(0, version));
            flush(&mut host);
        }
        sim.cut();
        drop(host);
        sim.power_on();
        let after: Vec<Vec<u8>> = paths(3).iter().map(|path| sim.bytes(path)).collect();
        let stretch = 48 << 10;
        for from in (0..after[0].len() - stretch).step_by(stretch / 2) {
            let sim = Sim::new(seed);
            for (path, (before, after)) in paths(3).iter().zip(before.iter().zip(&after)) {
                let mut bytes = after.clone();
                bytes[from..from + stretch].copy_from_slice(&before[from..from + stretch]);
                sim.set_bytes(path, bytes);
            }
            let files = Files::open_on(sim.boxed(), &some(&paths(3))).unwrap();
            let card = match StorageCard::open(&config(), Medium::Outside(Box::new(files)), None, 8, 1) {
                Ok((card, _)) => card,
                Err(failed) => {
                    let why = failed.0;
                    let is_told = |why: &ScanError| {
                        matches!(why, ScanError::BeyondRedundancy { .. } | ScanError::MissingBand { .. })
                    };
                    assert!(matches!(&why, OpenError::Scan(why) if is_told(why)), "seed {seed}, {from}: {why}");
                    refused += 1;
                    continue;
                }
            };
            let mut host = Host::around(sim, card, seed);
            for (lba, newest) in (1..).zip(&newest[1..]) {
                match host.read(lba) {
                    Ok(version) => {
                        assert_eq!(version, *newest, "seed {seed}: sector {lba}, {from} fell back");
                        right += 1;
                    }
                    Err(_) => errors += 1,
                }
            }
            // A later start must not take for never written what this one could not read.
            for version in 3_000..3_000 + 20 * (seed % 4) {
                host.write(0, version);
                flush(&mut host);
            }
            host.sim.cut();
            let sim = host.sim.clone();
            drop(host);
            sim.power_on();
            let files = Files::open_on(sim.boxed(), &some(&paths(3))).unwrap();
            let Ok((card, _)) = StorageCard::open(&config(), Medium::Outside(Box::new(files)), None, 8, 1) else {
                refused_later += 1;
                continue;
            };
            let mut host = Host::around(sim, card, seed);
            for (lba, newest) in (1..).zip(&newest[1..]) {
                if let Ok(version) = host.read(lba) {
                    assert_eq!(version, *newest, "seed {seed}: sector {lba}, {from} fell back, the start after");
                }
            }
        }
    }
    println!("{refused} refused, {errors} errors, {right} right, {refused_later} refused later");
    assert!(refused > 10 && right > 1_000, "{refused} {errors} {right}");
}

/// Lives in which an older version was read, before a start looked at the spare areas of all members of a flawed stripe, and
/// no longer took units that were lost for ones whose erase was cut.
const ONCE_WRONG: [u64; 12] = [18, 50, 139, 280, 634, 654, 782, 794, 858, 945, 1126, 1184];

/// A place of two modules or of all falls back or is zeroed, in the same stretch of each or in another of each.
fn damage(sim: &Sim, before: &[Vec<u8>], rng: &mut Rng) -> String {
    const FRONT: usize = 40 << 9;
    let bytes = before[0].len();
    let sectors = (bytes / 512 - 80) as u64 * 9 / 10;
    let kind = rng.below(3);
    let together = FRONT + rng.below(sectors) as usize * 512;
    let stretch = 512 << rng.below(8);
    let spared = (rng.below(2) > 0).then(|| rng.below(3) as usize);
    for (module, path) in paths(3).iter().enumerate().filter(|(module, _)| Some(*module) != spared) {
        let at = if kind == 2 { FRONT + rng.below(sectors) as usize * 512 } else { together };
        let place = at..(at + stretch).min(bytes - FRONT).max(at);
        let mut after = sim.bytes(path);
        match kind {
            0 => after[place.clone()].copy_from_slice(&before[module][place]),
            _ => after[place].fill(0),
        }
        sim.set_bytes(path, after);
    }
    format!(" {}, {stretch} bytes but in {spared:?};", ["fallen", "zeroes", "zeroes apart"][kind as usize])
}

#[test]
fn damage_in_several_modules_is_an_error_or_a_refusal_and_never_an_older_version() {
    let (mut refused, mut errors, mut right) = (0, 0, 0);
    for seed in ONCE_WRONG.into_iter().chain(0..150) {
        let mut rng = Rng::stream(seed, "several modules");
        let sim = Sim::new(seed);
        let mut host = Host::new(sim.clone());
        let (mut newest, mut version, mut said) = (vec![0; SECTORS as usize], 0, String::new());
        let mut write = |host: &mut Host, newest: &mut Vec<u64>, count: u64, rng: &mut Rng| {
            for _ in 0..count {
                let lba = 1 + rng.below(SECTORS - 1);
                version += 1;
                newest[lba as usize] = version;
                assert!(host.write(lba as u32, version));
                if rng.below(20) == 0 {
                    flush(host);
                }
            }
            flush(host);
        };
        write(&mut host, &mut newest, 60 + rng.below(300), &mut rng);
        for _ in 0..4 {
            let before: Vec<Vec<u8>> = paths(3).iter().map(|path| sim.bytes(path)).collect();
            write(&mut host, &mut newest, rng.below(150), &mut rng);
            // A mark may be one sync late.
            for version in 0..4 {
                assert!(host.write(0, 1 << 40 | version));
                flush(&mut host);
            }
            sim.cut();
            drop(host);
            sim.power_on();
            said += &damage(&sim, &before, &mut rng);
            let Ok(files) = Files::open_on(sim.boxed(), &some(&paths(3))) else { break };
            let Ok((card, _)) = StorageCard::open(&config(), Medium::Outside(Box::new(files)), None, 8, 1) else {
                refused += 1;
                break;
            };
            host = Host::around(sim.clone(), card, seed);
            let mut is_whole = true;
            for (lba, newest) in (1..).zip(&newest[1..]) {
                match host.read(lba) {
                    Ok(version) => assert_eq!(version, *newest, "seed {seed}, sector {lba}:{said}"),
                    Err(_) => is_whole = false,
                }
            }
            (errors, right) = (errors + u32::from(!is_whole), right + u32::from(is_whole));
            if !is_whole {
                break;
            }
        }
    }
    println!("{refused} refused, {errors} with errors, {right} right");
    assert!(refused > 20 && errors > 5 && right > 100, "{refused} {errors} {right}");
}
