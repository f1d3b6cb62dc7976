//! Writes that the kernel believes done and that no flush has made durable, in a file that outlives the server.
//!
//! A host knows that a volatile write cache forgets when power goes. It does not know that the cache lies in a process: a
//! file system that goes on after the server was killed never writes again what was answered before. So each change is
//! written to this file before the card is asked, and a new server repeats what is in it. The file lies in memory
//! (`/run`): like the cache that the host knows, it is lost with the machine's power and not before.
//!
//! Invariants:
//! - changes are numbered without gaps in the order in which they were asked for, those that are durable at once too: what
//!   is repeated ends with the newest;
//! - a change is forgotten when a flush has ended that began after the change was answered, and all older ones with it.

use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Bytes of the file. A flush of the server's own makes room when it is full.
pub(in crate::ublk) const JOURNAL_BYTES: u64 = 32 << 20;
/// Bytes before the first change.
const HEAD_BYTES: u64 = 4096;
const MAGIC: [u8; 8] = *b"FlRgUBL1";
const RECORD_BYTES: usize = 40;

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ublk) enum Kind {
    Write,
    Trim,
    Zero,
    ZeroKeepingRoom,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Write, Kind::Trim, Kind::Zero, Kind::ZeroKeepingRoom];
}

/// A change that a dead server left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ublk) struct Change {
    pub kind: Kind,
    pub offset_bytes: u64,
    pub len_bytes: u32,
    /// The bytes of a write.
    pub bytes: Vec<u8>,
}

/// A change in the file.
struct Kept {
    number: u64,
    at: u64,
}

/// See the module.
pub(in crate::ublk) struct Journal {
    file: File,
    nonce: u64,
    /// Changes that are not forgotten, oldest first.
    kept: VecDeque<Kept>,
    /// Where the next change goes, if there is room.
    head: u64,
    next: u64,
    /// Changes that the card has not answered.
    unanswered: BTreeSet<u64>,
    bytes: u64,
}

impl Journal {
    /// Makes an empty journal in place of any other there. Its memory is set aside, so that no write to it fails later.
    pub fn make(path: &Path, id: [u8; 16], nonce: u64, bytes: u64) -> io::Result<Journal> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let beside = path.with_extension("new");
        // It holds what is on the card, for nobody else to read.
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        let journal = Journal {
            file,
            nonce,
            kept: VecDeque::new(),
            head: HEAD_BYTES,
            next: 1,
            unanswered: BTreeSet::new(),
            bytes,
        };
        let made = rustix::fs::fallocate(&journal.file, rustix::fs::FallocateFlags::empty(), 0, bytes)
            .map_err(io::Error::from)
            .and_then(|()| {
                let mut head = [0; 32];
                head[0..8].copy_from_slice(&MAGIC);
                head[8..24].copy_from_slice(&id);
                head[24..32].copy_from_slice(&nonce.to_le_bytes());
                journal.file.write_all_at(&head, 0)?;
                journal.keep_from(HEAD_BYTES, 1)?;
                fs::rename(&beside, path)
            });
        match made {
            Ok(()) => Ok(journal),
            Err(error) => {
                // The first error is the one to tell.
                let _ = fs::remove_file(&beside);
                Err(error)
            }
        }
    }

    /// Reads what a dead server left, oldest first. The file must be of this card or volume.
    pub fn left(path: &Path, id: [u8; 16]) -> io::Result<Vec<Change>> {
        let file = fs::read(path)?;
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "it is no journal of this card");
        if file.len() < HEAD_BYTES as usize || file[0..8] != MAGIC || file[8..24] != id {
            return Err(wrong());
        }
        let (nonce, mut at, mut number) = (u64_at(&file, 24), u64_at(&file, 32), u64_at(&file, 40));
        let (mut changes, mut wrapped) = (Vec::new(), at == HEAD_BYTES);
        loop {
            match record_at(&file, at, number, nonce) {
                Some((change, bytes)) => {
                    changes.push(change);
                    at += bytes;
                    number += 1;
                }
                // Where no record fits, the next one is at the beginning.
                None if !wrapped => (at, wrapped) = (HEAD_BYTES, true),
                None => return Ok(changes),
            }
        }
    }

    /// Keeps a change before the card is asked for it: its number, or `None` where there is no room. It counts as not
    /// answered until [`Journal::answered`].
    pub fn keep(&mut self, kind: Kind, offset_bytes: u64, len_bytes: u32, payload: &[u8]) -> io::Result<Option<u64>> {
        let room = (RECORD_BYTES + payload.len()).next_multiple_of(8) as u64;
        let Some(at) = self.place(room) else { return Ok(None) };
        let number = self.next;
        let mut record = [0; RECORD_BYTES];
        record[4..8].copy_from_slice(&(kind as u32).to_le_bytes());
        record[8..16].copy_from_slice(&number.to_le_bytes());
        record[16..24].copy_from_slice(&self.nonce.to_le_bytes());
        record[24..32].copy_from_slice(&offset_bytes.to_le_bytes());
        record[32..36].copy_from_slice(&len_bytes.to_le_bytes());
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&record[4..]), payload);
        record[0..4].copy_from_slice(&checksum.to_le_bytes());
        self.file.write_all_at(&record, at)?;
        self.file.write_all_at(payload, at + RECORD_BYTES as u64)?;
        self.kept.push_back(Kept { number, at });
        self.unanswered.insert(number);
        (self.head, self.next) = (at + room, number + 1);
        Ok(Some(number))
    }

    /// A place for so many bytes in one piece, behind the newest change or at the beginning.
    fn place(&self, room: u64) -> Option<u64> {
        let Some(oldest) = self.kept.front().map(|kept| kept.at) else {
            return (self.bytes - HEAD_BYTES >= room).then_some(HEAD_BYTES);
        };
        if self.head <= oldest {
            return (oldest - self.head >= room).then_some(self.head);
        }
        match self.bytes - self.head >= room {
            true => Some(self.head),
            false => (oldest - HEAD_BYTES >= room).then_some(HEAD_BYTES),
        }
    }

    /// The card has answered a change.
    pub fn answered(&mut self, number: u64) {
        self.unanswered.remove(&number);
    }

    /// A flush begins: all changes below the number that this gives are durable when it has ended.
    pub fn flush_begins(&self) -> u64 {
        self.unanswered.first().copied().unwrap_or(self.next)
    }

    /// A flush would make room.
    pub fn can_forget(&self) -> bool {
        self.kept.front().is_some_and(|oldest| oldest.number < self.flush_begins())
    }

    /// A flush has ended that began with this number.
    pub fn flushed(&mut self, below: u64) -> io::Result<()> {
        let before = self.kept.len();
        while self.kept.front().is_some_and(|oldest| oldest.number < below) {
            self.kept.pop_front();
        }
        if self.kept.len() == before {
            return Ok(());
        }
        match self.kept.front() {
            Some(oldest) => self.keep_from(oldest.at, oldest.number),
            None => {
                self.head = HEAD_BYTES;
                self.keep_from(HEAD_BYTES, self.next)
            }
        }
    }

    /// Says in the file where the oldest change is. A write of so few bytes within a page is whole or not there.
    fn keep_from(&self, at: u64, number: u64) -> io::Result<()> {
        let mut words = [0; 16];
        words[0..8].copy_from_slice(&at.to_le_bytes());
        words[8..16].copy_from_slice(&number.to_le_bytes());
        self.file.write_all_at(&words, 32)
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// The change at a place, if it is whole and of this number, and the room that it takes.
fn record_at(file: &[u8], at: u64, number: u64, nonce: u64) -> Option<(Change, u64)> {
    let rest = file.get(usize::try_from(at).ok()?..)?;
    let record = rest.get(..RECORD_BYTES)?;
    let word = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().expect("four bytes"));
    let kind = *Kind::ALL.get(word(4) as usize)?;
    let len_bytes = word(32);
    let payload_bytes = if kind == Kind::Write { len_bytes as usize } else { 0 };
    let payload = rest.get(RECORD_BYTES..RECORD_BYTES + payload_bytes)?;
    let checksum = crc32c::crc32c_append(crc32c::crc32c(&record[4..]), payload);
    if word(0) != checksum || u64_at(record, 8) != number || u64_at(record, 16) != nonce {
        return None;
    }
    let change = Change { kind, offset_bytes: u64_at(record, 24), len_bytes, bytes: payload.to_vec() };
    Some((change, (RECORD_BYTES + payload_bytes).next_multiple_of(8) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    const ID: [u8; 16] = [3; 16];

    fn made(bytes: u64) -> (TempDir, Journal) {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::make(&folder.path().join("run/journal"), ID, 77, HEAD_BYTES + bytes).unwrap();
        (folder, journal)
    }

    fn left(folder: &TempDir) -> Vec<Change> {
        Journal::left(&folder.path().join("run/journal"), ID).unwrap()
    }

    fn write(journal: &mut Journal, offset: u64, byte: u8, bytes: u32) -> Option<u64> {
        journal.keep(Kind::Write, offset, bytes, &vec![byte; bytes as usize]).unwrap()
    }

    fn offsets(changes: &[Change]) -> Vec<u64> {
        changes.iter().map(|change| change.offset_bytes).collect()
    }

    #[test]
    fn what_no_flush_has_covered_is_left_in_order() {
        let (folder, mut journal) = made(1 << 20);
        assert_eq!(left(&folder), []);
        let first = write(&mut journal, 0, 1, 4096).unwrap();
        let trim = journal.keep(Kind::Trim, 8192, 1 << 30, &[]).unwrap().unwrap();
        let zero = journal.keep(Kind::ZeroKeepingRoom, 4096, 512, &[]).unwrap().unwrap();
        let all = left(&folder);
        assert_eq!(offsets(&all), [0, 8192, 4096]);
        assert_eq!((all[0].kind, &all[0].bytes), (Kind::Write, &vec![1; 4096]));
        assert_eq!((all[1].kind, all[1].len_bytes, all[2].kind), (Kind::Trim, 1 << 30, Kind::ZeroKeepingRoom));
        // The trim is not answered when the flush begins: it stays, and so does the newer one.
        journal.answered(first);
        journal.answered(zero);
        let below = journal.flush_begins();
        journal.answered(trim);
        let after = write(&mut journal, 12288, 2, 4096).unwrap();
        journal.flushed(below).unwrap();
        assert_eq!(offsets(&left(&folder)), [8192, 4096, 12288]);
        journal.answered(after);
        let below = journal.flush_begins();
        journal.flushed(below).unwrap();
        assert_eq!(left(&folder), []);
        // A flush that ends late covers nothing that came after.
        write(&mut journal, 20480, 3, 512).unwrap();
        journal.flushed(below).unwrap();
        assert_eq!(offsets(&left(&folder)), [20480]);
    }

    #[test]
    fn a_full_journal_takes_nothing_until_a_flush_makes_room_and_goes_round() {
        let (folder, mut journal) = made(10_000);
        let mut model: VecDeque<(u64, u64)> = VecDeque::new();
        let (mut refused, mut written) = (0, 0);
        for step in 0..2000u64 {
            let bytes = 64 + (step * 37 % 23) as u32 * 64;
            match write(&mut journal, step, step as u8, bytes) {
                Some(number) => {
                    journal.answered(number);
                    model.push_back((number, step));
                    written += 1;
                }
                None => {
                    refused += 1;
                    assert!(journal.can_forget());
                    // Half of them are durable.
                    let below = model[model.len() / 2].0;
                    journal.flushed(below).unwrap();
                    model.retain(|(number, _)| *number >= below);
                }
            }
            if step % 50 == 0 {
                let wanted: Vec<u64> = model.iter().map(|(_, offset)| *offset).collect();
                assert_eq!(offsets(&left(&folder)), wanted, "step {step}");
            }
        }
        assert!(refused > 100 && written > 1000, "{refused} refused, {written} written");
    }

    #[test]
    fn a_change_that_no_journal_can_hold_is_refused_for_good_and_nothing_could_be_forgotten() {
        let (_folder, mut journal) = made(8192);
        assert_eq!(write(&mut journal, 0, 0, 8192), None);
        assert!(!journal.can_forget());
    }

    #[test]
    fn a_torn_or_foreign_record_ends_what_is_left() {
        let (folder, mut journal) = made(1 << 20);
        for offset in [0, 4096, 8192] {
            write(&mut journal, offset, 9, 4096).unwrap();
        }
        let path = folder.path().join("run/journal");
        let whole = fs::read(&path).unwrap();
        let record = RECORD_BYTES + 4096;
        for (at, survivors) in [(2, 2), (1, 1), (0, 0)] {
            for byte in [0, 4, 8, 16, 24, 32, RECORD_BYTES, record - 1] {
                let mut torn = whole.clone();
                torn[HEAD_BYTES as usize + at * record + byte] ^= 1;
                fs::write(&path, torn).unwrap();
                assert_eq!(left(&folder).len(), survivors, "record {at}, byte {byte}");
            }
        }
        // Any place and number in the head is survived.
        for at in [0, 1, 4097, u64::MAX, whole.len() as u64, whole.len() as u64 - 8] {
            let mut odd = whole.clone();
            odd[32..40].copy_from_slice(&at.to_le_bytes());
            fs::write(&path, odd).unwrap();
            assert!(left(&folder).len() <= 3);
        }
        fs::write(&path, &whole).unwrap();
        assert!(Journal::left(&path, [4; 16]).is_err());
        fs::write(&path, &whole[..100]).unwrap();
        assert!(Journal::left(&path, ID).is_err());
    }

    #[test]
    fn a_new_journal_takes_nothing_of_the_one_before() {
        let (folder, mut journal) = made(1 << 20);
        write(&mut journal, 0, 1, 4096).unwrap();
        drop(journal);
        let path = folder.path().join("run/journal");
        Journal::make(&path, ID, 78, HEAD_BYTES + (1 << 20)).unwrap();
        assert_eq!(left(&folder), []);
        let files: Vec<_> = fs::read_dir(folder.path().join("run")).unwrap().collect();
        assert_eq!(files.len(), 1);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
