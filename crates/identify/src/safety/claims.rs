//! Uses of a device by the kernel and by other programs.

use super::holder::HolderKind;
use super::reason::Reason;
use super::scope::Scope;
use super::users;
use crate::device::Device;
use crate::mounts::{self, Mount};
use crate::system::{System, names, read_flag, read_text};
use crate::text::unescape;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Everything that can be told without opening the device, in the order in which it can be undone.
pub(super) fn against(system: &System, device: &Device) -> Vec<Reason> {
    let scope = Scope::of(system, device);
    let all = scope.all();
    let mut reasons = mounted(system, &all);
    reasons.extend(btrfs(system, &all));
    reasons.extend(swap(system, device, &all));
    // The uppermost first: a volume can't be closed while another lies on it.
    for holder in scope.above.iter().rev().filter(|above| above.partition.is_none()) {
        let label = holder.mapper_name.clone();
        reasons.push(Reason::Held { holder: holder.node(), label, kind: HolderKind::of(holder) });
    }
    for bound in scope.loops.iter().rev() {
        let backing = bound.backing_file.clone().unwrap_or_default().into();
        reasons.push(Reason::LoopBound { loop_device: bound.node(), backing });
    }
    reasons.extend(exported(system, &all));
    reasons.extend(users::writing(system, &all));
    let path = device.node();
    if device.read_only {
        reasons.push(Reason::ReadOnly { path: path.clone() });
    }
    if device.size_bytes == 0 {
        reasons.push(Reason::Empty { path: path.clone() });
    }
    let names = device.partitions();
    if !names.is_empty() {
        reasons.push(Reason::Partitions { path, names });
    }
    reasons
}

fn mounted(system: &System, devices: &[&Device]) -> Vec<Reason> {
    let mounted_device = |mount: &Mount| {
        let numbered = devices.iter().find(|device| device.number == mount.number);
        // Btrfs and bcachefs have anonymous numbers, and name their devices.
        let named = || {
            let mut names = mount.sources().filter_map(|source| system.name_of_path(source));
            names.find_map(|name| devices.iter().find(|device| device.name == name))
        };
        numbered.or_else(named).map(|device| device.node())
    };
    let mut reasons: Vec<Reason> = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    for mount in mounts::all(system) {
        let Some(device) = mounted_device(&mount) else { continue };
        // Each namespace has its copy of the same mounts: one of each place is enough.
        if known.insert((device.clone(), mount.point.clone())) {
            let Mount { point, fs_type, seen_by, .. } = mount;
            reasons.push(Reason::Mounted { device, point, fs_type, seen_by });
        }
    }
    reasons
}

/// A mount names one device of a Btrfs of several; `/sys/fs/btrfs` has them all.
fn btrfs(system: &System, devices: &[&Device]) -> Vec<Reason> {
    let root = system.sys.join("fs/btrfs");
    let mut reasons = Vec::new();
    for uuid in names(&root) {
        let members = names(&root.join(&uuid).join("devices"));
        reasons.extend(
            devices
                .iter()
                .filter(|device| members.contains(&device.name))
                .map(|device| Reason::BtrfsDevice { device: device.node(), uuid: uuid.clone() }),
        );
    }
    reasons
}

/// Swap space that is one of the devices, or a file on one, or a loop device's file.
fn swap(system: &System, device: &Device, devices: &[&Device]) -> Vec<Reason> {
    let text = fs::read(system.proc.join("swaps")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let areas = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    areas
        .map(|area| PathBuf::from(OsString::from_vec(unescape(area))))
        .filter(|area| match system.name_of_path(area) {
            Some(name) => devices.iter().any(|device| device.name == name),
            None => {
                let backing = device.backing_file.as_deref().map(Path::new) == Some(area.as_path());
                backing || lies_on(area, devices)
            }
        })
        .map(|area| Reason::Swap { area })
        .collect()
}

fn lies_on(file: &Path, devices: &[&Device]) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = fs::metadata(file).map(|meta| crate::DeviceNumber::from_raw(meta.dev()));
    number.is_ok_and(|number| devices.iter().any(|device| device.number == number))
}

/// Devices that other machines write to. The NVMe target doesn't open them exclusively.
fn exported(system: &System, devices: &[&Device]) -> Vec<Reason> {
    let root = system.sys.join("kernel/config/nvmet/subsystems");
    let mut reasons = Vec::new();
    for subsystem in names(&root) {
        let namespaces = root.join(subsystem).join("namespaces");
        for namespace in names(&namespaces).into_iter().map(|name| namespaces.join(name)) {
            let path =
                read_text(namespace.join("device_path")).filter(|_| read_flag(namespace.join("enable")) == Some(true));
            let Some(name) = path.and_then(|path| system.name_of_path(Path::new(&path))) else { continue };
            if let Some(device) = devices.iter().find(|device| device.name == name) {
                reasons.push(Reason::Exported { device: device.node(), namespace });
            }
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use std::os::unix::fs::symlink;

    fn reasons(fake: &Fake, name: &str) -> Vec<String> {
        against(&fake.system(), &fake.device(name)).iter().map(Reason::to_string).collect()
    }

    fn partitioned() -> Fake {
        let fake = Fake::new();
        fake.nvme();
        fake.partition("nvme0n1", "nvme0n1p1", 1, "259:1", 1 << 30);
        fake.partition("nvme0n1", "nvme0n1p2", 2, "259:2", 1 << 30);
        fake
    }

    #[test]
    fn a_device_that_nobody_uses_has_nothing_against_it() {
        let fake = Fake::new();
        fake.nvme();
        fake.sata("sda", "8:0");
        fake.mountinfo("self", "27 1 8:0 / / rw - ext4 /dev/sda rw\n");
        fake.swaps("/dev/sda partition 1 0 -2\n");
        assert_eq!(reasons(&fake, "nvme0n1"), [""; 0]);
    }

    #[test]
    fn a_disk_whose_partition_is_mounted_is_in_use_and_its_other_partition_is_not() {
        let fake = partitioned();
        fake.mountinfo("self", "27 1 259:2 / /srv/my\\040data rw - xfs /dev/nvme0n1p2 rw\n");
        assert_eq!(
            reasons(&fake, "nvme0n1"),
            [
                "/dev/nvme0n1p2 is mounted at /srv/my data (xfs): umount '/srv/my data'",
                "/dev/nvme0n1 has partitions: nvme0n1p1, nvme0n1p2: make sure that nothing on them is needed, then wipefs \
                 --all /dev/nvme0n1",
            ]
        );
        assert_eq!(reasons(&fake, "nvme0n1p2").len(), 1);
        assert_eq!(reasons(&fake, "nvme0n1p1"), [""; 0]);
    }

    #[test]
    fn each_place_of_a_mount_counts_once_over_all_namespaces() {
        let fake = partitioned();
        fake.mountinfo("self", "27 1 259:2 / / rw - xfs /dev/root rw\n28 1 259:2 /sub /bind rw - xfs /dev/root rw\n");
        fake.mountinfo("99999998", "30 1 259:2 / / rw - xfs /dev/root rw\n31 1 259:1 / /data rw - ext4 /dev/x rw\n");
        let found = reasons(&fake, "nvme0n1");
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!(
            found[0],
            "/dev/nvme0n1p2 is mounted at / (xfs): it holds the running system: choose another device"
        );
        assert_eq!(found[1], "/dev/nvme0n1p2 is mounted at /bind (xfs): umount /bind");
        assert_eq!(
            found[2],
            "/dev/nvme0n1p1 is mounted at /data (ext4) in the mount namespace of process 99999998: stop that process's \
             container, or nsenter --target 99999998 --mount umount /data"
        );
    }

    #[test]
    fn btrfs_is_found_by_its_source_and_by_its_other_devices() {
        let fake = Fake::new();
        fake.sata("sda", "8:0");
        fake.sata("sdb", "8:16");
        fake.node_link("disk/by-id/ata-x", "sda");
        fake.mountinfo("self", "27 1 0:31 /@home /home rw - btrfs /dev/disk/by-id/ata-x rw,subvol=/@home\n");
        let uuid = "0b4a6a5e-0000-4000-8000-000000000000";
        for name in ["sda", "sdb"] {
            fake.write(&format!("sys/fs/btrfs/{uuid}/devices/{name}/size"), "1");
        }
        assert_eq!(reasons(&fake, "sda")[0], "/dev/sda is mounted at /home (btrfs): umount /home");
        assert_eq!(
            reasons(&fake, "sdb"),
            [format!(
                "/dev/sdb is part of the mounted Btrfs file system {uuid}: find where with `findmnt UUID={uuid}`, and \
                 umount it"
            )]
        );
    }

    #[test]
    fn swap_counts_as_partition_and_under_other_names() {
        let fake = partitioned();
        fake.node_link("disk/by-uuid/1234", "nvme0n1p1");
        fake.swaps("/dev/disk/by-uuid/1234\tpartition\t65532\t0\t-2\n/swap.img\tfile\t1\t0\t-3\n");
        assert_eq!(
            reasons(&fake, "nvme0n1")[0],
            "/dev/disk/by-uuid/1234 is swap space in use: swapoff /dev/disk/by-uuid/1234"
        );
        assert_eq!(reasons(&fake, "nvme0n1p2"), [""; 0]);
    }

    #[test]
    fn what_lies_on_a_device_is_undone_from_the_top() {
        let fake = partitioned();
        fake.disk("dm-0", "253:0", "virtual/block", 1 << 29);
        fake.attribute("dm-0", "dm/name", "luks-abc");
        fake.attribute("dm-0", "dm/uuid", "CRYPT-LUKS2-abc-luks-abc");
        fake.holds("dm-0", "nvme0n1p2");
        fake.disk("dm-1", "253:1", "virtual/block", 1 << 28);
        fake.attribute("dm-1", "dm/name", "my--group-root");
        fake.attribute("dm-1", "dm/uuid", "LVM-abc");
        fake.holds("dm-1", "dm-0");
        fake.node_link("mapper/my--group-root", "dm-1");
        fake.mountinfo("self", "27 1 253:1 / /srv rw - ext4 /dev/mapper/my--group-root rw\n");
        let found = reasons(&fake, "nvme0n1");
        assert_eq!(
            found[..3],
            [
                "/dev/dm-1 is mounted at /srv (ext4): umount /srv",
                "/dev/dm-1 (LVM volume of group my-group, my--group-root) lies on it: vgchange -an my-group",
                "/dev/dm-0 (open encrypted volume, luks-abc) lies on it: cryptsetup close luks-abc",
            ]
        );
        assert_eq!(reasons(&fake, "nvme0n1p2"), found[..3]);
        assert_eq!(reasons(&fake, "nvme0n1p1"), [""; 0]);
    }

    #[test]
    fn a_member_of_an_array_is_in_use_and_so_are_partitions_of_a_disk_that_is_one() {
        let fake = Fake::new();
        fake.sata("sda", "8:0");
        fake.partition("sda", "sda1", 1, "8:1", 1 << 30);
        fake.disk("md127", "9:127", "virtual/block", 1 << 30);
        fake.holds("md127", "sda");
        let held = "/dev/md127 (md array) lies on it: mdadm --stop /dev/md127";
        assert_eq!(reasons(&fake, "sda")[0], held);
        assert_eq!(reasons(&fake, "sda1"), [held]);
        // A holder on the disks doesn't speak against itself.
        assert_eq!(reasons(&fake, "md127"), [""; 0]);
    }

    #[test]
    fn loop_devices_count_although_the_kernel_would_let_us() {
        let fake = Fake::new();
        fake.sata("sda", "8:0");
        for index in 0..3 {
            fake.disk(&format!("loop{index}"), &format!("7:{index}"), "virtual/block", 1 << 20);
        }
        fake.attribute("loop0", "loop/backing_file", "/dev/sda");
        fake.mountinfo("self", "27 1 7:0 / /mnt rw - ext4 /dev/loop0 rw\n");
        assert_eq!(
            reasons(&fake, "sda"),
            [
                "/dev/loop0 is mounted at /mnt (ext4): umount /mnt",
                "loop device /dev/loop0 is bound to /dev/sda: losetup --detach /dev/loop0",
            ]
        );
        // And the other way: writing to the loop device writes to the disk.
        fake.write("proc/self/mountinfo", "27 1 8:0 / /data rw - ext4 /dev/sda rw\n");
        assert_eq!(reasons(&fake, "loop0"), ["/dev/sda is mounted at /data (ext4): umount /data"]);
        fake.attribute("loop1", "loop/backing_file", "/images/a");
        assert_eq!(reasons(&fake, "loop1"), [""; 0]);
        fake.attribute("loop2", "loop/backing_file", "/images/a");
        assert_eq!(
            reasons(&fake, "loop1"),
            ["loop device /dev/loop2 is bound to /images/a: losetup --detach /dev/loop2"]
        );
        fake.swaps("/images/a file 1 0 -3\n");
        assert_eq!(reasons(&fake, "loop1")[0], "/images/a is swap space in use: swapoff /images/a");
    }

    #[test]
    fn loop_devices_bound_to_each_other_come_to_an_end() {
        let fake = Fake::new();
        for (name, number, file) in [("loop0", "7:0", "/dev/loop1"), ("loop1", "7:1", "/dev/loop0")] {
            fake.disk(name, number, "virtual/block", 1 << 20);
            fake.attribute(name, "loop/backing_file", file);
        }
        reasons(&fake, "loop0");
    }

    #[test]
    fn a_disk_in_use_over_its_other_path_is_in_use() {
        let fake = Fake::new();
        for (name, number) in [("sda", "8:0"), ("sdb", "8:16")] {
            fake.sata(name, number);
            fake.attribute(name, "wwid", "naa.5000c500a1b2c3d4");
            fake.partition(name, &format!("{name}1"), 1, &format!("{number}1"), 1 << 20);
        }
        fake.mountinfo("self", "27 1 8:161 / /mnt rw - ext4 /dev/sdb1 rw\n");
        let mounted = "/dev/sdb1 is mounted at /mnt (ext4): umount /mnt";
        assert_eq!(reasons(&fake, "sda")[0], mounted);
        assert_eq!(reasons(&fake, "sda1"), [mounted]);
    }

    #[test]
    fn programs_that_write_to_it_count_and_those_that_read_it_do_not() {
        let fake = partitioned();
        let process = "proc/99999999";
        fake.write(&format!("{process}/comm"), "qemu-system-x86\n");
        for (descriptor, name, flags) in [("3", "nvme0n1", "0100000"), ("4", "nvme0n1p1", "02100002")] {
            fake.write(&format!("{process}/fdinfo/{descriptor}"), format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t9\n"));
            std::fs::create_dir_all(fake.path(process).join("fd")).unwrap();
            symlink(fake.path("dev").join(name), fake.path(process).join("fd").join(descriptor)).unwrap();
        }
        let open = "process 99999999 (qemu-system-x86) has /dev/nvme0n1p1 open for writing: stop it: `ps 99999999` shows \
                    what it is";
        assert_eq!(reasons(&fake, "nvme0n1p1"), [open]);
        assert_eq!(reasons(&fake, "nvme0n1")[0], open);
        assert_eq!(reasons(&fake, "nvme0n1p2"), [""; 0]);
    }

    #[test]
    fn what_other_machines_write_to_is_in_use() {
        let fake = Fake::new();
        fake.nvme();
        let namespace = "sys/kernel/config/nvmet/subsystems/nqn.x/namespaces/1";
        fake.write(&format!("{namespace}/device_path"), "/dev/nvme0n1\n");
        fake.write(&format!("{namespace}/enable"), "0\n");
        assert_eq!(reasons(&fake, "nvme0n1"), [""; 0]);
        fake.write(&format!("{namespace}/enable"), "1\n");
        let enable = fake.path(namespace).join("enable");
        assert_eq!(
            reasons(&fake, "nvme0n1"),
            [format!("/dev/nvme0n1 is exported by the NVMe target: echo 0 > {}", enable.display())]
        );
    }

    #[test]
    fn read_only_and_empty_devices_say_so() {
        let fake = Fake::new();
        fake.disk("sr0", "11:0", "virtual/block", 0);
        fake.attribute("sr0", "ro", "1");
        let found = reasons(&fake, "sr0");
        assert!(found[0].starts_with("/dev/sr0 is read-only: blockdev --setrw /dev/sr0"), "{found:?}");
        assert!(found[1].starts_with("/dev/sr0 has no capacity: "), "{found:?}");
    }
}
