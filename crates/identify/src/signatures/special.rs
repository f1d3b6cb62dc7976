//! Marks that need more than their bytes: they wander, or are so short that other fields must agree.

use super::media::Media;
use super::{Class, Signature};

pub(super) fn find(media: &mut Media, signatures: &mut Vec<Signature>) {
    signatures.extend(gpt_of_large_sectors(media));
    signatures.extend(ext(media));
    signatures.extend(md(media));
    signatures.extend(zfs(media));
    signatures.extend(udf(media));
    signatures.extend(luks2_second(media));
}

/// A GPT of 4096-byte sectors; `wipefs` looks for it only where the drive has such sectors.
fn gpt_of_large_sectors(media: &mut Media) -> Vec<Signature> {
    let end = (media.size() / 4096 * 4096).checked_sub(4096);
    [("GPT (4096-byte sectors)", Some(4096)), ("GPT (backup, 4096-byte sectors)", end)]
        .into_iter()
        .filter_map(|(name, offset)| Some((name, offset?)))
        .filter(|&(_, offset)| media.has(offset, b"EFI PART"))
        .map(|(name, offset)| Signature { name, class: Class::PartitionTable, offset, stubborn: true })
        .collect()
}

/// ext2, ext3, ext4 (fs/ext4/ext4.h). The superblock is at 400h:
///
/// ```text
/// 18h block size   38h mark 53 EF   4Ch revision   5Ch, 60h, 64h features: compatible, incompatible, for reading
/// ```
fn ext(media: &mut Media) -> Option<Signature> {
    const BASE: u64 = 0x400;
    let block = media.bytes(BASE, 0x68)?.into_owned();
    let word = |at: usize| u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
    // The mark is two bytes: one of 65536 devices full of random data has it. Block size and revision must agree.
    if block[0x38..0x3a] != [0x53, 0xef] || word(0x18) > 6 || word(0x4c) > 1 {
        return None;
    }
    let (compat, incompat, ro_compat) = (word(0x5c), word(0x60), word(0x64));
    // Features that ext3 knows: file types, recovery, meta block groups; sparse superblocks, large files, B-trees.
    const EXT3_INCOMPAT: u32 = 0x2 | 0x4 | 0x10;
    const EXT3_RO: u32 = 0x1 | 0x2 | 0x4;
    const JOURNAL_DEVICE: u32 = 0x8;
    const HAS_JOURNAL: u32 = 0x4;
    let name = if incompat & JOURNAL_DEVICE != 0 {
        "ext journal"
    } else if incompat & !EXT3_INCOMPAT != 0 || ro_compat & !EXT3_RO != 0 {
        "ext4"
    } else if compat & HAS_JOURNAL != 0 {
        "ext3"
    } else {
        "ext2"
    };
    Some(Signature { name, class: Class::FileSystem, offset: BASE + 0x38, stubborn: false })
}

/// Linux md (include/uapi/linux/raid/md_p.h). Version 0.90 is in the last 64 KiB block but one of 64 KiB, in the order
/// of bytes of the machine that made it; 1.0, 1.1 and 1.2 are 8 KiB before the end, at the beginning, and at 4 KiB:
///
/// ```text
/// 0 mark FC 4E 2B A9   4 major version   80h … 90h sector in which this superblock lies
/// ```
fn md(media: &mut Media) -> Vec<Signature> {
    const MARK: u32 = 0xa92b_4efc;
    let size = media.size();
    let mut found = Vec::new();
    let mut add = |name, offset| {
        found.push(Signature { name, class: Class::Raid, offset, stubborn: false });
    };
    let old = (size / 0x1_0000 * 0x1_0000).checked_sub(0x1_0000);
    if let Some(offset) = old
        && (media.has(offset, &MARK.to_le_bytes()) || media.has(offset, &MARK.to_be_bytes()))
    {
        add("md RAID member (0.90)", offset);
    }
    let end = (size / 0x1000 * 0x1000).checked_sub(0x2000);
    let places =
        [("md RAID member (1.0)", end), ("md RAID member (1.1)", Some(0)), ("md RAID member (1.2)", Some(0x1000))];
    for (name, offset) in places {
        let Some(offset) = offset else { continue };
        let Some(block) = media.bytes(offset, 0x98) else { continue };
        let lies_at = u64::from_le_bytes(block[0x90..0x98].try_into().expect("eight bytes"));
        if block[..4] == MARK.to_le_bytes() && block[4..8] == 1u32.to_le_bytes() && lies_at == offset / 512 {
            add(name, offset);
        }
    }
    found
}

/// ZFS (On-Disk Specification, 1.2 and 1.3): four labels of 256 KiB, two at each end; the second half of each is a ring of
/// uberblocks, which begin with their mark in the order of bytes of the machine that wrote them.
fn zfs(media: &mut Media) -> Option<Signature> {
    const LABEL: u64 = 256 << 10;
    const RING: u64 = 128 << 10;
    const SLOT: u64 = 1 << 10;
    const MARK: u64 = 0x00ba_b10c;
    let end = media.size() / LABEL * LABEL;
    let labels = [Some(0), Some(LABEL), end.checked_sub(2 * LABEL), end.checked_sub(LABEL)];
    for label in labels.into_iter().flatten() {
        for slot in 0..RING / SLOT {
            let offset = label + RING + slot * SLOT;
            if media.has(offset, &MARK.to_le_bytes()) || media.has(offset, &MARK.to_be_bytes()) {
                // `wipefs` wants four uberblocks before it believes.
                return Some(Signature { name: "ZFS pool member", class: Class::Pool, offset, stubborn: true });
            }
        }
    }
    None
}

/// UDF (ECMA-167 2/8.3): a sequence of descriptors from 32 KiB on, 2048 bytes or a block each, of which one says NSR.
fn udf(media: &mut Media) -> Option<Signature> {
    for step in [2048, 4096] {
        for index in 0..64 {
            let offset = 0x8001 + index * step;
            let Some(id) = media.bytes(offset, 5) else { break };
            match &*id {
                b"NSR02" | b"NSR03" => {
                    return Some(Signature { name: "udf", class: Class::FileSystem, offset, stubborn: false });
                }
                b"BEA01" | b"BOOT2" | b"CD001" | b"CDW02" | b"TEA01" => {}
                _ => break,
            }
        }
    }
    None
}

/// LUKS2's second header, which `cryptsetup repair` can bring the first back from (LUKS2 On-Disk Format, 2.2).
fn luks2_second(media: &mut Media) -> Option<Signature> {
    const PLACES: [u64; 9] = [0x4000, 0x8000, 0x1_0000, 0x2_0000, 0x4_0000, 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000];
    let offset = PLACES.into_iter().find(|&offset| media.has(offset, b"SKUL\xba\xbe\0\x02"))?;
    Some(Signature { name: "LUKS2 (second header)", class: Class::Encryption, offset, stubborn: true })
}

#[cfg(test)]
mod tests {
    use crate::signatures::find;

    const SIZE: usize = 5 << 20;

    fn names(parts: &[(usize, &[u8])]) -> Vec<&'static str> {
        let mut bytes = vec![0; SIZE];
        for (at, part) in parts {
            bytes[*at..*at + part.len()].copy_from_slice(part);
        }
        find(&bytes, SIZE as u64).signatures.iter().map(|signature| signature.name).collect()
    }

    #[test]
    fn ext_is_told_by_its_features() {
        let mark: (usize, &[u8]) = (0x438, &[0x53, 0xef]);
        assert_eq!(names(&[mark]), ["ext2"]);
        assert_eq!(names(&[mark, (0x45c, &[4])]), ["ext3"]);
        assert_eq!(names(&[mark, (0x45c, &[4]), (0x460, &[0x42])]), ["ext4"]);
        assert_eq!(names(&[mark, (0x460, &[0x8])]), ["ext journal"]);
        assert!(names(&[mark, (0x418, &[7])]).is_empty());
        assert!(names(&[mark, (0x44c, &[2])]).is_empty());
    }

    #[test]
    fn md_members_are_told_by_where_they_say_they_lie() {
        let mark = 0xa92b_4efcu32.to_le_bytes();
        let one = |at: usize, sector: u64| {
            let sector = sector.to_le_bytes();
            names(&[(at, &mark), (at + 4, &[1]), (at + 0x90, &sector)])
        };
        assert_eq!(one(0, 0), ["md RAID member (1.1)"]);
        assert_eq!(one(0x1000, 8), ["md RAID member (1.2)"]);
        assert_eq!(one(SIZE - 0x2000, (SIZE as u64 - 0x2000) / 512), ["md RAID member (1.0)"]);
        assert!(one(0x1000, 9).is_empty());
        assert_eq!(names(&[(SIZE - 0x1_0000, &mark)]), ["md RAID member (0.90)"]);
        let swapped = 0xa92b_4efcu32.to_be_bytes();
        assert_eq!(names(&[(SIZE - 0x1_0000, &swapped)]), ["md RAID member (0.90)"]);
    }

    #[test]
    fn zfs_is_found_by_any_of_its_labels() {
        let mark = 0x00ba_b10cu64.to_le_bytes();
        let label = 256 << 10;
        for at in [0, label, SIZE - 2 * label, SIZE - label] {
            assert_eq!(names(&[(at + (132 << 10), &mark)]), ["ZFS pool member"], "{at}");
        }
        let swapped = 0x00ba_b10cu64.to_be_bytes();
        assert_eq!(names(&[(label - 1024, &swapped)]), ["ZFS pool member"]);
        assert!(names(&[(64 << 10, &mark)]).is_empty());
    }

    #[test]
    fn zfs_is_found_at_the_end_of_a_device_of_odd_size() {
        let size = SIZE + 100 * 1024 + 512;
        let mut bytes = vec![0; size];
        let at = SIZE - (256 << 10) + (200 << 10);
        bytes[at..at + 8].copy_from_slice(&0x00ba_b10cu64.to_le_bytes());
        assert_eq!(find(&bytes, size as u64).signatures[0].name, "ZFS pool member");
    }

    #[test]
    fn udf_is_found_behind_other_descriptors() {
        assert_eq!(names(&[(0x8001, b"BEA01"), (0x8801, b"NSR03"), (0x9001, b"TEA01")]), ["udf"]);
        assert_eq!(names(&[(0x8001, b"BEA01"), (0x9001, b"NSR02")]), ["udf"]);
        assert_eq!(names(&[(0x8001, b"CD001"), (0x8801, b"BEA01"), (0x9001, b"NSR02")]), ["iso9660", "udf"]);
        assert!(names(&[(0x8801, b"NSR03")]).is_empty());
    }

    #[test]
    fn a_second_luks_header_speaks_when_the_first_is_gone() {
        assert_eq!(names(&[(0x40_0000, b"SKUL\xba\xbe\0\x02")]), ["LUKS2 (second header)"]);
        assert_eq!(names(&[(0x4000, b"SKUL\xba\xbe\0\x02")]), ["LUKS2 (second header)"]);
    }

    #[test]
    fn a_gpt_of_large_sectors_is_found_at_both_ends() {
        assert_eq!(names(&[(4096, b"EFI PART")]), ["GPT (4096-byte sectors)"]);
        assert_eq!(names(&[(SIZE - 4096, b"EFI PART")]), ["GPT (backup, 4096-byte sectors)"]);
    }
}
