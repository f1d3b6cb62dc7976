//! Garbage collection as a host sees it: paced, nobody notices; stopping the world, everybody does.

use crate::common::{Finished, Rig, quantile_ns, small, use_share, write};
use card::CardConfig;
use device::{Operation, Rng, SECTOR_BYTES};
use ftl::{BandId, BandState, GcMode, VictimPolicy};

/// The same flash under either mode: sixteen dies, a used share of 0.776, a buffer of sixteen pages a die and twice that
/// for relocation.
fn card(gc: GcMode) -> CardConfig {
    let mut config = small();
    config.nand.geometry.modules = 16;
    config.nand.geometry.pages_per_block = 64;
    config.nand.timing.bus_bytes_per_s = 409_600_000;
    config.link.write_bytes_per_s = 1_200_000_000;
    config.ftl.stripe_width = 16;
    config.buffer_sectors = 256;
    config.relocation_sectors = 512;
    config.ftl.gc = gc;
    use_share(&mut config, 0.776);
    config
}

const PACED: GcMode = GcMode::Paced { target_free_bands: 4 };
const STOPPING: GcMode = GcMode::StopTheWorld { start_free_bands: 2, stop_free_bands: 12 };

struct Run {
    finished: Vec<Finished>,
    /// Fewest free bands at any event.
    fewest_free: u32,
}

/// Random overwrites of a full card in steady state.
fn overwrite(config: &CardConfig, depth: u32, count: u64) -> Run {
    let mut rig = Rig::with(config, depth, false).filled().overwritten(3);
    let mut rng = Rng::stream(21, "overwrites");
    let sectors = rig.ftl().user_sectors();
    let mut fewest_free = u32::MAX;
    for _ in 0..count {
        while rig.in_flight() >= depth as usize {
            assert!(rig.step());
            fewest_free = fewest_free.min(rig.ftl().free_bands());
        }
        rig.submit(write(rng.below(sectors), 1));
    }
    rig.drain();
    rig.ftl().check().unwrap();
    Run { finished: rig.finished, fewest_free }
}

fn longest_ns(run: &Run) -> u64 {
    quantile_ns(&run.finished, Operation::Write, 1.0)
}

#[test]
fn a_full_card_that_paces_never_makes_a_write_wait_long() {
    for depth in [1, 16] {
        let config = card(PACED);
        let run = overwrite(&config, depth, 100_000);
        let longest = longest_ns(&run);
        println!("depth {depth}: longest {longest} ns, fewest free bands {}", run.fewest_free);
        assert!(longest < 20_000_000, "{longest}");
        assert!(run.fewest_free >= config.ftl.reserve_bands, "{}", run.fewest_free);
    }
}

#[test]
fn stopping_the_world_stalls_ten_times_longer_on_the_same_card() {
    let paced = longest_ns(&overwrite(&card(PACED), 16, 100_000));
    let stopping = longest_ns(&overwrite(&card(STOPPING), 16, 100_000));
    println!("longest: paced {paced} ns, stopping {stopping} ns");
    assert!(stopping > 10 * paced, "paced {paced}, stopping {stopping}");
}

#[test]
fn a_stall_lasts_as_long_as_it_takes_to_clean_what_is_asked_for() {
    let config = card(STOPPING);
    let mut rig = Rig::with(&config, 16, false).filled().overwritten(3);
    let mut rng = Rng::stream(22, "stalls");
    let sectors = rig.ftl().user_sectors();
    let before = rig.ftl().counters();
    let finished = rig.closed_loop(16, 200_000, || write(rng.below(sectors), 1));
    let done = rig.ftl().counters().since(&before);
    // All relocation and all erases of the run happened in its stalls.
    let threshold = 20_000_000;
    let mut stalls: Vec<(u64, u64)> = Vec::new();
    for f in finished.iter().filter(|f| f.latency_ns() > threshold) {
        match stalls.last_mut() {
            Some(stall) if f.submitted.0 < stall.1 => stall.1 = stall.1.max(f.at.0),
            _ => stalls.push((f.submitted.0, f.at.0)),
        }
    }
    let stalled_ns: u64 = stalls.iter().map(|s| s.1 - s.0).sum();
    let relocated = done.relocated_sectors as f64;
    // Reads and programs of sixteen dies, parity with them.
    let work_ns = relocated * 60_000.0 / 16.0 + relocated * 410_000.0 / 15.0 + done.erases as f64 * 2e6 / 16.0;
    let got = stalled_ns as f64 / work_ns;
    println!("{} stalls, {stalled_ns} ns in all, {got:.3} of the work", stalls.len());
    assert!((0.9..1.3).contains(&got), "{got}");
    let bands = f64::from(12 - 2);
    let freed = done.host_sectors as f64 / f64::from(crate::common::band_data_sectors(&config));
    assert!((stalls.len() as f64 - freed / bands).abs() < 3.0, "{} stalls, {freed} bands freed", stalls.len());
}

#[test]
fn overwriting_front_to_back_never_makes_a_write_wait_long() {
    for victim in [VictimPolicy::Greedy, VictimPolicy::Fifo, VictimPolicy::CostBenefit] {
        let mut config = card(PACED);
        config.ftl.victim = victim;
        let mut rig = Rig::with(&config, 16, false).filled();
        let sectors = rig.ftl().user_sectors() / 8 * 8;
        let mut next = 0;
        let finished = rig.closed_loop(4, sectors / 8 * 4, || {
            next += 8;
            write((next - 8) % sectors, 8)
        });
        let longest = quantile_ns(&finished, Operation::Write, 1.0);
        println!("{victim:?}: longest {longest} ns");
        assert!(longest < 10_000_000, "{victim:?}: {longest}");
    }
}

#[test]
fn an_idle_card_frees_its_target_and_then_rests() {
    let config = card(PACED);
    let mut rig = Rig::with(&config, 16, false).filled().overwritten(3);
    let mut rng = Rng::stream(23, "idle");
    let sectors = rig.ftl().user_sectors();
    rig.closed_loop(16, 5_000, || write(rng.below(sectors), 1));
    rig.settle();
    let GcMode::Paced { target_free_bands } = config.ftl.gc else { unreachable!() };
    // The control counts the room in the two open bands as free, too.
    let free = rig.ftl().free_bands() - config.ftl.reserve_bands;
    assert!((target_free_bands - 2..=target_free_bands + 2).contains(&free), "{free}");
    let rested = rig.ftl().counters();
    rig.wait_ns(3_600_000_000_000);
    assert_eq!(rig.ftl().counters(), rested);
}

#[test]
fn throughput_of_a_full_card_is_steady_when_it_paces() {
    let run = overwrite(&card(PACED), 16, 200_000);
    // Windows of a tenth of a second.
    let window_ns = 100_000_000;
    let start = run.finished[0].at.0;
    let windows = (run.finished.last().unwrap().at.0 - start) / window_ns;
    let mut bytes = vec![0u64; windows as usize + 1];
    run.finished.iter().for_each(|f| bytes[((f.at.0 - start) / window_ns) as usize] += SECTOR_BYTES);
    let full = &bytes[1..windows as usize];
    let mean = full.iter().sum::<u64>() as f64 / full.len() as f64;
    let (least, most) = (*full.iter().min().unwrap() as f64, *full.iter().max().unwrap() as f64);
    println!("{} windows: {:.2} to {:.2} of the mean", full.len(), least / mean, most / mean);
    assert!(least > 0.9 * mean && most < 1.1 * mean);
}

#[test]
fn a_band_without_valid_data_does_not_wait_for_a_relocation_that_fills_no_stripe() {
    let config = card(PACED);
    let mut rig = Rig::with(&config, 4, false).filled().overwritten(1);
    let sectors = rig.ftl().user_sectors() / 8 * 8;
    let mut next = 0;
    // Once around, what is valid in old bands moves; from then on nothing does, and collection's stripe stays open.
    rig.closed_loop(4, sectors / 8, || {
        next += 8;
        write(next - 8, 8)
    });
    let stale = |rig: &Rig| (0..config.bands).filter(|&b| rig.ftl().band_state(BandId(b)) == BandState::Stale).count();
    let mut most_stale = 0;
    for write_at in 0..sectors / 8 {
        rig.submit(write(write_at * 8, 8));
        while rig.in_flight() == 4 {
            assert!(rig.step());
        }
        most_stale = most_stale.max(stale(&rig));
    }
    println!("at most {most_stale} bands wait for their erase");
    assert!(most_stale <= 5, "{most_stale}");
}
