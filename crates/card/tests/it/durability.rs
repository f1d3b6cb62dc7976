//! When a flush or a FUA write may be acknowledged.

use crate::common::{Rig, read, small, write, write_fua};
use card::CardConfig;
use device::{Cause, Request, Time};

/// A page on its bus and into the array.
const PROGRAM_NS: u64 = 100_000 + 400_000;
const FLUSH_NS: u64 = 2_000 + 5_000;

fn without_capacitors() -> CardConfig {
    CardConfig { power_loss_protection: false, ..small() }
}

#[test]
fn a_flush_without_capacitors_waits_until_what_was_written_is_on_flash() {
    let mut rig = Rig::new(&without_capacitors(), 4);
    // The stripe is open: the flush has to close it.
    let written = rig.ask(write(0, 1));
    let flushed = rig.ask(Request::flush());
    assert_eq!(flushed.submitted, written.at);
    assert_eq!(flushed.latency_ns(), FLUSH_NS + PROGRAM_NS);
    assert_eq!(flushed.parts.get(Cause::Durable), PROGRAM_NS);
    let counters = rig.ftl().counters();
    assert_eq!((counters.host_sectors, counters.padding_sectors, counters.parity_sectors), (1, 2, 1));
    // Nothing new: nothing to wait for.
    let again = rig.ask(Request::flush());
    assert_eq!(again.latency_ns(), FLUSH_NS);
    assert_eq!(rig.ftl().counters(), counters);
}

#[test]
fn a_flush_waits_for_programs_that_are_under_way() {
    let mut rig = Rig::new(&without_capacitors(), 4);
    let written = rig.ask(write(0, 3));
    rig.wait_ns(200_000);
    let flushed = rig.ask(Request::flush());
    assert_eq!(flushed.at, written.at + PROGRAM_NS);
}

#[test]
fn a_flush_with_capacitors_waits_for_nothing() {
    let mut rig = Rig::new(&small(), 4);
    rig.ask(write(0, 1));
    let flushed = rig.ask(Request::flush());
    assert_eq!(flushed.latency_ns(), FLUSH_NS);
    assert_eq!(rig.card.media().programs, 0);
    assert_eq!(rig.ftl().counters().padding_sectors, 0);
}

#[test]
fn a_fua_write_without_capacitors_is_on_flash_when_it_completes() {
    let mut rig = Rig::new(&without_capacitors(), 4);
    let buffered = rig.ask(write(0, 1)).latency_ns();
    let durable = rig.ask(write_fua(1, 1));
    assert_eq!(durable.latency_ns(), buffered + PROGRAM_NS);
    assert_eq!(durable.parts.get(Cause::Durable), PROGRAM_NS);
    assert!(rig.ask(read(1, 1)).parts.get(Cause::FlashRead) > 0, "it is still in the buffer");
}

#[test]
fn a_fua_write_with_capacitors_costs_no_more_than_another() {
    let mut rig = Rig::new(&small(), 4);
    let buffered = rig.ask(write(0, 1)).latency_ns();
    assert_eq!(rig.ask(write_fua(1, 1)).latency_ns(), buffered);
    assert_eq!(rig.card.media().programs, 0);
}

#[test]
fn flushes_complete_in_the_order_of_what_they_wait_for() {
    let mut rig = Rig::new(&without_capacitors(), 64);
    let mut last = Time::ZERO;
    for i in 0..20 {
        rig.ask(write(i * 2, 2));
        rig.submit(Request::flush());
    }
    rig.drain();
    let flushes = rig.finished.iter().filter(|f| f.request == Request::flush());
    for flush in flushes {
        assert!(flush.at >= last && flush.at >= flush.submitted + FLUSH_NS);
        last = flush.at;
    }
    // Each closed its own stripe; the buffer did not give room back before that was on flash.
    assert_eq!(rig.ftl().counters().padding_sectors, 20);
}

#[test]
fn a_flush_does_not_wait_for_relocation() {
    let mut rig = Rig::new(&without_capacitors(), 64).filled().overwritten(2);
    let mut rng = device::Rng::stream(1, "flushes");
    let sectors = rig.ftl().user_sectors();
    let before = rig.ftl().counters().relocated_sectors;
    let mut longest = 0;
    for _ in 0..3_000 {
        rig.ask(write(rng.below(sectors), 1));
        longest = longest.max(rig.ask(Request::flush()).parts.get(Cause::Durable));
    }
    assert!(rig.ftl().counters().relocated_sectors > before + 1_000);
    // One read, program or erase may be under way on a die, and collection's queue goes first; but a flush never waits
    // for a victim to be moved.
    assert!(longest < 10 * PROGRAM_NS, "{longest}");
}

#[test]
fn a_card_that_lies_answers_a_flush_before_anything_is_on_flash() {
    let mut rig = Rig::new(&CardConfig { acknowledge_flush_early: true, ..without_capacitors() }, 4);
    let buffered = rig.ask(write(0, 1)).latency_ns();
    assert_eq!(rig.ask(Request::flush()).latency_ns(), FLUSH_NS);
    assert_eq!(rig.ask(write_fua(1, 1)).latency_ns(), buffered);
    assert_eq!(rig.card.media().programs, 0);
}
