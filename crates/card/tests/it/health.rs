//! Health as a card reports it, and the totals of it that survive the loss of power.

use crate::common::{PAYLOAD, SECTOR, with_contents};
use card::{CardConfig, Health, PatrolConfig, StorageCard, shape};
use device::{Cause, Completion, Device, Request, RequestId, Time};
use format::CardId;
use media::{ErrorRates, Flash, Media, Physics, RequestData, SectorData};

const CARD: CardId = CardId(*b"a card for tests");

struct Host {
    card: StorageCard,
    now: Time,
    done: Vec<Completion<RequestData>>,
}

impl Host {
    fn new(config: &CardConfig, physics: Physics) -> Host {
        let media = Flash::new(shape(config), physics, 1);
        let card = StorageCard::format(config, media, CARD, 4, 1).unwrap();
        Host { card, now: Time::ZERO, done: Vec::new() }
    }

    /// Asks for one thing and waits until it is done.
    fn ask(&mut self, request: Request) -> Completion<RequestData> {
        self.ask_with(request, RequestData::none())
    }

    fn ask_with(&mut self, request: Request, data: RequestData) -> Completion<RequestData> {
        self.card.submit(self.now, RequestId(0), request.with(data), &mut self.done);
        while self.done.is_empty() {
            self.now = self.card.next_event();
            assert_ne!(self.now, Time::NEVER, "a request was lost");
            self.card.advance(self.now, &mut self.done);
        }
        self.done.pop().unwrap()
    }

    fn write(&mut self, lba: u32, fill: u8) {
        let data = self.card.pack(0, &[fill; PAYLOAD]);
        self.ask_with(Request::write(u64::from(lba * SECTOR), SECTOR), data);
    }

    fn read(&mut self, lba: u32) -> SectorData {
        let read = self.ask(Request::read(u64::from(lba * SECTOR), SECTOR));
        read.data.into_sectors().pop().unwrap()
    }

    fn settle(&mut self) {
        while self.card.next_event() != Time::NEVER {
            self.now = self.card.next_event();
            self.card.advance(self.now, &mut self.done);
        }
    }

    fn start(config: &CardConfig, media: Flash, now: Time) -> Host {
        let mut media = media;
        media.power_on();
        let (mut card, _) = StorageCard::open(config, media, Some(CARD), 4, 1).map_err(|failed| failed.0).unwrap();
        let mut done = Vec::new();
        card.start_up(now, &mut done);
        let mut host = Host { card, now, done };
        host.settle();
        host
    }

    fn shut_down(mut self, config: &CardConfig) -> Host {
        self.settle();
        let now = self.card.shut_down(self.now, &mut self.done);
        let mut media = self.card.into_media().unwrap();
        media.power_cut(&[], &mut |_, _| media::CutOutcome::Done);
        Host::start(config, media, now)
    }

    fn cut(mut self, config: &CardConfig) -> Host {
        self.settle();
        self.card.power_fails(self.now);
        while !self.card.is_drained() {
            self.now = self.card.next_event();
            self.card.advance(self.now, &mut self.done);
        }
        let mut media = self.card.into_media().unwrap();
        media.power_cut(&[], &mut |_, _| media::CutOutcome::Done);
        Host::start(config, media, self.now)
    }

    fn health(&self) -> Health {
        self.card.health()
    }
}

#[test]
fn a_new_card_has_all_of_its_spare_and_no_warnings() {
    let health = Host::new(&with_contents(true), Physics::IDEAL).health();
    assert_eq!((health.available_spare, health.percentage_used), (100, 0));
    assert_eq!(health.critical_warning.bits(), 0);
    assert_eq!((health.data_units_written, health.host_read_commands, health.media_errors), (0, 0, 0));
}

#[test]
fn figures_are_those_of_nvme() {
    let config = with_contents(true);
    let mut host = Host::new(&config, Physics::IDEAL);
    for i in 0..125 {
        host.write(i % 60, i as u8);
    }
    for i in 0..7 {
        host.read(i);
    }
    let health = host.health();
    // 125 sectors are 1,000 times 512 bytes; 7 sectors are 56, rounded up to a thousand.
    assert_eq!((health.data_units_written, health.data_units_read), (1, 1));
    assert_eq!((health.host_write_commands, health.host_read_commands), (125, 7));
    host.write(3, 1);
    assert_eq!(host.health().data_units_written, 2);
}

#[test]
fn an_orderly_shutdown_keeps_totals_and_data_and_is_not_counted_as_unsafe() {
    for power_loss_protection in [true, false] {
        let config = with_contents(power_loss_protection);
        let mut host = Host::new(&config, Physics::IDEAL);
        for i in 0..100 {
            host.write(i % 60, i as u8);
        }
        host.ask(Request::trim(u64::from(7 * SECTOR), SECTOR));
        host.read(1);
        let before = host.health();
        let mut host = host.shut_down(&config);
        let after = host.health();
        assert_eq!(after.power_cycles, before.power_cycles + 1);
        assert_eq!(after.unsafe_shutdowns, before.unsafe_shutdowns);
        assert_eq!(
            Health { power_cycles: before.power_cycles, percentage_used: before.percentage_used, ..after },
            before
        );
        // Nothing was flushed; all of it is there.
        assert_eq!(host.read(7), SectorData::Zero);
        assert_eq!(host.read(39), SectorData::Data([99; PAYLOAD].into()));
        let host = host.cut(&config);
        assert_eq!(host.health().unsafe_shutdowns, before.unsafe_shutdowns + 1);
        assert_eq!(host.health().power_cycles, before.power_cycles + 2);
    }
}

#[test]
fn after_a_cut_totals_lag_by_16_mib_at_most() {
    let config = with_contents(true);
    let mut host = Host::new(&config, Physics::IDEAL);
    for i in 0..5_000 {
        host.write(i % 60, i as u8);
    }
    let written = host.health().host_write_commands;
    let host = host.cut(&config);
    let after = host.health().host_write_commands;
    assert!((written - 4096..written).contains(&after), "{after} of {written}");
}

#[test]
fn a_missing_module_is_a_warning() {
    let config = with_contents(true);
    let mut host = Host::new(&config, Physics::IDEAL);
    host.write(0, 1);
    host.settle();
    host.card.media_contents_mut().unwrap().pull(1).unwrap();
    for i in 0..60 {
        host.write(i, 2);
    }
    host.settle();
    assert!(host.health().critical_warning.reliability_degraded);
    assert_eq!(host.health().critical_warning.bits() & 4, 4);
}

#[test]
fn each_retry_of_a_read_takes_the_arrays_time_again_and_says_so() {
    let mut config = with_contents(true);
    config.care.patrol = None;
    // Every sector needs retries, and some need more than others.
    let errors = ErrorRates { fresh: 3e-3, ..ErrorRates::NONE };
    let physics = Physics { factory_bad_ppm: 0, errors, ..Physics::MLC };
    let mut host = Host::new(&config, physics);
    host.card.explain_requests();
    for i in 0..60 {
        host.write(i, i as u8);
    }
    host.settle();
    let array_ns = config.nand.timing.native.read_ns;
    let mut retried = 0;
    for i in 0..60 {
        let before = host.card.store_counters();
        let done = host.ask(Request::read(u64::from(i * SECTOR), SECTOR));
        let after = host.card.store_counters();
        if after.reads == before.reads + 1 {
            let retries = after.read_retries - before.read_retries;
            assert_eq!(done.parts.get(Cause::ReadRetry), retries * array_ns);
            retried += retries;
        } else {
            assert_eq!(after.reads, before.reads, "it was rebuilt");
        }
    }
    assert!(retried > 20, "{retried}");
}

#[test]
fn what_is_rebuilt_says_so_too() {
    let config = with_contents(true);
    let mut host = Host::new(&config, Physics::IDEAL);
    host.card.explain_requests();
    for i in 0..60 {
        host.write(i, i as u8);
    }
    host.settle();
    host.card.media_contents_mut().unwrap().pull(0).unwrap();
    let mut rebuilt = 0;
    for i in 0..60 {
        let done = host.ask(Request::read(u64::from(i * SECTOR), SECTOR));
        assert_eq!(done.data.sectors(), [SectorData::Data([i as u8; PAYLOAD].into())]);
        rebuilt += u32::from(done.parts.get(Cause::ReadRetry) > 0);
    }
    assert!(rebuilt > 10, "{rebuilt}");
}

#[test]
fn a_block_that_is_read_often_is_looked_at() {
    let patrol = Some(PatrolConfig { interval_ns: u64::MAX, block_reads: 50 });
    let mut config = with_contents(true);
    config.care.patrol = patrol;
    let mut host = Host::new(&config, Physics::IDEAL);
    for i in 0..60 {
        host.write(i, i as u8);
    }
    host.settle();
    let reads = |host: &Host| host.card.store_counters().reads;
    for _ in 0..48 {
        host.read(5);
    }
    host.settle();
    assert_eq!(reads(&host), 48);
    for _ in 0..4 {
        host.read(5);
    }
    host.settle();
    assert!(reads(&host) > 60, "{}", reads(&host));
    assert_eq!(host.card.media_contents().unwrap().shape().modules, 3);
}
