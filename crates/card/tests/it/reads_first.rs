//! Reads gain when they go ahead of programs and suspend them.

use crate::common::{Rig, quantile_ns, read, small, use_share, write};
use card::CardConfig;
use device::{Operation, Rng};

fn card(reads_first: bool, suspend: bool) -> CardConfig {
    let mut config = CardConfig { reads_first, ..small() };
    if suspend {
        config.nand.timing.suspend_ns = Some(20_000);
        config.nand.timing.max_suspends = 8;
    }
    config
}

struct Run {
    p50: u64,
    p99: u64,
    writes: usize,
}

/// One reader beside writers that saturate a full card.
fn mixed(config: &CardConfig) -> Run {
    let mut rig = Rig::with(config, 32, false).filled().overwritten(3);
    let mut rng = Rng::stream(31, "mixed");
    let sectors = rig.ftl().user_sectors();
    let end = rig.now + 8_000_000_000;
    while rig.now < end {
        if rig.in_flight_of(Operation::Read) == 0 {
            rig.submit(read(rng.below(sectors), 1));
        }
        while rig.in_flight_of(Operation::Write) < 16 {
            rig.submit(write(rng.below(sectors), 1));
        }
        rig.step();
    }
    let quantile = |share| quantile_ns(&rig.finished, Operation::Read, share);
    let writes = rig.finished.iter().filter(|f| f.request.operation == Operation::Write).count();
    Run { p50: quantile(0.5), p99: quantile(0.99), writes }
}

#[test]
fn reads_that_go_first_and_suspend_stay_fast_under_saturating_writes() {
    let [neither, first, both] = [(false, false), (true, false), (true, true)].map(|(f, s)| mixed(&card(f, s)));
    println!("p99: neither {}, reads first {}, and suspend {}", neither.p99, first.p99, both.p99);
    assert!(first.p99 < neither.p99, "{} {}", first.p99, neither.p99);
    assert!(3 * both.p99 < neither.p99, "{} {}", both.p99, neither.p99);
    // A read that suspends waits for a page that is on its way to the die, at most, and for the suspension.
    let idle = 2_000 + 5_000 + 50_000 + 100_000 + 10_000;
    assert!(both.p99 <= idle + 100_000 + 20_000 + 150_000, "{}", both.p99);
    assert!(first.p99 > idle + 300_000, "{}", first.p99);
    // The median is fast wherever reads go first.
    assert!(both.p50 < first.p50 && first.p50 < neither.p50);
    // Writes pay for it, but not much: one reader is no load.
    assert!(both.writes * 10 > neither.writes * 6, "{} {}", both.writes, neither.writes);
}

#[test]
fn a_suspension_is_allowed_only_so_often() {
    let mut config = card(true, true);
    config.nand.timing.max_suspends = 0;
    let (never, without) = (mixed(&config), mixed(&card(true, false)));
    assert_eq!((never.p50, never.p99, never.writes), (without.p50, without.p99, without.writes));
}

#[test]
fn reads_alone_cannot_starve_writes() {
    for suspend in [false, true] {
        let config = card(true, suspend);
        let mut rig = Rig::with(&config, 80, false).filled();
        let mut rng = Rng::stream(32, "starve");
        let sectors = rig.ftl().user_sectors();
        let end = rig.now + 2_000_000_000;
        while rig.now < end {
            while rig.in_flight_of(Operation::Read) < 64 {
                rig.submit(read(rng.below(sectors), 1));
            }
            while rig.in_flight_of(Operation::Write) < 16 {
                rig.submit(write(rng.below(sectors), 1));
            }
            rig.step();
        }
        // A die that always has reads programs once after eight of them: 8 * 150 µs + 500 µs for a page. Parity
        // and relocation take their part of these.
        let writes = rig.finished.iter().filter(|f| f.request.operation == Operation::Write).count() as f64;
        let programs = 4.0 * 2e9 / (8.0 * 150_000.0 + 500_000.0);
        println!("suspend {suspend}: {writes} writes, {} of the programs", writes / programs);
        assert!(writes > 0.1 * programs, "{writes} of {programs}");
    }
}

#[test]
fn reads_of_planes_on_their_own_stay_fast_under_saturating_writes() {
    let with = |independent_planes| {
        let mut config = card(true, true);
        config.nand.geometry.planes_per_die = 4;
        config.nand.geometry.multi_plane = true;
        config.nand.timing.bus_bytes_per_s = 400_000_000;
        config.buffer_sectors = 192;
        use_share(&mut config, 0.8);
        config.model.independent_planes = independent_planes;
        mixed(&config)
    };
    let (together, alone) = (with(false), with(true));
    println!("p99: together {}, alone {}; writes {} {}", together.p99, alone.p99, together.writes, alone.writes);
    // One reader never finds its die reading for another: nothing changes for it, nor for the writes.
    assert!(alone.p99 <= together.p99 + together.p99 / 20, "{} {}", alone.p99, together.p99);
    assert!(alone.writes * 20 >= together.writes * 19, "{} {}", alone.writes, together.writes);
}
