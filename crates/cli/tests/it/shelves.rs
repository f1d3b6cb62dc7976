//! Cards whose modules lie on shelves: made, served, and served on while shelves are killed and come back.

use crate::common::command;
use crate::common::nbd::{Client, FLUSH, WRITE};
use crate::common::server::{ctl, serve, until_degraded};
use crate::common::shelf::Shelf;
use crate::common::versions::sector;
use serve::nvme::ReservationKind;
use serve::remote::{HostName, ModuleClient, RemoteError, RemoteOptions, discover};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Output;

const SECTORS: u64 = (32 << 20) / 4096;
const SECRET: &str = "DHHC-1:01:pNtvc8BuOnDA1mQdDh7judViMu9A86KEqiPkn4RC7OnnSErO:";

fn create(card: &Path, words: &[&str]) -> Output {
    command().arg("create").arg(card).args(["--size", "32MiB", "--shards", "1"]).args(words).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn write_all(client: &mut Client, version: u32) {
    for number in 0..SECTORS {
        assert_eq!(client.done(WRITE, number * 4096, &sector(number, version)).unwrap(), 0, "sector {number}");
    }
    assert_eq!(client.done(FLUSH, 0, &[]).unwrap(), 0);
}

fn read_all(client: &mut Client, version: u32) {
    for number in 0..SECTORS {
        assert!(client.read(number * 4096, 4096).unwrap().unwrap() == sector(number, version), "sector {number}");
    }
}

#[test]
fn a_card_on_three_shelves_lives_through_the_loss_of_one_and_its_own_death() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut shelves: Vec<Shelf> = ["a", "b", "c"].map(|name| Shelf::start(dir.path(), name, 2)).into();
    let card = dir.path().join("card");
    let all = shelves.iter().map(|shelf| shelf.address.clone()).collect::<Vec<_>>().join(",");
    let made = create(&card, &["--shelf", &all, "--json"]);
    assert!(made.status.success(), "{}", said(&made));
    assert_eq!(said(&made), "", "a stripe has one unit on each shelf");
    let json: serde_json::Value = serde_json::from_slice(&made.stdout).unwrap();
    let modules: Vec<&str> = json["modules"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    for (slot, path) in modules.iter().enumerate() {
        assert!(path.starts_with(&format!("nvme://{}/nqn.", shelves[slot % 3].address)), "slot {slot}: {path}");
    }
    let (mut server, mut client) = serve(&card);
    write_all(&mut client, 1);
    read_all(&mut client, 1);
    // Both of its modules go under load, and no request fails.
    let gone = shelves.remove(1);
    let back = gone.again(|| {
        write_all(&mut client, 2);
        read_all(&mut client, 2);
        until_degraded(&card, true, "a shelf is gone");
    });
    for slot in ["1", "4"] {
        let _ = ctl(&card, &["module", "pull", slot]);
        let (taken, text) = ctl(&card, &["module", "insert", slot]);
        assert!(taken, "{text}");
    }
    until_degraded(&card, false, "the shelf is back");
    shelves.insert(1, back);
    write_all(&mut client, 3);
    server.0.kill().unwrap();
    server.0.wait().unwrap();
    let (mut server, mut client) = serve(&card);
    read_all(&mut client, 3);
    // The host of the card dies with a shelf of its own, and the card starts without it.
    server.0.kill().unwrap();
    server.0.wait().unwrap();
    let gone = shelves.remove(2);
    let back = gone.again(|| {
        let (mut server, mut client) = serve(&card);
        read_all(&mut client, 3);
        write_all(&mut client, 4);
        server.0.kill().unwrap();
        server.0.wait().unwrap();
        let (server, mut client) = serve(&card);
        read_all(&mut client, 4);
        drop(client);
        server.end();
    });
    shelves.insert(2, back);
    // Its modules are stale now, and filled again.
    let (server, mut client) = serve(&card);
    read_all(&mut client, 4);
    until_degraded(&card, false, "the other shelf is back");
    drop(client);
    server.end();
    let checked = command().arg("fsck").arg(&card).output().unwrap();
    assert!(checked.status.success(), "{}{}", String::from_utf8_lossy(&checked.stdout), said(&checked));
}

#[test]
fn a_card_that_loses_two_of_three_shelves_at_once_stops_and_is_served_again_when_they_are_back() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut shelves: Vec<Shelf> = ["a", "b", "c"].map(|name| Shelf::start(dir.path(), name, 1)).into();
    let card = dir.path().join("card");
    let all = shelves.iter().map(|shelf| shelf.address.clone()).collect::<Vec<_>>().join(",");
    let made = create(&card, &["--shelf", &all]);
    assert!(made.status.success(), "{}", said(&made));
    let (server, mut client) = serve(&card);
    write_all(&mut client, 1);
    let (first, second) = (shelves.remove(0), shelves.remove(0));
    let back = first.again(|| {
        let back = second.again(|| {
            let failed = (0..SECTORS).any(|number| {
                let bytes = sector(number, 1);
                let errors = [client.done(WRITE, number * 4096, &bytes), client.done(FLUSH, 0, &[])];
                errors.into_iter().any(|error| error.unwrap() != 0)
            });
            assert!(failed, "writes are durable on one module of three");
            let began = std::time::Instant::now();
            while !std::fs::read_to_string(&server.1).unwrap().contains("the card has stopped") {
                assert!(began.elapsed() < std::time::Duration::from_secs(60), "nobody is told");
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        });
        shelves.push(back);
    });
    shelves.push(back);
    drop(client);
    server.end();
    let (server, mut client) = serve(&card);
    read_all(&mut client, 1);
    write_all(&mut client, 2);
    until_degraded(&card, false, "all shelves are back");
    drop(client);
    server.end();
}

#[test]
fn files_and_modules_on_shelves_make_one_card_and_a_new_module_may_lie_on_a_shelf() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let shelf = Shelf::start(dir.path(), "a", 2);
    let nqn = |number: usize| {
        let text = std::fs::read_to_string(&shelf.process.1).unwrap();
        let path = shelf.modules[number].display().to_string();
        let line = text.lines().find(|line| line.contains(&format!("{path}:"))).unwrap().to_owned();
        format!("nvme://{}/{}", shelf.address, line.rsplit(' ').next().unwrap())
    };
    let card = dir.path().join("card");
    let file = |number: u32| dir.path().join(format!("file-{number}")).display().to_string();
    let places = [nqn(0), file(0), file(1)].join(",");
    let made = create(&card, &["--modules", &places, "--quick"]);
    assert!(made.status.success(), "{}", said(&made));
    let (_server, mut client) = serve(&card);
    write_all(&mut client, 1);
    // A file makes way for a module of the shelf, which is said to be given away.
    assert!(ctl(&card, &["module", "pull", "2"]).0);
    let (taken, text) = ctl(&card, &["module", "insert", "2", &nqn(1), "--new"]);
    assert!(!taken && text.contains("--destroy-data"), "{text}");
    let (taken, text) = ctl(&card, &["module", "insert", "2", &nqn(1), "--new", "--destroy-data"]);
    assert!(taken, "{text}");
    until_degraded(&card, false, "a new module");
    read_all(&mut client, 1);
    let (_, modules) = ctl(&card, &["modules", "--json"]);
    assert!(modules.contains(&nqn(1)) || !modules.contains("file-1"), "{modules}");
}

#[test]
fn what_must_not_become_a_card_is_refused_in_one_line_and_nothing_is_written() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let shelves: Vec<Shelf> = ["a", "b", "c"].map(|name| Shelf::start(dir.path(), name, 1)).into();
    let [a, b, c] = [0, 1, 2].map(|at: usize| shelves[at].address.clone());
    let card = dir.path().join("card");
    let refused = |words: &[&str], why: &str| {
        // A write would change the time of the file and the room that it takes.
        let state = |shelf: &Shelf| {
            let meta = std::fs::metadata(&shelf.modules[0]).unwrap();
            (meta.modified().unwrap(), meta.blocks())
        };
        let before: Vec<_> = shelves.iter().map(state).collect();
        let output = match words.contains(&"--size") {
            true => command().arg("create").arg(&card).args(words).output().unwrap(),
            false => create(&card, words),
        };
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {text}");
        assert!(text.lines().count() == 1 && text.contains(why), "{words:?}: {text}");
        assert_eq!(shelves.iter().map(state).collect::<Vec<_>>(), before, "{words:?}");
        assert!(!card.exists(), "{words:?}");
    };
    refused(&["--shelf", &format!("{a},{b}")], "2 modules are too few");
    let by_name = a.replace("127.0.0.1", "localhost");
    refused(&["--shelf", &format!("{a},{by_name},{b}")], "needs a place of its own");
    refused(&["--shelf", &format!("{a},{b},127.0.0.1:1")], "can't be reached");
    refused(&["--shelf", "nowhere"], "write HOST:PORT");
    refused(&["--modules", "nvme://nowhere,a,b", "--quick"], "nvme://HOST:PORT/NQN");
    refused(&["--shelf", &format!("{a},{b},{c}"), "--size", "64GiB"], "takes");
    // One module too many on a shelf is said, and no reason to refuse.
    let made = create(&card, &["--shelf", &format!("{a},{b},{c}")]);
    assert!(made.status.success(), "{}", said(&made));
    std::fs::remove_dir_all(&card).unwrap();
    refused(&["--shelf", &format!("{a},{b},{c}")], "--destroy-data");
    let made = create(&card, &["--shelf", &format!("{a},{b},{c}"), "--destroy-data"]);
    assert!(made.status.success(), "{}", said(&made));
    std::fs::remove_dir_all(&card).unwrap();
    reserve_for_another(&shelves[1]);
    refused(&["--shelf", &format!("{a},{b},{c}"), "--destroy-data"], "another host has reserved it");
}

/// The first module of a shelf, asked by a host of this number.
fn asked_by(host: u8, shelf: &Shelf) -> ModuleClient {
    let options = RemoteOptions { host: HostName::of_id([host; 16]), ..RemoteOptions::default() };
    let found = discover(&shelf.address.parse().unwrap(), &options).unwrap().remove(0);
    ModuleClient::connect(&found.address, &options).unwrap()
}

fn reserve_for_another(shelf: &Shelf) {
    let mut client = asked_by(9, shelf);
    client.register(5).unwrap();
    client.acquire(5, ReservationKind::WriteExclusive).unwrap();
}

#[test]
fn reservations_survive_the_kill_of_a_shelf() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut shelf = Shelf::start(dir.path(), "a", 1);
    reserve_for_another(&shelf);
    for key in 6..16 {
        asked_by(9, &shelf).replace(key - 1, key).unwrap();
        let before = asked_by(1, &shelf).report().unwrap();
        shelf = shelf.again(|| {});
        let after = asked_by(1, &shelf).report().unwrap();
        let holder = after.holder().unwrap();
        assert_eq!((holder.host, holder.key, after.held), ([9; 16], key, Some(ReservationKind::WriteExclusive)));
        assert_eq!((after.generation, after.persists), (before.generation, true));
    }
    // Another one still takes it only by the key that is there.
    let mut other = asked_by(1, &shelf);
    other.register(1).unwrap();
    assert!(matches!(other.acquire(1, ReservationKind::WriteExclusive), Err(RemoteError::Conflict)));
    other.preempt_and_abort(1, 15, ReservationKind::WriteExclusive).unwrap();
    assert_eq!(other.report().unwrap().holder().unwrap().key, 1);
}

#[test]
fn a_shelf_whose_loss_is_more_than_parity_stands_for_is_said() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (a, b) = (Shelf::start(dir.path(), "a", 2), Shelf::start(dir.path(), "b", 1));
    let card = dir.path().join("card");
    let made = create(&card, &["--shelf", &format!("{},{}", a.address, b.address)]);
    assert!(made.status.success(), "{}", said(&made));
    let text = said(&made);
    assert!(text.lines().count() == 1 && text.contains(&a.address) && text.contains("2 modules of a stripe"), "{text}");
}

#[test]
fn shelves_with_a_secret_are_reached_by_those_who_know_it() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = dir.path().join("secret");
    std::fs::write(&file, format!("{SECRET}\n")).unwrap();
    let at = format!("@{}", file.display());
    let open: Vec<Shelf> = ["a", "b", "c"].map(|name| Shelf::start(dir.path(), name, 1)).into();
    let closed = |shelf: Shelf| {
        let Shelf { process, address, modules } = shelf;
        process.end();
        Shelf::at(&address, modules, &["--nvme-secret", &at])
    };
    let shelves: Vec<Shelf> = open.into_iter().map(closed).collect();
    let all = shelves.iter().map(|shelf| shelf.address.clone()).collect::<Vec<_>>().join(",");
    let card = dir.path().join("card");
    let refused = create(&card, &["--shelf", &all]);
    assert!(!refused.status.success() && said(&refused).contains("--shelf-secret"), "{}", said(&refused));
    let made = create(&card, &["--shelf", &all, "--shelf-secret", file.to_str().unwrap()]);
    assert!(made.status.success(), "{}", said(&made));
    assert!(!std::fs::read_to_string(card.join("card.toml")).unwrap().contains("DHHC"), "the card holds no secret");
    let (_server, mut client) = serve(&card);
    assert_eq!(client.done(WRITE, 0, &sector(0, 1)).unwrap(), 0);
    assert!(client.read(0, 4096).unwrap().unwrap() == sector(0, 1));
}

#[test]
fn a_shelf_refuses_what_it_can_not_export_in_one_line() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let shelf = Shelf::start(dir.path(), "a", 1);
    let module = shelf.modules[0].clone();
    let other = dir.path().join("other");
    std::fs::write(&other, [0; 8192]).unwrap();
    let (other, module_name) = (other.to_str().unwrap(), module.to_str().unwrap());
    let local = "127.0.0.1:0";
    let refused = |words: &[&str], why: &str| {
        let output = command().arg("shelf").args(words).output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {text}");
        assert!(text.lines().count() == 1 && text.contains(why), "{words:?}: {text}");
    };
    refused(&[module_name, "--listen", local], "in use");
    refused(&[other, "--listen", "0.0.0.0:0"], "--insecure");
    refused(&[other, "--listen", "unix:/tmp/x"], "needs HOST:PORT");
    refused(&["/nowhere/m", "--listen", local], "/nowhere/m");
    refused(&["/dev/null", "--listen", local], "neither a file nor a block device");
    let copy = dir.path().join("b");
    std::fs::create_dir(&copy).unwrap();
    std::fs::write(copy.join("other"), [0; 4096]).unwrap();
    let second = copy.join("other");
    let state = dir.path().join("state");
    let (second, state) = (second.to_str().unwrap(), state.to_str().unwrap());
    refused(&[other, second, "--state", state, "--listen", local], "in one place");
    let identity = PathBuf::from(format!("{module_name}.shelf/identity"));
    shelf.process.end();
    let mut bytes = std::fs::read(&identity).unwrap();
    bytes[10] ^= 1;
    std::fs::write(&identity, bytes).unwrap();
    refused(&[module_name, "--listen", local], "damaged");
}
