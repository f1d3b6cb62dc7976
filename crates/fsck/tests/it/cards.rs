//! Reports on cards whose state is known.

use crate::common::{SECTORS, cut, fresh, load, lose_two_units, rebuilt, unit_at, used};
use device::Rng;
use fsck::{CellState, Examined, FsckError, ModuleState, ReadsAs, RebuildState, Source, StripeState, VerdictState};
use media::{BlockAt, Fault, Flash, Media};
use std::fs;
use torture::sim::{CutOutcome, Subject};
use torture::{CardUnderTest, Kind};

const READ_NS: u64 = 50_000;

fn examined(card: &CardUnderTest) -> Examined<Flash> {
    let mut flash = card.flash().clone();
    flash.power_on();
    Examined::new(flash).unwrap()
}

#[test]
fn a_fresh_card_is_clean_and_all_its_sectors_are_zeros() {
    for kind in Kind::ALL {
        let mut card = examined(&fresh(kind));
        for everything in [false, true] {
            let report = card.report(everything, READ_NS).unwrap();
            assert_eq!(report.verdict.state, VerdictState::Clean, "{:?}", report.verdict);
            assert_eq!(report.sectors.unwrap().holes, u64::from(SECTORS));
            assert_eq!(report.bands.unwrap().free, 20);
        }
        let sectors = card.sectors(0..=SECTORS - 1).unwrap();
        assert!(sectors.iter().all(|sector| sector.reads_as == ReadsAs::Zeros && sector.copies.is_empty()));
    }
}

fn read(subject: &mut CardUnderTest, lba: u32) -> ReadsAs {
    let ask = torture::sim::Ask::Read { lba: torture::sim::Lba(lba), count: 1 };
    subject.submit(torture::sim::HostOp { ask, stamps: Vec::new() });
    let mut done = Vec::new();
    while done.is_empty() {
        assert!(subject.step(device::Time::NEVER, &mut done));
    }
    let torture::sim::Outcome::Values(values) = &done[0].outcome else { panic!("{:?}", done[0].outcome) };
    match values[0] {
        torture::sim::Sector::Zero => ReadsAs::Zeros,
        torture::sim::Sector::Value(_) => ReadsAs::Data,
        _ => ReadsAs::Error,
    }
}

#[test]
fn what_is_explained_after_a_cut_is_what_the_card_answers_when_it_is_back() {
    for seed in 0..12 {
        let kind = Kind::ALL[seed as usize % 3];
        let mut subject = cut(kind, seed, CutOutcome::Any);
        let mut card = examined(&subject);
        assert_eq!(card.refusal(), None);
        let explained = card.sectors(0..=SECTORS - 1).unwrap();
        subject.recover(None, &mut Rng::stream(seed, "start")).unwrap();
        for sector in explained {
            assert_eq!(read(&mut subject, sector.lba as u32), sector.reads_as, "{kind:?} {seed} {sector:?}");
        }
    }
}

#[test]
fn every_used_card_has_its_sectors_and_its_believed_copy_is_the_newest_that_counts() {
    for seed in 0..9 {
        let mut card = examined(&used(Kind::ALL[seed as usize % 3], seed));
        let report = card.report(true, READ_NS).unwrap();
        assert!(report.verdict.state <= VerdictState::Recoverable, "{:?}", report.verdict);
        assert!(report.sectors.as_ref().unwrap().mapped > 0);
        assert!(report.start.unwrap().reads > 0);
        for sector in card.sectors(0..=SECTORS - 1).unwrap() {
            let newest = sector.copies.iter().filter(|copy| copy.counts).filter_map(|copy| copy.version).max();
            if sector.reads_as == ReadsAs::Data {
                assert_eq!(sector.version, newest, "{sector:?}");
            }
        }
    }
}

#[test]
fn a_missing_module_degrades_the_card_and_costs_no_sector() {
    let dir = tempfile::tempdir().unwrap();
    used(Kind::Protected, 3).save_image(dir.path()).unwrap();
    fs::remove_file(dir.path().join("module-01.frm")).unwrap();
    let mut card = Examined::new(Source::of(dir.path()).open().unwrap()).unwrap();
    let report = card.report(true, READ_NS).unwrap();
    assert_eq!(report.verdict.state, VerdictState::Degraded, "{:?}", report.verdict);
    assert_eq!(report.modules.missing.len(), 1);
    assert_eq!(report.modules.slots[1].state, ModuleState::Empty);
    assert_eq!(report.sectors.unwrap().unreadable, 0);
    let stripes = report.stripes.unwrap();
    assert!(stripes.degraded > 0 && stripes.beyond_redundancy == 0, "{stripes:?}");
}

#[test]
fn what_a_rebuild_left_out_because_nothing_in_it_counts_is_no_damage() {
    let mut stale = 0;
    for seed in 0..30 {
        let report = examined(&rebuilt(seed, seed % 2 == 0)).report(true, READ_NS).unwrap();
        let stripes = report.stripes.unwrap();
        assert_eq!((stripes.torn, stripes.beyond_redundancy), (0, 0), "{seed}: {stripes:?}");
        assert_eq!(report.verdict.state, VerdictState::Clean, "{seed}: {:?}", report.verdict);
        assert!(stripes.named.is_empty());
        stale += stripes.stale;
    }
    assert!(stale > 0, "no rebuild left anything out: nothing is shown");
}

#[test]
fn a_summary_that_lacks_a_member_is_damage_though_nothing_in_it_counts() {
    let mut found = 0;
    for seed in 0..10 {
        // A volatile medium is read completely, and the other members tell that there is a summary.
        let mut flash = rebuilt(seed, true).flash().clone();
        flash.power_on();
        let mut card = Examined::new(flash.clone()).unwrap();
        let Some(band) = (0..20).find(|band| card.band(*band).unwrap().has_summary == Some(true)) else { continue };
        flash.erase(BlockAt { module: 2, die: 0, block: band }).unwrap();
        let stripes = Examined::new(flash).unwrap().report(true, READ_NS).unwrap().stripes.unwrap();
        let last =
            stripes.named.iter().filter(|(of, ..)| *of == band).map(|(_, stripe, state)| (*stripe, *state)).max();
        assert_eq!(last, Some((5, StripeState::Torn)), "{seed}: {stripes:?}");
        found += 1;
    }
    assert!(found > 0, "no band has a summary: nothing is shown");
}

#[test]
fn two_missing_modules_are_a_refusal_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    used(Kind::Protected, 3).save_image(dir.path()).unwrap();
    fs::remove_file(dir.path().join("module-01.frm")).unwrap();
    fs::remove_file(dir.path().join("module-02.frm")).unwrap();
    let mut card = Examined::new(Source::of(dir.path()).open().unwrap()).unwrap();
    let report = card.report(true, READ_NS).unwrap();
    assert_eq!(report.verdict.state, VerdictState::RefusesToStart);
    assert!(report.verdict.reasons[0].contains("module 1 is missing, module 2 is missing"), "{:?}", report.verdict);
    assert!(matches!(card.sectors(0..=0), Err(FsckError::Refuses(_))));
}

#[test]
fn a_double_loss_is_found_and_its_sectors_are_named() {
    let dir = tempfile::tempdir().unwrap();
    used(Kind::Protected, 3).save_image(dir.path()).unwrap();
    let lost = lose_two_units(dir.path());
    assert!(!lost.is_empty());
    let mut card = Examined::new(load(dir.path())).unwrap();
    let report = card.report(true, READ_NS).unwrap();
    assert_eq!(report.verdict.state, VerdictState::SectorsLost, "{:?}", report.verdict);
    assert_eq!(report.lost_sectors.iter().map(|sector| sector.lba).collect::<Vec<_>>(), lost);
    assert_eq!(report.stripes.unwrap().beyond_redundancy, 1);
    for sector in card.sectors(0..=SECTORS - 1).unwrap() {
        assert_eq!(sector.reads_as == ReadsAs::Error, lost.contains(&(sector.lba as u32)), "{sector:?}");
    }
}

#[test]
fn one_damaged_sector_is_torn_rebuilt_and_explained() {
    let subject = used(Kind::Protected, 3);
    let mut card = examined(&subject);
    let sector = card.sectors(0..=SECTORS - 1).unwrap().into_iter().find(|s| s.reads_as == ReadsAs::Data).unwrap();
    let copy = sector.copies.iter().find(|copy| copy.believed).unwrap().clone();
    let at = unit_at(copy.band, copy.stripe, copy.unit);
    let faults: [(Fault, CellState); 3] = [
        (Fault::FlipBits { at, sector: copy.sector, bits: 100 }, CellState::Uncorrectable),
        (Fault::DamageByte { at, sector: copy.sector, byte: 20, xor: 1 }, CellState::DamagedSpare),
        (Fault::DamageByte { at, sector: copy.sector, byte: 70, xor: 1 }, CellState::DamagedPayload),
    ];
    for (fault, state) in faults {
        let mut flash = subject.flash().clone();
        assert!(flash.inject(fault));
        let mut card = Examined::new(flash).unwrap();
        let now = card.sectors(sector.lba as u32..=sector.lba as u32).unwrap().remove(0);
        assert_eq!(now.reads_as, ReadsAs::Data, "{now:?}");
        assert!(now.because.contains("rebuilt from its stripe"), "{now:?}");
        let believed = now.copies.iter().find(|copy| copy.believed).unwrap();
        assert_eq!((believed.state, believed.rebuilt), (state, true));
        let stripe = card.stripe(copy.band, copy.stripe).unwrap();
        assert_eq!(stripe.state, StripeState::Torn);
        let RebuildState::Possible { unit, lba, version, .. } = &stripe.rebuild[copy.sector as usize] else {
            panic!("{stripe:?}")
        };
        assert_eq!((*unit, *lba, *version), (copy.unit, Some(sector.lba as u32), copy.version));
        let report = card.report(true, READ_NS).unwrap();
        assert_eq!(report.verdict.state, VerdictState::Recoverable);
        assert_eq!(report.stripes.unwrap().rebuildable_sectors, 1);
    }
}

#[test]
fn parity_that_contradicts_its_stripe_is_found() {
    let subject = used(Kind::Protected, 3);
    let mut card = examined(&subject);
    let whole = (0..20).find_map(|band| {
        let detail = card.band(band).unwrap();
        let line = detail.stripes.iter().find(|line| line.state == StripeState::Whole)?;
        Some((band, line.stripe))
    });
    let (band, stripe) = whole.unwrap();
    let parity = card.stripe(band, stripe).unwrap().members.iter().find(|member| member.is_parity).unwrap().unit;
    let mut flash = subject.flash().clone();
    // A miscorrection with checksums that fit: the payload, and both checksums over it.
    let at = unit_at(band, stripe, parity);
    let mut unit = media::Unit::new(media::Media::shape(&flash));
    media::Media::read(&mut flash, at, &mut unit).unwrap();
    let mut spare = format::Spare::decode(unit.spare(0)).unwrap();
    let mut payload = unit.payload(0).to_vec();
    payload[5] ^= 1;
    spare.payload_crc = format::payload_crc(&payload);
    let mut bytes = [0; format::SPARE_BYTES];
    spare.encode(&mut bytes);
    for (byte, (old, new)) in (0..).zip(unit.spare(0).iter().zip(&bytes)) {
        flash.inject(Fault::DamageByte { at, sector: 0, byte, xor: old ^ new });
    }
    flash.inject(Fault::DamageByte { at, sector: 0, byte: format::SPARE_BYTES as u32 + 5, xor: 1 });
    let mut card = Examined::new(flash).unwrap();
    let detail = card.stripe(band, stripe).unwrap();
    assert_eq!(detail.state, StripeState::Inconsistent);
    assert_eq!(detail.parity_holds, [Some(false), Some(true)]);
    assert_eq!(card.report(true, READ_NS).unwrap().stripes.unwrap().inconsistent, 1);
}

#[test]
fn a_cut_leaves_torn_stripes_and_no_lost_sector() {
    let mut torn = 0;
    for seed in 0..6 {
        for kind in [Kind::Unprotected, Kind::SharedCells] {
            let mut card = examined(&cut(kind, seed, CutOutcome::TornGarbage));
            let report = card.report(true, READ_NS).unwrap();
            assert!(report.verdict.state <= VerdictState::Recoverable, "{:?}", report.verdict);
            let stripes = report.stripes.unwrap();
            torn += stripes.torn + stripes.beyond_redundancy;
        }
    }
    assert!(torn > 0);
}

#[test]
fn damaged_headers_are_counted_and_their_card_is_recoverable() {
    let mut flash = used(Kind::Protected, 3).flash().clone();
    flash.inject(Fault::DamageHeader { module: 1, copy: 0, byte: 60, xor: 4 });
    flash.inject(Fault::LoseHeader { module: 2, copy: 1 });
    let mut card = Examined::new(flash).unwrap();
    assert_eq!(card.modules.bad_copies(), 2);
    assert!(card.modules.slots[1].copies[0].error.as_ref().unwrap().contains("checksum"));
    assert_eq!(card.report(false, READ_NS).unwrap().verdict.state, VerdictState::Recoverable);
}

#[test]
fn headers_say_how_the_card_is_laid_out_and_which_configuration_opens_it() {
    for kind in Kind::ALL {
        let subject = used(kind, 5);
        let header = media::Media::read_header(&mut subject.flash().clone(), 0, 0).unwrap().unwrap();
        let header = format::ModuleHeader::decode(&header).unwrap();
        let config = subject.config();
        assert_eq!(ftl::recover::layout_of(&header), config.ftl.layout(&config.nand.geometry));
        let derived = torture::config_of(&header);
        assert_eq!(card::shape(&derived), card::shape(config));
        let mut flash = subject.flash().clone();
        flash.power_on();
        assert!(card::StorageCard::open(&derived, flash, None, 1, 1).is_ok());
    }
}

#[test]
fn an_slc_band_has_at_least_a_row() {
    let mut config = torture::tiny(Kind::Protected);
    config.ftl.slc_cache = Some(ftl::SlcCache { bands: 1, bits_per_cell: 7 });
    let made = ftl::Ftl::new(&config.nand, config.bands, &config.ftl, 1);
    assert_eq!(made.err(), Some(ftl::FtlError::SlcCache { bits_per_cell: 7, rows: 6 }));
}

#[test]
fn nothing_is_written() {
    let subject = used(Kind::Unprotected, 4);
    let before = (subject.flash().trace(), subject.flash().ops());
    let mut card = examined(&subject);
    card.report(true, READ_NS).unwrap();
    card.sectors(0..=SECTORS - 1).unwrap();
    (0..20).for_each(|band| drop(card.band(band).unwrap()));
    let after = card.into_media();
    assert_eq!((after.trace(), after.ops()), before);
}

#[test]
fn questions_about_what_the_card_does_not_have_are_refused() {
    let mut card = examined(&fresh(Kind::Protected));
    assert!(matches!(card.sectors(30..=36), Err(FsckError::NoSuch { thing: "sector", asked: 36, count: 36 })));
    assert!(matches!(card.band(20), Err(FsckError::NoSuch { thing: "band", .. })));
    assert!(matches!(card.stripe(0, 6), Err(FsckError::NoSuch { thing: "stripe", .. })));
    assert_eq!(card.stripe(0, 0).unwrap().state, StripeState::Unwritten);
}
