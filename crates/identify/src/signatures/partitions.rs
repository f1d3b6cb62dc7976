//! Partition tables whose marks are short: other fields must agree.

use super::media::Media;
use super::{Class, Signature};

pub(super) fn find(media: &mut Media, signatures: &mut Vec<Signature>) {
    // FAT, exFAT and NTFS have code where a table would be, and the same two bytes behind it.
    let boot_sector = signatures.iter().any(|found| matches!(found.name, "vfat" | "exfat" | "ntfs" | "BitLocker"));
    if !boot_sector {
        signatures.extend(mbr(media));
    }
    signatures.extend(bsd(media));
    signatures.extend(sun(media));
    signatures.extend(apple(media));
}

/// Master boot record:
///
/// ```text
/// 1BEh four entries of 16 bytes:   0 flag 00 or 80   4 type   8 first sector   12 sectors
/// 1FEh 55 AA
/// ```
///
/// A table without entries is none: nothing would be lost.
fn mbr(media: &mut Media) -> Option<Signature> {
    let sector = media.bytes(0, 512)?;
    if sector[510..512] != [0x55, 0xaa] {
        return None;
    }
    let entries: Vec<&[u8]> = sector[446..510].chunks_exact(16).collect();
    let sectors = |entry: &[u8]| u32::from_le_bytes([entry[12], entry[13], entry[14], entry[15]]);
    let used = |entry: &&&[u8]| entry[4] != 0 && sectors(entry) != 0;
    if !entries.iter().all(|entry| entry[0] & 0x7f == 0) || entries.iter().filter(used).count() == 0 {
        return None;
    }
    const PROTECTIVE: u8 = 0xee;
    let protective = entries.iter().filter(used).all(|entry| entry[4] == PROTECTIVE);
    let name = if protective { "protective MBR of a GPT" } else { "MBR" };
    Some(Signature { name, class: Class::PartitionTable, offset: 510, stubborn: false })
}

/// BSD disk label in the second sector (block/partitions/msdos.c): its mark at 0 and again at 84h.
fn bsd(media: &mut Media) -> Option<Signature> {
    const MARK: [u8; 4] = 0x8256_4557u32.to_le_bytes();
    let there = media.has(512, &MARK) && media.has(512 + 0x84, &MARK);
    there.then_some(Signature { name: "BSD disk label", class: Class::PartitionTable, offset: 512, stubborn: false })
}

/// Sun disk label (block/partitions/sun.c): DA BE at 508, and the exclusive or of all words of the sector is 0.
fn sun(media: &mut Media) -> Option<Signature> {
    let sector = media.bytes(0, 512)?;
    let sum = sector.chunks_exact(2).fold([0u8; 2], |sum, pair| [sum[0] ^ pair[0], sum[1] ^ pair[1]]);
    (sector[508..510] == [0xda, 0xbe] && sum == [0, 0]).then_some(Signature {
        name: "Sun disk label",
        class: Class::PartitionTable,
        offset: 508,
        stubborn: false,
    })
}

/// Apple partition map (block/partitions/mac.c): ER in the first sector, PM and two zeros in the second.
fn apple(media: &mut Media) -> Option<Signature> {
    let there = media.has(0, b"ER") && media.has(512, b"PM\0\0");
    there.then_some(Signature { name: "Apple partition map", class: Class::PartitionTable, offset: 0, stubborn: false })
}

#[cfg(test)]
mod tests {
    use crate::signatures::find;

    fn names(bytes: &[u8]) -> Vec<&'static str> {
        find(&bytes.to_vec(), bytes.len() as u64).signatures.iter().map(|signature| signature.name).collect()
    }

    fn mbr(kind: u8, sectors: u32) -> Vec<u8> {
        let mut bytes = vec![0; 64 << 10];
        bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
        bytes[450] = kind;
        bytes[458..462].copy_from_slice(&sectors.to_le_bytes());
        bytes
    }

    #[test]
    fn an_mbr_is_one_when_it_has_partitions() {
        assert_eq!(names(&mbr(0x83, 100)), ["MBR"]);
        assert_eq!(names(&mbr(0xee, u32::MAX)), ["protective MBR of a GPT"]);
        assert!(names(&mbr(0, 100)).is_empty());
        assert!(names(&mbr(0x83, 0)).is_empty());
        let mut strange = mbr(0x83, 100);
        strange[446 + 16] = 0x12;
        assert!(names(&strange).is_empty());
        let mut active = mbr(0x83, 100);
        active[446] = 0x80;
        assert_eq!(names(&active), ["MBR"]);
    }

    #[test]
    fn a_boot_sector_of_fat_is_no_partition_table() {
        let mut bytes = mbr(0x20, 0x6f6f_7242);
        bytes[0x52..0x5a].copy_from_slice(b"FAT32   ");
        assert_eq!(names(&bytes), ["vfat"]);
    }

    #[test]
    fn a_protective_mbr_with_other_entries_is_a_table_of_its_own() {
        let mut bytes = mbr(0xee, 100);
        bytes[450 + 16] = 0x07;
        bytes[458 + 16] = 1;
        assert_eq!(names(&bytes), ["MBR"]);
    }

    #[test]
    fn labels_of_other_systems_are_found() {
        let mut bsd = vec![0; 64 << 10];
        let mark = 0x8256_4557u32.to_le_bytes();
        bsd[512..516].copy_from_slice(&mark);
        assert!(names(&bsd).is_empty());
        bsd[644..648].copy_from_slice(&mark);
        assert_eq!(names(&bsd), ["BSD disk label"]);

        let mut sun = vec![0; 64 << 10];
        sun[508..510].copy_from_slice(&[0xda, 0xbe]);
        assert!(names(&sun).is_empty());
        sun[510..512].copy_from_slice(&[0xda, 0xbe]);
        assert_eq!(names(&sun), ["Sun disk label"]);

        let mut apple = vec![0; 64 << 10];
        apple[..2].copy_from_slice(b"ER");
        assert!(names(&apple).is_empty());
        apple[512..514].copy_from_slice(b"PM");
        assert_eq!(names(&apple), ["Apple partition map"]);
    }
}
