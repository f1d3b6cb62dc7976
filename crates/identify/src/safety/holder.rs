//! Holders on a device, by the kernel's names.

use crate::device::Device;
use std::fmt;

/// The kind of a holder on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum HolderKind {
    /// A logical volume.
    Lvm {
        /// Its volume group.
        group: String,
    },
    /// An md array.
    Md,
    /// An open encrypted volume.
    Crypt,
    /// A multipath device.
    Multipath,
    /// A bcache device.
    Bcache,
    /// A DRBD device.
    Drbd,
    /// Something else that the device mapper made.
    Mapper,
    Other,
}

impl HolderKind {
    pub(super) fn of(holder: &Device) -> Self {
        let uuid = holder.mapper_uuid.as_deref().unwrap_or_default();
        match holder.mapper_name.as_deref() {
            Some(name) if uuid.starts_with("LVM-") => HolderKind::Lvm { group: volume_group(name) },
            Some(_) if uuid.starts_with("CRYPT-") => HolderKind::Crypt,
            Some(_) if uuid.starts_with("mpath-") => HolderKind::Multipath,
            Some(_) => HolderKind::Mapper,
            None if holder.name.starts_with("md") => HolderKind::Md,
            None if holder.name.starts_with("bcache") => HolderKind::Bcache,
            None if holder.name.starts_with("drbd") => HolderKind::Drbd,
            None => HolderKind::Other,
        }
    }
}

impl fmt::Display for HolderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HolderKind::Lvm { group } => write!(f, "LVM volume of group {group}"),
            HolderKind::Md => f.write_str("md array"),
            HolderKind::Crypt => f.write_str("open encrypted volume"),
            HolderKind::Multipath => f.write_str("multipath device"),
            HolderKind::Bcache => f.write_str("bcache device"),
            HolderKind::Drbd => f.write_str("DRBD device"),
            HolderKind::Mapper => f.write_str("device mapper volume"),
            HolderKind::Other => f.write_str("device"),
        }
    }
}

/// The volume group in LVM's name of a volume: `my--group-root` is volume `root` of `my-group`.
fn volume_group(name: &str) -> String {
    let mut group = String::new();
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '-' && rest.next_if_eq(&'-').is_none() {
            break;
        }
        group.push(c);
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_group_keeps_its_dashes() {
        assert_eq!(volume_group("my--group-root"), "my-group");
        assert_eq!(volume_group("vg-a--b"), "vg");
        assert_eq!(volume_group("vg"), "vg");
    }
}
