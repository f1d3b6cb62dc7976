//! A modelled card warms as its power says, and throttled it takes the power that its threshold allows.

use crate::common::{Finished, Rig, assert_close, read, small, throughput, use_share, write};
use card::{CardConfig, ThermalAccount, ThermalConfig, Throttle};
use device::{Request, Rng, SECTOR_BYTES};

const AMBIENT: f64 = 25.0;
const KELVIN_PER_WATT: f64 = 10.0;
const JOULES_PER_KELVIN: f64 = 0.05;
const IDLE_WATTS: f64 = 0.5;

/// A card that nears its last temperature by `e` in half a second, so that tests are short.
fn warm() -> CardConfig {
    let mut config = small();
    use_share(&mut config, 0.8);
    config.model.thermal = Some(ThermalConfig {
        idle_watts: IDLE_WATTS,
        read_watts: 0.2,
        program_watts: 0.8,
        erase_watts: 0.6,
        nanojoules_per_byte: 20.0,
        joules_per_kelvin: JOULES_PER_KELVIN,
        kelvin_per_watt: KELVIN_PER_WATT,
        ambient_celsius: AMBIENT,
        start_celsius: AMBIENT,
        hysteresis_kelvin: 0.5,
        throttles: [Throttle::NEVER; card::LEVELS],
    });
    config
}

fn throttled(from_celsius: f64, speed_percent: u32, hysteresis_kelvin: f64) -> CardConfig {
    let mut config = warm();
    let thermal = config.model.thermal.as_mut().unwrap();
    thermal.throttles[0] = Throttle { from_celsius, speed_percent };
    thermal.hysteresis_kelvin = hysteresis_kelvin;
    config
}

/// Writes front to back, again and again.
fn sequential(rig: &mut Rig, requests: u64) -> Vec<Finished> {
    let sectors = rig.ftl().user_sectors() / 8 * 8;
    let mut next = 0;
    rig.closed_loop(16, requests, move || {
        next += 8;
        write((next - 8) % sectors, 8)
    })
}

fn account(rig: &Rig) -> ThermalAccount {
    rig.card.thermal_account(rig.now).expect("the card has a temperature")
}

fn seconds(rig: &Rig) -> f64 {
    rig.now.0 as f64 * 1e-9
}

/// Energy of the card's operations by its counters, as its data sheet has it.
fn counted_joules(rig: &Rig) -> f64 {
    let (media, timing) = (rig.card.media(), rig.card.config().nand.timing.native);
    let of = |count: u64, watts: f64, ns: u64| count as f64 * watts * ns as f64 * 1e-9;
    of(media.programs, 0.8, timing.program_ns)
        + of(media.erases, 0.6, timing.erase_ns)
        + of(media.reads, 0.2, timing.read_ns)
        + (media.programs + media.reads) as f64 * SECTOR_BYTES as f64 * 20e-9
}

/// Mean power of sequential writes that nothing throttles, and bytes a second, by a card's counters alone.
fn unthrottled() -> (f64, f64) {
    let mut config = warm();
    config.model.thermal = None;
    let mut rig = Rig::with(&config, 16, false).filled();
    let rate = throughput(&sequential(&mut rig, 3_000));
    (IDLE_WATTS + counted_joules(&rig) / seconds(&rig), rate)
}

#[test]
fn what_operations_take_is_stored_or_given_off_to_the_last_joule() {
    let mut rig = Rig::with(&warm(), 16, false).filled();
    sequential(&mut rig, 1_000);
    let mut rng = Rng::stream(4, "reads and writes");
    let sectors = rig.ftl().user_sectors();
    rig.closed_loop(16, 5_000, || {
        let sector = rng.below(sectors);
        if rng.below(3) == 0 { write(sector, 1) } else { read(sector, 1) }
    });
    rig.wait_ns(300_000_000);
    let heat = account(&rig);
    let taken = IDLE_WATTS * seconds(&rig) + counted_joules(&rig);
    // Reads from the page registers sense nothing.
    assert_close("joules", heat.taken_joules, taken, 2e-3);
    let stored = (heat.celsius - AMBIENT) * JOULES_PER_KELVIN;
    assert_close("stored and given off", heat.given_off_joules + stored, heat.taken_joules, 1e-9);
}

#[test]
fn a_saturated_card_nears_the_temperature_of_its_power_and_passes_a_threshold_on_time() {
    let (watts, _) = unthrottled();
    let last = AMBIENT + watts * KELVIN_PER_WATT;
    let mut rig = Rig::with(&warm(), 16, false).filled();
    // Ten times R C.
    while rig.now.0 < 5_000_000_000 {
        sequential(&mut rig, 500);
    }
    assert_close("last temperature", account(&rig).celsius - AMBIENT, last - AMBIENT, 0.01);
    for share in [0.3, 0.6, 0.9] {
        let threshold = AMBIENT + share * (last - AMBIENT);
        // A level that never ends, and slows by next to nothing: what it counts says when it began.
        let mut rig = Rig::with(&throttled(threshold, 99, 1_000.0), 16, false).filled();
        while account(&rig).throttled_ns[0] == 0 {
            sequential(&mut rig, 50);
        }
        let at = seconds(&rig) - account(&rig).throttled_ns[0] as f64 * 1e-9;
        let expected = -KELVIN_PER_WATT * JOULES_PER_KELVIN * (1.0 - share).ln();
        assert_close(&format!("seconds to {threshold:.1} °C"), at, expected, 0.01);
    }
}

#[test]
fn a_throttled_card_takes_the_power_that_its_threshold_allows() {
    let (watts, rate) = unthrottled();
    let joules_per_byte = (watts - IDLE_WATTS) / rate;
    for (share, percent) in [(0.5, 25), (0.7, 50), (0.9, 70)] {
        let threshold = AMBIENT + share * watts * KELVIN_PER_WATT;
        let mut rig = Rig::with(&throttled(threshold, percent, 0.2), 16, false).filled();
        while rig.now.0 < 2_000_000_000 {
            sequential(&mut rig, 500);
        }
        rig.card.begin_thermal_account(rig.now);
        let finished = sequential(&mut rig, 4_000);
        let heat = account(&rig);
        assert!(heat.highest_celsius < threshold + 0.3, "{} °C", heat.highest_celsius);
        // The temperature swings within the hysteresis.
        let allowed = (threshold - 0.1 - AMBIENT) / KELVIN_PER_WATT;
        let expected = (allowed - IDLE_WATTS) / joules_per_byte;
        assert_close(&format!("throttled at {threshold:.1} °C to {percent} %"), throughput(&finished), expected, 0.02);
    }
}

/// Bytes a second of requests on a card that is at a level from the beginning, and for ever.
fn at_speed(percent: u32, mut next: impl FnMut(u64) -> Request) -> f64 {
    let mut config = throttled(0.0, percent, 1_000.0);
    config.link.latency_ns = 0;
    let mut rig = Rig::with(&config, 16, false).filled();
    let sectors = rig.ftl().user_sectors();
    throughput(&rig.closed_loop(16, 3_000, || next(sectors)))
}

#[test]
fn a_level_slows_reads_writes_and_commands_by_its_factor() {
    let reads = |percent| {
        let mut rng = Rng::stream(9, "reads");
        at_speed(percent, move |sectors| read(rng.below(sectors), 1))
    };
    let writes = |percent| {
        let mut sector = 0;
        at_speed(percent, move |sectors| {
            sector += 8;
            write((sector - 8) % (sectors / 8 * 8), 8)
        })
    };
    for percent in [50, 20] {
        assert_close("random reads", reads(percent) / reads(100), f64::from(percent) / 100.0, 0.01);
        assert_close("sequential writes", writes(percent) / writes(100), f64::from(percent) / 100.0, 0.01);
    }
}

#[test]
fn a_card_cools_while_nobody_asks_and_comes_to_rest() {
    let (watts, _) = unthrottled();
    let threshold = AMBIENT + 0.5 * watts * KELVIN_PER_WATT;
    let config = throttled(threshold, 20, 2.0);
    let mut cool = Rig::with(&warm(), 1, false).filled();
    let full = cool.ask(read(7, 1)).latency_ns();
    let mut rig = Rig::with(&config, 16, false).filled();
    while account(&rig).throttled_ns[0] == 0 {
        sequential(&mut rig, 50);
    }
    rig.settle();
    rig.wait_ns(20_000_000_000);
    let heat = account(&rig);
    assert!((heat.celsius - (AMBIENT + IDLE_WATTS * KELVIN_PER_WATT)).abs() < 1e-6, "{} °C", heat.celsius);
    assert_eq!(heat.seconds.len() as u64, rig.now.0 / 1_000_000_000);
    assert_eq!(rig.ask(read(7, 1)).latency_ns(), full);
}
