//! A card acknowledges only as much as its capacitors can put on flash.

use crate::common::{SECTOR, small};
use card::{Capacitors, CardConfig, StorageCard, shape};
use device::{Completion, Device, Request, RequestId, Rng, Time};
use format::CardId;
use ftl::Persistence;
use media::{Fault, Flash, Physics, RequestData};

const CARD: CardId = CardId(*b"a card for tests");
const PAYLOAD: usize = 128;
const REQUESTS: u32 = 16;

/// Three dies; stripes of two sectors and parity. `energy_uj` at a watt is so many microseconds.
fn config(energy_uj: u64) -> CardConfig {
    let mut config = small();
    config.nand.geometry.modules = 3;
    config.nand.geometry.pages_per_block = 8;
    config.nand.geometry.blocks_per_plane = 30;
    config.bands = 30;
    config.ftl.stripe_width = 3;
    config.ftl.gc = ftl::GcMode::Paced { target_free_bands: 2 };
    config.ftl.persistence =
        Some(Persistence { payload_bytes: PAYLOAD as u32, cell_rows: 1, checkpoint_every_bands: 0 });
    config.ftl.user_sectors = 60;
    config.buffer_sectors = 24;
    config.relocation_sectors = 12;
    config.power_loss_protection = true;
    config.capacitors = Some(Capacitors { energy_uj, drain_uw: 1_000_000 });
    config
}

#[test]
fn less_energy_is_a_smaller_buffer() {
    // An erase of 2 ms, nine reads of 50 us, 14 rows beside the buffer's: 6 for 12 sectors of relocation and 8 more; each
    // row is a program of 400 us and a transfer of 100 us.
    let rows_ns = |rows: u64| 2_000_000 + 9 * 50_000 + (rows + 14) * 500_000;
    let full = config(0);
    assert_eq!(full.drain_ns(24), rows_ns(12));
    assert_eq!(full.drain_ns(1), rows_ns(1));
    let durable = |energy_ns: u64| config(energy_ns / 1_000).durable_buffer_sectors();
    assert_eq!(durable(rows_ns(12)), 24);
    assert_eq!(durable(rows_ns(12) - 1_000), 22);
    assert_eq!(durable(rows_ns(3)), 6);
    assert_eq!(durable(rows_ns(1) - 1_000), 0);
    // Without an end of the energy, and without a promise, all of the buffer counts.
    assert_eq!(CardConfig { capacitors: None, ..config(1) }.durable_buffer_sectors(), 24);
    assert_eq!(CardConfig { power_loss_protection: false, ..config(1) }.durable_buffer_sectors(), 24);
}

/// How many of sixteen writes that come at once are acknowledged before anything is on flash.
fn acknowledged_at_once(energy_uj: u64) -> usize {
    let config = config(energy_uj);
    let mut card =
        StorageCard::format(&config, Flash::new(shape(&config), Physics::IDEAL, 1), CARD, REQUESTS, 1).unwrap();
    let mut done = Vec::new();
    for id in 0..REQUESTS {
        let request = Request::write(u64::from(id * SECTOR), SECTOR).with(card.pack(0, &[1; PAYLOAD]));
        card.submit(Time::ZERO, RequestId(id), request, &mut done);
    }
    let first_program_ns = 400_000;
    while card.next_event() < Time(first_program_ns) {
        let next = card.next_event();
        card.advance(next, &mut done);
    }
    done.len()
}

#[test]
fn what_the_energy_does_not_carry_is_not_acknowledged() {
    assert_eq!(acknowledged_at_once(1_000_000), 16);
    let few = acknowledged_at_once(config(0).drain_ns(6) / 1_000);
    assert!((1..=6).contains(&few), "{few}");
    assert!(acknowledged_at_once(config(0).drain_ns(2) / 1_000) <= 2);
}

/// Writes at random until a moment drawn at random; then the power fails. Whether a program fails on the way.
fn drain(seed: u64, energy_uj: u64, failure: bool) {
    let config = config(energy_uj);
    let hold_up_ns = config.hold_up_ns().unwrap();
    let mut card =
        StorageCard::format(&config, Flash::new(shape(&config), Physics::IDEAL, seed), CARD, REQUESTS, seed).unwrap();
    let mut rng = Rng::stream(seed, "writes");
    let (mut done, mut now) = (Vec::<Completion<RequestData>>::new(), Time::ZERO);
    let mut free: Vec<u32> = (0..REQUESTS).collect();
    for _ in 0..1_000 + rng.below(500) {
        if let Some(id) = free.pop() {
            let lba = rng.below(60) as u32;
            if rng.below(4) == 0 {
                let request = Request::read(u64::from(lba * SECTOR), SECTOR);
                card.submit(now, RequestId(id), request.with(RequestData::none()), &mut done);
            } else {
                let data = card.pack(0, &[seed as u8; PAYLOAD]);
                let request = Request::write(u64::from(lba * SECTOR), SECTOR).with(data);
                card.submit(now, RequestId(id), request, &mut done);
            }
        } else {
            now = card.next_event();
            card.advance(now, &mut done);
        }
        free.extend(done.drain(..).map(|completion| completion.id.0));
    }
    if failure {
        let module = rng.below(3) as u32;
        let fault = Fault::FailPrograms { module, die: 0, block: None, count: 1 };
        assert!(card.media_contents_mut().unwrap().inject(fault));
    }
    let failed_at = now;
    card.power_fails(now);
    while !card.is_drained() {
        now = card.next_event();
        assert_ne!(now, Time::NEVER, "it never drains");
        card.advance(now, &mut done);
    }
    assert!(now - failed_at <= hold_up_ns, "seed {seed}: {} of {hold_up_ns} ns", now - failed_at);
}

#[test]
fn whenever_the_power_fails_the_drain_ends_while_the_energy_lasts() {
    for seed in 0..300 {
        drain(seed, config(0).drain_ns(24) / 1_000, false);
        drain(seed, config(0).drain_ns(6) / 1_000, false);
    }
}

#[test]
fn a_program_that_fails_during_the_drain_is_made_up_for_while_the_energy_lasts() {
    for seed in 0..300 {
        drain(seed, config(0).drain_ns(24) / 1_000, true);
        drain(seed, config(0).drain_ns(6) / 1_000, true);
    }
}
