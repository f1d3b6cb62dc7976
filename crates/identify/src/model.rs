//! Maker and model of a disk.

use crate::system::{names, read_text, read_u64};
use crate::text::clean_bytes;
use std::fs;
use std::path::Path;

/// Maker and model of a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Manufacturer, where the protocol tells it apart from the model (SCSI).
    pub vendor: Option<String>,
    /// Name of the model as the drive reports it.
    pub model: Option<String>,
    /// Serial number as the drive reports it.
    pub serial: Option<String>,
    /// World-wide name: the same over every path to the disk.
    pub wwid: Option<String>,
    /// Version of its firmware.
    pub firmware: Option<String>,
    /// Attachment of the disk: `NVMe (pcie)`, `SATA`, `SAS`, `USB`, `virtio` …
    pub transport: Option<String>,
    /// Turns a minute, as the drive says; flash has none.
    pub rpm: Option<u16>,
    /// PCIe link as it is and as it could be: `8.0 GT/s PCIe ×4 of 16.0 GT/s PCIe ×4`.
    pub pcie_link: Option<String>,
}

impl Model {
    /// Reads a whole disk's directory in `/sys`.
    pub(crate) fn read(disk: &Path) -> Self {
        let device = disk.join("device");
        let mut model = Model {
            vendor: read_text(device.join("vendor")),
            model: read_text(device.join("model")),
            serial: read_text(device.join("serial")).or_else(|| read_text(disk.join("serial"))),
            wwid: read_text(disk.join("wwid")).or_else(|| read_text(device.join("wwid"))),
            firmware: read_text(device.join("firmware_rev")).or_else(|| read_text(device.join("rev"))),
            transport: transport(disk),
            rpm: None,
            pcie_link: None,
        };
        if model.model.is_none() {
            // MMC and SD cards call it so.
            model.model = read_text(device.join("name"));
            model.firmware = model.firmware.or_else(|| read_text(device.join("fwrev")));
        }
        // A PCI or virtio vendor is a number (`0x1af4`): the maker of the controller, if of anything.
        if model.vendor.as_ref().is_some_and(|vendor| vendor.starts_with("0x")) {
            model.vendor = None;
        }
        if model.serial.is_none() {
            model.serial = fs::read(device.join("vpd_pg80")).ok().as_deref().and_then(unit_serial);
        }
        // SCSI's fields are too short for ATA's: `Samsung SSD 870 ` is all that fits. The whole is in page 89h.
        if let Some(ata) = fs::read(device.join("vpd_pg89")).ok().as_deref().and_then(Ata::read) {
            model.vendor = None;
            model.model = ata.model.or(model.model);
            model.serial = ata.serial.or(model.serial);
            model.firmware = ata.firmware.or(model.firmware);
            model.rpm = ata.rpm;
        } else if model.vendor.as_deref() == Some("ATA") {
            // Says which protocol it is, not who made it.
            model.vendor = None;
        }
        model.pcie_link = pcie_link(&device);
        model
    }

    /// The disk is made by a hypervisor or a cloud: nothing that it says of its mechanics is to be believed.
    pub(crate) fn is_virtual(&self) -> bool {
        /// Names that hypervisors and clouds give to their disks, in small letters.
        const NAMES: [&str; 12] = [
            "qemu",
            "vmware",
            "vbox",
            "virtual",
            "amazon elastic block store",
            "amazon ec2",
            "persistentdisk",
            "ephemeraldisk",
            "nvme_card",
            "msft nvme accelerator",
            "blockvolume",
            "xensrc",
        ];
        let transport = self.transport.as_deref().unwrap_or_default();
        let title = self.title().unwrap_or_default().to_lowercase();
        matches!(transport, "virtio" | "Xen" | "Hyper-V") || NAMES.iter().any(|name| title.contains(name))
    }

    /// For people: maker and model.
    pub(crate) fn title(&self) -> Option<String> {
        let model = self.model.clone()?;
        Some(match &self.vendor {
            Some(vendor) if !model.to_lowercase().starts_with(&vendor.to_lowercase()) => format!("{vendor} {model}"),
            _ => model,
        })
    }
}

/// SCSI's unit serial number page (SPC-5, 7.7.16):
///
/// ```text
/// 0     1     2 3     4 …
/// type  0x80  length  serial number, ASCII
/// ```
fn unit_serial(page: &[u8]) -> Option<String> {
    let header = page.get(..4)?;
    if header[1] != 0x80 {
        return None;
    }
    let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
    clean_bytes(page.get(4..4 + length).or_else(|| page.get(4..))?)
}

/// An ATA drive's own answers: IDENTIFY DEVICE within SCSI's ATA information page (SAT-4, 12.4.2):
///
/// ```text
/// 0     1     2 3     4 … 55                        56       60 … 571
/// type  0x89  length  the translator and signature  command  256 words of IDENTIFY DEVICE
/// ```
///
/// Words (ACS-4, 7.13): 10–19 serial number, 23–26 firmware, 27–46 model, 217 turns a minute.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ata {
    model: Option<String>,
    serial: Option<String>,
    firmware: Option<String>,
    rpm: Option<u16>,
}

impl Ata {
    fn read(page: &[u8]) -> Option<Self> {
        const COMMAND: usize = 56;
        const IDENTIFY: usize = 60;
        const IDENTIFY_DEVICE: u8 = 0xec;
        if page.get(1) != Some(&0x89) || page.get(COMMAND) != Some(&IDENTIFY_DEVICE) {
            return None;
        }
        let words = page.get(IDENTIFY..IDENTIFY + 512)?;
        // ATA's strings have the first of two characters in the high byte of a word.
        let text = |from: usize, to: usize| {
            let swapped: Vec<u8> =
                words[from * 2..to * 2].chunks_exact(2).flat_map(|pair| [pair[1], pair[0]]).collect();
            clean_bytes(&swapped)
        };
        let rate = u16::from_le_bytes([words[217 * 2], words[217 * 2 + 1]]);
        Some(Ata {
            serial: text(10, 20),
            firmware: text(23, 27),
            model: text(27, 47),
            // 0: not reported, 1: doesn't turn, others below 401h and FFFFh are reserved.
            rpm: (0x401..0xffff).contains(&rate).then_some(rate),
        })
    }
}

/// Finds the attachment of a disk from its place in the tree of devices.
fn transport(disk: &Path) -> Option<String> {
    if let Some(fabric) = nvme_controller(&disk.join("device")).and_then(|dir| read_text(dir.join("transport"))) {
        return Some(format!("NVMe ({fabric})"));
    }
    // The innermost that fits: a USB bridge to a SATA disk is USB, a SATA disk behind a SAS controller is SAS.
    const MARKS: [(&str, &str); 10] = [
        ("nvme", "NVMe"),
        ("usb", "USB"),
        ("rport-", "Fibre Channel"),
        ("session", "iSCSI"),
        ("end_device-", "SAS"),
        ("ata", "SATA"),
        ("virtio", "virtio"),
        ("mmc", "MMC"),
        ("vbd-", "Xen"),
        ("vmbus", "Hyper-V"),
    ];
    let parts: Vec<String> =
        disk.components().filter_map(|part| part.as_os_str().to_str()).map(str::to_lowercase).collect();
    let own = parts.iter().rposition(|part| part == "block").unwrap_or(parts.len());
    // Only what is a device's own directory: `/sys/bus/usb` or a tester's directory `ata` doesn't count.
    let first = parts.iter().position(|part| part == "devices").map_or(0, |at| at + 1);
    MARKS.iter().find_map(|(mark, name)| {
        parts
            .get(first..own)
            .unwrap_or_default()
            .iter()
            .any(|part| {
                part.strip_prefix(mark).is_some_and(|rest| {
                    rest.starts_with(|c: char| c.is_ascii_digit() || c == ':') || mark.ends_with('-')
                })
            })
            .then(|| name.to_string())
    })
}

/// The controller of an NVMe namespace; with several (multipath) the first.
fn nvme_controller(device: &Path) -> Option<std::path::PathBuf> {
    if device.join("transport").exists() {
        return Some(device.to_path_buf());
    }
    names(device)
        .into_iter()
        .filter(|name| name.strip_prefix("nvme").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())))
        .map(|name| device.join(name))
        .find(|dir| dir.join("transport").exists())
}

/// A drive in a slot that is too slow for it is worth knowing.
fn pcie_link(device: &Path) -> Option<String> {
    let pci = nvme_controller(device)?.join("device");
    let link = |speed: &str, width: &str| {
        let (speed, width) = (read_text(pci.join(speed))?, read_u64(pci.join(width))?);
        Some(format!("{speed} ×{width}"))
    };
    let current = link("current_link_speed", "current_link_width")?;
    match link("max_link_speed", "max_link_width") {
        Some(max) if max != current => Some(format!("{current} of {max}")),
        _ => Some(current),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ata_page() -> Vec<u8> {
        let mut page = vec![0; 572];
        page[1] = 0x89;
        page[56] = 0xec;
        let mut put = |word: usize, text: &str, length: usize| {
            let padded = format!("{text:length$}");
            for (at, pair) in padded.as_bytes().chunks_exact(2).enumerate() {
                page[60 + (word + at) * 2] = pair[1];
                page[60 + (word + at) * 2 + 1] = pair[0];
            }
        };
        put(10, "S5Y1NJ0R123456", 20);
        put(23, "SVT02B6Q", 8);
        put(27, "Samsung SSD 870 EVO 1TB", 40);
        page[60 + 434] = 1;
        page
    }

    #[test]
    fn ata_drives_have_their_whole_name() {
        let ata = Ata::read(&ata_page()).unwrap();
        assert_eq!(ata.model.as_deref(), Some("Samsung SSD 870 EVO 1TB"));
        assert_eq!(ata.serial.as_deref(), Some("S5Y1NJ0R123456"));
        assert_eq!(ata.firmware.as_deref(), Some("SVT02B6Q"));
        assert_eq!(ata.rpm, None);
        let mut disk = ata_page();
        disk[60 + 434..60 + 436].copy_from_slice(&7200u16.to_le_bytes());
        assert_eq!(Ata::read(&disk).unwrap().rpm, Some(7200));
    }

    #[test]
    fn a_serial_page_that_claims_too_much_gives_what_is_there() {
        assert_eq!(unit_serial(b"\0\x80\0\x04AB12").as_deref(), Some("AB12"));
        assert_eq!(unit_serial(b"\0\x80\0\xffAB12").as_deref(), Some("AB12"));
        assert_eq!(unit_serial(b"\0\x83\0\x04AB12"), None);
        assert_eq!(unit_serial(b"\0\x80"), None);
    }

    #[test]
    fn transport_is_read_from_the_tree_of_devices() {
        let of = |path: &str| transport(Path::new(path));
        let usb = "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb";
        assert_eq!(of(usb).as_deref(), Some("USB"));
        let sata = "/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda";
        assert_eq!(of(sata).as_deref(), Some("SATA"));
        assert_eq!(of("/sys/devices/pci0000:00/0000:00:02.0/virtio1/block/vda").as_deref(), Some("virtio"));
        assert_eq!(of("/sys/devices/virtual/block/loop0"), None);
        assert_eq!(of("/tmp/ata1/sys/devices/virtual/block/loop0"), None);
    }

    proptest! {
        #[test]
        fn no_page_of_a_drive_makes_it_panic(page in prop::collection::vec(any::<u8>(), 0..700)) {
            unit_serial(&page);
            Ata::read(&page);
            let mut ata = page;
            if ata.len() > 56 {
                ata[1] = 0x89;
                ata[56] = 0xec;
            }
            Ata::read(&ata);
        }
    }
}
