//! Reasons against overwriting a device, and the remedy for each.

use super::holder::HolderKind;
use crate::signatures::{Class, Signature};
use crate::text::clean;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// One thing that speaks against overwriting a device.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Reason {
    /// It is mounted, or what lies on it is.
    Mounted {
        device: PathBuf,
        point: PathBuf,
        /// Type of file system.
        fs_type: String,
        /// A process that sees the mount, where this one doesn't: a container's.
        seen_by: Option<u32>,
    },
    /// It is a device of a mounted Btrfs.
    BtrfsDevice {
        device: PathBuf,
        /// The file system.
        uuid: String,
    },
    /// It is swapped to.
    Swap {
        /// The device or file as the kernel names it.
        area: PathBuf,
    },
    /// A volume or an array lies on it.
    Held {
        holder: PathBuf,
        /// Its name, where it has one besides.
        label: Option<String>,
        kind: HolderKind,
    },
    /// A loop device is bound to it.
    LoopBound {
        /// The loop device.
        loop_device: PathBuf,
        backing: PathBuf,
    },
    /// The kernel's NVMe target gives it to other machines.
    Exported {
        device: PathBuf,
        /// The namespace's directory of the target's configuration.
        namespace: PathBuf,
    },
    /// A program has it open for writing.
    OpenForWriting {
        /// The device that it has open.
        device: PathBuf,
        process: u32,
        program: String,
    },
    /// The kernel uses it, and nothing says for what.
    InUseByKernel { path: PathBuf },
    /// The kernel has partitions of it.
    Partitions { path: PathBuf, names: Vec<String> },
    /// Something is on it.
    Signature { path: PathBuf, signature: Signature },
    /// It can't be seen whether something is on it.
    Unreadable {
        path: PathBuf,
        /// The first place that can't be read.
        offset: u64,
    },
    /// It can't be written.
    ReadOnly { path: PathBuf },
    /// It has no capacity.
    Empty { path: PathBuf },
    /// This user may not open it.
    NoPermission { path: PathBuf },
    /// Nobody may open it here, not even root.
    Forbidden { path: PathBuf },
    /// It can't be opened.
    OpenFailed { path: PathBuf, error: io::Error },
    /// It isn't the device that was identified any more.
    Changed { path: PathBuf },
    /// It is no block device.
    NotBlockDevice { path: PathBuf },
}

impl Reason {
    /// Explains why a device can't be opened. That it is busy the caller tells, who knows whether that needs saying.
    pub(super) fn of_open(path: &Path, error: io::Error) -> Option<Self> {
        let path = path.to_path_buf();
        // A container's rules for devices say EPERM; the node's own permissions say EACCES. Both are one kind in Rust.
        if error.raw_os_error() == Some(rustix::io::Errno::PERM.raw_os_error()) {
            return Some(Reason::Forbidden { path });
        }
        Some(match error.kind() {
            io::ErrorKind::ResourceBusy => return None,
            io::ErrorKind::PermissionDenied => Reason::NoPermission { path },
            io::ErrorKind::ReadOnlyFilesystem => Reason::ReadOnly { path },
            _ => Reason::OpenFailed { path, error },
        })
    }

    /// Somebody uses the device now, which is why the kernel refuses to give it to us alone.
    pub fn is_use(&self) -> bool {
        matches!(
            self,
            Reason::Mounted { .. }
                | Reason::BtrfsDevice { .. }
                | Reason::Swap { .. }
                | Reason::Held { .. }
                | Reason::InUseByKernel { .. }
        )
    }

    pub(super) fn same_kind(&self, other: &Reason) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Names the reason in one line.
    pub fn what(&self) -> String {
        one_line(&self.said())
    }

    /// Names the remedy in one line.
    pub fn remedy(&self) -> String {
        one_line(&self.advised())
    }

    fn said(&self) -> String {
        match self {
            Reason::Mounted { device, point, fs_type, seen_by } => {
                let whose = seen_by.map(|process| format!(" in the mount namespace of process {process}"));
                let (device, point) = (device.display(), point.display());
                format!("{device} is mounted at {point} ({fs_type}){}", whose.unwrap_or_default())
            }
            Reason::BtrfsDevice { device, uuid } => {
                format!("{} is part of the mounted Btrfs file system {uuid}", device.display())
            }
            Reason::Swap { area } => format!("{} is swap space in use", area.display()),
            Reason::Held { holder, label, kind } => {
                let label = label.as_ref().map(|label| format!(", {label}")).unwrap_or_default();
                format!("{} ({kind}{label}) lies on it", holder.display())
            }
            Reason::LoopBound { loop_device, backing } => {
                format!("loop device {} is bound to {}", loop_device.display(), backing.display())
            }
            Reason::Exported { device, .. } => format!("{} is exported by the NVMe target", device.display()),
            Reason::OpenForWriting { device, process, program } => {
                format!("process {process} ({program}) has {} open for writing", device.display())
            }
            Reason::InUseByKernel { path } => format!("{} is in use by the kernel", path.display()),
            Reason::Partitions { path, names } => format!("{} has partitions: {}", path.display(), names.join(", ")),
            Reason::Signature { path, signature } => {
                let (name, class, offset) = (signature.name, signature.class, signature.offset);
                format!("{} has {name} on it ({class}, at byte {offset})", path.display())
            }
            Reason::Unreadable { path, offset } => {
                format!("{} can't be read at byte {offset}, so what is on it can't be seen", path.display())
            }
            Reason::ReadOnly { path } => format!("{} is read-only", path.display()),
            Reason::Empty { path } => format!("{} has no capacity", path.display()),
            Reason::NoPermission { path } => format!("{} may not be opened by this user", path.display()),
            Reason::Forbidden { path } => format!("{} may not be opened here by anybody", path.display()),
            Reason::OpenFailed { path, error } => format!("{} can't be opened: {error}", path.display()),
            Reason::Changed { path } => format!("{} isn't the device any more that was looked at", path.display()),
            Reason::NotBlockDevice { path } => format!("{} is no block device", path.display()),
        }
    }

    fn advised(&self) -> String {
        match self {
            Reason::Mounted { point, seen_by: None, .. } if point == Path::new("/") => {
                "it holds the running system: choose another device".into()
            }
            Reason::Mounted { point, seen_by: None, .. } => format!("umount {}", quoted(point)),
            Reason::Mounted { point, seen_by: Some(process), .. } => {
                format!("stop that process's container, or nsenter --target {process} --mount umount {}", quoted(point))
            }
            Reason::BtrfsDevice { uuid, .. } => format!("find where with `findmnt UUID={uuid}`, and umount it"),
            Reason::Swap { area } => format!("swapoff {}", quoted(area)),
            Reason::Held { holder, label, kind } => {
                let label = label.as_deref().map(Path::new).unwrap_or(holder);
                match kind {
                    HolderKind::Lvm { group } => format!("vgchange -an {}", quoted(Path::new(group))),
                    HolderKind::Md => format!("mdadm --stop {}", quoted(holder)),
                    HolderKind::Crypt => format!("cryptsetup close {}", quoted(label)),
                    HolderKind::Multipath => format!("multipath -f {}", quoted(label)),
                    HolderKind::Bcache => {
                        let name = holder.file_name().unwrap_or_default().to_string_lossy();
                        format!("echo 1 > /sys/block/{name}/bcache/stop")
                    }
                    HolderKind::Drbd => {
                        format!("drbdadm down the resource of {}, which `drbdadm status` names", holder.display())
                    }
                    HolderKind::Mapper => format!("dmsetup remove {}", quoted(label)),
                    HolderKind::Other => format!("find out what {} is with `lsblk`, and stop it", holder.display()),
                }
            }
            Reason::LoopBound { loop_device, .. } => format!("losetup --detach {}", quoted(loop_device)),
            Reason::Exported { namespace, .. } => format!("echo 0 > {}", quoted(&namespace.join("enable"))),
            Reason::OpenForWriting { process, .. } => format!("stop it: `ps {process}` shows what it is"),
            Reason::InUseByKernel { path } => {
                format!("find out what uses it with `lsblk {}` and `dmesg`, and stop that", path.display())
            }
            Reason::Partitions { path, .. } => {
                format!("make sure that nothing on them is needed, then wipefs --all {}", quoted(path))
            }
            Reason::Signature { path, signature } if signature.class == Class::Module => format!(
                "make sure that its card is not needed, then dd if=/dev/zero of={} bs=4096 count=1 seek={}",
                quoted(path),
                signature.offset / 4096
            ),
            Reason::Signature { path, signature } => {
                let wipe = format!("make sure that nothing on it is needed, then wipefs --all {}", quoted(path));
                match (signature.stubborn, signature.name) {
                    (false, _) => wipe,
                    (true, "ZFS pool member") => {
                        format!("{wipe}, and if that leaves it, zpool labelclear -f {}", quoted(path))
                    }
                    (true, _) => {
                        let block = signature.offset / 4096;
                        format!(
                            "{wipe}, and if that leaves it, dd if=/dev/zero of={} bs=4096 count=1 seek={block}",
                            quoted(path)
                        )
                    }
                }
            }
            Reason::Unreadable { path, .. } => {
                format!("see `dmesg` and `smartctl --all {}`: the device may be broken", path.display())
            }
            Reason::ReadOnly { path } => {
                format!("blockdev --setrw {}, unless a switch on the device or the hypervisor says so", quoted(path))
            }
            Reason::Empty { .. } => "insert a medium, or bind the loop device to a file".into(),
            Reason::NoPermission { .. } => "run as root or give your user the group disk".into(),
            Reason::Forbidden { .. } => {
                "a container or a control group forbids it: run outside, or allow it the device".into()
            }
            Reason::OpenFailed { .. } => "see `dmesg` for what happened to the device".into(),
            Reason::Changed { .. } => "look at it again: run the command once more".into(),
            Reason::NotBlockDevice { .. } => "name a block device (`lsblk` lists them)".into(),
        }
    }
}

/// Somebody chose the names of mount points, volumes and programs; they must not drive the terminal.
fn one_line(text: &str) -> String {
    clean(text).unwrap_or_default()
}

/// For a shell: a path is part of a command that somebody may paste.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what(), self.remedy())
    }
}

/// A device that may not be overwritten, and everything that speaks against it, in the order in which it can be undone.
#[derive(Debug, thiserror::Error)]
#[error("{} may not be overwritten: {}", both(named, path), listed(reasons))]
pub struct Refusal {
    /// As it was named.
    pub named: PathBuf,
    /// All links resolved.
    pub path: PathBuf,
    /// Reasons for the refusal, never empty.
    pub reasons: Vec<Reason>,
}

fn both(named: &Path, path: &Path) -> String {
    one_line(&if named == path {
        path.display().to_string()
    } else {
        format!("{} ({})", named.display(), path.display())
    })
}

fn listed(reasons: &[Reason]) -> String {
    reasons.iter().map(Reason::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_can_be_pasted_into_a_shell() {
        assert_eq!(quoted(Path::new("/dev/disk/by-id/ata-X_1:2")), "/dev/disk/by-id/ata-X_1:2");
        assert_eq!(quoted(Path::new("/mnt/it's; rm -r")), r"'/mnt/it'\''s; rm -r'");
    }

    #[test]
    fn a_module_is_removed_by_zeroes_in_the_place_of_each_superblock() {
        let mut bytes = vec![0; (1 << 20) + 512];
        for at in [0, (1 << 20) - 4096] {
            bytes[at..at + 8].copy_from_slice(b"FLRMODUL");
        }
        let found = crate::signatures::find(&bytes, bytes.len() as u64).signatures;
        let remedy = |signature| Reason::Signature { path: "/dev/sda".into(), signature }.remedy();
        let dd = "make sure that its card is not needed, then dd if=/dev/zero of=/dev/sda bs=4096 count=1 seek=";
        let remedies: Vec<String> = found.into_iter().map(remedy).collect();
        assert_eq!(remedies, [format!("{dd}0"), format!("{dd}255")]);
    }

    #[test]
    fn what_a_container_forbids_root_can_not_do_either() {
        let path = Path::new("/dev/sda");
        let reason = |errno: rustix::io::Errno| Reason::of_open(path, errno.into()).unwrap();
        assert!(matches!(reason(rustix::io::Errno::PERM), Reason::Forbidden { .. }));
        assert!(matches!(reason(rustix::io::Errno::ACCESS), Reason::NoPermission { .. }));
        assert!(matches!(reason(rustix::io::Errno::ROFS), Reason::ReadOnly { .. }));
        assert!(matches!(reason(rustix::io::Errno::NXIO), Reason::OpenFailed { .. }));
        assert!(Reason::of_open(path, rustix::io::Errno::BUSY.into()).is_none());
    }

    #[test]
    fn a_refusal_is_one_line_with_all_its_reasons() {
        let path = PathBuf::from("/dev/sda");
        let reasons = vec![
            Reason::Mounted { device: path.clone(), point: "/mnt/a\nb".into(), fs_type: "xfs".into(), seen_by: None },
            Reason::Swap { area: path.clone() },
        ];
        let refusal = Refusal { named: path.clone(), path, reasons };
        assert_eq!(
            refusal.to_string(),
            "/dev/sda may not be overwritten: /dev/sda is mounted at /mnt/a?b (xfs): umount '/mnt/a?b'; /dev/sda is swap \
             space in use: swapoff /dev/sda"
        );
    }
}
