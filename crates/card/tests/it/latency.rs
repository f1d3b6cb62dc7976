//! On an idle card, latency is the plain sum of what has to be done.

use crate::common::{Rig, SECTOR, read, small, write};
use card::Housekeeping;
use device::{Cause, Request, SECTOR_BYTES};
use ftl::Lba;

/// Times of `small()`: a page on its bus, a sector on the link.
const BUS_NS: u64 = 100_000;
const LINK_NS: u64 = 10_000;

#[test]
fn an_idle_read_takes_command_latency_array_bus_and_link() {
    let config = small();
    let mut rig = Rig::new(&config, 1).filled();
    for sector in [0, 1, 2, 3, 500] {
        let done = rig.ask(read(sector, 1));
        assert_eq!(done.latency_ns(), 2_000 + 5_000 + 50_000 + BUS_NS + LINK_NS);
        assert_eq!(done.parts.get(Cause::CommandQueue), 2_000);
        assert_eq!(done.parts.get(Cause::Link), 5_000 + LINK_NS);
        assert_eq!(done.parts.get(Cause::FlashRead), 50_000);
        assert_eq!(done.parts.get(Cause::Bus), BUS_NS);
    }
    assert_eq!(rig.card.media().reads, 5);
}

#[test]
fn spare_bytes_take_their_time_on_the_bus() {
    let mut config = small();
    config.nand.geometry.spare_bytes = 2048;
    let done = Rig::new(&config, 1).filled().ask(read(0, 1));
    assert_eq!(done.parts.get(Cause::Bus), BUS_NS * 3 / 2);
}

#[test]
fn a_read_of_several_sectors_reads_its_dies_at_once() {
    let mut rig = Rig::new(&small(), 1).filled();
    // Three sectors of a stripe, on three modules.
    let done = rig.ask(read(0, 3));
    assert_eq!(done.latency_ns(), 2_000 + 5_000 + 50_000 + BUS_NS + 3 * LINK_NS);
    assert_eq!(rig.card.media().reads, 3);
}

#[test]
fn sectors_of_one_page_come_with_one_read() {
    let mut config = small();
    config.nand.geometry.page_bytes = 16_384;
    crate::common::use_share(&mut config, 0.5);
    let mut rig = Rig::new(&config, 1).filled();
    let done = rig.ask(read(0, 4));
    assert_eq!(rig.card.media().reads, 1);
    assert_eq!(done.latency_ns(), 2_000 + 5_000 + 50_000 + 4 * BUS_NS + 4 * LINK_NS);
    // Half of a page takes half of its time on the bus.
    let done = rig.ask(read(8, 2));
    assert_eq!(done.latency_ns(), 2_000 + 5_000 + 50_000 + 2 * BUS_NS + 2 * LINK_NS);
    assert_eq!(rig.card.media().reads, 2);
}

/// Sectors of different units of the die that has the first sector, of units of so many sectors.
fn on_one_die(rig: &Rig, unit_sectors: u64) -> Vec<u64> {
    let ftl = rig.ftl();
    let die = |sector: u64| ftl.layout().locate(ftl.lookup(Lba(sector as u32)).unwrap()).die;
    (0..ftl.user_sectors()).step_by(unit_sectors as usize).filter(|&sector| die(sector) == die(0)).collect()
}

#[test]
fn what_a_read_has_left_in_the_page_register_takes_the_bus_alone() {
    let mut config = small();
    config.nand.geometry.page_bytes = 16_384;
    crate::common::use_share(&mut config, 0.5);
    let mut rig = Rig::new(&config, 1).filled();
    let sensed = 2_000 + 5_000 + 50_000 + BUS_NS + LINK_NS;
    let (first, second) = (rig.ask(read(0, 1)), rig.ask(read(1, 1)));
    assert_eq!((first.latency_ns(), second.latency_ns()), (sensed, sensed - 50_000));
    assert_eq!((second.parts.get(Cause::FlashRead), second.parts.get(Cause::Bus)), (0, BUS_NS));
    // Another die has registers of its own; another page of the same die takes the place.
    let same_die = on_one_die(&rig, 4)[1];
    for (sector, latency_ns) in
        [(4, sensed), (2, sensed - 50_000), (same_die, sensed), (0, sensed), (3, sensed - 50_000)]
    {
        assert_eq!(rig.ask(read(sector, 1)).latency_ns(), latency_ns, "sector {sector}");
    }
    // A program goes through the registers, and the page that was sensed is theirs no longer.
    for sector in 100..140 {
        rig.ask(write(sector, 1));
    }
    rig.wait_ns(10_000_000);
    assert_eq!(rig.ask(read(0, 1)).latency_ns(), sensed);
}

#[test]
fn requests_beyond_the_queue_wait_in_the_host_in_their_order() {
    let mut config = small();
    config.link.queue_depth = 2;
    let mut rig = Rig::new(&config, 8).filled();
    // All of one die: each takes its array and its bus after the one before.
    let mut sectors = on_one_die(&rig, 1).into_iter();
    let done = rig.closed_loop(8, 8, || read(sectors.next().unwrap(), 1));
    let mut latencies: Vec<u64> = done.iter().map(|finished| finished.latency_ns()).collect();
    let first = 2_000 + 5_000 + 50_000 + BUS_NS + LINK_NS;
    // The link carries one up while the die reads the next, which was in the card by then.
    let each = 50_000 + BUS_NS;
    assert_eq!(latencies[0], first);
    for (i, pair) in latencies.windows(2).enumerate() {
        assert_eq!(pair[1] - pair[0], each, "request {}", i + 1);
    }
    latencies.sort_unstable();
    let waits: Vec<u64> = done.iter().map(|finished| finished.parts.get(Cause::CommandQueue)).collect();
    assert_eq!(waits[..2], [2_000, 4_000]);
    // From the third on each waits in the host until the one two before it has ended.
    for i in 2..8 {
        assert_eq!(waits[i], latencies[i - 2] + 2_000, "request {i}");
    }
}

#[test]
fn two_dies_of_a_channel_share_its_bus() {
    let mut config = small();
    config.nand.geometry.modules = 1;
    config.nand.geometry.dies_per_channel = 4;
    let done = Rig::new(&config, 1).filled().ask(read(0, 2));
    assert_eq!(done.latency_ns(), 2_000 + 5_000 + 50_000 + 2 * BUS_NS + 2 * LINK_NS);
    assert_eq!(done.parts.get(Cause::Bus), 2 * BUS_NS);
}

#[test]
fn sectors_that_were_never_written_or_were_trimmed_cost_no_flash_read() {
    let mut rig = Rig::new(&small(), 1);
    let unwritten = rig.ask(read(7, 1));
    assert_eq!(unwritten.latency_ns(), 2_000 + 5_000 + LINK_NS);
    rig = rig.filled();
    rig.ask(Request::trim(7 * SECTOR_BYTES, SECTOR));
    assert_eq!(rig.ask(read(7, 1)).latency_ns(), 2_000 + 5_000 + LINK_NS);
    assert_eq!(rig.card.media().reads, 0);
    assert_eq!(rig.ask(read(8, 1)).parts.get(Cause::FlashRead), 50_000);
}

#[test]
fn a_sector_in_the_buffer_is_read_from_there_until_it_is_on_flash() {
    let config = small();
    let mut rig = Rig::new(&config, 8);
    let from_buffer = 2_000 + 5_000 + LINK_NS;
    // One sector of three: the stripe stays open.
    rig.ask(write(0, 1));
    assert_eq!(rig.ask(read(0, 1)).latency_ns(), from_buffer);
    // The stripe is full and being programmed.
    rig.ask(write(1, 2));
    assert_eq!(rig.ask(read(0, 1)).latency_ns(), from_buffer);
    rig.settle();
    assert_eq!(rig.ask(read(0, 1)).latency_ns(), from_buffer + 50_000 + BUS_NS);
    assert_eq!((rig.card.media().reads, rig.card.media().programs), (1, 4));
}

#[test]
fn a_write_may_take_longer_to_answer_than_a_read_and_holds_nobody_up() {
    let mut config = small();
    config.link.write_latency_ns = 14_000;
    let mut rig = Rig::new(&config, 1).filled();
    let write = rig.ask(write(0, 1));
    assert_eq!(write.latency_ns(), 3_000 + LINK_NS + 14_000);
    assert_eq!(write.parts.get(Cause::Link), LINK_NS + 14_000);
    assert_eq!(rig.ask(read(500, 1)).latency_ns(), 2_000 + 5_000 + 50_000 + BUS_NS + LINK_NS);
}

#[test]
fn a_write_takes_command_transfer_and_latency_when_the_buffer_has_room() {
    let config = small();
    for sectors in [1, 4, 40] {
        let done = Rig::new(&config, 1).ask(write(0, sectors));
        assert_eq!(done.latency_ns(), 3_000 + u64::from(sectors) * LINK_NS + 5_000);
        assert_eq!(done.parts.get(Cause::CommandQueue), 3_000);
        assert_eq!(done.parts.get(Cause::Link), u64::from(sectors) * LINK_NS + 5_000);
    }
}

#[test]
fn the_command_after_so_many_bytes_waits_for_housekeeping() {
    let mut config = small();
    config.link.housekeeping = Some(Housekeeping { every_bytes: 5 * SECTOR_BYTES, takes_ns: 1_000_000 });
    let mut rig = Rig::new(&config, 8);
    // Housekeeping begins when the command before was taken, and its answer took this much longer.
    let rest = |sectors: u64, times: u64| times * 1_000_000 - (sectors * LINK_NS + 5_000);
    let mut queued = |request| rig.ask(request).parts.get(Cause::CommandQueue);
    // Two sectors each: the third write brings the fifth sector, the fifth one the tenth.
    for i in 0..12 {
        let waits = if matches!(i, 3 | 5 | 8 | 10) { rest(2, 1) } else { 0 };
        assert_eq!(queued(write(2 * i, 2)), 3_000 + waits, "write {i}");
    }
    // Reads wait as well, and make none.
    assert_eq!(queued(write(0, 1)), 3_000);
    assert_eq!(queued(read(0, 1)), 2_000 + rest(1, 1));
    assert_eq!(queued(read(0, 1)), 2_000);
    // A write that is longer than the distance makes more at once.
    assert_eq!(queued(write(0, 12)), 3_000);
    assert_eq!(queued(read(0, 1)), 2_000 + rest(12, 2));
}

#[test]
fn part_of_a_sector_costs_a_read_before_the_write() {
    let buffered_ns = |bytes: u64| 3_000 + bytes * LINK_NS / SECTOR_BYTES + 5_000;
    let read_ns = 50_000 + BUS_NS;
    let mut rig = Rig::new(&small(), 1).filled();
    let cases = [
        // (offset, length, sectors at the edges that are covered in part)
        (0, 512, 1),
        (4096 + 3584, 512, 1),
        (8192 + 512, 4096, 2),
        (4096 * 4, 4096 + 512, 1),
        (4096 * 8 + 512, 8192 - 512, 1),
        (4096 * 12 + 512, 4096 * 5, 2),
        (4096 * 20, 8192, 0),
    ];
    for (offset, bytes, partial) in cases {
        rig.settle();
        let before = rig.card.media().reads;
        let done = rig.ask(Request::write(offset, bytes));
        assert_eq!(rig.card.media().reads - before, partial, "{bytes} bytes at {offset}");
        let expected = buffered_ns(bytes.into()) + if partial > 0 { read_ns } else { 0 };
        assert_eq!(done.latency_ns(), expected, "{bytes} bytes at {offset}");
        let flash = done.parts.get(Cause::FlashRead) + done.parts.get(Cause::Bus);
        assert_eq!(flash, expected - buffered_ns(bytes.into()));
    }
    // There is nothing to read of a sector that was never written.
    let mut fresh = Rig::new(&small(), 1);
    assert_eq!(fresh.ask(Request::write(512, 512)).latency_ns(), buffered_ns(512));
}

#[test]
fn a_trim_spares_exactly_the_sectors_that_it_covers_in_part() {
    let cases = [
        // (offset, length, sectors that are gone of 0..6)
        (0, 8192, 0..2),
        (512, 8192, 1..2),
        (4096, 8192 + 512, 1..3),
        (4096 - 512, 4096 + 512, 1..2),
        (512, 1024, 0..0),
        (2048, 4096, 0..0),
        (4096 + 512, 8192 - 512, 2..3),
    ];
    for (offset, bytes, gone) in cases {
        let mut rig = Rig::new(&small(), 1).filled();
        rig.ask(Request::trim(offset, bytes));
        for sector in 0..6 {
            let mapped = rig.ftl().lookup(Lba(sector)).is_some();
            assert_eq!(mapped, !gone.contains(&sector), "sector {sector} after {bytes} bytes at {offset}");
        }
    }
}

#[test]
fn a_request_of_no_bytes_completes() {
    let mut rig = Rig::new(&small(), 64).filled();
    for request in [Request::read(512, 0), Request::write(512, 0), Request::trim(512, 0), read(3, 0), write(3, 0)] {
        let done = rig.ask(request);
        assert!(done.latency_ns() <= 8_000, "{done:?}");
    }
    // Behind writes that wait for room in the buffer, too.
    for i in 0..8 {
        rig.submit(write(i * 48, 48));
    }
    rig.submit(write(3, 0));
    rig.submit(write(0, 48));
    rig.drain();
    assert_eq!(rig.card.media().reads, 0);
}

#[test]
fn a_write_of_a_part_of_a_mapping_unit_reads_the_rest_and_writes_it_too() {
    let mut config = small();
    config.ftl.mapping_sectors = 4;
    let mut rig = Rig::new(&config, 1).filled();
    let before = rig.ftl().counters();
    let part = rig.ask(write(5, 1));
    assert_eq!(rig.card.media().reads, 3, "sectors 4, 6 and 7");
    let counters = rig.ftl().counters().since(&before);
    assert_eq!((counters.host_sectors, counters.relocated_sectors), (1, 3));
    let whole = rig.ask(write(8, 4));
    assert_eq!(rig.card.media().reads, 3, "nothing is left to be read");
    let counters = rig.ftl().counters().since(&before);
    assert_eq!((counters.host_sectors, counters.relocated_sectors), (5, 3));
    // Sectors 6 and 7 lie on dies of their own, and are read at once.
    assert_eq!(part.latency_ns(), whole.latency_ns() - 3 * LINK_NS + 50_000 + BUS_NS);
    // A unit is written as a whole: its sectors follow each other, but for a place that is parity's.
    let places: Vec<u32> = (4..8).map(|lba| rig.ftl().lookup(Lba(lba)).unwrap().0).collect();
    assert!(places.windows(2).all(|pair| pair[1] > pair[0]) && places[3] - places[0] <= 4, "{places:?}");
}

#[test]
fn a_write_across_mapping_units_takes_both_and_no_more_than_the_card_has() {
    let mut config = small();
    config.ftl.mapping_sectors = 16;
    let mut rig = Rig::new(&config, 1).filled();
    let before = rig.ftl().counters();
    rig.ask(write(14, 4));
    let counters = rig.ftl().counters().since(&before);
    assert_eq!((counters.host_sectors, counters.relocated_sectors), (4, 28));
    let last = rig.ftl().user_sectors() - 1;
    rig.ask(write(last, 1));
    let counters = rig.ftl().counters().since(&before);
    assert_eq!((counters.host_sectors, counters.relocated_sectors), (5, 28 + last % 16));
    // A part of a sector: its old bytes are read with the rest of its unit.
    let reads = rig.card.media().reads;
    rig.ask(Request::write(64 * u64::from(SECTOR), 512));
    assert_eq!(rig.card.media().reads - reads, 16);
}
