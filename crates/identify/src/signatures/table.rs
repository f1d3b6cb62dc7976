//! Marks that are told by their bytes alone, and where they lie.
//!
//! Offsets and bytes are facts of the formats, taken from their documentation or from the headers of the Linux kernel
//! (`include/uapi/linux/magic.h`, `fs/*/`), and held against the list of util-linux (`libblkid/src/superblocks/*.c`),
//! which `wipefs` uses: what is found here, it can remove, modules of our own cards excepted.

use super::media::Media;
use super::{Class, Signature};
use Class::*;
use Where::*;

/// Position of a mark on a device.
#[derive(Clone, Copy, Debug)]
pub(super) enum Where {
    /// From the beginning.
    At(u64),
    /// From the end, after rounding the size down to a multiple: `(size & !(align - 1)) - back`.
    Back { align: u64, back: u64 },
}

impl Where {
    pub fn offset(self, size: u64) -> Option<u64> {
        match self {
            At(offset) => Some(offset),
            Back { align, back } => (size / align * align).checked_sub(back),
        }
    }
}

pub(super) struct Magic {
    pub name: &'static str,
    pub class: Class,
    pub at: Where,
    pub bytes: &'static [u8],
}

const fn magic(name: &'static str, class: Class, at: Where, bytes: &'static [u8]) -> Magic {
    Magic { name, class, at, bytes }
}

const fn back(align: u64, back: u64) -> Where {
    Back { align, back }
}

const BCACHE: &[u8] = b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81";
const BCACHEFS: &[u8] = b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef";
const STRATIS: &[u8] = b"!Stra0tis\x86\xff\x02^\x41rh";

/// Sources of groups stand above them.
#[rustfmt::skip]
pub(super) const MAGICS: &[Magic] = &[
    // UEFI 2.10, 5.3.2: in the second and in the last sector. `special` treats drives with 4096-byte sectors.
    magic("GPT", PartitionTable, At(512), b"EFI PART"),
    magic("GPT (backup)", PartitionTable, back(512, 512), b"EFI PART"),
    // block/partitions/sgi.c.
    magic("SGI disk label", PartitionTable, At(0), b"\x0b\xe5\xa9\x41"),

    // fs/xfs/libxfs/xfs_format.h, fs/btrfs (superblock at 64 KiB, mark at 40h), fs/f2fs/f2fs_fs.h.
    magic("xfs", FileSystem, At(0), b"XFSB"),
    magic("btrfs", FileSystem, At(0x1_0040), b"_BHRfS_M"),
    magic("f2fs", FileSystem, At(0x400), b"\x10\x20\xf5\xf2"),
    // bcachefs_format.h: superblock at sector 8, mark at 18h.
    magic("bcachefs", FileSystem, At(0x1018), BCACHEFS),
    // Microsoft: FAT specification 1.03 (the label is not what makes a FAT, but every mkfs writes it), exFAT, NTFS.
    magic("vfat", FileSystem, At(0x52), b"FAT32   "),
    magic("vfat", FileSystem, At(0x52), b"MSWIN"),
    magic("vfat", FileSystem, At(0x36), b"FAT16   "),
    magic("vfat", FileSystem, At(0x36), b"FAT12   "),
    magic("vfat", FileSystem, At(0x36), b"FAT     "),
    magic("vfat", FileSystem, At(0x36), b"MSDOS"),
    magic("exfat", FileSystem, At(3), b"EXFAT   "),
    magic("ntfs", FileSystem, At(3), b"NTFS    "),
    magic("refs", FileSystem, At(0), b"\0\0\0ReFS\0"),
    // fs/reiserfs, fs/jfs/jfs_superblock.h, fs/nilfs2 (revision 2.0 and mark).
    magic("reiserfs", FileSystem, At(0x2034), b"ReIsErFs"),
    magic("reiserfs", FileSystem, At(0x2014), b"ReIsErFs"),
    magic("reiserfs", FileSystem, At(0x1_0034), b"ReIsErFs"),
    magic("reiserfs", FileSystem, At(0x1_0034), b"ReIsEr2Fs"),
    magic("reiserfs", FileSystem, At(0x1_0034), b"ReIsEr3Fs"),
    magic("reiser4", FileSystem, At(0x1_0000), b"ReIsEr4"),
    magic("jfs", FileSystem, At(0x8000), b"JFS1"),
    magic("nilfs2", FileSystem, At(0x400), b"\x02\0\0\0\0\0\x34\x34"),
    // ECMA-119. UDF is in `special`, because its mark wanders.
    magic("iso9660", FileSystem, At(0x8001), b"CD001"),
    // fs/squashfs/squashfs_fs.h, fs/erofs/erofs_fs.h, fs/cramfs, fs/romfs, fs/zonefs.
    magic("squashfs", FileSystem, At(0), b"hsqs"),
    magic("squashfs", FileSystem, At(0), b"sqsh"),
    magic("erofs", FileSystem, At(0x400), b"\xe2\xe1\xf5\xe0"),
    magic("cramfs", FileSystem, At(0), b"\x45\x3d\xcd\x28"),
    magic("romfs", FileSystem, At(0), b"-rom1fs-"),
    magic("zonefs", FileSystem, At(0), b"\x53\x46\x4f\x5a"),
    // Apple TN1150 (mark and version), APFS reference.
    magic("hfsplus", FileSystem, At(0x400), b"H+\0\x04"),
    magic("hfsplus", FileSystem, At(0x400), b"HX\0\x05"),
    magic("apfs", FileSystem, At(0x20), b"NXSB"),
    // fs/ocfs2/ocfs2_fs.h (any block size), fs/gfs2 (superblock at 64 KiB: mark and type).
    magic("ocfs2", FileSystem, At(0x400), b"OCFSV2"),
    magic("ocfs2", FileSystem, At(0x800), b"OCFSV2"),
    magic("ocfs2", FileSystem, At(0x1000), b"OCFSV2"),
    magic("ocfs2", FileSystem, At(0x2000), b"OCFSV2"),
    magic("gfs2", FileSystem, At(0x1_0000), b"\x01\x16\x19\x70\0\0\0\x01"),
    // fs/ufs/ufs_fs.h: mark at 55Ch of the superblock.
    magic("ufs", FileSystem, At(0x2000 + 0x55c), b"\x54\x19\x01\0"),
    magic("ufs2", FileSystem, At(0x1_0000 + 0x55c), b"\x19\x01\x54\x19"),
    // fs/freevxfs/vxfs.h.
    magic("vxfs", FileSystem, At(0x400), b"\xf5\xfc\x01\xa5"),
    // libblkid vmfs.c: volume and file system of VMware.
    magic("VMFS volume", Pool, At(0x10_0000), b"\x0d\xd0\x01\xc0"),
    magic("vmfs", FileSystem, At(0x20_0000), b"\x5e\xf1\xab\x2f"),

    // LVM2 lib/format_text/layout.h: a label in one of the first four sectors, its type at 18h.
    magic("LVM2 physical volume", Pool, At(0x018), b"LVM2 001"),
    magic("LVM2 physical volume", Pool, At(0x218), b"LVM2 001"),
    magic("LVM2 physical volume", Pool, At(0x418), b"LVM2 001"),
    magic("LVM2 physical volume", Pool, At(0x618), b"LVM2 001"),
    // Ceph src/os/bluestore, Stratis software design (mark after the checksum in sectors 1 and 9), VDO.
    magic("Ceph BlueStore", Pool, At(0), b"bluestore block device"),
    magic("Stratis", Pool, At(0x204), STRATIS),
    magic("Stratis", Pool, At(0x1204), STRATIS),
    magic("VDO", Pool, At(0), b"dmvdo001"),
    // drivers/mtd/ubi.
    magic("UBI", Pool, At(0), b"UBI#"),

    // LUKS1 and LUKS2 on-disk formats: mark and version. The second header of LUKS2 is in `special`.
    magic("LUKS1", Encryption, At(0), b"LUKS\xba\xbe\0\x01"),
    magic("LUKS2", Encryption, At(0), b"LUKS\xba\xbe\0\x02"),
    magic("BitLocker", Encryption, At(3), b"-FVE-FS-"),

    // include/linux/bcache: superblock at sector 8, mark at 18h.
    magic("bcache", Cache, At(0x1018), BCACHE),

    // drbd_meta_data.h: last 4 KiB, mark at 3Ch (8.x, 8.4 unclean, 9).
    magic("DRBD", Raid, back(0x1000, 0x1000 - 0x3c), b"\x83\x74\x02\x6b"),
    magic("DRBD", Raid, back(0x1000, 0x1000 - 0x3c), b"\x83\x74\x02\x6c"),
    magic("DRBD", Raid, back(0x1000, 0x1000 - 0x3c), b"\x83\x74\x02\x6d"),
    // mdadm super-intel.c (last sector but one), SNIA DDF 2.0 (last sector).
    magic("Intel Matrix RAID member", Raid, back(512, 1024), b"Intel Raid ISM Cfg Sig. "),
    magic("DDF RAID member", Raid, back(512, 512), b"\xde\x11\xde\x11"),

    // Oracle ASM's disk header has its label at 20h.
    magic("Oracle ASM disk", Database, At(0x20), b"ORCLDISK"),

    // docs/module-files.md: both copies of the superblock. `wipefs` does not know them.
    magic("Flashrig superblock", Module, At(0), b"FLRMODUL"),
    magic("Flashrig superblock (copy)", Module, back(0x1000, 0x1000), b"FLRMODUL"),

    // include/linux/swap.h, kernel/power/swap.c: the last ten bytes of the first page, for each page size.
    magic("swap", Swap, At(0x0ff6), b"SWAPSPACE2"), magic("swap", Swap, At(0x0ff6), b"SWAP-SPACE"),
    magic("swap", Swap, At(0x1ff6), b"SWAPSPACE2"), magic("swap", Swap, At(0x1ff6), b"SWAP-SPACE"),
    magic("swap", Swap, At(0x3ff6), b"SWAPSPACE2"), magic("swap", Swap, At(0x3ff6), b"SWAP-SPACE"),
    magic("swap", Swap, At(0x7ff6), b"SWAPSPACE2"), magic("swap", Swap, At(0x7ff6), b"SWAP-SPACE"),
    magic("swap", Swap, At(0xfff6), b"SWAPSPACE2"), magic("swap", Swap, At(0xfff6), b"SWAP-SPACE"),
    magic("hibernated system", Swap, At(0x0ff6), b"S1SUSPEND"), magic("hibernated system", Swap, At(0x0ff6), b"LINHIB0001"),
    magic("hibernated system", Swap, At(0x3ff6), b"S1SUSPEND"), magic("hibernated system", Swap, At(0x3ff6), b"LINHIB0001"),
    magic("hibernated system", Swap, At(0xfff6), b"S1SUSPEND"), magic("hibernated system", Swap, At(0xfff6), b"LINHIB0001"),
];

pub(super) fn find(media: &mut Media, signatures: &mut Vec<Signature>) {
    for magic in MAGICS {
        let Some(offset) = magic.at.offset(media.size()) else { continue };
        if media.has(offset, magic.bytes) {
            signatures.push(Signature { name: magic.name, class: magic.class, offset, stubborn: false });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signatures::find;

    const SIZE: usize = (4 << 20) + 512;

    #[test]
    fn each_mark_is_found_where_it_lies_and_is_taken_for_nothing_else() {
        for magic in MAGICS {
            let offset = magic.at.offset(SIZE as u64).unwrap();
            let at = offset as usize;
            let mut bytes = vec![0; SIZE];
            bytes[at..at + magic.bytes.len()].copy_from_slice(magic.bytes);
            let found = find(&bytes, SIZE as u64).signatures;
            let expected = Signature { name: magic.name, class: magic.class, offset, stubborn: false };
            assert_eq!(found, [expected], "{} at {offset}", magic.name);
            // One bit less, and it isn't.
            bytes[at + magic.bytes.len() - 1] ^= 0x80;
            assert_eq!(find(&bytes, SIZE as u64).signatures, [], "{} at {offset}", magic.name);
        }
    }

    #[test]
    fn no_mark_is_so_short_that_chance_writes_it() {
        assert!(MAGICS.iter().all(|magic| magic.bytes.len() >= 4));
    }

    #[test]
    fn an_end_before_the_beginning_is_nowhere() {
        assert_eq!(back(0x1000, 0xfc4).offset(0xfff), None);
        assert_eq!(back(0x1000, 0xfc4).offset(0x1fff), Some(0x3c));
    }
}
