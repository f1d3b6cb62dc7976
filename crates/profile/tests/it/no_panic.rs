//! No text makes the parser, the checks or the printers panic.

use profile::{DeviceConfig, Host, Profile};
use proptest::prelude::*;

const FILES: [&str; 5] = [
    include_str!("../../../../cards/tachion-400-preproduction.toml"),
    include_str!("../../../../cards/iodrive-duo-320-slc.toml"),
    include_str!("../../../../cards/consumer-qlc-2tb.toml"),
    include_str!("../../../../cards/sas-raid10-6.toml"),
    include_str!("../../../../hosts/default.toml"),
];

/// Does with a text everything that the command line could.
fn exercise(text: &str, scale: f64) {
    if let Ok(profile) = Profile::parse(text, "mutated.toml") {
        let full = profile.lower(1.0);
        let _ = profile.lower(scale);
        if let Ok(small) = profile.lower(1e-9) {
            models_accept(&small, text);
        }
        profile.explain().expect("what parses can be explained");
        profile.summary().expect("what parses has a summary").to_string();
        profile.to_json_with_sources().expect("what parses has JSON");
        assert!(profile.explain_sources().lines().all(|l| l.chars().count() <= 80));
        if let Ok(full) = full {
            assert!(full.user_bytes() > 0);
        }
    }
    if let Ok(host) = Host::parse(text, "mutated.toml") {
        host.explain();
    }
}

/// A profile that lowers satisfies the checks of the models.
fn models_accept(device: &DeviceConfig, text: &str) {
    if let DeviceConfig::Disks(array) = device {
        // The disk judges how many blocks a track has.
        match disk::Array::new(*array, 1, false, 1) {
            Ok(_) | Err(disk::DiskError::TrackSize { .. }) => {}
            Err(e) => panic!("{e}: {text}"),
        }
    }
    if let DeviceConfig::Volume(volume) = device
        && let Err(e) = disk::Volume::new(*volume, 1, false, 1)
    {
        panic!("{e}: {text}");
    }
    if let Some(card) = device.cards().first() {
        let sectors = profile::Capacities::of(card).installed_bytes / 4096;
        // Large cards would take the test's time, and which blocks are bad is a matter of chance.
        let is_certain = sectors < 1 << 22 && card.nand.endurance.factory_bad_ppm == 0;
        if is_certain && let Err(e) = ftl::Ftl::new(&card.nand, card.bands, &card.ftl, 1) {
            panic!("{e}: {text}");
        }
    }
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        (0_u64..300).prop_map(|n| n.to_string()),
        (0_u32..64, -1_i64..2).prop_map(|(bit, off)| ((1_u64 << bit) as i128 + i128::from(off)).to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| format!("{n:?}")),
        "\"[0-9]{1,20}(k|GB|KiB|%|/64|)\"",
        prop_oneof![Just("true"), Just("\"\""), Just("[]"), Just("{}"), Just("{ value = 1 }"), Just("1979-05-27")]
            .prop_map(String::from),
    ]
}

#[derive(Clone, Debug)]
enum Mutation {
    Delete(usize),
    Repeat(usize),
    Swap(usize, usize),
    SetValue(usize, String),
    Garble(usize, String),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let line = 0_usize..100;
    prop_oneof![
        1 => line.clone().prop_map(Mutation::Delete),
        1 => line.clone().prop_map(Mutation::Repeat),
        1 => (line.clone(), line.clone()).prop_map(|(a, b)| Mutation::Swap(a, b)),
        6 => (line.clone(), number()).prop_map(|(l, v)| Mutation::SetValue(l, v)),
        1 => (line, ".{0,20}").prop_map(|(l, s)| Mutation::Garble(l, s)),
    ]
}

fn mutate(text: &str, mutations: &[Mutation]) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    for mutation in mutations {
        let count = lines.len().max(1);
        match mutation {
            Mutation::Delete(line) if !lines.is_empty() => {
                lines.remove(line % count);
            }
            Mutation::Repeat(line) if !lines.is_empty() => {
                let copy = lines[line % count].clone();
                lines.insert(line % count, copy);
            }
            Mutation::Swap(a, b) if !lines.is_empty() => lines.swap(a % count, b % count),
            Mutation::SetValue(line, value) if !lines.is_empty() => {
                let line = &mut lines[line % count];
                if let Some((key, _)) = line.split_once(" = ") {
                    *line = format!("{key} = {value}");
                }
            }
            Mutation::Garble(line, text) if !lines.is_empty() => lines[line % count] = text.clone(),
            _ => {}
        }
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn mutated_files_never_panic(
        file in 0..FILES.len(),
        mutations in prop::collection::vec(mutation(), 1..4),
        scale in prop_oneof![Just(1.0 / 64.0), any::<f64>()],
    ) {
        exercise(&mutate(FILES[file], &mutations), scale);
    }

    #[test]
    fn any_setting_never_panics(table in "(card|geometry|timing|ftl|link|buffer|slc_cache|disk|x)", key in "[a-z_]{0,12}", value in ".{0,12}") {
        let mut profile = Profile::builtin("tachion-400").expect("it is built in");
        let _ = profile.set(&format!("{table}.{key}={value}"));
        let _ = profile.set(&format!("{key}{value}"));
        let _ = profile.lower(0.5);
    }

    /// Numbers at the edges of their ranges, several at once: their products must not overflow.
    #[test]
    fn extreme_geometries_never_panic(values in prop::collection::vec((0_usize..60, number()), 1..12)) {
        let mut lines: Vec<String> = FILES[2].lines().map(String::from).collect();
        let numbers: Vec<usize> = (0..lines.len()).filter(|l| lines[*l].contains("= { value = ")).collect();
        for (index, value) in values {
            let line = &mut lines[numbers[index % numbers.len()]];
            let key = line.split_once(" = ").expect("it has a value").0.to_string();
            *line = format!("{key} = {value}");
        }
        exercise(&lines.join("\n"), 1e-3);
    }

    #[test]
    fn sizes_and_shares_never_panic(text in ".{0,40}", number in "[0-9_.]{0,40}[kKmMgGiIbBtT%/]{0,4}") {
        for text in [text, number] {
            let _ = profile::parse_bytes(&text);
            let _ = profile::parse_share(&text);
        }
    }
}
