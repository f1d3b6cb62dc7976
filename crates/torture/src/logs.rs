//! The write-ahead log of the card: damage to its records, and what happened to it.

use crate::CardUnderTest;
use crate::sim::met::LogMet;
use crate::sim::{Ask, Impact, Lost, PARTS};
use card::StorageCard;
use device::Rng;
use format::{LogRecord, SlotState};
use ftl::Lba;
use media::{CutOutcome as End, Fault, Media, UnderWay};
use std::collections::{BTreeMap, BTreeSet};

/// One copy of a record.
struct Copy {
    module: u32,
    /// Where it begins in the log area.
    offset_bytes: usize,
    len_bytes: usize,
    lbas: BTreeSet<crate::sim::Lba>,
}

impl CardUnderTest {
    /// The copies of records on all modules, by number.
    fn records(&self) -> BTreeMap<u64, Vec<Copy>> {
        let mut media = self.readable();
        let mut records: BTreeMap<u64, Vec<Copy>> = BTreeMap::new();
        let Some(area) = media.log_area() else { return records };
        for module in 0..media.shape().modules {
            let Ok(bytes) = media.read_log(module) else { continue };
            for offset_bytes in (0..bytes.len()).step_by(area.align_bytes as usize) {
                let Ok(record) = LogRecord::decode(&bytes[offset_bytes..]) else { continue };
                let lbas = record.sectors().map(|sector| crate::sim::Lba(sector.lba)).collect();
                let copy = Copy { module, offset_bytes, len_bytes: record.len_bytes(), lbas };
                records.entry(record.head.sequence).or_default().push(copy);
            }
        }
        records
    }

    /// Changes a byte of one copy of a record. Never of the newest one: the loss of both copies of that is taken for a
    /// write that power cut.
    pub(crate) fn damage_log(&mut self, rng: &mut Rng) -> Option<Impact> {
        let mut records = self.records();
        records.pop_last();
        let copies: Vec<Copy> = records.into_values().flatten().collect();
        let count = copies.len() as u64;
        let copy = (count > 0).then(|| &copies[rng.below(count.max(1)) as usize])?;
        let byte = copy.offset_bytes as u64 + rng.below(copy.len_bytes as u64);
        let fault = Fault::DamageLog { module: copy.module, byte: byte as u32, xor: 1 + rng.below(255) as u8 };
        let lost = Lost::These(copy.lbas.clone());
        self.flash_mut().inject(fault).then_some(Impact { lost, may_refuse: true, ..Impact::default() })
    }

    /// A request is submitted, which may change what the log holds.
    pub(crate) fn note_for_log(&mut self, ask: &Ask) {
        let Some(card) = &self.card else { return };
        let holds = |lba: crate::sim::Lba, count: u32| (lba.0..lba.0 + count).any(|lba| card.log_holds(Lba(lba)));
        match *ask {
            Ask::Write { lba, count, .. } => self.log.overwritten += u64::from(holds(lba, count)),
            Ask::WriteParts { lba, first, parts, .. } => {
                self.log.overwritten += u64::from(holds(lba, (first + parts).div_ceil(PARTS)));
            }
            Ask::Trim { lba, count } | Ask::WriteZeroes { lba, count, .. } => {
                self.log.trimmed += u64::from(holds(lba, count));
            }
            _ => {}
        }
    }

    /// A start has opened the card.
    pub(crate) fn note_opened(&mut self, card: &StorageCard) {
        let count = card.slots().len() as u32;
        let is_degraded = (0..count).any(|module| card.module_state(module) != Some(SlotState::Active));
        let replays = card.log_counters().is_some_and(|log| log.replayed_sectors > 0);
        self.log.degraded_replays += u64::from(is_degraded && replays);
        self.log.cut_replays += u64::from(std::mem::take(&mut self.start_was_cut) && replays);
    }

    /// Power is cut, and what was under way ends so.
    pub(crate) fn note_cut(&mut self, under_way: &[UnderWay], ends: &[End]) {
        let of_log = under_way.iter().zip(ends).filter(|(operation, _)| matches!(operation, UnderWay::Log { .. }));
        let (done, other): (Vec<_>, Vec<_>) = of_log.partition(|(_, end)| **end == End::Done);
        self.log.cut_between_copies += u64::from(!done.is_empty() && !other.is_empty());
    }

    /// The card is not there any more: what it has counted goes on counting.
    pub(crate) fn note_gone(&mut self, card: &StorageCard) {
        self.log = sum(self.log, card);
    }

    /// The events of the log up to now.
    pub(crate) fn log_until_now(&self) -> LogMet {
        self.card().map_or(self.log, |card| sum(self.log, card))
    }
}

fn sum(mut log: LogMet, card: &StorageCard) -> LogMet {
    let Some(counters) = card.log_counters() else { return log };
    log.records += counters.records;
    log.wraps += counters.wraps;
    log.moved_records += counters.moved_records;
    log.shared_records += counters.shared_records;
    log.flushes_without_room += counters.flushes_without_room;
    log.exposed_waits += counters.exposed_waits;
    log
}
