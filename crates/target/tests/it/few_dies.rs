//! Cards with bands that are small beside what is under way.

use crate::common::{Setup, changed_device};
use load::{FileioConfig, FileioMode};
use target::Measure;

/// Eight dies behind a buffer of 8 MiB: it holds two bands, and relocation has four more under way. With four free bands, as
/// larger cards hold, the host stands still for half a second again and again.
#[test]
fn a_full_card_of_eight_dies_never_makes_a_write_wait_long() {
    let settings = [
        "geometry.modules=8",
        "geometry.channels_per_module=1",
        "geometry.dies_per_channel=1",
        "ftl.stripe_width=8",
        "ftl.parity_units=0",
        "geometry.blocks_per_plane=131072",
        "buffer.capacitor_joules=100",
    ];
    for mode in [FileioMode::RndWr, FileioMode::RndRw] {
        let mut setup = Setup::new(changed_device("tachion-400", &settings, 1.0 / 512.0), mode, 1.0);
        setup.load = FileioConfig { block_bytes: 16 << 10, ..setup.load };
        let result = Setup { measure: Measure::Requests(40_000), ..setup }.run();
        let (p99, longest) = (result.write.lat_ns.at(99.0), result.write.lat_ns.max);
        println!("{mode}: p99 {p99} ns, longest {longest} ns");
        assert!(p99 < 30_000_000 && longest < 100_000_000, "{mode}: {p99} {longest}");
    }
}
