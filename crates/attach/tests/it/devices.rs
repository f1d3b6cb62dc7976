//! Devices on a card that is served by a process of its own, also after that was killed. Needs root, /dev/fuse, losetup
//! and mkfs.ext4; says so otherwise.

use attach::{AttachError, Records, Source, State, attach, detach, detach_all, list};
use live::{Live, Start, Timing};
use media::{Flash, Physics};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// `losetup --find` opens all devices for a moment, and whoever has one open uses it: one test at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
/// Variable that names the directory on which the serving process mounts its card.
const SERVES_AT: &str = "FLASHRIG_TEST_SERVES_AT";

#[test]
#[ignore = "no test: what the server's process runs until it is killed"]
fn serve() {
    let Some(mountpoint) = std::env::var_os(SERVES_AT) else { return };
    let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(64 << 20)).unwrap();
    let flash = Flash::new(card::shape(&config), Physics::IDEAL, 1);
    let start = Start { config, timing: Timing::None, id: Some(format::CardId([7; 16])), seed: 1, explains: false };
    let live = Arc::new(Live::format(flash, start).unwrap());
    let _mounted =
        attach::fuse::mount(Arc::clone(&live), Path::new(&mountpoint), &attach::fuse::Options::default()).unwrap();
    loop {
        std::thread::park();
    }
}

fn run(program: &str, words: &[&str]) -> (bool, String) {
    let output = Command::new(program).args(words).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), said)
}

fn has(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|dir| dir.join(program).exists())
}

/// A served card, records of its own; all of it is gone when this is.
struct Served {
    server: Child,
    folder: TempDir,
    records: Records,
    _alone: MutexGuard<'static, ()>,
}

impl Served {
    fn new() -> Option<Served> {
        let root = fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
        let missing = ["losetup", "mkfs.ext4"].into_iter().find(|program| !has(program));
        if !root || !Path::new("/dev/fuse").exists() || missing.is_some() {
            eprintln!("skipped: not root, no /dev/fuse or no {}", missing.unwrap_or("right to mount"));
            return None;
        }
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let mountpoint = folder.path().canonicalize().unwrap().join("card");
        fs::create_dir(&mountpoint).unwrap();
        let server = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "devices::serve", "--ignored"])
            .env(SERVES_AT, &mountpoint)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let records = Records { folder: folder.path().join("run") };
        let served = Served { server, folder, records, _alone: alone };
        let began = Instant::now();
        while !served.mountpoint().join(attach::fuse::FILE).exists() {
            assert!(began.elapsed() < Duration::from_secs(60), "it is not served");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(served)
    }

    fn mountpoint(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("card")
    }

    fn attach(&self) -> Result<PathBuf, AttachError> {
        let source = Source::parse(self.mountpoint().to_str().unwrap())?;
        Ok(attach(&source, false, &self.records, |_| {})?.device)
    }

    fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    fn state(&self, device: &Path) -> Option<State> {
        list(&self.records).into_iter().find(|attached| attached.device == device).map(|attached| attached.state)
    }

    fn is_mounted(&self) -> bool {
        identify::mount_points().iter().any(|mount| mount.point == self.mountpoint())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let file = self.mountpoint().join(attach::fuse::FILE);
        for device in identify::block_devices() {
            if device.backing_file.as_deref().map(Path::new) == Some(&file) {
                let node = device.node();
                run("umount", &["--lazy", node.to_str().unwrap()]);
                run("losetup", &["--detach", node.to_str().unwrap()]);
            }
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
        if self.is_mounted() {
            run("umount", &["--lazy", self.mountpoint().to_str().unwrap()]);
        }
    }
}

/// A file system on a device.
struct Mount(PathBuf);

impl Mount {
    fn new(device: &Path, point: PathBuf) -> Mount {
        let (ok, said) = run("mkfs.ext4", &["-q", "-F", device.to_str().unwrap()]);
        assert!(ok, "{said}");
        fs::create_dir(&point).unwrap();
        let (ok, said) = run("mount", &[device.to_str().unwrap(), point.to_str().unwrap()]);
        assert!(ok, "{said}");
        Mount(point)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        run("umount", &[self.0.to_str().unwrap()]);
    }
}

#[test]
fn a_card_becomes_a_disk_once_and_ceases_to_be_one() {
    let Some(served) = Served::new() else { return };
    let device = served.attach().unwrap();
    assert_eq!(served.state(&device), Some(State::Free));
    let size = fs::read_to_string(Path::new("/sys/block").join(device.file_name().unwrap()).join("size")).unwrap();
    assert_eq!(size.trim().parse::<u64>().unwrap() * 512, 64 << 20);
    let again = served.attach().unwrap_err();
    assert!(matches!(&again, AttachError::Already { device: known, .. } if *known == device), "{again}");

    let undone = detach(&device, &served.records).unwrap();
    assert_eq!((undone.detached, undone.unmounted), (vec![device.clone()], vec![]));
    assert_eq!((served.state(&device), served.records.read().len()), (None, 0));
    assert!(matches!(detach(&device, &served.records), Err(AttachError::NotOurs { .. })));
    assert!(served.is_mounted(), "the mount is its server's");
}

#[test]
fn what_is_mounted_is_not_detached_and_it_is_told_where() {
    let Some(served) = Served::new() else { return };
    let device = served.attach().unwrap();
    let point = served.folder.path().canonicalize().unwrap().join("files");
    let mount = Mount::new(&device, point.clone());
    assert_eq!(served.state(&device), Some(State::InUse));
    for target in [device.clone(), served.mountpoint(), served.mountpoint().join(attach::fuse::FILE)] {
        let refused = detach(&target, &served.records).unwrap_err().to_string();
        assert!(refused.contains("is in use") && refused.contains(&format!("umount {}", point.display())), "{refused}");
    }
    fs::write(point.join("still-there"), "yes").unwrap();
    drop(mount);
    detach(&served.mountpoint(), &served.records).unwrap();
    assert_eq!(served.state(&device), None);
}

#[test]
fn what_a_program_has_open_is_not_detached() {
    let Some(served) = Served::new() else { return };
    let device = served.attach().unwrap();
    let mut reader = Command::new("sleep").arg("60").stdin(Stdio::from(open_for_writing(&device))).spawn().unwrap();
    let refused = detach(&device, &served.records).unwrap_err().to_string();
    reader.kill().unwrap();
    reader.wait().unwrap();
    assert!(refused.contains("(sleep)"), "{refused}");
    detach(&device, &served.records).unwrap();
}

fn open_for_writing(device: &Path) -> fs::File {
    fs::File::options().read(true).write(true).open(device).unwrap()
}

#[test]
fn what_a_server_leaves_behind_that_is_killed_is_taken_away_with_or_without_a_record() {
    for recorded in [true, false] {
        let Some(mut served) = Served::new() else { return };
        let device = served.attach().unwrap();
        let point = served.folder.path().canonicalize().unwrap().join("files");
        let mount = Mount::new(&device, point);
        served.kill();
        if !recorded {
            served.records.remove(&device);
        }
        assert_eq!(served.state(&device), Some(State::Dead));
        let attached = served.attach().unwrap_err();
        assert!(attached.to_string().contains("its server has died; clean up with: flashrig detach"), "{attached}");
        // A file system on it is still somebody's.
        assert!(matches!(detach(&served.mountpoint(), &served.records), Err(AttachError::InUse { .. })));
        drop(mount);
        let undone = detach(&served.mountpoint(), &served.records).unwrap();
        assert_eq!((undone.detached, undone.unmounted), (vec![device.clone()], vec![served.mountpoint()]));
        assert!(!served.is_mounted());
        assert_eq!((served.state(&device), served.records.read().len()), (None, 0));
    }
}

#[test]
fn all_is_detached_but_what_is_in_use() {
    let Some(mut served) = Served::new() else { return };
    if !list(&served.records).is_empty()
        || identify::mount_points().iter().filter(|mount| mount.fs_type == attach::fuse::KIND).count() > 1
    {
        return eprintln!("skipped: other cards are mounted here, which would be detached as well");
    }
    let device = served.attach().unwrap();
    let point = served.folder.path().canonicalize().unwrap().join("files");
    let mount = Mount::new(&device, point);
    // A record of what is not there is forgotten.
    fs::write(
        served.records.folder.join("loop4095.json"),
        "{\"device\":\"/dev/loop4095\",\"kind\":\"loop\",\"on\":\"/x\"}",
    )
    .unwrap();
    served.kill();
    let (undone, errors) = detach_all(&served.records).unwrap();
    assert!(undone.detached.is_empty() && undone.unmounted.is_empty(), "{undone:?}");
    assert!(matches!(errors.as_slice(), [AttachError::InUse { .. }]), "{errors:?}");
    assert_eq!(served.records.read().len(), 1);
    assert!(served.is_mounted(), "what is in use is found again by its mount");
    drop(mount);
    let (undone, errors) = detach_all(&served.records).unwrap();
    assert_eq!((undone.detached, undone.unmounted, errors.len()), (vec![device], vec![served.mountpoint()], 0));
}
