//! Names of a disk in `/dev/disk/by-id`, which it keeps wherever it is plugged in.

use crate::system::{System, names};
use std::path::{Path, PathBuf};

/// Beginnings of names that are numbers alone.
const NUMBERS: [&str; 4] = ["wwn-", "nvme-eui.", "nvme-uuid.", "nvme-nvme."];

/// The name in `/dev/disk/by-id` of the device that a path names: one with its model and serial number, if it has one.
pub(crate) fn stable_name(system: &System, path: &Path) -> Option<PathBuf> {
    let name = system.name_of_path(path)?;
    let by_id = Path::new("/dev/disk/by-id");
    let is_it = |link: &str| system.name_of_path(&by_id.join(link)).as_ref() == Some(&name);
    let mut links: Vec<String> = names(&system.dev.join("disk/by-id")).into_iter().filter(|link| is_it(link)).collect();
    links.sort_by_key(|link| (NUMBERS.iter().any(|number| link.starts_with(number)), link.len(), link.clone()));
    Some(by_id.join(links.first()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_name_with_model_and_serial_number_goes_before_numbers() {
        let fake = Fake::new();
        fake.disk("nvme0n1", "259:0", "pci0000:00/nvme/nvme0", 1 << 30);
        fake.disk("sda", "8:0", "pci0000:00/ata1", 1 << 30);
        let of = |path: &str| stable_name(&fake.system(), Path::new(path));
        assert_eq!(of("/dev/nvme0n1"), None);
        for link in ["nvme-eui.0025385b71b0a1b2", "nvme-MAKER_MODEL_S4EVNX0M_1", "nvme-MAKER_MODEL_S4EVNX0M"] {
            fake.node_link(&format!("disk/by-id/{link}"), "nvme0n1");
        }
        fake.node_link("disk/by-id/wwn-0x5002538e40a1b2c3", "sda");
        assert_eq!(of("/dev/nvme0n1"), Some("/dev/disk/by-id/nvme-MAKER_MODEL_S4EVNX0M".into()));
        assert_eq!(of("/dev/disk/by-id/wwn-0x5002538e40a1b2c3"), Some("/dev/disk/by-id/wwn-0x5002538e40a1b2c3".into()));
        assert_eq!(of("/dev/nowhere"), None);
    }
}
