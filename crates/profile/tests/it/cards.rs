//! The built-in cards and hosts.

use profile::{Basis, DeviceConfig, Host, Profile};
use serde_json::Value;

fn cards() -> impl Iterator<Item = Profile> {
    Profile::builtin_names().map(|name| Profile::builtin(name).unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn every_built_in_card_lowers_at_common_scales() {
    for profile in cards() {
        for scale in [1.0, 1.0 / 64.0, 1.0 / 256.0] {
            let device = profile.lower(scale).unwrap_or_else(|e| panic!("{} at {scale}: {e}", profile.name()));
            assert!(device.user_bytes() > 0, "{}", profile.name());
        }
    }
}

/// Flash management and the disks check their configuration when they are made.
#[test]
fn the_models_accept_every_built_in_card() {
    for profile in cards() {
        let device = profile.lower(1.0 / 256.0).unwrap();
        for card in device.cards() {
            if let Err(e) = ftl::Ftl::new(&card.nand, card.bands, &card.ftl, 1) {
                panic!("{}: {e}", profile.name());
            }
        }
    }
}

#[test]
fn every_number_in_the_built_in_files_has_basis_and_source() {
    let bases = [Basis::Measured, Basis::Datasheet, Basis::Derived, Basis::Assumed].map(Basis::name);
    for profile in cards() {
        let json = profile.to_json_with_sources().unwrap();
        for (table, keys) in json["settings"].as_object().unwrap() {
            for (key, value) in keys.as_object().unwrap() {
                if matches!(value, Value::String(_)) && table == "card" {
                    continue;
                }
                let origin = &json["sources"][table][key];
                let name = format!("{}: {table}.{key}", profile.name());
                assert!(bases.contains(&origin["basis"].as_str().unwrap()), "{name}: {origin}");
                assert!(origin["source"].as_str().is_some_and(|s| s.len() >= 3), "{name}: {origin}");
            }
        }
    }
    for name in Host::builtin_names() {
        let table = Host::builtin(name).unwrap().explain();
        for key in ["cores", "session_ns", "submit_ns", "complete_ns", "contention"] {
            let line = table.lines().find(|l| l.trim_start().starts_with(key)).unwrap();
            assert!(bases.iter().any(|b| line.contains(b)), "{name}: {line}");
        }
    }
}

#[test]
fn the_tachion_400_has_the_capacities_that_were_published() {
    let profile = Profile::builtin("tachion-400").unwrap();
    let capacities = profile.figures().unwrap().unwrap().capacities;
    assert_eq!(capacities.installed_bytes, 0x80_0000_0000);
    assert_eq!(capacities.user_bytes, 400_000_000_000);
    assert_eq!(capacities.data_bytes, 480 << 30);
    assert!((capacities.used_share() - 0.776).abs() < 0.001, "{}", capacities.used_share());
    let DeviceConfig::Card(card) = profile.lower(1.0).unwrap() else { panic!("one card") };
    assert_eq!(card.bands, 8192);
    assert_eq!(card.nand.geometry.dies(), 128);
    assert_eq!(card.ftl.user_sectors * 4096, 400_000_000_000);
}

/// The card writes 990 MiB/s at 20 % fill, where write amplification is 1; the time of a program is fitted over all fills.
#[test]
fn the_tachion_400_programs_what_its_table_says_at_low_fill() {
    let figures = Profile::builtin("tachion-400").unwrap().figures().unwrap().unwrap();
    let mib_per_s = figures.data_program_bytes_per_s / f64::from(1 << 20);
    assert!((mib_per_s / 990.0 - 1.0).abs() < 0.015, "{mib_per_s}");
}

/// `published/prices.csv` states prices a gigabyte.
#[test]
fn prices_a_gigabyte_are_those_published() {
    for (name, usd_per_gb) in [
        ("tachion-400", 34.0),
        ("tachion-200", 34.0),
        ("iodrive-160-slc", 39.5),
        ("iodrive-duo-320-slc", 36.5),
        ("iodrive-duo-640-mlc", 23.0),
    ] {
        let summary = Profile::builtin(name).unwrap().summary().unwrap();
        let found = summary.usd_per_gb().unwrap();
        assert!((found - usd_per_gb).abs() < 0.1, "{name}: {found}");
    }
}

#[test]
fn a_duo_is_two_equal_cards_that_share_the_capacity() {
    let DeviceConfig::Striped { cards, stripe_bytes } =
        Profile::builtin("iodrive-duo-320-slc").unwrap().lower(1.0).unwrap()
    else {
        panic!("striped")
    };
    let DeviceConfig::Card(single) = Profile::builtin("iodrive-160-slc").unwrap().lower(1.0).unwrap() else {
        panic!("one card")
    };
    assert_eq!(cards, [single, single]);
    assert_eq!(stripe_bytes, 65_536);
}

#[test]
fn the_unlimited_host_is_the_one_that_the_model_knows() {
    assert_eq!(Host::builtin("unlimited").unwrap().config(), device::HostConfig::UNLIMITED);
}

#[test]
fn everything_shown_fits_80_columns() {
    let fits = |text: &str| {
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    };
    fits(&profile::Summary::header());
    for mut profile in cards() {
        fits(&profile.explain_sources());
        fits(&profile.summary().unwrap().to_string());
        profile.set("card.power_watts=33").unwrap();
        let page = profile.explain().unwrap();
        fits(&page);
        assert!(page.contains("--set") && page.contains("33 W"), "{page}");
    }
    let mut cheap = Profile::builtin("tachion-400").unwrap();
    cheap.set("card.price_usd=4.452070578151074e-167").unwrap();
    fits(&cheap.explain_sources());
    for name in Host::builtin_names() {
        fits(&Host::builtin(name).unwrap().explain());
    }
}

#[test]
fn a_card_in_words_says_what_matters() {
    let page = Profile::builtin("tachion-400").unwrap().explain().unwrap();
    for fact in ["512 GiB", "480 GiB", "77.6 %", "16 modules", "128 dies", "greedy", "paced", "51.54 PB", "34 $/GB"] {
        assert!(page.contains(fact), "{fact} in {page}");
    }
}

#[test]
fn the_capacitors_of_every_card_carry_its_whole_buffer() {
    let mut with_capacitors = 0;
    for profile in cards() {
        let device = profile.lower(1.0).unwrap();
        for card in device.cards() {
            assert_eq!(card.durable_buffer_sectors(), card.buffer_sectors, "{}", profile.name());
            with_capacitors += u32::from(card.hold_up_ns().is_some());
        }
    }
    assert!(with_capacitors >= 10);
}

#[test]
fn every_flash_card_says_how_its_flash_errs_and_corrects_a_year_at_the_rated_cycles() {
    for profile in cards() {
        let Some(physics) = profile.physics().unwrap() else { continue };
        assert!(!physics.errors.is_none(), "{}", profile.name());
        let rates = &physics.errors;
        let mean_bits = (rates.fresh + rates.cycles + rates.retention_year) * 4160.0 * 8.0;
        assert!(mean_bits < f64::from(physics.ecc_bits), "{}: {mean_bits} bits", profile.name());
    }
}
