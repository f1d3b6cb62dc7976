//! A machine in a directory: `/sys`, `/proc` and `/dev` with just what a test needs.

use crate::device::Device;
use crate::identity::Identity;
use crate::system::{DeviceNumber, System};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

pub(crate) struct Fake {
    root: tempfile::TempDir,
}

impl Fake {
    pub fn new() -> Self {
        let fake = Fake { root: tempfile::tempdir().unwrap() };
        for dir in ["sys/dev/block", "sys/class/block", "proc", "dev"] {
            fs::create_dir_all(fake.path(dir)).unwrap();
        }
        fake
    }

    pub fn system(&self) -> System {
        System { sys: self.path("sys"), proc: self.path("proc"), dev: self.path("dev") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, target: &Path, name: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    /// A disk at `sys/devices/{place}/{name}`.
    pub fn disk(&self, name: &str, number: &str, place: &str, size: u64) {
        self.register(name, number, &format!("sys/devices/{place}/{name}"), size);
        for dir in ["slaves", "queue"] {
            fs::create_dir_all(self.dir(name).join(dir)).unwrap();
        }
        self.attribute(name, "queue/logical_block_size", "512\n");
    }

    pub fn partition(&self, disk: &str, name: &str, index: u32, number: &str, size: u64) {
        let dir = self.dir(disk).join(name);
        self.register(name, number, dir.strip_prefix(self.path("")).unwrap().to_str().unwrap(), size);
        self.attribute(name, "partition", &format!("{index}\n"));
    }

    fn register(&self, name: &str, number: &str, dir: &str, size: u64) {
        self.write(&format!("{dir}/dev"), format!("{number}\n"));
        self.write(&format!("{dir}/size"), format!("{}\n", size / 512));
        self.write(&format!("{dir}/ro"), "0\n");
        fs::create_dir_all(self.path(dir).join("holders")).unwrap();
        self.link(&self.path(dir), &format!("sys/dev/block/{number}"));
        self.link(&self.path(dir), &format!("sys/class/block/{name}"));
        self.write(&format!("dev/{name}"), "");
    }

    fn dir(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.path("sys/class/block").join(name)).unwrap()
    }

    pub fn attribute(&self, device: &str, name: &str, value: &str) {
        let path = self.dir(device).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value).unwrap();
    }

    /// `holder` lies on `device`.
    pub fn holds(&self, holder: &str, device: &str) {
        symlink(self.dir(holder), self.dir(device).join("holders").join(holder)).unwrap();
        symlink(self.dir(device), self.dir(holder).join("slaves").join(device)).unwrap();
    }

    pub fn node_link(&self, link: &str, name: &str) {
        self.link(&self.path("dev").join(name), &format!("dev/{link}"));
    }

    pub fn mountinfo(&self, process: &str, text: &str) {
        self.write(&format!("proc/{process}/mountinfo"), text);
        self.link(Path::new(&format!("mnt:[{process}]")), &format!("proc/{process}/ns/mnt"));
    }

    pub fn swaps(&self, lines: &str) {
        self.write("proc/swaps", format!("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n{lines}"));
    }

    pub fn nvme(&self) {
        self.disk("nvme0n1", "259:0", "pci0000:00/0000:01:00.0/nvme/nvme0", 1_000_204_886_016);
        let controller = "sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0";
        self.write(&format!("{controller}/model"), "Samsung SSD 980 PRO 1TB                 \n");
        self.write(&format!("{controller}/serial"), "S5GXNF0R123456      \n");
        self.write(&format!("{controller}/firmware_rev"), "5B2QGXA7\n");
        self.write(&format!("{controller}/transport"), "pcie\n");
        for (name, value) in [
            ("current_link_speed", "8.0 GT/s PCIe"),
            ("current_link_width", "4"),
            ("max_link_speed", "16.0 GT/s PCIe"),
            ("max_link_width", "4"),
        ] {
            self.write(&format!("sys/devices/pci0000:00/0000:01:00.0/{name}"), value);
        }
        symlink(self.path(controller), self.dir("nvme0n1").join("device")).unwrap();
        symlink(self.path("sys/devices/pci0000:00/0000:01:00.0"), self.path(controller).join("device")).unwrap();
        for (name, value) in [
            ("physical_block_size", "512"),
            ("rotational", "0"),
            ("scheduler", "[none] mq-deadline"),
            ("write_cache", "write back"),
            ("discard_max_bytes", "2147483648"),
            ("discard_granularity", "512"),
            ("zoned", "none"),
        ] {
            self.attribute("nvme0n1", &format!("queue/{name}"), value);
        }
    }

    pub fn sata(&self, name: &str, number: &str) {
        let port = if name == "sda" { 1 } else { 2 };
        let target = format!("pci0000:00/0000:00:17.0/ata{port}/host{port}/target{port}:0:0/{port}:0:0:0");
        self.disk(name, number, &format!("{target}/block"), 400_088_457_216);
        symlink(self.path("sys/devices").join(&target), self.dir(name).join("device")).unwrap();
        for (name, value) in [("vendor", "ATA     "), ("model", "INTEL SSDSC2BA40"), ("rev", "0265")] {
            self.write(&format!("sys/devices/{target}/{name}"), value);
        }
        self.write(&format!("sys/devices/{target}/vpd_pg80"), b"\0\x80\0\x0c    BTTV1234");
        self.attribute(name, "queue/write_cache", "write back");
    }

    pub fn device(&self, name: &str) -> Device {
        Device::named(&self.system(), name).unwrap()
    }

    pub fn identity(&self, name: &str) -> Identity {
        let number: DeviceNumber = self.device(name).number;
        let path = Path::new("/dev").join(name);
        self.system().numbered(&path, path.clone(), number).unwrap()
    }
}
