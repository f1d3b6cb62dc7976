//! Takes any text as a card's or a host's file: an answer or an error, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use profile::{Host, Profile};

fuzz_target!(|text: &str| {
    // The first line is a setting, the rest is the file.
    let (setting, file) = text.split_once('\n').unwrap_or(("", text));
    if let Ok(mut profile) = Profile::parse(file, "fuzzed.toml") {
        let _ = profile.lower(1.0);
        let _ = profile.lower(1.0 / 256.0);
        let _ = profile.set(setting);
        let _ = (profile.lower(0.5), profile.explain(), profile.summary(), profile.to_json_with_sources());
        profile.explain_sources();
    }
    if let Ok(host) = Host::parse(file, "fuzzed.toml") {
        host.explain();
    }
    let _ = (profile::parse_bytes(setting), profile::parse_share(setting));
});
