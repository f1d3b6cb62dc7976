//! A card on disks whose power goes at any request.

#[path = "../../../card/tests/it/common/mod.rs"]
#[allow(dead_code, reason = "a part of the rig of the card's own tests is used")]
mod rig;

use crate::common::{Sim, paths, some};
use card::{CardConfig, StorageCard, shape};
use device::{Completion, Device, Request, RequestId, Rng, Time};
use files::{Files, Lender, Options};
use format::CardId;
use media::{Ended, Media, Medium, Payload, RequestData, SectorData, Shape, Written};
use rig::{SECTOR, with_contents};

const CARD: CardId = CardId(*b"a card for tests");
const PAYLOAD: usize = 4096;
pub const SECTORS: u64 = 60;
/// A start reads each spare area no more often, whatever was cut before.
const MOST_READS: u32 = 2;

pub fn config() -> CardConfig {
    let mut config = with_contents(false);
    let persistence = config.ftl.persistence.as_mut().unwrap();
    persistence.payload_bytes = PAYLOAD as u32;
    config
}

fn units(shape: &Shape) -> u64 {
    u64::from(shape.modules * shape.dies_per_module) * u64::from(shape.blocks_per_die * shape.rows_per_block)
}

fn payload(lba: u32, version: u64) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..PAYLOAD).map(|i| (lba as usize * 31 + version as usize * 7 + i) as u8).collect();
    bytes[..4].copy_from_slice(&lba.to_le_bytes());
    bytes[4..12].copy_from_slice(&version.to_le_bytes());
    bytes
}

pub struct Host {
    pub sim: Sim,
    pub card: StorageCard,
    now: Time,
    /// The last time at which nothing was under way on the disks.
    settled: Time,
    done: Vec<Completion<RequestData>>,
    rng: Rng,
    lender: Lender,
}

impl Host {
    pub fn new(sim: Sim) -> Host {
        let shape = shape(&config());
        let files = Files::create_on(sim.boxed(), shape, &paths(3), &Options::default()).unwrap();
        let medium = Medium::Outside(Box::new(files));
        let card = StorageCard::format(&config(), medium, CARD, 8, 1).unwrap();
        Host::with(sim, card, Rng::stream(1, "steps"))
    }

    /// A host of a card that was opened.
    pub fn around(sim: Sim, mut card: StorageCard, seed: u64) -> Host {
        card.start_up(Time::ZERO, &mut Vec::new());
        Host::with(sim, card, Rng::stream(seed, "steps"))
    }

    fn with(sim: Sim, card: StorageCard, rng: Rng) -> Host {
        let (now, lender) = (Time::ZERO, Lender::for_bytes(1));
        Host { sim, card, now, settled: now, done: Vec::new(), rng, lender }
    }

    fn is_cut(&self) -> bool {
        self.sim.with(|world| world.left.is_some())
    }

    /// Goes to the next event, or waits for what is under way on the disks.
    fn step(&mut self) {
        let next = self.card.next_event();
        let files = self.card.medium_mut().outside_mut::<Files>().expect("it lies in files");
        let mut ended = Vec::new();
        if files.in_flight() == 0 {
            self.settled = self.now;
        }
        // Time must not run out on what is under way, by a long step or by many.
        let is_late = next > self.settled + card::MODULE_TIMEOUT_NS / 2;
        if files.in_flight() > 0 && (is_late || self.rng.below(3) == 0) {
            files.wait(None, &mut ended).unwrap();
        }
        files.take_ended(&mut ended);
        if !ended.is_empty() {
            for ended in ended {
                match ended {
                    Ended::Die { module, die } => self.card.answered(self.now, module, die),
                    Ended::Sectors { tag } => self.card.answered_sectors(self.now, tag, &mut self.done),
                    Ended::Sync { .. } => self.card.answered_sync(self.now, &mut self.done),
                    Ended::Log { .. } => self.card.answered_log(self.now, &mut self.done),
                }
            }
            return;
        }
        assert_ne!(next, Time::NEVER, "a request was lost; the card has halted: {}", self.card.is_halted());
        self.now = next;
        self.card.advance(next, &mut self.done);
    }

    /// Asks one thing; its answer, if there is one: power may have gone meanwhile.
    fn ask(&mut self, request: Request<RequestData>) -> Option<RequestData> {
        self.card.submit(self.now, RequestId(0), request, &mut self.done);
        while self.done.is_empty() {
            if self.is_cut() {
                return None;
            }
            self.step();
        }
        let answer = self.done.pop().map(|completion| completion.data);
        self.done.clear();
        answer
    }

    /// Asks one thing; whether it was answered before power went.
    pub fn is_done(&mut self, request: Request<RequestData>) -> bool {
        self.ask(request).is_some() && !self.is_cut()
    }

    /// A write that is a part of a longer one: its neighbours are, if they have room, the writes before and after it.
    fn as_a_part(&mut self, bytes: &[u8]) -> RequestData {
        let mut memory = self.lender.take(bytes.len()).expect("the card keeps a few sectors");
        memory.bytes_mut().copy_from_slice(bytes);
        RequestData::of_sectors([Written::checked(Payload::part(memory.freeze()))])
    }

    pub fn write(&mut self, lba: u32, version: u64) -> bool {
        let bytes = payload(lba, version);
        let data = match version % 3 {
            0 => self.card.pack(0, &bytes),
            _ => self.as_a_part(&bytes),
        };
        self.is_done(Request::write(u64::from(lba * SECTOR), SECTOR).with(data))
    }

    /// The version that a sector reads as; [`SectorData::Pending`] if power went before the answer.
    pub fn read(&mut self, lba: u32) -> Result<u64, SectorData> {
        let request = Request::read(u64::from(lba * SECTOR), SECTOR).with(RequestData::none());
        let Some(data) = self.ask(request) else { return Err(SectorData::Pending) };
        match data.into_sectors().pop().unwrap() {
            SectorData::Zero => Ok(0),
            other => {
                let Some(bytes) = other.payload() else { return Err(other) };
                let version = u64::from_le_bytes(bytes[4..12].try_into().unwrap());
                assert!(*bytes == *payload(lba, version), "sector {lba} is mixed or another's");
                Ok(version)
            }
        }
    }

    /// Power comes back; `without`: a module is gone.
    pub fn reopened(self, without: Option<usize>, seed: u64) -> Host {
        let Host { sim, card, now, settled, rng, .. } = self;
        drop(card);
        sim.power_on();
        let mut named = some(&paths(3));
        if let Some(slot) = without {
            named[slot] = None;
        }
        sim.with(|world| world.frames_read.clear());
        let files = Files::open_on(sim.boxed(), &named).unwrap();
        assert!(files.notes().is_empty(), "seed {seed}: {:?}", files.notes());
        let opened = StorageCard::open(&config(), Medium::Outside(Box::new(files)), None, 8, 1);
        let (mut card, report) = opened.map_err(|e| e.0).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        // Each spare area is read twice at most: where its band is identified, and where all of the band is read.
        let most = sim.with(|world| world.frames_read.values().copied().max().unwrap_or(0));
        assert!(most <= MOST_READS, "seed {seed}: a start reads a spare area {most} times");
        let reads = report.start_reads.spares.requests;
        assert!(reads <= 2 * units(&shape(&config())), "seed {seed}: {reads} reads of spare areas");
        card.start_up(now, &mut Vec::new());
        let mut host = Host { now, settled, ..Host::with(sim, card, rng) };
        while !host.card.is_ready() {
            host.step();
        }
        host
    }
}

#[test]
pub fn what_was_flushed_is_there_after_a_cut_at_any_request_and_without_any_module() {
    let (mut cuts, mut lost_modules, mut unflushed, mut gathered) = (0, 0, 0, 0);
    for seed in 0..150 {
        let sim = Sim::new(seed);
        let mut rng = Rng::stream(seed, "card");
        let mut host = Host::new(sim.clone());
        // By sector: what it may read as; the first is the last that was durable.
        let mut allowed: Vec<Vec<u64>> = vec![vec![0]; SECTORS as usize];
        let mut version = 0;
        for life in 0..4 {
            let at = sim.with(|world| world.ended) + 1 + rng.below(2_500);
            sim.with(|world| world.cut_at = Some(at));
            while !host.is_cut() {
                let lba = rng.below(SECTORS) as u32;
                match rng.below(20) {
                    0 => {
                        if host.is_done(Request::flush().with(RequestData::none())) {
                            allowed.iter_mut().for_each(|versions| drop(versions.drain(..versions.len() - 1)));
                        }
                    }
                    1 => {
                        allowed[lba as usize].push(0);
                        host.ask(Request::trim(u64::from(lba * SECTOR), SECTOR).with(RequestData::none()));
                    }
                    2..6 => {
                        let found = host.read(lba);
                        if !host.is_cut() {
                            assert_eq!(found, Ok(*allowed[lba as usize].last().unwrap()), "seed {seed}: {lba}");
                        }
                    }
                    _ => {
                        version += 1;
                        allowed[lba as usize].push(version);
                        host.write(lba, version);
                    }
                }
            }
            cuts += 1;
            let without = (life == 3 && rng.below(2) == 0).then(|| rng.below(3) as usize);
            lost_modules += u32::from(without.is_some());
            host = host.reopened(without, seed);
            for lba in 0..SECTORS as u32 {
                let versions = &mut allowed[lba as usize];
                let found = host.read(lba).unwrap_or_else(|error| panic!("seed {seed}: sector {lba} is {error:?}"));
                assert!(versions.contains(&found), "seed {seed} life {life}: {lba} is {found} and not in {versions:?}");
                unflushed += u32::from(versions.len() > 1);
                *versions = vec![found];
            }
            host.card.ftl().check().unwrap();
        }
        gathered += sim.with(|world| world.gathered);
    }
    assert!(cuts == 600 && lost_modules > 50 && unflushed > 5_000, "{cuts} {lost_modules} {unflushed}");
    assert!(gathered > 5_000, "{gathered} units were written from where their payloads lay");
}

/// The bytes that starts read of bands of which the end is not durable yet, held against the payloads of these bands.
#[test]
fn a_start_reads_the_frames_of_units_that_were_synced_and_not_their_payloads() {
    let (mut read, mut payloads, mut scanned) = (0, 0, 0);
    for seed in 0..10 {
        let sim = Sim::new(seed);
        let mut host = Host::new(sim.clone());
        for version in 1..=300 {
            assert!(host.write((version % SECTORS) as u32, version));
        }
        assert!(host.is_done(Request::flush().with(RequestData::none())));
        // The record of that sync is durable with a later one.
        for version in 301..310 {
            assert!(host.write(0, version) && host.is_done(Request::flush().with(RequestData::none())));
        }
        sim.cut();
        drop(host.card);
        sim.power_on();
        let files = Files::open_on(sim.boxed(), &some(&paths(3))).unwrap();
        let opened = StorageCard::open(&config(), Medium::Outside(Box::new(files)), None, 8, 1);
        let (_, report) = opened.map_err(|e| e.0).unwrap();
        let shape = shape(&config());
        let units = shape.modules * shape.dies_per_module * shape.rows_per_block * report.bands_scanned;
        read += report.start_reads.spares.bytes;
        payloads += u64::from(units * shape.unit_sectors * shape.payload_bytes);
        scanned += report.bands_scanned;
    }
    assert!(scanned > 10 && read < payloads / 2, "{read} of {payloads} bytes in {scanned} bands");
}
