//! The write-ahead log: sectors that a flush made durable before their stripes were whole.
//!
//! A record of the log is a copy of its sectors, with their versions. The rule of the newest version applies to it as to
//! copies in stripes: a sector of the log counts if its version is higher than that of every copy in a stripe, or if the
//! copy in a stripe of the same version can't be read. So it makes no difference how often a record is replayed, and
//! none whether it was still needed.
//!
//! A record that is torn has no effect: no flush was answered for it. Records of a module that can't be trusted are not
//! read, and records from before the last start that ended don't count ([`ModuleHeader::log_begins`]): a module that was
//! away may have the only copy of a record that a start has not seen, and a host may have read what was there without it.
//!
//! [`ModuleHeader::log_begins`]: format::ModuleHeader::log_begins

use super::found::Logged;
use super::place::Card;
use crate::canary::{Canary, planted};
use format::LogRecord;
use media::Media;
use std::collections::BTreeMap;

/// Sequence numbers that are skipped after a start: more than records that left no trace.
const SEQUENCE_GAP: u64 = 1 << 20;

/// The contents of the modules' logs.
#[derive(Debug, Default)]
pub(super) struct FoundLog {
    /// The newest version of each LBA in the log.
    pub sectors: BTreeMap<u32, Logged>,
    /// The next record gets this number.
    pub next_sequence: u64,
}

/// Reads the logs of all modules that can be trusted.
pub(super) fn read_log<M: Media + ?Sized>(media: &mut M, card: &Card) -> FoundLog {
    let mut found = FoundLog { next_sequence: card.log_begins.max(1), ..FoundLog::default() };
    let Some(area) = media.log_area() else { return found };
    let all: Vec<Option<u32>> = (0..card.modules.len() as u32).map(Some).collect();
    let modules = if planted(Canary::LogOfStaleModule) { &all } else { card.modules };
    let mut highest = 0;
    for slot in modules.iter().flatten() {
        // A module that does not answer is noticed by whoever reads its units.
        let Ok(bytes) = media.read_log(*slot) else { continue };
        let align = area.align_bytes.max(1) as usize;
        let mut at = 0;
        while at < bytes.len() {
            let record = match planted(Canary::LogTornBelieved) {
                true => LogRecord::decode_unchecked(&bytes[at..]),
                false => LogRecord::decode(&bytes[at..]),
            };
            let is_ours = |record: &LogRecord| {
                record.head.card == card.card
                    && record.head.offset_bytes == at as u64
                    && record.payload_bytes() == card.payload_bytes as usize
            };
            let Some(record) = record.ok().filter(is_ours) else {
                at += align;
                continue;
            };
            highest = highest.max(record.head.sequence);
            if record.head.sequence >= card.log_begins || planted(Canary::LogOfStaleModule) {
                found.add(&record, card);
            }
            // A record that was cut may have left its head over others that are whole.
            at += if planted(Canary::LogTornBelieved) { align } else { record.len_bytes().next_multiple_of(align) };
        }
    }
    found.next_sequence = found.next_sequence.max(highest.saturating_add(1)).saturating_add(SEQUENCE_GAP);
    found
}

impl FoundLog {
    fn add(&mut self, record: &LogRecord, card: &Card) {
        for sector in record.sectors().filter(|sector| sector.lba < card.user_sectors) {
            let is_newer = self.sectors.get(&sector.lba).is_none_or(|known| known.version < sector.version);
            if is_newer {
                let payload = sector.payload.into();
                let logged = Logged { lba: sector.lba, version: sector.version, payload };
                self.sectors.insert(sector.lba, logged);
            }
        }
    }
}
