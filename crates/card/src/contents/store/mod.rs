//! The bytes of a card: its media, the payloads on their way to them, and the data that reads brought.
//!
//! A card without a store has the same places, times and amounts of everything, and no bytes. Invariants:
//! - a payload stays in the buffer until the whole stripe that it was written with is on flash;
//! - data that a read hands out was checked against the place it was read from, the sector that was asked for, and its
//!   checksum.

mod buffer;
mod headers;
mod place;
mod programs;
mod requests;
mod stripes;

pub use buffer::Content;
pub use headers::{HeaderFailed, Headers};
pub use requests::{InFlight, ReadPart};

use crate::contents::checksums::Checksums;
use crate::core::dies::Started;
use buffer::Buffer;
use bytes::Bytes;
use format::{Role, Spare, SummaryEntry};
use ftl::recover::{Place, Rebuild, Rejection, check, check_spare};
use ftl::{Ftl, Lba, Ppa, UnitAddress};
use media::{
    BlockAt, MediaError, Medium, Payload, ReadReport, RequestData, SectorsAt, Unit, UnitAt, Written, WrittenList,
    payload_in, persist, touch_last,
};
use programs::Programs;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Counts of reads, failures and rebuilt sectors since the start, on a card that holds bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreCounters {
    /// Sectors that could not be read where they lie and were rebuilt from their stripe.
    pub rebuilt_sectors: u64,
    /// Sectors that could not be read at all.
    pub lost_sectors: u64,
    /// Sectors that a drive has read and that are not the newest of their address, or damaged.
    pub mismatched_sectors: u64,
    /// Reads that took so long that the rest of the stripe was read as well.
    pub hedged_reads: u64,
    /// Units that were read.
    pub reads: u64,
    /// Further reads with shifted thresholds.
    pub read_retries: u64,
    /// Programs that failed.
    pub program_failures: u64,
    /// Erases that failed.
    pub erase_failures: u64,
}

/// Payloads whose memory is kept at least: as many as a few stripes have.
const MIN_SPARE_PAYLOADS: usize = 1024;

/// Lists of payloads whose memory is kept: as many as requests are usually in flight.
const MAX_SPARE_LISTS: usize = 64;

/// Blocks that are not as the map would have them, by band and die.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// Blocks that do not hold what belongs there: their module is being rebuilt.
    pub absent: BTreeSet<(u32, u32)>,
    /// The units before this one are there, on the absent block that is being rebuilt.
    pub filled: Option<UnitAddress>,
    /// Blocks to be retired when their band is erased: a program of them failed.
    failing: BTreeSet<(u32, u32)>,
}

/// Modules that went, were filled anew or refused programs since the start, by number within the card.
#[derive(Clone, Debug)]
pub struct ModuleHistory {
    /// Modules that went.
    pub gone: BTreeMap<u32, crate::contents::modules::Gone>,
    /// Modules that were filled anew because a sync of them had failed.
    pub filled_anew: BTreeSet<u32>,
    /// Programs that whatever holds a module has refused, one after the other.
    pub refused: Vec<u32>,
}

/// Memory that is kept to be used again.
#[derive(Clone, Debug, Default)]
struct Memory {
    /// A unit to read into.
    scratch: Option<Unit>,
    /// A sector of a summary, spare areas of a stripe, its parity: of those that were made last.
    summary: Vec<u8>,
    spares: Vec<Spare>,
    folded: Option<Rebuild>,
    /// Units that were programmed, to be filled again.
    units: Vec<Unit>,
    /// Payloads that nobody has any more.
    payloads: Vec<Payload>,
    /// The most of these that are kept: half of what the write buffer holds. A sync makes a quarter of it durable at once.
    max_payloads: usize,
    /// Emptied lists of payloads. At most [`MAX_SPARE_LISTS`].
    lists: Vec<WrittenList>,
}

/// The bytes of a card, and the media that they lie on.
#[derive(Clone, Debug)]
pub struct Store {
    pub media: Medium,
    pub headers: Headers,
    /// Slot of each module of the card; `None` where it is missing.
    pub slots: Vec<Option<u32>>,
    pub history: ModuleHistory,
    pub blocks: Blocks,
    /// Operations that have begun on dies and not on a slow medium yet: it is asked first how the one before ended.
    pub to_begin: Vec<Started>,
    /// The version that is given out next.
    pub next_version: u64,
    buffer: Buffer,
    /// By index of the stripe in flight.
    programs: FxHashMap<u32, Programs>,
    /// Contents of relocations under way, by the first address of their unit.
    relocating: FxHashMap<u32, Vec<(Ppa, Content)>>,
    /// Summary entries of the open band of each stream so far, with the number of its opening.
    entries: [(u64, Vec<SummaryEntry>); 3],
    memory: Memory,
    /// The checksums of the host's sectors.
    pub checksums: Checksums,
    /// Reads of blocks, for the patrol.
    pub reads: crate::contents::patrol::BlockReads,
    pub counters: StoreCounters,
}

impl Store {
    pub fn new(
        media: Medium,
        headers: Headers,
        slots: Vec<Option<u32>>,
        user_sectors: u64,
        buffer_sectors: u32,
    ) -> Store {
        let refused = vec![0; slots.len()];
        Store {
            media,
            headers,
            slots,
            history: ModuleHistory { gone: BTreeMap::new(), filled_anew: BTreeSet::new(), refused },
            blocks: Blocks::default(),
            to_begin: Vec::new(),
            next_version: 1,
            buffer: Buffer::default(),
            programs: FxHashMap::default(),
            relocating: FxHashMap::default(),
            entries: Default::default(),
            memory: Memory { max_payloads: MIN_SPARE_PAYLOADS.max(buffer_sectors as usize / 2), ..Memory::default() },
            checksums: Checksums::unknown(user_sectors),
            reads: Default::default(),
            counters: StoreCounters::default(),
        }
    }

    /// Bytes of a sector's payload.
    pub fn payload_bytes(&self) -> usize {
        self.media.shape().payload_bytes as usize
    }

    /// A payload with these bytes.
    pub fn payload_of(&mut self, bytes: &[u8]) -> Payload {
        let spare = self.memory.payloads.pop().or_else(|| self.media.take_payload());
        payload_in(spare, bytes)
    }

    /// Keeps the memory of a payload for another one, if nobody else has it.
    pub fn keep_memory(&mut self, payload: Payload) {
        if self.memory.payloads.len() < self.memory.max_payloads && payload.is_reusable() {
            self.memory.payloads.push(payload);
        }
    }

    /// Packs what a host writes for a request: a payload for each sector, the first from a place within it on.
    pub fn pack(&mut self, within_first_sector: usize, bytes: &[u8]) -> RequestData {
        let (sector_bytes, list) = (self.payload_bytes(), self.memory.lists.pop().unwrap_or_default());
        touch_last(&self.memory.payloads, bytes.len() / sector_bytes);
        let written_of = |bytes: &[u8]| Written::checked(self.payload_of(bytes));
        RequestData::of_write(list, sector_bytes, within_first_sector, bytes, written_of)
    }

    /// Keeps the memory of an emptied list of payloads.
    pub fn keep_list(&mut self, list: WrittenList) {
        if list.capacity() > 0 && self.memory.lists.len() < MAX_SPARE_LISTS {
            self.memory.lists.push(list);
        }
    }

    pub fn take_version(&mut self) -> u64 {
        self.next_version += 1;
        self.next_version - 1
    }

    /// Where a block of a die lies; `None` where its module is missing.
    pub fn block_at(&self, die: u32, band: u32) -> Option<BlockAt> {
        let modules = self.slots.len() as u32;
        let module = self.slots[(die % modules) as usize]?;
        Some(BlockAt { module, die: die / modules, block: band })
    }

    /// A unit to read into; to be given back.
    pub fn take_scratch(&mut self) -> Unit {
        self.memory.scratch.take().unwrap_or_else(|| Unit::new(self.media.shape()))
    }

    /// Gives a unit back.
    pub fn give_scratch(&mut self, unit: Unit) {
        self.memory.scratch = Some(unit);
    }

    fn unit_at(&self, unit: UnitAddress) -> Option<UnitAt> {
        if !self.blocks.absent.is_empty()
            && self.blocks.absent.contains(&(unit.band.0, unit.die))
            && !self.is_filled(unit)
        {
            return None;
        }
        self.place_for_rebuild(unit)
    }

    /// The unit belongs to the block that is being rebuilt, and is there again.
    fn is_filled(&self, unit: UnitAddress) -> bool {
        self.blocks.filled.is_some_and(|to| (to.band, to.die) == (unit.band, unit.die) && unit.row < to.row)
    }

    /// Where a unit lies, whether it is there or not.
    pub fn place_for_rebuild(&self, unit: UnitAddress) -> Option<UnitAt> {
        Some(UnitAt { block: self.block_at(unit.die, unit.band.0)?, row: unit.row })
    }

    /// Reads sectors of a unit into `unit`: those whose bits are set in `wanted`.
    pub fn read_unit(&mut self, at: UnitAddress, wanted: u64, unit: &mut Unit) -> Result<ReadReport, MediaError> {
        self.reads.count(at.band.0, at.die, 1);
        let at = self.unit_at(at).ok_or(MediaError::NoModule)?;
        // Emulated flash gives shares of its own memory, and would have this memory thrown away.
        if matches!(self.media, Medium::Outside(_)) && !self.media.lends(wanted) {
            let is_wanted = |sector: &usize| wanted >> sector & 1 == 1;
            (0..unit.sectors()).filter(is_wanted).for_each(|sector| unit.provide(sector, &mut self.memory.payloads));
        }
        let report = persist(|| self.media.read_some(at, wanted, unit))?;
        self.counters.reads += 1;
        self.counters.read_retries += u64::from(report.retries);
        Ok(report)
    }

    /// Reads sectors past their die: see [`Media::read_sectors`].
    pub fn read_sectors(
        &mut self,
        tag: u64,
        of: UnitAddress,
        at: &SectorsAt,
        unit: &mut Unit,
    ) -> Result<ReadReport, MediaError> {
        self.reads.count(of.band.0, of.die, 1);
        let report = persist(|| self.media.read_sectors(tag, at, unit))?;
        self.counters.reads += 1;
        self.counters.read_retries += u64::from(report.retries);
        Ok(report)
    }

    /// The sectors that a read past their die has brought, where the medium lends its memory: see [`Media::lend_sectors`].
    pub fn lend_sectors(&mut self, tag: u64, of: UnitAddress, at: &SectorsAt) -> Option<Bytes> {
        let bytes = self.media.lend_sectors(tag, at)?;
        self.reads.count(of.band.0, of.die, 1);
        self.counters.reads += 1;
        Some(bytes)
    }

    /// Further reads with shifted thresholds that a read of a unit takes.
    pub fn retries(&self, at: UnitAddress) -> u32 {
        self.unit_at(at).map_or(0, |at| self.media.retries(at))
    }

    /// Erases a die's share of a band; false when it can't be used again.
    pub fn erase(&mut self, die: u32, band: u32) -> Result<(), MediaError> {
        let at = self.block_at(die, band).ok_or(MediaError::NoModule)?;
        if self.blocks.failing.remove(&(band, die)) || self.media.is_bad(at) {
            // It is not used again; but what it held should not be found there when nobody can tell any more that the
            // rest of its band was erased.
            return Err(self.media.erase(at).err().unwrap_or(MediaError::Failed));
        }
        let erased = self.media.erase(at);
        if erased.is_ok() {
            self.reads.forget(band, die);
            self.blocks.absent.remove(&(band, die));
        }
        if erased == Err(MediaError::Failed) {
            self.counters.erase_failures += 1;
            persist(|| self.media.mark_bad(at))?;
        }
        erased
    }

    /// Tells the medium of an erase to come.
    pub fn begin_erase(&mut self, die: u32, band: u32) {
        if let Some(at) = self.block_at(die, band) {
            self.media.begin_erase(at);
        }
    }

    /// Erases a block that does not hold what belongs there.
    pub fn erase_for_rebuild(&mut self, die: u32, band: u32) -> Result<(), MediaError> {
        let at = self.block_at(die, band).ok_or(MediaError::NoModule)?;
        self.media.erase(at)
    }

    /// Programs a unit of a block that does not hold all that belongs there yet.
    pub fn program_for_rebuild(&mut self, at: UnitAddress, unit: &Unit) -> Result<(), MediaError> {
        let at = self.place_for_rebuild(at).ok_or(MediaError::NoModule)?;
        self.media.program(at, unit)
    }

    /// A block is not to be used any longer: the medium is told at once, so that a scan knows why a stripe is not whole;
    /// its band is emptied, and then it is retired.
    pub fn retire_later(&mut self, band: u32, die: u32) -> Result<(), MediaError> {
        self.blocks.failing.insert((band, die));
        match self.block_at(die, band) {
            Some(at) => persist(|| self.media.mark_bad(at)),
            None => Ok(()),
        }
    }

    /// The content that waits in the buffer for an address.
    pub fn buffered(&self, ppa: Ppa) -> Option<&Content> {
        self.buffer.get(ppa)
    }

    /// Takes what waits in the buffer for an address.
    pub fn take(&mut self, ppa: Ppa) -> Content {
        self.buffer.take(ppa).expect("it waits in the buffer")
    }

    /// The host wrote a sector, which will lie at `ppa`.
    pub fn put(&mut self, ppa: Ppa, content: Content) {
        self.buffer.put(ppa, content);
    }

    /// The contents of a relocation's sectors are there.
    pub fn relocation_read(&mut self, first: Ppa, contents: Vec<(Ppa, Content)>) {
        self.relocating.insert(first.0, contents);
    }

    /// The content of an address, as a relocation under way has read it.
    pub fn being_relocated(&self, ppa: Ppa) -> Option<&Content> {
        let first = ppa.0 - ppa.0 % self.media.shape().unit_sectors;
        self.relocating.get(&first)?.iter().find(|(of, _)| *of == ppa).map(|(_, content)| content)
    }

    /// The contents of a relocation's sectors, to be put where they will lie.
    pub fn take_relocation(&mut self, first: Ppa) -> Vec<(Ppa, Content)> {
        self.relocating.remove(&first.0).unwrap_or_default()
    }

    /// A sector that was just read into `unit` is what its place says it should be.
    pub fn check(&self, ftl: &Ftl, at: UnitAddress, unit: &Unit, sector: u32) -> Result<Spare, Rejection> {
        let members = ftl.stripe_members(ftl.layout().stripe_of(at));
        check(unit, &self.place_of(ftl, at, sector), &ftl.opening(at.band), members, ftl.layout())
    }

    /// The checksum of a data sector's payload, by the spare area in `unit`, whose payload may not be there.
    pub fn checksum_in_spare(&self, ftl: &Ftl, at: UnitAddress, unit: &Unit, sector: u32, lba: Lba) -> Option<u32> {
        let place = self.place_of(ftl, at, sector);
        let members = ftl.stripe_members(ftl.layout().stripe_of(at));
        let spare = check_spare(unit, &place, &ftl.opening(at.band), members, ftl.layout()).ok()?;
        (spare.role == Role::Data && is_for(ftl, spare.role, spare.lba, lba)).then_some(spare.payload_crc)
    }

    fn place_of(&self, ftl: &Ftl, at: UnitAddress, sector: u32) -> Place {
        Place {
            card: self.headers.common.card.short(),
            band: at.band.0,
            stripe: ftl.layout().stripe_of(at).index,
            unit: (at.die % ftl.layout().width) as u8,
            sector: sector as u8,
        }
    }

    /// As [`Store::check`], for a sector that holds an LBA of the host or the card's own; `None`: it can't be used.
    pub fn check_content(&self, ftl: &Ftl, at: UnitAddress, unit: &Unit, sector: u32, lba: Lba) -> Option<Content> {
        let spare = self.check(ftl, at, unit, sector).ok()?;
        is_for(ftl, spare.role, spare.lba, lba)
            .then(|| Content::checked(spare.role, spare.version, lba, unit.share(sector as usize), spare.payload_crc))
    }
}

/// A spare area that says `role` and `found` belongs to the sector that the map's entry `lba` stands for.
pub fn is_for(ftl: &Ftl, role: Role, found: u32, lba: Lba) -> bool {
    match ftl.segment_of(lba) {
        None => matches!(role, Role::Data | Role::Lost) && found == lba.0,
        Some(segment) => role == Role::Holes && found == segment,
    }
}
