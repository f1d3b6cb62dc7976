//! A card gives back what was written, before and after its power went.

mod common;

use card::{Card, CardConfig, OpenError, SectorData, shape};
use common::{PAYLOAD, SECTOR, with_contents};
use device::{Completion, Device, Request, RequestId, Rng, Time};
use format::CardId;
use media::{CutOutcome, Flash, Physics};
use std::collections::BTreeMap;

const CARD: CardId = CardId(*b"a card for tests");

fn payload(lba: u32, version: u64) -> Vec<u8> {
    let mut bytes = vec![0; PAYLOAD];
    bytes[..4].copy_from_slice(&lba.to_le_bytes());
    bytes[4..12].copy_from_slice(&version.to_le_bytes());
    for (i, byte) in bytes[12..].iter_mut().enumerate() {
        *byte = (lba as usize * 31 + version as usize * 7 + i) as u8;
    }
    bytes
}

struct Host {
    config: CardConfig,
    card: Card,
    now: Time,
    done: Vec<Completion>,
}

impl Host {
    fn new(config: CardConfig) -> Host {
        let media = Flash::new(shape(&config), Physics::IDEAL, 1);
        let card = Card::format(&config, media, CARD, 8, 1).unwrap();
        Host { config, card, now: Time::ZERO, done: Vec::new() }
    }

    fn step(&mut self) -> bool {
        let next = self.card.next_event();
        if next == Time::NEVER {
            return false;
        }
        self.now = next;
        self.card.advance(next, &mut self.done);
        true
    }

    fn finish(&mut self, id: u32) {
        while !self.done.iter().any(|c| c.id == RequestId(id)) {
            assert!(self.step(), "a request was lost");
        }
        self.done.retain(|c| c.id != RequestId(id));
    }

    fn write(&mut self, lba: u32, version: u64) {
        self.card.set_write(RequestId(0), &payload(lba, version));
        let request = Request::write(u64::from(lba * SECTOR), SECTOR);
        self.card.submit(self.now, RequestId(0), request, &mut self.done);
        self.finish(0);
    }

    fn trim(&mut self, lba: u32) {
        let request = Request::trim(u64::from(lba * SECTOR), SECTOR);
        self.card.submit(self.now, RequestId(0), request, &mut self.done);
        self.finish(0);
    }

    fn flush(&mut self) {
        self.card.submit(self.now, RequestId(0), Request::flush(), &mut self.done);
        self.finish(0);
    }

    fn read(&mut self, lba: u32) -> SectorData {
        let request = Request::read(u64::from(lba * SECTOR), SECTOR);
        self.card.submit(self.now, RequestId(1), request, &mut self.done);
        self.finish(1);
        self.card.take_read(RequestId(1)).pop().unwrap()
    }

    /// The power goes and comes back.
    fn cut(self, rng: &mut Rng) -> Host {
        let Host { config, mut card, mut now, mut done } = self;
        card.power_fails(now);
        while !card.is_drained() {
            now = card.next_event();
            card.advance(now, &mut done);
        }
        let under_way = card.under_way();
        let mut media = card.into_media().unwrap();
        media.power_cut(&under_way, &mut |_, _| match rng.below(5) {
            0 => CutOutcome::NotBegun,
            1 => CutOutcome::Done,
            2 => CutOutcome::Garbage { spoil_earlier: false },
            3 => CutOutcome::Weak,
            _ => CutOutcome::PartlyErased,
        });
        media.power_on();
        let (mut card, _) = Card::open(&config, media, None, 8, 1).map_err(|e| e.0).unwrap();
        card.start_up(now, &mut done);
        done.clear();
        let mut host = Host { config, card, now, done };
        while !host.card.is_ready() {
            assert!(host.step(), "recovery never ends");
        }
        host.card.ftl().check().unwrap();
        host
    }
}

#[test]
fn sectors_read_as_they_were_last_written_through_collection() {
    let mut host = Host::new(with_contents(true));
    let mut rng = Rng::stream(1, "host");
    let mut model = BTreeMap::new();
    for version in 1..4_000 {
        let lba = rng.below(60) as u32;
        match rng.below(10) {
            0 => {
                host.trim(lba);
                model.remove(&lba);
            }
            1..=3 => {
                let expected = model.get(&lba).map_or(SectorData::Zero, |&v| SectorData::Data(payload(lba, v).into()));
                assert_eq!(host.read(lba), expected, "{lba}");
            }
            _ => {
                host.write(lba, version);
                model.insert(lba, version);
            }
        }
    }
    assert!(host.card.ftl().counters().relocated_sectors > 500);
    host.card.ftl().check().unwrap();
}

#[test]
fn acknowledged_data_survive_cuts() {
    for (seed, protected) in (0..600).map(|seed| (seed, seed % 2 == 0)) {
        let mut host = Host::new(with_contents(protected));
        let mut rng = Rng::stream(seed, "host");
        // By sector: what it may read as, 0 for a hole; the last is the newest, the first the last durable one.
        let mut allowed: Vec<Vec<u64>> = vec![vec![0]; 60];
        for version in 1..600 {
            let lba = rng.below(60) as u32;
            match rng.below(100) {
                0..10 => {
                    host.trim(lba);
                    allowed[lba as usize].push(0);
                }
                10..20 => {
                    host.flush();
                    allowed.iter_mut().for_each(|a| *a = vec![*a.last().unwrap()]);
                }
                20..22 => {
                    host = host.cut(&mut rng);
                    for lba in 0..60 {
                        let read = match host.read(lba) {
                            SectorData::Zero => 0,
                            SectorData::Data(bytes) => {
                                let version = u64::from_le_bytes(bytes[4..12].try_into().unwrap());
                                assert_eq!(&bytes[..], payload(lba, version));
                                version
                            }
                            other => panic!("seed {seed}: LBA {lba} reads {other:?}"),
                        };
                        let may = &allowed[lba as usize];
                        assert!(
                            may.contains(&read),
                            "seed {seed}, version {version}: LBA {lba} reads {read}, may {may:?}"
                        );
                        allowed[lba as usize] = vec![read];
                    }
                }
                _ => {
                    host.write(lba, version);
                    allowed[lba as usize].push(version);
                }
            }
            if protected {
                let newest = *allowed[lba as usize].last().unwrap();
                allowed[lba as usize] = vec![newest];
            }
        }
    }
}

#[test]
fn one_write_survives_a_cut() {
    let mut rng = Rng::stream(1, "host");
    for n in 1..30 {
        let mut host = Host::new(with_contents(true));
        for i in 0..n {
            host.write(i % 20, u64::from(i) + 1);
        }
        host = host.cut(&mut rng);
        for lba in 0..n.min(20) {
            let last = (0..n).rfind(|i| i % 20 == lba).unwrap();
            assert_eq!(host.read(lba), SectorData::Data(payload(lba, u64::from(last) + 1).into()), "{n} {lba}");
        }
    }
}

#[test]
fn a_card_is_not_opened_as_another_than_it_was_made_as() {
    let config = with_contents(true);
    let made = Card::format(&config, Flash::new(shape(&config), Physics::IDEAL, 1), CARD, 8, 1).unwrap();
    let media = made.into_media().unwrap();
    let mut others = [config; 5];
    others[0].ftl.user_sectors = 59;
    others[1].ftl.stripe_width = 1;
    others[1].ftl.parity_units = 0;
    others[2].power_loss_protection = false;
    others[3].ftl.slc_cache = Some(ftl::SlcCache { bands: 2, bits_per_cell: 2 });
    others[4].bands = 19;
    for other in others {
        let (error, untouched) = *Card::open(&other, media.clone(), None, 8, 1).unwrap_err();
        assert!(matches!(error, OpenError::MadeOtherwise { .. }), "{error}");
        let untouched = untouched.into_flash().expect("as it was handed over");
        assert_eq!(untouched.trace(), media.trace(), "a card that is not opened is not written to");
    }
    assert!(Card::open(&config, media, None, 8, 1).is_ok());
}
