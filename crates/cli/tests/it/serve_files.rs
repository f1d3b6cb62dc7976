//! Cards in folders: served by the real command, killed, started again.

use crate::common::disks::among_makers;
use crate::common::nbd::{Client, FLUSH, WRITE};
use crate::common::server::{Server, ctl, serve, serve_with, until_degraded};
use crate::common::versions::{Rng, Versions, kills, sector};
use crate::common::{command, run};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn create(dir: &Path, more: &[&str]) -> PathBuf {
    let card = dir.join("card");
    let made = command().arg("create").arg(&card).args(["--size", "48MiB"]).args(more).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    card
}

const SECTORS: u64 = (48 << 20) / 4096;

#[test]
fn what_was_flushed_survives_kills_under_load() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let card = create(dir.path(), &[]);
    let mut versions = vec![Versions::default(); SECTORS as usize];
    let mut rng = Rng(88_172_645_463_325_252);
    let (mut server, mut client) = serve(&card);
    for kill in 0..kills() {
        // The number is a good part of the card, with flushes between, up to 16 in flight.
        let requests = 200 + rng.below(3_000);
        let mut under_way = std::collections::VecDeque::new();
        let mut written_since: Vec<u64> = Vec::new();
        for request in 0..requests {
            let number = rng.below(SECTORS);
            let asked = &mut versions[number as usize].asked;
            *asked += 1;
            client.ask(WRITE, number, number * 4096, 4096, &sector(number, *asked)).unwrap();
            under_way.push_back(());
            written_since.push(number);
            while under_way.len() > 16 {
                assert_eq!(client.answer().unwrap().1, 0);
                under_way.pop_front();
            }
            if request % 97 == 96 {
                while under_way.pop_front().is_some() {
                    assert_eq!(client.answer().unwrap().1, 0);
                }
                assert_eq!(client.done(FLUSH, 0, &[]).unwrap(), 0);
                for number in written_since.drain(..) {
                    versions[number as usize].durable = versions[number as usize].asked;
                }
            }
        }
        server.0.kill().unwrap();
        server.0.wait().unwrap();
        (server, client) = serve(&card);
        for number in 0..SECTORS {
            versions[number as usize].read_back(&mut client, number, &format!("kill {kill}"));
        }
    }
    // SIGTERM is an orderly end.
    server.end();
    let (_server, mut client) = serve(&card);
    for number in (0..SECTORS).step_by(7) {
        versions[number as usize].read_back(&mut client, number, "ended");
    }
}

fn write_all(client: &mut Client, version: u32) {
    for number in 0..SECTORS {
        assert_eq!(client.done(WRITE, number * 4096, &sector(number, version)).unwrap(), 0);
    }
    assert_eq!(client.done(FLUSH, 0, &[]).unwrap(), 0);
}

fn read_all(client: &mut Client, version: u32) {
    for number in 0..SECTORS {
        assert!(client.read(number * 4096, 4096).unwrap().unwrap() == sector(number, version), "sector {number}");
    }
}

#[test]
fn a_module_is_pulled_deleted_and_replaced_while_the_card_is_served() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let card = create(dir.path(), &[]);
    let (_server, mut client) = serve(&card);
    let ctl = |words: &[&str]| ctl(&card, words);
    let whole = |why: &str| until_degraded(&card, false, why);
    write_all(&mut client, 1);
    assert!(ctl(&["module", "pull", "3"]).0);
    read_all(&mut client, 1);
    write_all(&mut client, 2);
    assert!(ctl(&["module", "insert", "3"]).0);
    whole("put back");
    read_all(&mut client, 2);
    // Its file is gone while nobody looks; a new one takes its place.
    assert!(ctl(&["module", "pull", "7"]).0);
    std::fs::remove_file(card.join("module-07")).unwrap();
    write_all(&mut client, 3);
    let (taken, said) = ctl(&["module", "insert", "7", card.join("module-07").to_str().unwrap()]);
    assert!(taken, "{said}");
    whole("replaced");
    read_all(&mut client, 3);
    // A module of another card is refused by name, and nothing happens to it.
    let other = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let foreign = create(other.path(), &[]).join("module-05");
    assert!(ctl(&["module", "pull", "5"]).0);
    let was = std::fs::read(&foreign).unwrap();
    let (taken, said) = ctl(&["module", "insert", "5", foreign.to_str().unwrap()]);
    assert!(!taken && said.contains("belongs to card"), "{said}");
    assert!(std::fs::read(&foreign).unwrap() == was, "the module of another card was written to");
    // A file that is there is no place for a new module.
    let (taken, said) = ctl(&["module", "insert", "5", foreign.to_str().unwrap(), "--new"]);
    assert!(!taken && said.contains("exists already"), "{said}");
    let (taken, said) = ctl(&["module", "insert", "5", card.join("module-06").to_str().unwrap()]);
    assert!(!taken && said.contains("in use"), "{said}");
    assert!(ctl(&["module", "insert", "5"]).0);
    whole("the right one");
    read_all(&mut client, 3);
}

/// A file system of so many bytes in memory, for as long as it lives.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None`, and a line that says so, where that is not permitted.
    fn mount(bytes: u64) -> Option<SmallDisk> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "none"]).arg(folder.path());
        if !mount.status().is_ok_and(|status| status.success()) {
            eprintln!("skipped: nothing can be mounted (not root, or not permitted)");
            return None;
        }
        Some(SmallDisk(folder))
    }

    /// The contents of a file after its first MiB is given back, and taken by another file with all that is left.
    fn take_room_of(&self, file: &Path) {
        let bytes = std::fs::metadata(file).unwrap().len() - (1 << 20);
        let hole = ["--punch-hole", "--offset", "1048576", "--length"];
        let punched = Command::new("fallocate").args(hole).arg(bytes.to_string()).arg(file).status().unwrap();
        assert!(punched.success());
        let mut filler = std::fs::File::create(self.0.path().join("filler")).unwrap();
        while std::io::Write::write(&mut filler, &[1; 4096]).is_ok() {}
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_under_a_module_costs_the_module_and_nothing_else() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Some(disk) = SmallDisk::mount(64 << 20) else { return };
    let on_disk = disk.0.path().join("module");
    let modules: Vec<String> = (0..16)
        .map(|slot| if slot == 6 { on_disk.clone() } else { dir.path().join(format!("module-{slot}")) })
        .map(|path| path.display().to_string())
        .collect();
    let card = create(dir.path(), &["--card", "tachion-400", "--modules", &modules.join(",")]);
    let (_server, mut client) = serve(&card);
    disk.take_room_of(&on_disk);
    for version in 1..4 {
        write_all(&mut client, version);
        read_all(&mut client, version);
    }
    until_degraded(&card, true, "full");
    let (_, said) = ctl(&card, &["modules"]);
    assert!(said.lines().any(|line| line.trim_start().starts_with("6 ") && !line.contains("active")), "{said}");
    // There is room again.
    std::fs::remove_file(disk.0.path().join("filler")).unwrap();
    assert!(ctl(&card, &["module", "pull", "6"]).0, "it has failed, and is still there");
    let (taken, said) = ctl(&card, &["module", "insert", "6"]);
    assert!(taken, "{said}");
    until_degraded(&card, false, "put back");
    read_all(&mut client, 3);
}

/// A loop device on a file. It is detached by whoever has it.
struct Loop(String);

impl Loop {
    /// `None`, and a line that says so, where that is not permitted.
    fn on(file: &Path) -> Option<Loop> {
        let _maker = among_makers();
        let made = Command::new("losetup").args(["--find", "--show", "--direct-io=off"]).arg(file).output();
        let Some(made) = made.ok().filter(|made| made.status.success()) else {
            eprintln!("skipped: there are no loop devices (not root, or not permitted)");
            return None;
        };
        Some(Loop(String::from_utf8(made.stdout).unwrap().trim().to_owned()))
    }
}

/// A disk that fails when it is told to: a card in memory, mounted as a file, on a loop device.
struct Failing {
    device: Loop,
    server: Server,
    control: PathBuf,
    mounted: PathBuf,
}

impl Failing {
    /// `None`, and a line that says so, where that is not permitted.
    fn start(dir: &Path) -> Option<Failing> {
        let (mounted, control, said) = (dir.join("mounted"), dir.join("control"), dir.join("said"));
        std::fs::create_dir(&mounted).unwrap();
        let mut serve = command();
        serve.args(["serve", "memory-16", "--memory", "--size", "32MiB", "--log", "none"]);
        serve.arg("--nbd").arg(format!("unix:{}", dir.join("nbd").display()));
        serve.arg("--fuse").arg(&mounted).arg("--control").arg(&control);
        let errors = std::fs::File::create(&said).unwrap();
        let mut server = Server(serve.stdout(Stdio::null()).stderr(errors).spawn().unwrap(), said);
        let (file, began) = (mounted.join("disk"), Instant::now());
        while !file.exists() {
            if server.0.try_wait().unwrap().is_some() {
                eprintln!("skipped: nothing can be mounted: {}", std::fs::read_to_string(&server.1).unwrap());
                return None;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "it is not mounted");
            std::thread::sleep(Duration::from_millis(5));
        }
        match Loop::on(&file) {
            Some(device) => Some(Failing { device, server, control, mounted }),
            None => {
                unmount(&mounted);
                None
            }
        }
    }

    /// From now on whatever is asked of it is answered with EIO, or not any more.
    fn fail(&self, fails: bool) {
        let (is_done, said) = ctl(&self.control, &["power", if fails { "cut" } else { "on" }]);
        assert!(is_done, "{said}");
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.device.0]).status();
        unmount(&self.mounted);
        let _ = self.server.0.kill();
    }
}

fn unmount(folder: &Path) {
    let _ = Command::new("umount").arg("--lazy").arg(folder).status();
}

#[test]
fn a_disk_under_a_module_that_fails_costs_the_module_and_nothing_else() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Some(disk) = Failing::start(dir.path()) else { return };
    let modules: Vec<String> = (0..16)
        .map(|slot| if slot == 6 { disk.device.0.clone().into() } else { dir.path().join(format!("module-{slot}")) })
        .map(|path: PathBuf| path.display().to_string())
        .collect();
    let card = create(dir.path(), &["--card", "tachion-400", "--modules", &modules.join(","), "--destroy-data"]);
    let (_server, mut client) = serve(&card);
    write_all(&mut client, 1);
    disk.fail(true);
    for version in 2..4 {
        write_all(&mut client, version);
        read_all(&mut client, version);
    }
    until_degraded(&card, true, "its disk fails");
    let (_, said) = ctl(&card, &["modules"]);
    assert!(said.lines().any(|line| line.trim_start().starts_with("6 ") && line.contains("missing")), "{said}");
    let (_, said) = ctl(&card, &["status"]);
    assert!(said.lines().next().is_some_and(|line| line.ends_with("degraded")), "{said}");
    // It works again.
    disk.fail(false);
    let _ = ctl(&card, &["module", "pull", "6"]);
    let (taken, said) = ctl(&card, &["module", "insert", "6"]);
    assert!(taken, "{said}");
    until_degraded(&card, false, "put back");
    read_all(&mut client, 3);
}

#[test]
fn each_line_of_a_structured_log_is_json_and_tells_what_was_done() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let card = create(dir.path(), &[]);
    let (server, client) = serve_with(&card, &["--log", "json"]);
    for words in [&["module", "pull", "3"][..], &["module", "insert", "3"], &["power", "cut"], &["power", "on"]] {
        let (is_done, said) = ctl(&card, words);
        assert!(is_done, "{words:?}: {said}");
    }
    drop(client);
    drop(server);
    let said = std::fs::read_to_string(card.join("errors.txt")).unwrap();
    // A line for the person who starts it begins otherwise.
    let lines = said.lines().filter(|line| !line.starts_with("flashrig: "));
    let told: Vec<serde_json::Value> = lines.map(|line| serde_json::from_str(line).expect(line)).collect();
    let acts: Vec<(&str, Option<u64>)> = told
        .iter()
        .filter(|event| event["fields"]["card"] == "card")
        .map(|event| (event["fields"]["message"].as_str().unwrap(), event["fields"]["slot"].as_u64()))
        .collect();
    let expected = [
        ("a module was pulled", Some(3)),
        ("a module was inserted", Some(3)),
        ("the power was cut", None),
        ("the power is back", None),
    ];
    assert_eq!(acts, expected);
    assert!(told.iter().any(|event| event["fields"]["message"] == "a client has come"), "{said}");
    for event in &told {
        assert!(event["level"].is_string() && event["timestamp"].is_string(), "{event}");
    }
}

#[test]
fn a_module_that_is_truncated_under_the_card_costs_nothing() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let card = create(dir.path(), &[]);
    let (_server, mut client) = serve(&card);
    for number in 0..SECTORS {
        assert_eq!(client.done(WRITE, number * 4096, &sector(number, 1)).unwrap(), 0);
    }
    assert_eq!(client.done(FLUSH, 0, &[]).unwrap(), 0);
    std::fs::OpenOptions::new().write(true).open(card.join("module-09")).unwrap().set_len(4096).unwrap();
    for number in 0..SECTORS {
        assert!(client.read(number * 4096, 4096).unwrap().unwrap() == sector(number, 1), "sector {number}");
        if number % 3 == 0 {
            assert_eq!(client.done(WRITE, number * 4096, &sector(number, 2)).unwrap(), 0);
        }
    }
    assert_eq!(client.done(FLUSH, 0, &[]).unwrap(), 0);
    for number in 0..SECTORS {
        let version = if number % 3 == 0 { 2 } else { 1 };
        assert!(client.read(number * 4096, 4096).unwrap().unwrap() == sector(number, version), "sector {number}");
    }
}

#[test]
fn what_is_typed_wrong_is_said_in_one_line() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let card = create(dir.path(), &[]);
    let (card, nowhere) = (card.to_str().unwrap(), dir.path().join("nowhere"));
    let (nowhere, empty) = (nowhere.to_str().unwrap(), dir.path().to_str().unwrap());
    let cases: &[(&[&str], &str)] = &[
        (&["create", card, "--size", "48MiB"], "holds a card already"),
        (&["create", nowhere, "--card", "tachyon"], "unknown card"),
        (&["create", nowhere, "--card", "sas-raid10-6"], "no contents"),
        (&["create", nowhere, "--size", "10MiB", "--card", "tachion-400", "--modules", "a,b"], "16 modules"),
        (&["create", nowhere, "--size", "10MiB", "--modules", "a,b"], "2 modules are too few"),
        (&["create", nowhere, "--modules", "a,b,c"], "say with --size"),
        (&["create", nowhere, "--quick"], "--modules"),
        (&["create", "/proc/nothing/card", "--size", "48MiB"], "/proc/nothing"),
        (&["serve", nowhere, "--nbd", "unix:/tmp/x"], "there is no such folder; flashrig create "),
        (&["serve", empty, "--nbd", "unix:/tmp/x"], "no card lies in this folder; flashrig create "),
        (&["serve", "tachion-400", "--nbd", "unix:/tmp/x"], "--memory"),
        (&["serve", card, "--nbd", "nowhere"], "unix:PATH or HOST:PORT"),
        (&["serve", card, "--nbd", "unix:/nowhere/at/all"], "/nowhere/at/all"),
        (&["serve", card], "--nbd"),
        (&["serve", card, "--nbd", "unix:/tmp/x", "--size", "1g"], "--memory"),
        (&["serve", card, "--nbd", "unix:/tmp/x", "--tls-key", "k"], "--tls-certificate"),
        (&["serve", "tachion-400", "--memory", "--size", "64MiB", "--nbd", "unix:/tmp/x", "--timing", "fast"], "model"),
        (&["ctl", nowhere, "status"], "nowhere"),
    ];
    for (words, said) in cases {
        let output = run(words);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {errors}");
        assert!(errors.contains(said), "{words:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{words:?}: {errors}");
    }
    assert!(!Path::new(nowhere).exists(), "nothing is left of what failed");
}

#[test]
fn a_card_is_served_once() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let card = create(dir.path(), &[]);
    let (_server, mut client) = serve(&card);
    let second = run(&["serve", card.to_str().unwrap(), "--nbd", "unix:/tmp/flashrig-second.sock"]);
    assert_eq!(second.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&second.stderr);
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert_eq!(client.done(WRITE, 0, &sector(0, 1)).unwrap(), 0, "the first goes on");
}
