//! Properties of simulated lives.

use device::Compressible;
use load::Access;
use profile::Profile;
use results::LifetimeCase;
use study::lifetime::miniature::Size;
use study::lifetime::{Wearing, lifetime};
use target::Silent;

const TB: f64 = 1e12;

fn wearing(card: &str, settings: &[&str]) -> Wearing {
    let mut profile = Profile::builtin(card).unwrap();
    settings.iter().for_each(|setting| profile.set(setting).unwrap());
    Wearing {
        profile,
        fill: 1.0,
        access: Some(Access::Uniform),
        block_bytes: 4096,
        fsync_every: 0,
        compressible: Compressible::NOT,
        seed: 1,
        size: Size { bands: 128, band_sectors: 128, cycles: 300 },
    }
}

fn live(wearing: &Wearing) -> LifetimeCase {
    lifetime(wearing, 2.0 * TB, 5.0, &Silent).unwrap()
}

const NEVER_FAILS: [&str; 2] = ["endurance.erase_fail_ppm_at_rated=0", "endurance.program_fail_ppm_at_rated=0"];

#[test]
fn uniform_writes_last_as_long_as_the_closed_form_says() {
    for (card, fill) in [("tachion-400", 1.0), ("tachion-400", 0.6)] {
        let case = live(&Wearing { fill, ..wearing(card, &NEVER_FAILS) });
        let rated = case.rated_years.expect("nothing else ends it");
        let ratio = rated / case.closed_years;
        println!(
            "{card} {fill}: {rated:.2} years, closed {:.2}, WAF {:.3}, {:?}",
            case.closed_years, case.waf, case.wear
        );
        // The first block gets there before the mean one, and never after it.
        assert!((0.95..=1.01).contains(&ratio), "{card} {fill}: {ratio}");
        assert_eq!((case.spare_years, case.years), (None, rated));
    }
}

#[test]
fn hot_and_cold_writes_wear_within_a_tenth_of_the_mean() {
    let hot_cold = Some(Access::HotCold { hot_share_of_space: 0.1, share_of_accesses: 0.9 });
    // One that moves cold data, and one whose log does it by itself. Cards with large units take minutes.
    for card in ["tachion-400", "iodrive-320-mlc"] {
        let case = live(&Wearing { access: hot_cold, ..wearing(card, &NEVER_FAILS) });
        let share = case.wear.share_of_mean();
        println!("{card}: {:.1} %, WAF {:.2}, {:?} {:?}", share * 100.0, case.waf, case.wear, case.model);
        assert!(share < 0.10, "{card}: {share}, {:?}", case.wear);
    }
}

#[test]
fn blocks_are_retired_as_the_closed_form_says_and_their_loss_ends_the_card() {
    let case = live(&wearing("tachion-400", &[]));
    println!("{:?}", LifetimeCase { curve: Vec::new(), ..case.clone() });
    assert!((case.retired_share / case.retired_share_closed - 1.0).abs() < 0.15, "{case:?}");
    let spare = case.spare_years.expect("blocks fail");
    assert!(spare <= case.rated_years.unwrap_or(f64::INFINITY) || case.years < spare);
    let closed = case.closed_spare_years.expect("blocks fail");
    assert!((0.8..1.1).contains(&(spare / closed)), "{spare} years to the end of spare, closed {closed}");
    let rising = |of: fn(&results::LifetimePoint) -> f64| case.curve.windows(2).all(|p| of(&p[0]) <= of(&p[1]));
    assert!(rising(|p| p.years) && rising(|p| p.retired_share) && rising(|p| -p.spare_factor));
    let (young, old) = (&case.curve[4], case.curve.last().unwrap());
    assert!(old.waf > young.waf, "less spare, more amplification: {young:?} {old:?}");
}

#[test]
fn a_drive_of_today_bears_its_rated_cycles() {
    for card in ["datacenter-tlc-3840", "consumer-qlc-2tb"] {
        let small = Size { bands: 64, band_sectors: 128, cycles: 150 };
        let case = live(&Wearing { size: small, ..wearing(card, &[]) });
        let rated = case.rated_years.unwrap_or_else(|| panic!("{card} ends at {:?}", case.wear));
        // Chance is a larger part of few cycles.
        assert!((0.85..1.1).contains(&(rated / case.closed_years)), "{card}: {rated}, closed {}", case.closed_years);
        assert!(case.retired_share < 0.04 && case.years == rated, "{card}: {}", case.retired_share);
    }
}

/// Each flush of a 4 KiB write fills a row with one bit a cell, or a word line; capacitors need neither.
#[test]
fn flushes_wear_out_a_card_without_capacitors() {
    let size = Size { bands: 64, band_sectors: 128, cycles: 60 };
    let with = |card: &str, fsync_every| live(&Wearing { fsync_every, fill: 0.5, size, ..wearing(card, &NEVER_FAILS) });
    let [never, seldom, always] = [0, 8, 1].map(|every| with("consumer-qlc-2tb", every));
    println!("{:.2} {:.2} {:.2}", never.total_amplification, seldom.total_amplification, always.total_amplification);
    assert!(always.total_amplification > 16.0 && always.total_amplification < 70.0, "{}", always.total_amplification);
    assert!(seldom.total_amplification > 1.5 * never.total_amplification);
    assert!(always.years < seldom.years && seldom.years < never.years);
    // A cycle with one bit a cell takes a quarter of the data, which the closed form does not know.
    let ratio = always.years / always.closed_years;
    assert!((0.25..1.0).contains(&ratio), "{ratio}");
    assert_eq!(with("tachion-400", 1), with("tachion-400", 0));
}

#[test]
fn more_reserve_lasts_longer_and_costs_more_a_gigabyte() {
    let cases = [0, 10, 25].map(|percent| live(&wearing("tachion-400", &[&format!("ftl.reserve={percent}%")])));
    for pair in cases.windows(2) {
        assert!(pair[1].waf < pair[0].waf && pair[1].years > pair[0].years);
        assert!(pair[1].usd_per_gb > pair[0].usd_per_gb && pair[1].usd_per_tb_written < pair[0].usd_per_tb_written);
    }
    assert!((cases[2].reserve_percent - 25.0).abs() < 1e-3);
}

#[test]
fn what_the_small_card_says_does_not_depend_on_how_small_it_is() {
    let never = wearing("tachion-400", &NEVER_FAILS);
    let years = |size: Size| live(&Wearing { size, ..never.clone() }).years;
    let usual = years(never.size);
    for size in [
        Size { bands: 256, ..never.size },
        Size { band_sectors: 256, ..never.size },
        Size { cycles: 600, ..never.size },
    ] {
        let ratio = years(size) / usual;
        assert!((0.97..1.03).contains(&ratio), "{size:?}: {ratio}");
    }
}

#[test]
fn the_same_seed_lives_the_same_life() {
    let small = Wearing { size: Size { bands: 64, band_sectors: 128, cycles: 60 }, ..wearing("tachion-400", &[]) };
    assert_eq!(live(&small), live(&small));
    assert_ne!(live(&small), live(&Wearing { seed: 2, ..small.clone() }));
}

#[test]
fn disks_have_no_cycles() {
    let error = lifetime(&wearing("sas-raid10-6", &[]), TB, 5.0, &Silent).unwrap_err();
    assert!(error.to_string().contains("sas-raid10-6 is no flash card"), "{error}");
}

/// Data of half the size wear a half, and leave so much spare that next to nothing is moved.
#[test]
fn compressible_data_wear_a_card_out_later() {
    let card = |share: f64| {
        let settings = [&NEVER_FAILS[..], &["compression.granule=512"]].concat();
        let compressible = Compressible { least: share, most: share };
        live(&Wearing { compressible, ..wearing("tachion-400", &settings) })
    };
    let (plain, half) = (card(0.0), card(0.5));
    println!("WAF {:.3} and {:.3}, {:.2} and {:.2} years", plain.waf, half.waf, plain.years, half.years);
    assert!(half.waf < 0.7 && plain.waf > 1.5, "{} {}", plain.waf, half.waf);
    assert!((half.years / plain.years / (plain.waf / half.waf) - 1.0).abs() < 0.06);
    let rated = half.rated_years.expect("nothing else ends it");
    assert!((0.9..=1.01).contains(&(rated / half.closed_years)), "{rated} {}", half.closed_years);
    assert!((half.effective_spare_factor - (1.0 + plain.effective_spare_factor) / 2.0).abs() < 1e-6);
}
