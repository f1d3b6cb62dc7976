//! The write-ahead log: sectors that a flush made durable before their stripes were whole.
//!
//! A record of the log is a copy of its sectors, with their versions. The rule of the newest version applies to it as to
//! copies in stripes: a sector of the log counts if its version is higher than that of every copy in a stripe, or if the
//! copy in a stripe of the same version can't be read. So it makes no difference how often a record is replayed, and
//! none whether it was still needed. A checkpoint knows no versions, but it knows all that was written before it: what was
//! logged before does not count beside it.
//!
//! A record that is torn has no effect: no flush was answered for it. But a record that a later one names as needed was
//! answered, and if neither of its copies can be read the card does not start: it is not known which sectors it held.
//! Before the place of a record is used again, a later record or the headers say that it is not needed. Only the loss of
//! both copies of the last record can't be told from a write that power cut.
//!
//! Records of a module that can't be trusted are not read, and records from before the last start that ended don't count
//! ([`ModuleHeader::log_begins`]): a module that was away may have the only copy of a record that a start has not seen,
//! and a host may have read what was there without it.
//!
//! [`ModuleHeader::log_begins`]: format::ModuleHeader::log_begins

use super::found::Logged;
use super::place::Card;
use crate::canary::{Canary, planted};
use format::{LogHead, LogRecord};
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
    /// A record that is needed and was not found.
    pub lost: Option<u64>,
    /// The records that count, by number, with what they name.
    records: BTreeMap<u64, Names>,
}

/// The records that a record names.
#[derive(Clone, Copy, Debug)]
struct Names {
    needed_from: u64,
    previous: u64,
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
                let LogHead { sequence, needed_from, previous, .. } = record.head;
                found.records.insert(sequence, Names { needed_from, previous });
            }
            // A record that was cut may have left its head over others that are whole.
            at += if planted(Canary::LogTornBelieved) { align } else { record.len_bytes().next_multiple_of(align) };
        }
    }
    found.lost = found.first_lost(card.log_begins);
    found.next_sequence = found.next_sequence.max(highest.saturating_add(1)).saturating_add(SEQUENCE_GAP);
    found
}

impl FoundLog {
    /// The last record that the newest one, or one between them, names as needed, and that was not found.
    fn first_lost(&self, log_begins: u64) -> Option<u64> {
        let (mut at, newest) = self.records.last_key_value()?;
        let needed_from = newest.needed_from.max(log_begins);
        let mut names = newest;
        // Records name only earlier ones.
        while names.previous >= needed_from.max(1) && names.previous < *at {
            let Some((sequence, before)) = self.records.get_key_value(&names.previous) else {
                return Some(names.previous);
            };
            (at, names) = (sequence, before);
        }
        None
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Records with the oldest that each needs and the one before it.
    fn found(records: &[(u64, u64, u64)]) -> FoundLog {
        let names = |&(sequence, needed_from, previous): &_| (sequence, Names { needed_from, previous });
        FoundLog { records: records.iter().map(names).collect(), ..FoundLog::default() }
    }

    #[test]
    fn a_record_that_the_newest_one_needs_is_missed() {
        assert_eq!(found(&[]).first_lost(0), None);
        assert_eq!(found(&[(3, 3, 0)]).first_lost(0), None);
        assert_eq!(found(&[(3, 3, 0), (4, 3, 3), (7, 3, 4)]).first_lost(0), None, "5 and 6 were never written");
        assert_eq!(found(&[(3, 3, 0), (7, 3, 4)]).first_lost(0), Some(4));
        assert_eq!(found(&[(4, 3, 3), (7, 3, 4)]).first_lost(0), Some(3));
        assert_eq!(found(&[(4, 3, 3), (7, 4, 4)]).first_lost(0), None, "3 is not needed any more");
        assert_eq!(found(&[(4, 3, 3), (7, 3, 4)]).first_lost(4), None, "nor by the headers");
    }
}
