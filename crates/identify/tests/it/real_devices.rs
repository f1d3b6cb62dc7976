//! On loop devices of this machine. Needs root and a free loop device; says so and does nothing otherwise.

use crate::common::{LoopDevice, Mount, has, root_only, run, run_ok};
use identify::{Identity, Permit, Reason, Refusal, block_device};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;

fn may_be_overwritten(identity: &Identity) -> Result<Permit, Refusal> {
    let _quiet = crate::common::quiet();
    identify::may_be_overwritten(identity)
}

/// All that speaks against a device, one line each.
fn reasons(path: &Path) -> Vec<String> {
    let identity = block_device(path).unwrap();
    match may_be_overwritten(&identity) {
        Ok(_) => Vec::new(),
        Err(refusal) => {
            assert!(!refusal.to_string().contains('\n'), "{refusal}");
            refusal.reasons.iter().map(Reason::to_string).collect()
        }
    }
}

#[test]
fn a_blank_device_is_permitted_and_the_permit_writes_to_it() {
    let Some(device) = LoopDevice::new(16 * MIB) else { return };
    let identity = block_device(device.path()).unwrap();
    assert_eq!(identity.size_bytes, 16 * MIB);
    assert!(identity.confirmation().matches(device.name()));
    let permit = may_be_overwritten(&identity).unwrap();
    assert_eq!(permit.path(), device.path());
    permit.file().write_all_at(b"here", 4096).unwrap();
    // Another description of the same device, as one with O_DIRECT would be.
    let again = fs::OpenOptions::new().read(true).write(true).open(permit.open_path()).unwrap();
    let mut read = [0; 4];
    again.read_exact_at(&mut read, 4096).unwrap();
    assert_eq!(&read, b"here");
}

#[test]
fn a_permit_keeps_others_from_the_device_until_it_is_gone() {
    let Some(device) = LoopDevice::new(16 * MIB) else { return };
    let identity = block_device(device.path()).unwrap();
    let permit = may_be_overwritten(&identity).unwrap();
    // The permit's holder writes a file system: whoever could mount it now would.
    let image = device.image("other.img", 16 * MIB);
    run_ok("mkfs.ext4", &["-q", "-F", image.to_str().unwrap()]);
    permit.file().write_all_at(&fs::read(&image).unwrap(), 0).unwrap();
    let point = device.directory("mnt");
    let (ok, said) = run("mount", &["-t", "ext4", device.path().to_str().unwrap(), point.to_str().unwrap()]);
    assert!(!ok);
    assert!(said.contains("busy") || said.contains("already mounted"), "{said}");
    let refusal = may_be_overwritten(&identity).unwrap_err();
    assert!(refusal.reasons.iter().any(|reason| matches!(reason, Reason::InUseByKernel { .. })), "{refusal}");
    drop(permit);
    let _mount = Mount::new(device.path(), &point, &[]);
    assert!(reasons(device.path()).iter().any(|reason| reason.contains(" is mounted at ")));
}

/// Reasons that are no program which has the device open: a child of another test has, for as long as it takes to become
/// another program.
fn reasons_but_open(path: &Path) -> Vec<String> {
    let mut found = reasons(path);
    found.retain(|reason| !reason.contains(" open for writing: "));
    found
}

/// Returns the reasons that remain when children of other tests have become what they are to be: until then they have
/// our files.
fn reasons_in_the_end(path: &Path) -> Vec<String> {
    let mut found = reasons(path);
    for _ in 0..100 {
        if found.is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        found = reasons(path);
    }
    found
}

#[test]
fn what_mkfs_leaves_is_refused_until_wipefs() {
    let makers: [(&str, &[&str], &str); 13] = [
        ("mkfs.ext2", &["-q", "-F"], "ext2"),
        ("mkfs.ext3", &["-q", "-F"], "ext3"),
        ("mkfs.ext4", &["-q", "-F"], "ext4"),
        ("mkfs.xfs", &["-q", "-f"], "xfs"),
        ("mkswap", &[], "swap"),
        ("mkfs.btrfs", &["-q", "-f"], "btrfs"),
        ("mkfs.f2fs", &["-q", "-f"], "f2fs"),
        ("mkfs.vfat", &[], "vfat"),
        ("mkfs.exfat", &[], "exfat"),
        ("mkfs.ntfs", &["-q", "-Q", "-F"], "ntfs"),
        ("mkfs.minix", &[], ""),
        ("mkfs.cramfs", &[], ""),
        ("pvcreate", &["-q", "-y"], "LVM2 physical volume"),
    ];
    let Some(device) = LoopDevice::new(320 * MIB) else { return };
    let node = device.path().to_str().unwrap();
    for (maker, options, name) in makers {
        if name.is_empty() || !has(maker) {
            continue;
        }
        run_ok(maker, &[options, &[node]].concat());
        let found = reasons_but_open(device.path());
        let expected = format!("{node} has {name} on it (");
        assert!(found.iter().any(|reason| reason.starts_with(&expected)), "{maker}: {found:?}");
        assert!(found.iter().all(|reason| reason.ends_with(&format!("then wipefs --all {node}"))), "{found:?}");
        run_ok("wipefs", &["-q", "--all", node]);
        assert_eq!(reasons_in_the_end(device.path()), [""; 0], "after wipefs of {maker}");
    }
    if has("cryptsetup") {
        run_ok("sh", &["-c", &format!("echo x | cryptsetup -q --pbkdf pbkdf2 luksFormat --type luks2 {node}")]);
        assert!(reasons(device.path()).iter().any(|reason| reason.contains(" has LUKS2 on it")));
        run_ok("wipefs", &["-q", "--all", node]);
    }
    if has("mdadm") {
        for version in ["0.90", "1.0", "1.1", "1.2"] {
            run_ok(
                "sh",
                &[
                    "-c",
                    &format!(
                        "mdadm --create /dev/md/flashrig-test --run --force -l1 -n1 -e {version} {node} && mdadm --stop /dev/md/flashrig-test"
                    ),
                ],
            );
            let expected = format!(" has md RAID member ({version}) on it");
            assert!(reasons(device.path()).iter().any(|reason| reason.contains(&expected)), "{version}");
            run_ok("wipefs", &["-q", "--all", node]);
        }
    }
}

#[test]
fn all_reasons_are_named_of_a_mounted_device() {
    let Some(device) = LoopDevice::new(64 * MIB) else { return };
    let node = device.path().to_str().unwrap().to_string();
    run_ok("mkfs.ext4", &["-q", "-F", &node]);
    let point = device.directory("a mount");
    let mount = Mount::new(device.path(), &point, &[]);
    let found = reasons(device.path());
    assert_eq!(found[0], format!("{node} is mounted at {} (ext4): umount '{}'", point.display(), point.display()));
    assert!(found[1].contains(" has ext4 on it "), "{found:?}");
    drop(mount);
    assert_eq!(reasons(device.path()).len(), 1);
}

#[test]
fn a_mount_that_only_another_namespace_sees_counts() {
    let Some(device) = LoopDevice::new(64 * MIB) else { return };
    if !has("unshare") {
        return eprintln!("skipped: no unshare");
    }
    let node = device.path().to_str().unwrap().to_string();
    run_ok("mkfs.ext4", &["-q", "-F", &node]);
    let point = device.directory("mnt");
    let script = format!("mount {node} {} && echo mounted && exec sleep 60", point.display());
    let mut other =
        crate::common::Child::start("unshare", &["--mount", "--propagation", "private", "sh", "-c", &script]);
    other.wait_for_line();
    let found = reasons(device.path());
    let expected = format!("is mounted at {} (ext4) in the mount namespace of process ", point.display());
    assert!(found[0].contains(&expected), "{found:?}");
}

#[test]
fn swap_in_use_is_refused() {
    let Some(device) = LoopDevice::new(16 * MIB) else { return };
    let node = device.path().to_str().unwrap().to_string();
    run_ok("mkswap", &[&node]);
    let (ok, said) = run("swapon", &[&node]);
    if !ok {
        return eprintln!("skipped: no swapon here: {said}");
    }
    let _off = crate::common::AtEnd("swapoff", vec![node.clone()]);
    let found = reasons(device.path());
    assert_eq!(found[0], format!("{node} is swap space in use: swapoff {node}"));
    assert!(found[1].contains(" has swap on it "), "{found:?}");
}

#[test]
fn a_partition_table_is_refused_and_a_free_partition_may_be_overwritten() {
    let Some(device) = LoopDevice::partitioned(64 * MIB) else { return };
    let node = device.path().to_str().unwrap().to_string();
    let found = reasons(device.path());
    assert!(found.iter().any(|reason| reason.contains(" has MBR on it (partition table, at byte 510)")), "{found:?}");
    let partition = PathBuf::from(format!("{node}p1"));
    if !partition.exists() {
        return eprintln!("skipped: this kernel makes no partitions of loop devices");
    }
    assert!(found[0].contains(&format!("{node} has partitions: {}p1", device.name())), "{found:?}");
    let identity = block_device(&partition).unwrap();
    assert_eq!(identity.device.as_ref().unwrap().disk, device.name());
    let permit = may_be_overwritten(&identity).unwrap();
    drop(permit);
    run_ok("mkfs.ext4", &["-q", "-F", partition.to_str().unwrap()]);
    let point = device.directory("mnt");
    let _mount = Mount::new(&partition, &point, &[]);
    assert!(reasons(device.path())[0].contains("p1 is mounted at "));
    assert!(reasons(&partition)[0].contains("p1 is mounted at "));
}

#[test]
fn a_device_on_a_loop_device_keeps_both_from_being_overwritten() {
    let Some(device) = LoopDevice::new(32 * MIB) else { return };
    let Some(upper) = LoopDevice::on(device.path()) else { return };
    let found = reasons(device.path());
    assert_eq!(
        found,
        [format!(
            "loop device {} is bound to {}: losetup --detach {}",
            upper.path().display(),
            device.path().display(),
            upper.path().display()
        )]
    );
    assert_eq!(reasons(upper.path()), [""; 0]);
    run_ok("mkfs.ext4", &["-q", "-F", device.path().to_str().unwrap()]);
    let point = device.directory("mnt");
    let _mount = Mount::new(device.path(), &point, &[]);
    assert!(reasons(upper.path())[0].contains(" is mounted at "));
}

#[test]
fn a_program_that_writes_to_it_is_named() {
    let Some(device) = LoopDevice::new(16 * MIB) else { return };
    let node = device.path().to_str().unwrap().to_string();
    let script = format!("exec 3<>{node} && echo open && exec sleep 60");
    let mut program = crate::common::Child::start("sh", &["-c", &script]);
    program.wait_for_line();
    let found = reasons(device.path());
    assert_eq!(found.len(), 1, "{found:?}");
    // The shell may not have become the other program yet.
    let named = ["sleep", "sh"].map(|name| format!("({name}) has {node} open for writing"));
    assert!(named.iter().any(|named| found[0].contains(named)), "{found:?}");
}

#[test]
fn a_read_only_device_is_refused() {
    let Some(device) = LoopDevice::read_only(16 * MIB) else { return };
    assert!(reasons(device.path())[0].contains(" is read-only: "));
}

#[test]
fn a_device_that_was_swapped_since_it_was_identified_is_refused() {
    let Some(device) = LoopDevice::new(16 * MIB) else { return };
    let identity = block_device(device.path()).unwrap();
    run_ok("losetup", &["--detach", device.path().to_str().unwrap()]);
    let other = device.image("other.img", 16 * MIB);
    run_ok("losetup", &[device.path().to_str().unwrap(), other.to_str().unwrap()]);
    let refusal = may_be_overwritten(&identity).unwrap_err();
    assert!(matches!(refusal.reasons.as_slice(), [Reason::Changed { .. }]), "{refusal}");
}

#[test]
fn links_are_resolved_and_both_names_said() {
    let Some(device) = LoopDevice::new(16 * MIB) else { return };
    let link = device.directory("by-id").join("loop-SERIAL");
    std::os::unix::fs::symlink(device.path(), &link).unwrap();
    run_ok("mkswap", &[device.path().to_str().unwrap()]);
    let identity = block_device(&link).unwrap();
    let facts = identity.facts();
    assert!(facts.iter().any(|fact| fact.key == "path" && fact.value == device.path().to_str().unwrap()));
    let refusal = may_be_overwritten(&identity).unwrap_err().to_string();
    let both = format!("{} ({}) may not be overwritten: ", link.display(), device.path().display());
    assert!(refusal.starts_with(&both), "{refusal}");
}

#[test]
fn without_root_the_group_disk_is_named() {
    let Some(device) = LoopDevice::new(16 * MIB) else { return };
    if !has("setpriv") {
        return eprintln!("skipped: no setpriv");
    }
    let binary = std::env::current_exe().unwrap();
    let copy = device.directory("bin").join("tests");
    fs::copy(binary, &copy).unwrap();
    let node = device.path().to_str().unwrap();
    let command = format!(
        "FLASHRIG_TEST_DEVICE={node} exec setpriv --reuid 65534 --regid 65534 --clear-groups {} --exact --ignored \
         --nocapture real_devices::as_nobody",
        copy.display()
    );
    run_ok("chmod", &["-R", "a+rX", device.directory("").to_str().unwrap()]);
    let (ok, said) = run("sh", &["-c", &command]);
    assert!(ok, "{said}");
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "run by without_root_the_group_disk_is_named"]
fn as_nobody() {
    let Ok(node) = std::env::var("FLASHRIG_TEST_DEVICE") else { return };
    let found = reasons(Path::new(&node));
    assert_eq!(found, [format!("{node} may not be opened by this user: run as root or give your user the group disk")]);
}

/// Only identifies; nothing is opened for writing, because it is mounted.
#[test]
fn the_disk_of_the_running_system_is_refused() {
    if !root_only() {
        return;
    }
    let root = identify::file("/etc/passwd").unwrap();
    let Some(device) = root.device else { return eprintln!("skipped: the root file system has no device") };
    assert!(!root.disks.is_empty());
    for disk in &root.disks {
        let found = reasons(&disk.node());
        assert!(
            found.iter().any(|reason| reason.contains(" is mounted at / ") && reason.contains("choose another")),
            "{found:?}"
        );
    }
    assert!(reasons(&device.node()).iter().any(|reason| reason.contains(" is mounted at / ")));
}

#[test]
fn what_is_no_block_device_is_told_clearly() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    let socket = dir.path().join("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for (path, said) in [
        (Path::new("/dev/null"), "is a character device: name a block device"),
        (dir.path(), "is a directory: "),
        (&file, "is a file, no block device: review it as a file"),
        (&socket, "is a socket: "),
        (Path::new("/dev/no-such-device"), "there is no such device or file"),
    ] {
        let error = block_device(path).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: ", path.display())) && error.contains(said), "{error}");
        assert!(!error.contains('\n'));
    }
}

#[test]
fn this_machine_is_known() {
    let host = identify::host();
    assert!(host.cores >= 1);
    assert!(host.facts.iter().any(|fact| fact.key == "kernel"));
    assert!(host.facts.iter().any(|fact| fact.key == "memory"));
}
