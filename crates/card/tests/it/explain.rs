//! A slow request names what it waited for.
//!
//! That the parts of every request add up to its latency is checked by the rig, for every completion of every test.

use crate::common::{Finished, Rig, SECTOR, quantile_ns, read, small, use_share, write};
use card::CardConfig;
use device::{Cause, Device, Operation, Parts, Request, Rng};
use ftl::{Counters, GcMode, Lba};

/// A page on its bus; tR; tPROG; tBERS; all of `small()`.
const BUS_NS: u64 = 100_000;
const READ_NS: u64 = 50_000;
const PROGRAM_NS: u64 = 400_000;
const ERASE_NS: u64 = 2_000_000;
const SUSPEND_NS: u64 = 20_000;
/// From submission of a read until the card has it.
const DOWN_NS: u64 = 2_000 + 5_000;
const IDLE_NS: u64 = DOWN_NS + READ_NS + BUS_NS + 10_000;

fn with_suspend() -> CardConfig {
    let mut config = small();
    config.nand.timing.suspend_ns = Some(SUSPEND_NS);
    config.nand.timing.max_suspends = 2;
    config
}

/// Writes front to back, a stripe at a time, until all dies have just begun to erase.
fn until_erasing(config: &CardConfig) -> Rig {
    let mut config = *config;
    use_share(&mut config, 0.5);
    let mut rig = Rig::new(&config, 8).filled();
    let sectors = rig.ftl().user_sectors();
    let stripes = (0..).map(|i| i * 3 % (sectors / 3 * 3));
    for first in stripes.take(10_000) {
        rig.submit(write(first, 3));
        while rig.step() {
            if rig.card.media().erases > 0 {
                return rig;
            }
        }
    }
    panic!("nothing was erased");
}

/// A sector on flash, on die `die`, from `from` on.
fn on_die(rig: &Rig, die: u32, from: u32) -> u64 {
    let lies_there = |&s: &u32| {
        let unit = rig.ftl().lookup(Lba(s)).map(|ppa| rig.ftl().layout().locate(ppa));
        unit.is_some_and(|unit| unit.die == die && rig.ftl().is_programmed(unit))
    };
    (from..rig.ftl().user_sectors() as u32).find(lies_there).expect("some sector lies there").into()
}

fn submit_all(rig: &mut Rig, requests: impl Iterator<Item = Request>) {
    requests.for_each(|request| {
        rig.submit(request);
    });
}

fn sum(finished: &[Finished], op: Operation) -> Parts {
    let mut all = Parts::default();
    finished.iter().filter(|f| f.request.operation == op).for_each(|f| all.merge(&f.parts));
    all
}

#[test]
fn a_read_behind_an_erase_waits_for_the_erase() {
    let mut rig = until_erasing(&small());
    let sector = on_die(&rig, 2, 100);
    let done = rig.ask(read(sector, 1));
    assert_eq!(done.parts.get(Cause::DieErase), ERASE_NS - DOWN_NS);
    assert_eq!(done.latency_ns(), IDLE_NS + ERASE_NS - DOWN_NS);
}

#[test]
fn a_read_that_suspends_an_erase_waits_for_the_suspension_only() {
    let mut rig = until_erasing(&with_suspend());
    let (erasing_since, reads) = (rig.now, rig.card.media().reads);
    let sector = on_die(&rig, 2, 100);
    let done = rig.ask(read(sector, 1));
    assert_eq!(done.parts.get(Cause::Suspend), SUSPEND_NS);
    assert_eq!(done.parts.get(Cause::DieErase), 0);
    assert_eq!(done.latency_ns(), IDLE_NS + SUSPEND_NS);
    assert_eq!(rig.card.media().reads, reads + 1);
    // The erase takes longer by the read, the suspension and the resumption.
    let mut free_bands = u32::MAX;
    while rig.ftl().free_bands() <= free_bands {
        free_bands = rig.ftl().free_bands();
        assert!(rig.step());
    }
    assert_eq!(rig.now - erasing_since, ERASE_NS + 2 * SUSPEND_NS + READ_NS + BUS_NS);
}

#[test]
fn an_erase_is_suspended_no_more_often_than_the_flash_allows() {
    let mut rig = until_erasing(&with_suspend());
    let sector = on_die(&rig, 2, 100);
    let waits: Vec<(u64, bool)> = (0..3)
        .map(|_| {
            let done = rig.ask(read(sector, 1));
            rig.wait_ns(100_000);
            (done.parts.get(Cause::Suspend), done.parts.get(Cause::DieErase) > 0)
        })
        .collect();
    assert_eq!(waits, [(SUSPEND_NS, false), (SUSPEND_NS, false), (0, true)]);
}

#[test]
fn a_read_behind_another_read_waits_for_that_read() {
    let mut rig = Rig::new(&small(), 8).filled();
    let first = on_die(&rig, 1, 0);
    let second = on_die(&rig, 1, first as u32 + 1);
    rig.submit(read(first, 1));
    let done = rig.ask(read(second, 1));
    // The command processor takes one after the other.
    assert_eq!(done.parts.get(Cause::CommandQueue), 2 * 2_000);
    assert_eq!(done.parts.get(Cause::DieHostRead), READ_NS + BUS_NS - 2_000);
    assert_eq!(done.parts.total_ns(), IDLE_NS + READ_NS + BUS_NS);
}

#[test]
fn reads_on_two_dies_of_a_channel_wait_for_its_bus() {
    let mut config = small();
    config.nand.geometry.modules = 1;
    config.nand.geometry.dies_per_channel = 4;
    let mut rig = Rig::new(&config, 8).filled();
    let (one, other) = (on_die(&rig, 0, 0), on_die(&rig, 1, 0));
    rig.submit(read(one, 1));
    let done = rig.ask(read(other, 1));
    assert_eq!(done.parts.get(Cause::Bus), 2 * BUS_NS - 2_000);
    assert_eq!(done.parts.get(Cause::DieHostRead), 0);
}

/// A read that comes when the card has just begun to program three stripes on every die.
fn read_behind_three_programs(config: &CardConfig, die: u32) -> Finished {
    let mut rig = Rig::new(config, 8);
    submit_all(&mut rig, (0..4).map(|i| write(i * 3, 3)));
    rig.settle();
    let sector = on_die(&rig, die, 0);
    rig.ask(write(300, 9));
    rig.ask(read(sector, 1))
}

#[test]
fn a_read_waits_for_one_program_where_reads_go_first_and_for_all_where_they_do_not() {
    // Die 3 holds no parity of rows 4, 5 and 6.
    let first = read_behind_three_programs(&small(), 3);
    assert_eq!(first.parts.get(Cause::DieHostProgram), BUS_NS + PROGRAM_NS - DOWN_NS);
    assert_eq!(first.latency_ns(), IDLE_NS + BUS_NS + PROGRAM_NS - DOWN_NS);
    let last = read_behind_three_programs(&CardConfig { reads_first: false, ..small() }, 3);
    assert_eq!(last.parts.get(Cause::DieHostProgram), 3 * (BUS_NS + PROGRAM_NS) - DOWN_NS);
    assert_eq!(last.parts.get(Cause::DieHostRead), 0);
    assert_eq!(last.latency_ns(), IDLE_NS + 3 * (BUS_NS + PROGRAM_NS) - DOWN_NS);
}

#[test]
fn programs_of_parity_are_told_from_programs_of_data() {
    // Parity of row 5 lies on die 1.
    let last = read_behind_three_programs(&CardConfig { reads_first: false, ..small() }, 1);
    assert_eq!(last.parts.get(Cause::DieParity), BUS_NS + PROGRAM_NS);
    assert_eq!(last.parts.get(Cause::DieHostProgram), 2 * (BUS_NS + PROGRAM_NS) - DOWN_NS);
}

#[test]
fn commands_wait_for_the_command_processor_and_data_for_the_link() {
    let mut rig = Rig::new(&small(), 16);
    submit_all(&mut rig, (0..10).map(|i| read(i, 1)));
    rig.drain();
    for (i, f) in rig.finished.iter().enumerate() {
        // Nothing is on flash: only the link is busy, and the first transfer begins when the first command is there.
        assert_eq!(f.parts.get(Cause::CommandQueue), 2_000 * (i as u64 + 1));
        assert_eq!(f.at.0, DOWN_NS + 10_000 * (i as u64 + 1));
    }
}

#[test]
fn a_write_to_a_full_buffer_waits_for_programs_of_the_host_and_their_parity() {
    let mut rig = Rig::new(&small(), 32);
    submit_all(&mut rig, (0..16).map(|i| write(i * 24, 24)));
    rig.drain();
    let waits = sum(&rig.finished, Operation::Write);
    let (host, parity) = (waits.get(Cause::BufferHostProgram), waits.get(Cause::BufferParity));
    assert!(host > 0 && parity > 0);
    // One page of four is parity; the last stripes of a wait may fall on either side.
    assert!((0.28..0.39).contains(&(parity as f64 / host as f64)), "{waits:?}");
    for cause in [Cause::BufferRelocation, Cause::BufferErase, Cause::GcStall] {
        assert_eq!(waits.get(cause), 0, "{cause:?}");
    }
    // The first two filled the buffer without waiting.
    assert!(rig.finished[..2].iter().all(|f| f.parts.get(Cause::BufferHostProgram) == 0));
}

#[test]
fn without_parity_no_write_waits_for_it() {
    let mut config = small();
    config.ftl.parity_units = 0;
    let mut rig = Rig::new(&config, 32);
    submit_all(&mut rig, (0..16).map(|i| write(i * 24, 24)));
    rig.drain();
    let waits = sum(&rig.finished, Operation::Write);
    assert!(waits.get(Cause::BufferHostProgram) > 0);
    assert_eq!(waits.get(Cause::BufferParity), 0);
}

/// Random overwrites of a full card, as fast as it takes them.
fn saturated(config: &CardConfig) -> (Counters, Vec<Finished>) {
    let mut rig = Rig::new(config, 16).filled().overwritten(3);
    let before = rig.ftl().counters();
    let mut rng = Rng::stream(5, "saturated");
    let sectors = rig.ftl().user_sectors();
    let finished = rig.closed_loop(16, 20_000, || write(rng.below(sectors), 1));
    (rig.ftl().counters().since(&before), finished)
}

#[test]
fn a_full_card_waits_for_relocation_as_much_as_it_relocates() {
    let (counters, finished) = saturated(&small());
    let waits = sum(&finished, Operation::Write);
    let waf = counters.waf();
    // Per host sector: a program; per relocated sector a read and a program.
    let expected = (waf - 1.0) * (READ_NS + PROGRAM_NS + 2 * BUS_NS) as f64 / (PROGRAM_NS + BUS_NS) as f64;
    let got = waits.get(Cause::BufferRelocation) as f64 / waits.get(Cause::BufferHostProgram) as f64;
    crate::common::assert_close("relocation / host programs", got, expected, 0.02);
    assert_eq!(waits.get(Cause::GcStall), 0);
    assert!(waits.get(Cause::BufferErase) > 0);
}

#[test]
fn writes_that_were_stopped_say_so() {
    let mut config = small();
    config.ftl.gc = GcMode::StopTheWorld { start_free_bands: 2, stop_free_bands: 8 };
    use_share(&mut config, 0.8);
    let (_, finished) = saturated(&config);
    let slow = quantile_ns(&finished, Operation::Write, 0.9995);
    for f in finished.iter().filter(|f| f.latency_ns() >= slow) {
        assert!(f.parts.get(Cause::GcStall) > f.latency_ns() / 2, "{f:?}");
    }
    assert!(finished.iter().any(|f| f.parts.get(Cause::GcStall) == 0));
}

#[test]
fn reads_at_random_moments_meet_what_the_dies_do_in_its_proportion() {
    let mut rig = Rig::new(&small(), 32).filled().overwritten(3);
    let mut rng = Rng::stream(5, "reads at random moments");
    let sectors = rig.ftl().user_sectors();
    let before = rig.ftl().counters();
    let mut next_read = rig.now;
    let mut reads = 0;
    while reads < 20_000 {
        // Writes as fast as the card takes them, reads now and then.
        while rig.in_flight_of(Operation::Write) < 8 {
            rig.submit(write(rng.below(sectors), 1));
        }
        if rig.card.next_event() <= next_read {
            rig.step();
            continue;
        }
        rig.now = next_read;
        rig.submit(read(rng.below(sectors), 1));
        reads += 1;
        next_read += rng.exponential(1e6) as u64;
    }
    rig.drain();
    let waits = sum(&rig.finished, Operation::Read);
    let done = rig.ftl().counters().since(&before);
    // A read that comes at a random moment meets an operation with a chance in proportion to its length, and half of
    // it is left on average.
    let met = |count: u64, ns: u64| (count * ns) as f64 * ns as f64;
    let host = met(done.host_sectors, BUS_NS + PROGRAM_NS);
    for (cause, count, ns) in [
        (Cause::DieRelocationProgram, done.relocated_sectors, BUS_NS + PROGRAM_NS),
        (Cause::DieParity, done.parity_sectors, BUS_NS + PROGRAM_NS),
        (Cause::DieRelocationRead, done.relocated_sectors, READ_NS + BUS_NS),
        (Cause::DieErase, done.erases, ERASE_NS),
    ] {
        let got = waits.get(cause) as f64 / waits.get(Cause::DieHostProgram) as f64;
        crate::common::assert_close(cause.key(), got, met(count, ns) / host, 0.05);
    }
}

#[test]
fn a_card_that_is_not_asked_explains_nothing_and_is_as_fast() {
    let run = |explain: bool| {
        let mut rig = Rig::with(&small(), 16, explain).filled();
        let mut rng = Rng::stream(9, "same");
        let sectors = rig.ftl().user_sectors();
        let finished = rig.closed_loop(16, 5_000, || match rng.below(3) {
            0 => Request::write(rng.below(sectors - 1) * 4096 + 512, SECTOR),
            1 => write(rng.below(sectors), 1),
            _ => read(rng.below(sectors), 1),
        });
        finished.iter().map(|f| (f.id, f.at)).collect::<Vec<_>>()
    };
    assert_eq!(run(false), run(true));
}
