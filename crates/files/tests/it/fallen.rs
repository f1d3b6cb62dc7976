//! All modules have forgotten the same place: what lies there is as it was earlier, and no redundancy tells.

use crate::card::{Host, SECTORS, config};
use crate::common::{Sim, paths, some};
use card::{OpenError, StorageCard};
use device::Request;
use files::Files;
use ftl::recover::ScanError;
use media::{Medium, RequestData};

fn flush(host: &mut Host) {
    assert!(host.is_done(Request::flush().with(RequestData::none())));
}

#[test]
pub fn a_place_that_fell_back_in_all_modules_is_an_error_or_a_refusal_and_never_an_older_version() {
    let (mut refused, mut errors, mut right) = (0, 0, 0);
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
        }
    }
    println!("{refused} refused, {errors} errors, {right} right");
    assert!(refused > 10 && right > 1_000, "{refused} {errors} {right}");
}
