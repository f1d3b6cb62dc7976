//! Mounts of this mount namespace and of the others that can be seen.

use crate::system::{DeviceNumber, System, names};
use crate::text::unescape;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One line of `mountinfo` (proc_pid_mountinfo(5)):
///
/// ```text
/// 36  35  98:0  /root  /mount/point  rw,noatime  master:1 …  -  ext3  /dev/root  rw,errors=continue
/// id parent dev  root   mount point    options     optional     type   source     the file system's options
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub id: u64,
    pub number: DeviceNumber,
    pub point: PathBuf,
    pub fs_type: String,
    pub source: PathBuf,
    /// Options of the mount, then of the file system, each once.
    pub options: Vec<String>,
    /// A process that sees the mount, when this one doesn't.
    pub seen_by: Option<u32>,
}

impl Mount {
    fn parse(line: &str) -> Option<Self> {
        let path = |text: &str| PathBuf::from(OsString::from_vec(unescape(text)));
        let (mount, file_system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ');
        let mut file_system = file_system.split(' ');
        let id = mount.next()?.parse().ok()?;
        let number = DeviceNumber::parse(mount.nth(1)?)?;
        let point = path(mount.nth(1)?);
        let mut options: Vec<String> = mount.next()?.split(',').map(str::to_string).collect();
        let fs_type = file_system.next()?.to_string();
        let source = path(file_system.next()?);
        for option in file_system.next().unwrap_or_default().split(',') {
            if !option.is_empty() && !options.iter().any(|known| known == option) {
                options.push(option.to_string());
            }
        }
        Some(Mount { id, number, point, fs_type, source, options, seen_by: None })
    }

    /// The devices that it names as its source. bcachefs names several, with colons between them.
    pub fn sources(&self) -> impl Iterator<Item = &Path> {
        let text = self.source.to_str().unwrap_or_default();
        text.split(':').filter(|name| name.starts_with('/')).map(Path::new)
    }
}

/// A mount, as far as others need to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountPoint {
    /// Directory on which it is mounted.
    pub point: PathBuf,
    /// Type of file system, its subtype included: `ext4`, `fuse.sshfs`.
    pub fs_type: String,
}

/// Lists mounts as [`crate::mount_points`] describes.
pub(crate) fn points(system: &System) -> Vec<MountPoint> {
    own(system).into_iter().map(|Mount { point, fs_type, .. }| MountPoint { point, fs_type }).collect()
}

/// Mounts that this process sees, in the order in which they were made.
pub(crate) fn own(system: &System) -> Vec<Mount> {
    read(&system.proc.join("self/mountinfo"))
}

/// Mounts in all namespaces that can be seen: a container's mount keeps a device busy just as well.
pub(crate) fn all(system: &System) -> Vec<Mount> {
    let mut mounts = own(system);
    let namespace = |process: &str| fs::read_link(system.proc.join(process).join("ns/mnt")).ok();
    let mut seen: BTreeSet<PathBuf> = namespace("self").into_iter().collect();
    for process in names(&system.proc) {
        let Ok(id) = process.parse::<u32>() else { continue };
        if namespace(&process).is_some_and(|namespace| seen.insert(namespace)) {
            let theirs = read(&system.proc.join(&process).join("mountinfo"));
            mounts.extend(theirs.into_iter().map(|mount| Mount { seen_by: Some(id), ..mount }));
        }
    }
    mounts
}

fn read(path: &Path) -> Vec<Mount> {
    let text = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(Mount::parse).collect()
}

/// The mount that a path lies in: by the kernel's number for it, else the last one made of those nearest above.
pub(crate) fn of_path<'a>(mounts: &'a [Mount], id: Option<u64>, path: &Path) -> Option<&'a Mount> {
    let by_id = id.and_then(|id| mounts.iter().find(|mount| mount.id == id));
    by_id.or_else(|| {
        // `max_by_key` returns the last of several.
        mounts
            .iter()
            .filter(|mount| path.starts_with(&mount.point))
            .max_by_key(|mount| mount.point.components().count())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_is_read_with_its_escapes_and_all_its_options() {
        let line =
            r"36 35 98:0 /mnt1 /mnt/a\040b rw,noatime master:1 propagate_from:2 - ext4 /dev/root rw,discard,nobarrier";
        let mount = Mount::parse(line).unwrap();
        assert_eq!(mount.id, 36);
        assert_eq!(mount.number, DeviceNumber { major: 98, minor: 0 });
        assert_eq!(mount.point, Path::new("/mnt/a b"));
        assert_eq!(mount.fs_type, "ext4");
        assert_eq!(mount.options, ["rw", "noatime", "discard", "nobarrier"]);
    }

    #[test]
    fn bcachefs_names_all_its_devices() {
        let mount = Mount::parse("1 1 0:40 / /mnt rw - bcachefs /dev/sda:/dev/sdb rw").unwrap();
        assert_eq!(mount.sources().collect::<Vec<_>>(), [Path::new("/dev/sda"), Path::new("/dev/sdb")]);
    }

    #[test]
    fn the_nearest_mount_wins_and_of_two_at_one_place_the_later() {
        let mounts: Vec<Mount> =
            ["1 0 8:1 / / rw - ext4 a rw", "2 1 8:2 / /srv rw - xfs b rw", "3 1 8:3 / /srv rw - xfs c rw"]
                .iter()
                .filter_map(|line| Mount::parse(line))
                .collect();
        assert_eq!(of_path(&mounts, None, Path::new("/srv/x")).unwrap().id, 3);
        assert_eq!(of_path(&mounts, None, Path::new("/srvx")).unwrap().id, 1);
        assert_eq!(of_path(&mounts, Some(2), Path::new("/srv/x")).unwrap().id, 2);
        assert_eq!(of_path(&mounts, Some(99), Path::new("/srv/x")).unwrap().id, 3);
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in "[ -~]{0,80}", tail in "[ -~\\\\]{0,40}") {
            Mount::parse(&line);
            Mount::parse(&format!("36 35 98:0 {line} - {tail}"));
        }
    }
}
