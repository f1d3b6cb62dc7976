//! The layers under a file.

use crate::device::Device;
use crate::error::IdentifyError;
use crate::file_system::FileSystem;
use crate::identity::{Identity, look, not_a_file};
use crate::mounts::{self, Mount};
use crate::stack;
use crate::system::System;
use results::TargetKind;
use rustix::fs::{AtFlags, CWD, StatxFlags, statvfs, statx};
use std::path::{Path, PathBuf};

impl System {
    /// Identifies the layers under a file. A file that doesn't exist yet is judged by its directory.
    pub fn file(&self, named: &Path) -> Result<Identity, IdentifyError> {
        let (path, size_bytes) = match look(named) {
            Ok((path, meta)) if meta.is_file() => (path, meta.len()),
            Ok((_, meta)) => {
                return Err(not_a_file(named, meta.file_type())
                    .unwrap_or_else(|| IdentifyError::BlockDevice { path: named.into() }));
            }
            Err(IdentifyError::NotFound { .. }) => (future(named)?, 0),
            Err(error) => return Err(error),
        };
        // The existing part of the path: the mount of a file to come is its directory's.
        let exists = if size_bytes > 0 || path.exists() { path.as_path() } else { path.parent().unwrap_or(&path) };
        let own = mounts::own(self);
        let mount = mounts::of_path(&own, mount_id(exists), exists);
        let device = mount.and_then(|mount| self.device_of(mount));
        Ok(Identity {
            kind: TargetKind::File,
            named: named.into(),
            size_bytes,
            disks: device.as_ref().map(|device| stack::disks(self, device)).unwrap_or_default(),
            layers: device.as_ref().map(|device| stack::layers(self, device)).unwrap_or_default(),
            device,
            file_system: mount.map(|mount| file_system(mount, exists)),
            path,
        })
    }

    /// The device that a file system lies on. Btrfs has an anonymous number, and names the device as its source.
    fn device_of(&self, mount: &Mount) -> Option<Device> {
        let numbered = self.dir_of_number(mount.number).as_deref().and_then(Device::read);
        numbered.or_else(|| {
            let mut named = mount.sources().filter_map(|source| Device::named(self, &self.name_of_path(source)?));
            named.next()
        })
    }
}

/// Resolves the path of a file that is still to be made.
fn future(named: &Path) -> Result<PathBuf, IdentifyError> {
    // A link that leads nowhere: writing through it would make a file where nobody looked.
    if named.symlink_metadata().is_ok() {
        return Err(IdentifyError::NotFound { path: named.into() });
    }
    let missing = || IdentifyError::NoDirectory { path: named.into() };
    let name = named.file_name().ok_or_else(missing)?;
    let dir = match named.parent() {
        Some(dir) if dir.as_os_str().is_empty() => Path::new("."),
        Some(dir) => dir,
        None => return Err(missing()),
    };
    match look(dir) {
        // A mistyped device would become a file in memory.
        Ok((dir, meta)) if meta.is_dir() && dir.starts_with("/dev") && !dir.starts_with("/dev/shm") => {
            Err(IdentifyError::NoDevice { path: named.into() })
        }
        Ok((dir, meta)) if meta.is_dir() => Ok(dir.join(name)),
        Ok(_) | Err(IdentifyError::NotFound { .. }) => Err(missing()),
        Err(IdentifyError::Permission { .. }) => Err(IdentifyError::Permission { path: named.into() }),
        Err(error) => Err(error),
    }
}

/// The kernel's number for the mount, Linux 5.8 and later.
fn mount_id(path: &Path) -> Option<u64> {
    let stat = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::MNT_ID).then_some(stat.stx_mnt_id)
}

fn file_system(mount: &Mount, path: &Path) -> FileSystem {
    let space = statvfs(path).ok();
    FileSystem {
        fs_type: mount.fs_type.clone(),
        mount_point: mount.point.clone(),
        source: mount.source.clone(),
        options: mount.options.clone(),
        free_bytes: space.as_ref().map(|space| space.f_bavail.saturating_mul(space.f_frsize)),
        size_bytes: space.as_ref().map(|space| space.f_blocks.saturating_mul(space.f_frsize)),
    }
}

#[cfg(test)]
mod tests {
    use crate::error::IdentifyError;
    use crate::fake::Fake;
    use crate::system::System;
    use std::fs;
    use std::path::Path;

    #[test]
    fn a_file_to_come_is_judged_by_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let identity = System::default().file(&dir.path().join("new")).unwrap();
        assert_eq!(identity.size_bytes, 0);
        assert_eq!(identity.path, dir.path().canonicalize().unwrap().join("new"));
        assert!(identity.file_system.is_some());
        let error = System::default().file(&dir.path().join("no/new")).unwrap_err();
        assert!(matches!(error, IdentifyError::NoDirectory { .. }), "{error}");
    }

    #[test]
    fn no_file_is_made_where_devices_are() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev", dir.path().join("link")).unwrap();
        for path in ["/dev/nvme9n9".into(), dir.path().join("link/nvme9n9")] {
            let error = System::default().file(&path).unwrap_err();
            assert!(matches!(error, IdentifyError::NoDevice { .. }), "{error}");
        }
        // A file system of its own, for files.
        assert!(System::default().file("/dev/shm/flashrig".as_ref()).is_ok() || !Path::new("/dev/shm").is_dir());
    }

    #[test]
    fn links_to_nowhere_directories_and_devices_are_no_files() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path().join("nowhere"), &link).unwrap();
        assert!(matches!(System::default().file(&link), Err(IdentifyError::NotFound { .. })));
        assert!(matches!(System::default().file(dir.path()), Err(IdentifyError::Directory { .. })));
        assert!(matches!(System::default().file("/dev/null".as_ref()), Err(IdentifyError::CharacterDevice { .. })));
    }

    #[test]
    fn the_disk_under_a_file_is_found_through_volume_and_partition() {
        let fake = Fake::new();
        fake.nvme();
        fake.partition("nvme0n1", "nvme0n1p1", 1, "259:1", 1 << 30);
        fake.disk("dm-0", "253:0", "virtual/block", 1 << 29);
        fake.attribute("dm-0", "dm/name", "vg-root");
        fake.attribute("dm-0", "dm/uuid", "LVM-abc");
        fake.holds("dm-0", "nvme0n1p1");
        let file = fake.path("somefile");
        fs::write(&file, [0; 5]).unwrap();
        fake.mountinfo("self", "900000 1 253:0 / / rw,noatime - xfs /dev/mapper/vg-root rw,discard");
        let identity = fake.system().file(&file).unwrap();
        assert_eq!(identity.size_bytes, 5);
        assert_eq!(identity.device.as_ref().unwrap().name, "dm-0");
        assert_eq!(identity.disk().unwrap().name, "nvme0n1");
        assert_eq!(identity.title(), "file on Samsung SSD 980 PRO 1TB");
        let facts = identity.facts();
        let value = |key: &str| facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.as_str());
        assert_eq!(value("file_system"), Some("xfs"));
        assert_eq!(value("mount_options"), Some("rw,noatime,discard"));
        assert_eq!(value("stack"), Some("dm-0 (vg-root) on nvme0n1p1 on nvme0n1"));
        assert_eq!(value("serial"), Some("S5GXNF0R123456"));
    }
}
