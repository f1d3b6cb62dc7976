//! A card gives back what was written, before and after its power went.

use crate::common::{PAYLOAD, SECTOR, stripe_data_sectors, with_contents};
use card::{CardConfig, OpenError, StorageCard, shape};
use device::{Completion, Device, Request, RequestId, Rng, Time};
use format::{CardId, Role, SlotState, Spare};
use ftl::recover::AssembleError;
use media::{
    BlockAt, CacheLoss, CutOutcome, Fault, Flash, Media, Part, Physics, RequestData, SectorData, SectorState, Unit,
    UnitAt,
};
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
    card: StorageCard,
    now: Time,
    done: Vec<Completion<RequestData>>,
}

impl Host {
    fn new(config: CardConfig) -> Host {
        Host::on(config, config.acknowledge_flush_early)
    }

    fn on(config: CardConfig, volatile_cache: bool) -> Host {
        let physics = Physics { volatile_cache, ..Physics::IDEAL };
        let media = Flash::new(shape(&config), physics, 1);
        let card = StorageCard::format(&config, media, CARD, 8, 1).unwrap();
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

    fn finish(&mut self, id: u32) -> RequestData {
        while !self.done.iter().any(|c| c.id == RequestId(id)) {
            assert!(self.step(), "a request was lost");
        }
        let place = self.done.iter().position(|c| c.id == RequestId(id)).unwrap();
        self.done.swap_remove(place).data
    }

    fn write(&mut self, lba: u32, version: u64) {
        let data = self.card.pack(0, &payload(lba, version));
        let request = Request::write(u64::from(lba * SECTOR), SECTOR).with(data);
        self.card.submit(self.now, RequestId(0), request, &mut self.done);
        self.finish(0);
    }

    fn trim(&mut self, lba: u32) {
        let request = Request::trim(u64::from(lba * SECTOR), SECTOR).with(RequestData::none());
        self.card.submit(self.now, RequestId(0), request, &mut self.done);
        self.finish(0);
    }

    fn flush(&mut self) {
        self.card.submit(self.now, RequestId(0), Request::flush().with(RequestData::none()), &mut self.done);
        self.finish(0);
    }

    fn read(&mut self, lba: u32) -> SectorData {
        let request = Request::read(u64::from(lba * SECTOR), SECTOR).with(RequestData::none());
        self.card.submit(self.now, RequestId(1), request, &mut self.done);
        self.finish(1).into_sectors().pop().unwrap()
    }

    /// Until the card has nothing left to do.
    fn rest(&mut self) {
        while self.step() {}
    }

    /// Places of all sectors on flash that are such a thing, of this number, the newest first.
    fn on_flash(&self, role: Role, lba: u32) -> Vec<UnitAt> {
        let mut media = self.card.media_contents().unwrap().clone();
        let shape = *media.shape();
        let mut unit = Unit::new(&shape);
        let mut found = Vec::new();
        for module in 0..shape.modules {
            for (block, row) in (0..shape.blocks_per_die).flat_map(|b| (0..shape.rows_per_block).map(move |r| (b, r))) {
                let at = UnitAt { block: BlockAt { module, die: 0, block }, row };
                media.read(at, &mut unit).unwrap();
                for sector in (0..unit.sectors()).filter(|&sector| unit.state(sector) == SectorState::Good) {
                    let spare = Spare::decode(unit.spare(sector)).unwrap();
                    found.extend(Some((spare.version, at)).filter(|_| spare.role == role && spare.lba == lba));
                }
            }
        }
        found.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
        found.into_iter().map(|(_, at)| at).collect()
    }

    /// A unit can't be read any more, and neither can it be rebuilt.
    fn lose(&mut self, at: UnitAt) {
        let media = self.card.media_contents_mut().unwrap();
        let shape = *media.shape();
        let other = BlockAt { module: (at.block.module + 1) % shape.modules, ..at.block };
        for (block, sector) in [at.block, other].into_iter().flat_map(|b| (0..shape.unit_sectors).map(move |s| (b, s)))
        {
            media.inject(Fault::FlipBits { at: UnitAt { block, ..at }, sector, bits: 10_000 });
        }
    }

    /// The card is shut down in order; its media.
    fn shut_down(mut self) -> (CardConfig, Flash, Time) {
        let now = self.card.shut_down(self.now, &mut self.done);
        let mut media = self.card.into_media().unwrap();
        media.set_cache_loss(CacheLoss::All);
        media.power_cut(&[], &mut |_, _| CutOutcome::Done);
        media.power_on();
        (self.config, media, now)
    }

    /// The power goes and comes back. Where rows share cells, a program that is cut may spoil earlier rows.
    fn cut(self, rng: &mut Rng) -> Host {
        let spoil_earlier = self.config.ftl.persistence.is_some_and(|persistence| persistence.cell_rows > 1);
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
            2 => CutOutcome::Garbage { spoil_earlier },
            3 => CutOutcome::Weak,
            _ => CutOutcome::PartlyErased,
        });
        media.power_on();
        Host::start(config, media, now)
    }

    fn start(config: CardConfig, media: Flash, now: Time) -> Host {
        let mut done = Vec::new();
        let (mut card, _) = StorageCard::open(&config, media, None, 8, 1).map_err(|e| e.0).unwrap();
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
    for seed in 0..600 {
        survive_cuts(with_contents(seed % 2 == 0), seed);
    }
}

/// A stripe is one unit, and two rows share cells: a flush fills the word line of one die.
fn word_lines() -> CardConfig {
    let mut config = with_contents(false);
    (config.ftl.stripe_width, config.ftl.parity_units) = (1, 0);
    config.ftl.persistence.as_mut().unwrap().cell_rows = 2;
    config
}

#[test]
fn flushed_data_survive_cuts_where_a_flush_fills_one_word_line() {
    assert_eq!(Host::new(word_lines()).card.ftl().layout().run, 2);
    for seed in 0..300 {
        survive_cuts(word_lines(), seed);
    }
}

#[test]
fn a_flush_fills_one_word_line_where_a_stripe_is_one_unit() {
    let mut host = Host::new(word_lines());
    let unit = host.card.ftl().layout().unit_sectors;
    for version in 1..200 {
        host.write(version % 50, version.into());
        host.flush();
    }
    let padded = host.card.ftl().counters().padding_sectors;
    // Half of them at least fill both rows of a line, with one sector each; those of relocation are full.
    assert!(padded <= 199 * u64::from(2 * unit - 1) + 200, "{padded} sectors of padding");
    assert!(padded >= 100, "{padded} sectors of padding");
}

fn survive_cuts(config: CardConfig, seed: u64) {
    let protected = config.power_loss_protection;
    let mut host = Host::new(config);
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
                    assert!(may.contains(&read), "seed {seed}, version {version}: LBA {lba} reads {read}, may {may:?}");
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

/// Reads all sectors of a card of drives, one of which is slow; how many reads took its time, and how many were hedged.
fn reads_of_a_slow_drive(damaged: bool) -> (usize, u64, u64) {
    let mut host = Host::on(with_contents(false), true);
    (0..60).for_each(|lba| host.write(lba, 1));
    host.flush();
    host.rest();
    // Enough to know what is usual, and to have earned all hedges that may follow each other.
    (0..4_000).for_each(|read| drop(host.read(read * 7 % 60)));
    let sectors = host.card.media_contents().unwrap().shape().unit_sectors;
    let of_another: Vec<UnitAt> = (0..60).flat_map(|lba| host.on_flash(Role::Data, lba)).collect();
    let media = host.card.media_contents_mut().unwrap();
    for at in of_another.into_iter().filter(|at| damaged && at.block.module == 0) {
        for sector in 0..sectors {
            media.inject(Fault::Miscorrect { at, sector, part: Part::Payload });
        }
    }
    assert!(media.inject(Fault::ModuleSlow { module: 1, percent: 10_000 }));
    let slow_ns = host.config.nand.timing.native.read_ns * 100;
    let mut slow = 0;
    // Not in order: what is read ahead is not hedged.
    for lba in (0..60).map(|read| read * 7 % 60) {
        let began = host.now;
        assert_eq!(host.read(lba), SectorData::Data(payload(lba, 1).into()), "LBA {lba}");
        slow += usize::from(host.now - began >= slow_ns);
    }
    let counters = host.card.store_counters();
    (slow, counters.hedged_reads, counters.mismatched_sectors)
}

#[test]
fn a_read_of_a_slow_drive_is_answered_from_the_rest_of_its_stripe_where_that_is_right() {
    let (slow, hedged, mismatched) = reads_of_a_slow_drive(false);
    assert!(hedged == 8 && mismatched == 0 && slow < 60 / 3, "{slow} slow, {hedged} hedged, {mismatched}");
    // A hedge that does not fit is not believed: the slow drive answers after all.
    let (slow_at_last, hedged, mismatched) = reads_of_a_slow_drive(true);
    assert!(hedged > 0 && mismatched > 0 && slow_at_last > slow, "{slow_at_last} slow, {hedged} hedged, {mismatched}");
}

/// Answers flushes early, and keeps up to half of the buffer in the volatile cache.
fn lying() -> CardConfig {
    let mut config =
        CardConfig { acknowledge_flush_early: true, buffer_sectors: 48, bands: 40, ..with_contents(false) };
    config.nand.geometry.blocks_per_plane = 40;
    config
}

#[test]
fn a_card_that_lies_loses_what_was_flushed_long_ago_and_invents_nothing() {
    let cuts = 100;
    let caught = (0..cuts).filter(|&seed| {
        let mut host = Host::new(lying());
        let mut rng = Rng::stream(seed, "host");
        let mut newest = [0; 60];
        let writes = 200 + rng.below(200);
        for version in 1..=writes {
            let lba = rng.below(60) as u32;
            host.write(lba, version);
            host.flush();
            newest[lba as usize] = version;
        }
        let mut host = host.cut(&mut rng);
        let mut oldest_lost = u64::MAX;
        for (lba, newest) in (0..60).zip(newest) {
            let read = match host.read(lba) {
                SectorData::Zero => 0,
                SectorData::Data(bytes) => {
                    let version = u64::from_le_bytes(bytes[4..12].try_into().unwrap());
                    assert_eq!(&bytes[..], payload(lba, version), "LBA {lba}");
                    version
                }
                other => panic!("seed {seed}: LBA {lba} reads {other:?}"),
            };
            assert!(read <= newest, "seed {seed}: LBA {lba} reads {read}, {newest} was written");
            if read < newest {
                oldest_lost = oldest_lost.min(newest);
            }
        }
        // More than what a stripe that is being filled holds.
        oldest_lost + 3 < writes
    });
    let caught = caught.count();
    assert!(caught >= 90, "{caught} of {cuts}");
}

#[test]
fn a_card_that_lies_keeps_all_when_it_is_shut_down() {
    // Also when what was written ends with a stripe, so that nothing else has to be programmed.
    for (writes, idle) in (1..24).chain(4_800..4_812).flat_map(|writes| [(writes, false), (writes, true)]) {
        let mut host = Host::new(lying());
        let mut rng = Rng::stream(7, "host");
        let mut newest = [0; 60];
        // Long enough that collection needs what the cache holds.
        for version in 1..writes {
            let lba = rng.below(60) as u32;
            host.write(lba, version);
            newest[lba as usize] = version;
        }
        if idle {
            host.rest();
        }
        let relocated = host.card.ftl().counters().relocated_sectors;
        assert!(writes < 24 || relocated > 500, "{relocated}");
        let (config, media, now) = host.shut_down();
        let mut host = Host::start(config, media, now);
        for (lba, version) in (0..60).zip(newest) {
            let written = SectorData::Data(payload(lba, version).into());
            assert_eq!(host.read(lba), if version > 0 { written } else { SectorData::Zero }, "LBA {lba} of {writes}");
        }
    }
}

#[test]
fn a_module_of_a_card_that_lies_is_rebuilt_though_the_host_rests() {
    // Much fits into the volatile cache before it is written for want of room.
    let mut config = CardConfig { buffer_sectors: 480, bands: 120, ..lying() };
    config.nand.geometry.blocks_per_plane = 120;
    for seed in 0..50 {
        let mut host = Host::new(config);
        let mut rng = Rng::stream(seed, "host");
        let mut write = |host: &mut Host, times: u64| {
            for version in 1..=times {
                host.write(rng.below(60) as u32, version);
                host.flush();
            }
        };
        write(&mut host, 200 + seed % 7);
        let slot = (seed % 3) as u32;
        let module = host.card.media_contents_mut().unwrap().pull(slot).unwrap();
        host.card.module_went(host.now, slot, &mut host.done);
        write(&mut host, 100 + seed % 5);
        assert!(host.card.insert_module(host.now, slot, module, &mut host.done).is_ok());
        host.rest();
        assert_eq!(host.card.module_state(slot), Some(SlotState::Active), "seed {seed}");
        assert_eq!(host.card.rebuild_progress(), None);
    }
}

#[test]
fn a_card_on_volatile_media_that_was_shut_down_moves_nothing_but_what_was_open() {
    let config = with_contents(false);
    let mut host = Host::on(config, true);
    let mut rng = Rng::stream(3, "host");
    let mut newest = [0; 60];
    for version in 1..400 {
        let lba = rng.below(60) as u32;
        host.write(lba, version);
        newest[lba as usize] = version;
    }
    for _ in 0..4 {
        let (config, media, now) = host.shut_down();
        host = Host::start(config, media, now);
        host.rest();
        // Two bands are open, and what one of them held is written again.
        let moved = host.card.ftl().counters().relocated_sectors;
        let band = stripe_data_sectors(&config) * host.card.ftl().layout().rows * host.card.ftl().layout().groups;
        assert!(moved <= 2 * u64::from(band), "{moved} of 60 sectors");
        for (lba, version) in (0..60).zip(newest) {
            let written = SectorData::Data(payload(lba, version).into());
            assert_eq!(host.read(lba), if version > 0 { written } else { SectorData::Zero }, "LBA {lba}");
        }
    }
}

#[test]
fn a_card_on_volatile_media_starts_by_its_checkpoint_after_an_orderly_end_and_after_a_cut() {
    let config = with_contents(false);
    let mut host = Host::on(config, true);
    let mut rng = Rng::stream(4, "host");
    let mut newest = [0; 60];
    let mut write = |host: &mut Host, versions: std::ops::Range<u64>| {
        for version in versions {
            let lba = rng.below(60) as u32;
            host.write(lba, version);
            newest[lba as usize] = version;
        }
        newest
    };
    let found = |config: &CardConfig, media: Flash| {
        let (card, report) = StorageCard::open(config, media, None, 8, 1).map_err(|e| e.0).unwrap();
        assert!(report.bands_by_checkpoint > 0, "{report:?}");
        (card.into_media().unwrap(), report)
    };
    let holds = |host: &mut Host, newest: [u64; 60]| {
        for (lba, version) in (0..60).zip(newest) {
            let written = SectorData::Data(payload(lba, version).into());
            assert_eq!(host.read(lba), if version > 0 { written } else { SectorData::Zero }, "LBA {lba}");
        }
    };
    let written = write(&mut host, 1..600);
    let (config, media, now) = host.shut_down();
    let (media, report) = found(&config, media);
    assert!(report.bands_scanned <= 5, "{report:?}: the open bands, and those of the checkpoint");
    let mut host = Host::start(config, media, now);
    holds(&mut host, written);
    // Writes after the checkpoint are found beside it.
    let written = write(&mut host, 600..620);
    host.flush();
    let now = host.now;
    let mut media = host.card.into_media().unwrap();
    media.set_cache_loss(CacheLoss::All);
    media.power_cut(&[], &mut |_, _| CutOutcome::NotBegun);
    media.power_on();
    let (media, _) = found(&config, media);
    let mut host = Host::start(config, media, now);
    holds(&mut host, written);
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
fn a_card_that_stopped_with_acknowledged_writes_in_its_buffer_does_not_start() {
    let mut host = Host::new(with_contents(true));
    let open = |host: &Host, damaged: Option<u32>| {
        let mut media = host.card.media_contents().unwrap().clone();
        media.power_cut(&[], &mut |_, _| CutOutcome::Done);
        media.power_on();
        for (module, copy) in (0..media.shape().modules).zip(damaged.into_iter().cycle()) {
            media.inject(Fault::DamageHeader { module, copy, byte: 9, xor: 1 });
        }
        StorageCard::open(&host.config, media, None, 8, 1).map(drop).map_err(|failed| failed.0)
    };
    // Nobody was told of anything yet.
    assert_eq!(open(&host, None), Ok(()));
    for version in 1..4 {
        host.write(0, version);
        assert_eq!(open(&host, None), Err(OpenError::Assemble(AssembleError::LostWrites)));
        // When the power fails it puts them on flash and says so, in both copies of its headers.
        host = host.cut(&mut Rng::stream(version, "cut"));
        for damaged in [None, Some(0), Some(1)] {
            assert_eq!(open(&host, damaged), Ok(()), "{damaged:?}");
        }
        assert_eq!(host.read(0), SectorData::Data(payload(0, version).into()));
        assert_eq!(open(&host, None), Ok(()), "reads are nothing that could be lost");
    }
}

#[test]
fn what_was_trimmed_stays_so_when_the_list_that_tells_of_it_can_not_be_read() {
    let mut host = Host::new(with_contents(false));
    // More than a band, so that the trimmed sector lies in another one than the list.
    (0..60).for_each(|lba| host.write(lba, 1));
    host.trim(3);
    host.trim(40);
    host.flush();
    let list = host.on_flash(Role::Holes, 0)[0];
    // A band that is still being filled is not looked over.
    (41..60).chain(41..60).for_each(|lba| host.write(lba, 2));
    host.flush();
    host.lose(list);
    host.card.begin_scrub(host.now, &mut host.done);
    host.rest();
    let (config, media, now) = host.shut_down();
    host = Host::start(config, media, now);
    assert!(!host.on_flash(Role::Data, 3).is_empty(), "nothing could come back");
    for lba in [3, 40] {
        assert_eq!(host.read(lba), SectorData::Zero, "{lba}");
    }
    host.write(3, 2);
    host.flush();
    host = host.cut(&mut Rng::stream(3, "cut"));
    assert_eq!(host.read(3), SectorData::Data(payload(3, 2).into()));
    assert_eq!(host.read(40), SectorData::Zero);
}

#[test]
fn a_card_is_not_opened_as_another_than_it_was_made_as() {
    let config = with_contents(true);
    let made = StorageCard::format(&config, Flash::new(shape(&config), Physics::IDEAL, 1), CARD, 8, 1).unwrap();
    let media = made.into_media().unwrap();
    let mut others = [config; 5];
    others[0].ftl.user_sectors = 59;
    others[1].ftl.stripe_width = 1;
    others[1].ftl.parity_units = 0;
    others[2].power_loss_protection = false;
    others[3].ftl.slc_cache = Some(ftl::SlcCache { bands: 2, bits_per_cell: 2 });
    others[4].bands = 19;
    for other in others {
        let (error, untouched) = *StorageCard::open(&other, media.clone(), None, 8, 1).unwrap_err();
        assert!(matches!(error, OpenError::MadeOtherwise { .. }), "{error}");
        let untouched = untouched.into_flash().expect("as it was handed over");
        assert_eq!(untouched.trace(), media.trace(), "a card that is not opened is not written to");
    }
    assert!(StorageCard::open(&config, media, None, 8, 1).is_ok());
}

/// Sectors that survive a cut, of a stripe that was written and not flushed on media with a volatile cache: at once,
/// and when the card has nothing left to do; the last number is the nanoseconds from the write until then.
fn sectors_that_survive(seed: u64) -> (usize, usize, u64) {
    let config = CardConfig { acknowledge_flush_early: false, ..lying() };
    let sectors = stripe_data_sectors(&config);
    let written = || {
        let mut host = Host::on(config, true);
        (0..sectors).for_each(|lba| host.write(lba, 1));
        host
    };
    let survive = |host: Host| {
        let mut host = host.cut(&mut Rng::stream(seed, "cut"));
        (0..sectors).filter(|&lba| matches!(host.read(lba), SectorData::Data(_))).count()
    };
    let mut rested = written();
    let last_write = rested.now;
    while rested.step() {}
    let rest_ns = rested.now - last_write;
    (survive(written()), survive(rested), rest_ns)
}

#[test]
fn a_stripe_is_synced_soon_though_nobody_flushes() {
    let sectors = stripe_data_sectors(&with_contents(false)) as usize;
    let outcomes: Vec<_> = (0..50).map(sectors_that_survive).collect();
    assert!(outcomes.iter().any(|(at_once, ..)| *at_once < sectors), "it was durable before: nothing is shown");
    for (_, rested, rest_ns) in outcomes {
        assert_eq!(rested, sectors);
        assert!(
            (100_000_000..110_000_000).contains(&rest_ns),
            "{rest_ns}: stripes wait 100 ms for others, and no longer"
        );
    }
}
