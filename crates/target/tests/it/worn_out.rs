//! A card that wears out while it is measured has no figures.

use crate::common::*;
use load::{FileioMode, LoadConfig};
use serde_json::Value;
use target::{Measure, RunError, RunSpec, Silent};

/// 16 dies with 64 blocks of 16 pages.
fn small(settings: &[&str]) -> Setup {
    let small = [
        "geometry.channels_per_module=1",
        "geometry.dies_per_channel=1",
        "geometry.blocks_per_plane=64",
        "geometry.pages_per_block=16",
        "card.user_bytes=40MiB",
        "buffer.bytes=256KiB",
        "relocation.sectors_under_way=128",
    ];
    let settings: Vec<&str> = small.iter().chain(settings).copied().collect();
    let device = changed_device("tachion-400", &settings, 1.0);
    Setup { measure: Measure::Requests(200_000), fresh: true, ..Setup::new(device, FileioMode::RndWr, 0.9) }
}

#[test]
fn a_run_in_which_the_card_turns_read_only_is_an_error() {
    small(&[]).run();
    let setup = small(&["endurance.rated_cycles=10", "endurance.erase_fail_ppm_at_rated=1000000"]);
    let load = LoadConfig::Fileio(setup.load);
    let spec = RunSpec {
        device: &setup.device,
        device_json: Value::Null,
        host: &setup.host,
        host_json: Value::Null,
        load: &load,
        fill: setup.fill,
        seed: 1,
        measure: setup.measure,
        fresh: true,
        explain_tail: true,
        histograms: false,
    };
    let ended = target::run(&spec, &Silent);
    assert!(matches!(ended, Err(RunError::ReadOnly(_))), "{:?}", ended.map(|_| "figures"));
}
