//! The known facts of a target, as results have them.
//!
//! In reading order; each is absent when it isn't known:
//!
//! | Key | Value | Example |
//! |---|---|---|
//! | `path` | A device's name, where a link to it was named | `/dev/nvme0n1` |
//! | `file_system` | Type | `ext4` |
//! | `mount_point` | | `/srv` |
//! | `mount_options` | Of mount and file system | `rw,noatime,discard` |
//! | `free` | Space left in the file system | `120 GB of 480 GB` |
//! | `stack` | What the target lies on, where there is more than a disk | `dm-0 (vg-root) on nvme0n1p3 on nvme0n1` |
//! | `disks` | Several disks at the bottom, with model and serial number | `sda (Intel …, serial …), sdb …` |
//! | `backing_file` | A loop device's | `/tmp/image` |
//! | `model`, `vendor`, `serial`, `wwid`, `firmware` | As the drive says | |
//! | `transport` | How it is attached | `NVMe (pcie)` |
//! | `pcie_link` | As it is, and as it could be if that is more | `8.0 GT/s PCIe ×4` |
//! | `rotation` | Turns a minute, or whether there are any | `7200 rpm`, `none, says the kernel` |
//! | `capacity` | Of the device | `1 TB (1000204886016 B)` |
//! | `device_number` | Major and minor | `259:0` |
//! | `logical_sector_bytes`, `physical_sector_bytes` | | `512 B`, `4 KiB` |
//! | `write_cache` | As the kernel treats it | `write back` |
//! | `fua` | | `yes`, `no` |
//! | `discard` | Most of one request, and the granularity | `up to 2 GiB, in 4 KiB`, `not supported` |
//! | `scheduler` | | `none` |
//! | `nr_requests` | Depth of the kernel's queue | `1023` |
//! | `max_sectors_kb` | Largest request | `128 KiB` |
//! | `zoned` | Where it isn't `none` | `host-managed` |

use crate::device::Device;
use crate::identity::Identity;
use crate::text::{binary, bytes};
use results::{Fact, TargetKind};

/// A fact of its key, its label and a value that may be absent.
pub(crate) fn push(facts: &mut Vec<Fact>, key: &str, label: &str, value: Option<String>) {
    if let Some(value) = value {
        facts.push(Fact { key: key.into(), label: label.into(), value });
    }
}

impl Identity {
    /// Returns the known facts in reading order; see the table above.
    pub fn facts(&self) -> Vec<Fact> {
        of(self)
    }
}

fn of(identity: &Identity) -> Vec<Fact> {
    let mut facts = Vec::new();
    let linked = identity.path != identity.named && identity.kind == TargetKind::BlockDevice;
    // The path of a file might say in whose home directory it lies.
    let path = linked.then(|| identity.path.display().to_string());
    push(&mut facts, "path", "Path", path);
    if let Some(file_system) = &identity.file_system {
        push(&mut facts, "file_system", "File system", Some(file_system.fs_type.clone()));
        push(&mut facts, "mount_point", "Mounted at", Some(file_system.mount_point.display().to_string()));
        push(&mut facts, "mount_options", "Mount options", Some(file_system.options.join(",")));
        let free = file_system.free_bytes.filter(|_| file_system.size_bytes != Some(0)).map(|free| {
            match file_system.size_bytes {
                Some(size) => format!("{} of {}", bytes(free), bytes(size)),
                None => bytes(free),
            }
        });
        push(&mut facts, "free", "Free space", free);
    }
    push(&mut facts, "stack", "Lies on", stack(identity));
    if identity.disks.len() > 1 {
        let disks: Vec<String> = identity.disks.iter().map(with_serial).collect();
        push(&mut facts, "disks", "Disks", Some(disks.join(", ")));
    }
    let Some(device) = &identity.device else { return facts };
    let disk = identity.disk();
    push(&mut facts, "backing_file", "Loop device's file", device.backing_file.clone());
    if let Some(disk) = disk {
        of_model(&mut facts, disk);
    }
    let size = if identity.kind == TargetKind::File { disk.unwrap_or(device).size_bytes } else { device.size_bytes };
    push(&mut facts, "capacity", "Capacity", (size > 0).then(|| format!("{} ({size} B)", bytes(size))));
    push(&mut facts, "device_number", "Device number", Some(device.number.to_string()));
    // The disk's own queue sets its speed; a volume's own queue passes everything on.
    of_queue(&mut facts, disk.unwrap_or(device));
    facts
}

fn of_model(facts: &mut Vec<Fact>, disk: &Device) {
    let model = disk.model.clone();
    push(facts, "model", "Model", model.model);
    push(facts, "vendor", "Vendor", model.vendor);
    push(facts, "serial", "Serial number", model.serial);
    push(facts, "wwid", "World-wide name", model.wwid);
    push(facts, "firmware", "Firmware", model.firmware);
    push(facts, "transport", "Attached by", model.transport);
    push(facts, "pcie_link", "PCIe link", model.pcie_link);
    let rotation = match (model.rpm, disk.turns()) {
        (Some(rpm), _) => Some(format!("{rpm} rpm")),
        (None, Some(false)) => Some("none, says the kernel".into()),
        (None, Some(true)) => Some("it turns, says the kernel".into()),
        (None, None) if disk.queue.rotational.is_some() => Some("not known: the disk is virtual".into()),
        (None, None) => None,
    };
    push(facts, "rotation", "Rotation", rotation);
}

fn of_queue(facts: &mut Vec<Fact>, device: &Device) {
    let queue = &device.queue;
    push(facts, "logical_sector_bytes", "Logical sector", queue.logical_sector_bytes.map(|size| binary(size.into())));
    push(
        facts,
        "physical_sector_bytes",
        "Physical sector",
        queue.physical_sector_bytes.map(|size| binary(size.into())),
    );
    push(facts, "write_cache", "Write cache", queue.write_cache.clone());
    push(facts, "fua", "Force unit access", queue.fua.map(|fua| if fua { "yes" } else { "no" }.into()));
    let discard = queue.discard_max_bytes.map(|most| match queue.discard_granularity_bytes {
        _ if most == 0 => "not supported".into(),
        Some(granularity) if granularity > 0 => format!("up to {}, in {}", binary(most), binary(granularity)),
        _ => format!("up to {}", binary(most)),
    });
    push(facts, "discard", "Discard", discard);
    push(facts, "scheduler", "Scheduler", queue.scheduler.clone());
    push(facts, "nr_requests", "Kernel's queue", queue.nr_requests.map(|depth| depth.to_string()));
    push(facts, "max_sectors_kb", "Largest request", queue.max_sectors_kb.map(|kib| binary(kib.saturating_mul(1024))));
    push(facts, "zoned", "Zones", queue.zoned.clone().filter(|zoned| zoned != "none"));
}

fn with_serial(disk: &Device) -> String {
    match &disk.model.serial {
        Some(serial) => format!("{} ({}, serial {serial})", disk.name, disk.title()),
        None => format!("{} ({})", disk.name, disk.title()),
    }
}

/// Down from the target as far as there is one thing below each; absent for a plain disk.
fn stack(identity: &Identity) -> Option<String> {
    let steps = &identity.layers;
    let plain = identity.kind == TargetKind::BlockDevice && steps.len() < 2;
    (!plain && !steps.is_empty()).then(|| steps.join(" on "))
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;

    #[test]
    fn an_nvme_drive_is_told_from_model_to_queue() {
        let fake = Fake::new();
        fake.nvme();
        let identity = fake.identity("nvme0n1");
        let facts = identity.facts();
        let value = |key: &str| facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.as_str());
        assert_eq!(value("model"), Some("Samsung SSD 980 PRO 1TB"));
        assert_eq!(value("serial"), Some("S5GXNF0R123456"));
        assert_eq!(value("firmware"), Some("5B2QGXA7"));
        assert_eq!(value("transport"), Some("NVMe (pcie)"));
        assert_eq!(value("pcie_link"), Some("8.0 GT/s PCIe ×4 of 16.0 GT/s PCIe ×4"));
        assert_eq!(value("scheduler"), Some("none"));
        assert_eq!(value("write_cache"), Some("write back"));
        assert_eq!(value("discard"), Some("up to 2 GiB, in 512 B"));
        assert_eq!(value("capacity"), Some("1 TB (1000204886016 B)"));
        assert_eq!(value("zoned"), None);
        assert_eq!(value("stack"), None);
        let info = identity.target_info(identity.size_bytes);
        assert_eq!(info.title, "Samsung SSD 980 PRO 1TB");
        assert_eq!(info.volatile_write_cache, Some(true));
        assert_eq!(info.sold_bytes, Some(1_000_204_886_016));
        assert_eq!(info.power_loss_protection, None);
    }

    #[test]
    fn a_sata_drive_has_its_serial_number_and_no_vendor_called_ata() {
        let fake = Fake::new();
        fake.sata("sda", "8:0");
        let identity = fake.identity("sda");
        let device = identity.device.as_ref().unwrap();
        assert_eq!(device.model.vendor, None);
        assert_eq!(device.model.model.as_deref(), Some("INTEL SSDSC2BA40"));
        assert_eq!(device.model.serial.as_deref(), Some("BTTV1234"));
        assert_eq!(device.model.transport.as_deref(), Some("SATA"));
        assert_eq!(identity.title(), "INTEL SSDSC2BA40");
    }

    #[test]
    fn a_virtio_disk_without_serial_number_has_none() {
        let fake = Fake::new();
        fake.disk("vda", "254:0", "pci0000:00/0000:00:02.0/virtio1/block", 1 << 30);
        fake.attribute("vda", "serial", "\n");
        let identity = fake.identity("vda");
        let device = identity.device.as_ref().unwrap();
        assert_eq!(device.model.serial, None);
        assert_eq!(device.model.model, None);
        assert_eq!(identity.title(), "virtio disk vda");
        fake.attribute("vda", "serial", "drive-1");
        assert_eq!(fake.identity("vda").device.unwrap().model.serial.as_deref(), Some("drive-1"));
    }

    #[test]
    fn a_virtual_disk_is_not_believed_to_turn() {
        let fake = Fake::new();
        fake.disk("vda", "254:0", "pci0000:00/0000:00:02.0/virtio1/block", 1 << 30);
        fake.disk("xvda", "202:0", "vbd-51712/block", 1 << 30);
        fake.sata("sda", "8:0");
        fake.nvme();
        for name in ["vda", "xvda", "sda", "nvme0n1"] {
            fake.attribute(name, "queue/rotational", "1\n");
        }
        let rotation = |name: &str| {
            let identity = fake.identity(name);
            let fact = identity.facts().into_iter().find(|fact| fact.key == "rotation").unwrap();
            (identity.turns(), fact.value)
        };
        for name in ["vda", "xvda"] {
            assert_eq!(rotation(name), (false, "not known: the disk is virtual".to_owned()), "{name}");
        }
        for name in ["sda", "nvme0n1"] {
            assert_eq!(rotation(name), (true, "it turns, says the kernel".to_owned()), "{name}");
        }
        for model in ["Amazon Elastic Block Store", "nvme_card-pd", "QEMU NVMe Ctrl", "VMware Virtual NVMe Disk"] {
            fake.attribute("nvme0n1", "device/model", model);
            assert!(!rotation("nvme0n1").0, "{model}");
        }
        // A disk's own word is another matter than an assumption of the kernel.
        fake.attribute("vda", "queue/rotational", "0\n");
        assert_eq!(rotation("vda").1, "none, says the kernel");
    }

    #[test]
    fn an_array_names_all_its_disks_and_has_no_serial_number() {
        let fake = Fake::new();
        fake.sata("sda", "8:0");
        fake.sata("sdb", "8:16");
        fake.disk("md0", "9:0", "virtual/block", 1 << 30);
        fake.attribute("md0", "md/level", "raid1");
        fake.holds("md0", "sda");
        fake.holds("md0", "sdb");
        let identity = fake.identity("md0");
        assert!(identity.disk().is_none());
        let facts = identity.facts();
        let value = |key: &str| facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.as_str());
        assert_eq!(value("serial"), None);
        assert_eq!(
            value("disks"),
            Some("sda (INTEL SSDSC2BA40, serial BTTV1234), sdb (INTEL SSDSC2BA40, serial BTTV1234)")
        );
        assert_eq!(value("stack"), Some("md0 (raid1) on 2 disks"));
        assert_eq!(identity.target_info(0).sold_bytes, None);
        assert_eq!(identity.volatile_write_cache(), Some(true));
        assert_eq!(identity.confirmation().value, "md0");
    }
}
