//! The thermometer of a drive, as the kernel has it (`hwmon`): reading it costs nothing, and wakes no drive.

use crate::device::Device;
use crate::system::{names, read_text};
use std::path::PathBuf;

/// A drive's own thermometer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thermometer {
    dir: PathBuf,
}

impl Thermometer {
    /// Finds the thermometer of the disk that a device lies on, where the kernel knows one (NVMe; SATA with `drivetemp`).
    pub fn of(device: &Device) -> Option<Thermometer> {
        // A partition lies within its disk.
        let disk = if device.partition.is_some() { device.dir.parent()? } else { &device.dir };
        let parent = disk.join("device");
        let places = [parent.clone(), parent.join("hwmon")];
        let mut found = places.iter().flat_map(|place| {
            let monitors = names(place).into_iter().filter(|name| name.starts_with("hwmon") && name != "hwmon");
            monitors.map(|name| place.join(name))
        });
        found.find(|dir| dir.join("temp1_input").exists()).map(|dir| Thermometer { dir })
    }

    /// Degrees Celsius now.
    pub fn celsius(&self) -> Option<i64> {
        self.degrees("temp1_input")
    }

    /// Degrees from which the drive itself warns, and slows down.
    pub fn warning_c(&self) -> Option<i64> {
        self.degrees("temp1_max").filter(|&degrees| degrees > 0)
    }

    fn degrees(&self, attribute: &str) -> Option<i64> {
        let thousandths: i64 = read_text(self.dir.join(attribute))?.parse().ok()?;
        Some(thousandths.div_euclid(1_000)).filter(|degrees| (-100..1_000).contains(degrees))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_thermometer_is_found_where_either_kind_of_drive_has_it() {
        let fake = Fake::new();
        fake.disk("nvme0n1", "259:0", "pci/nvme0", 1 << 30);
        fake.partition("nvme0n1", "nvme0n1p1", 1, "259:1", 1 << 29);
        fake.disk("sda", "8:0", "ata1", 1 << 30);
        fake.disk("sdb", "8:16", "ata2", 1 << 30);
        fake.attribute("nvme0n1", "device/hwmon3/temp1_input", "45850\n");
        fake.attribute("nvme0n1", "device/hwmon3/temp1_max", "81850\n");
        fake.attribute("sda", "device/hwmon/hwmon1/temp1_input", "29000\n");
        fake.attribute("sdb", "device/hwmon/hwmon2/name", "drivetemp\n");
        let of = |name: &str| Thermometer::of(&Device::named(&fake.system(), name).unwrap());
        let nvme = of("nvme0n1").unwrap();
        assert_eq!((nvme.celsius(), nvme.warning_c()), (Some(45), Some(81)));
        assert_eq!(of("nvme0n1p1"), Some(nvme));
        assert_eq!(of("sda").map(|t| (t.celsius(), t.warning_c())), Some((Some(29), None)));
        assert_eq!(of("sdb"), None);
        fake.attribute("nvme0n1", "device/hwmon3/temp1_input", "hot\n");
        assert_eq!(of("nvme0n1").unwrap().celsius(), None);
    }
}
