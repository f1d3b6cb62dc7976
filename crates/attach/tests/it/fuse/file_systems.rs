//! File systems on a loop device on a mounted card. Needs root, /dev/fuse and mkfs; says so otherwise.

use super::common::trees::{Mount, has, is_as, write_tree};
use super::common::{Card, Loop, MIB, run_ok};
use live::{Action, Timing};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The smallest that mkfs.xfs makes is 300 MiB.
const SIZE: u64 = 384 * MIB;

const XFS: (&str, &[&str], &str, &[&str]) = ("mkfs.xfs", &["-q", "-f"], "xfs_repair", &["-n"]);
const EXT4: (&str, &[&str], &str, &[&str]) = ("mkfs.ext4", &["-q", "-F"], "e2fsck", &["-fn"]);

fn holds_files((make, options, check, how): (&str, &[&str], &str, &[&str])) {
    if !has(make) || !has(check) {
        return;
    }
    let Some(card) = Card::new(SIZE, Timing::None) else { return };
    let Some(device) = Loop::on(&card.file()) else { return };
    run_ok(make, &[options, &[device.0.as_str()]].concat());
    let mount = Mount::new(&device);
    let mut kept = write_tree(mount.path(), 1, 300);
    let gone = write_tree(mount.path(), 2, 300);
    let sync = || run_ok("sync", &["--file-system", mount.path().to_str().unwrap()]);
    sync();
    let before = card.live.status().fill;
    fs::remove_dir_all(mount.path().join("seed-2")).unwrap();
    sync();
    // The card no longer keeps space that was freed. xfs frees it some time later.
    let began = Instant::now();
    while card.live.status().fill >= before {
        assert!(began.elapsed() < Duration::from_secs(20), "{} of {before}", card.live.status().fill);
        run_ok("fstrim", &[mount.path().to_str().unwrap()]);
        sync();
    }
    is_as(mount.path(), &kept);
    mount.unmount();
    run_ok(check, &[how, &[device.0.as_str()]].concat());

    let mount = Mount::new(&device);
    assert!(gone.keys().all(|path| !path.exists()));
    // Found where it is mounted now.
    kept = kept
        .into_iter()
        .map(|(path, sum)| {
            let within = path.components().skip_while(|part| !part.as_os_str().to_string_lossy().starts_with("seed-"));
            (mount.path().join(within.collect::<std::path::PathBuf>()), sum)
        })
        .collect();
    is_as(mount.path(), &kept);
    mount.unmount();
    assert_eq!(card.live.status().stats.errors, 0);
}

#[test]
fn xfs_holds_files_and_is_whole_afterwards() {
    holds_files(XFS);
}

#[test]
fn ext4_holds_files_and_is_whole_afterwards() {
    holds_files(EXT4);
}

#[test]
fn a_module_is_pulled_and_put_back_under_a_file_system_at_work() {
    let (make, options, check, how) = XFS;
    if !has(make) || !has(check) {
        return;
    }
    let Some(card) = Card::new(SIZE, Timing::None) else { return };
    let Some(device) = Loop::on(&card.file()) else { return };
    run_ok(make, &[options, &[device.0.as_str()]].concat());
    let mount = Mount::new(&device);
    let before = write_tree(mount.path(), 1, 100);
    let stops = AtomicBool::new(false);
    let trees = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut trees = Vec::new();
            for seed in 2.. {
                if stops.load(Ordering::Relaxed) || seed == 40 {
                    break;
                }
                trees.push(write_tree(mount.path(), seed, 30));
                run_ok("sync", &["--file-system", mount.path().to_str().unwrap()]);
                if seed > 4 {
                    fs::remove_dir_all(mount.path().join(format!("seed-{}", seed - 2))).unwrap();
                    let at = trees.len() - 3;
                    trees[at].clear();
                }
            }
            trees
        });
        for (slot, new) in [(3, false), (5, true)] {
            std::thread::sleep(Duration::from_millis(300));
            card.live.act(Action::Pull { slot, force: false }).unwrap();
            assert!(card.live.status().degraded);
            std::thread::sleep(Duration::from_millis(300));
            card.live.act(Action::Insert { slot, new }).unwrap();
            let began = Instant::now();
            while card.live.status().degraded {
                assert!(began.elapsed() < Duration::from_secs(120), "{:?}", card.live.status());
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        stops.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    assert!(trees.len() > 1, "nothing was written meanwhile");
    run_ok("sync", &["--file-system", mount.path().to_str().unwrap()]);
    // From the card, and not from what the kernel remembers.
    fs::write("/proc/sys/vm/drop_caches", "1").unwrap();
    is_as(mount.path(), &before);
    for tree in &trees {
        is_as(mount.path(), tree);
    }
    mount.unmount();
    run_ok(check, &[how, &[device.0.as_str()]].concat());
    assert_eq!(card.live.status().stats.errors, 0);
}
