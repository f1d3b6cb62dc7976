//! Marks by which disks are told from those of others, and found again by a new server.

use std::path::{Path, PathBuf};

/// The upper half of each mark of ours: `FlRg`.
const OURS: u64 = 0x466c_5267 << 32;

/// The mark of a card or volume; the kernel keeps it with the disk.
pub(in crate::ublk) fn mark(id: [u8; 16]) -> u64 {
    OURS | u64::from(crc32c::crc32c(&id))
}

/// The disk is of this program.
pub(in crate::ublk) fn is_ours(mark: u64) -> bool {
    mark >> 32 == OURS >> 32
}

/// The file of the writes that outlive the server of a disk.
pub(in crate::ublk) fn journal_path(folder: &Path, mark: u64) -> PathBuf {
    folder.join(format!("{:08x}.journal", mark as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_ours_and_differ() {
        let marks = [[0; 16], [1; 16], *b"another volume's"].map(mark);
        assert!(marks.iter().all(|mark| is_ours(*mark)));
        assert!(marks[0] != marks[1] && marks[1] != marks[2]);
        assert!(!is_ours(0) && !is_ours(u64::from(u32::MAX)) && !is_ours(u64::MAX));
        assert_eq!(journal_path(Path::new("/run/x"), OURS | 0xab), Path::new("/run/x/000000ab.journal"));
    }
}
