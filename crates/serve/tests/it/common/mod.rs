//! A server with a card in memory, for tests, or in files where clients are to share threads.

use files::{Files, Options};
use live::{Live, Start, Timing, on_files};
use media::{Flash, Medium, Physics};
use serve::{Address, Backing, Export, Limits, Security, Server, Services};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;
use tempfile::TempDir;

pub struct Served {
    pub server: Server,
    pub live: Arc<Live>,
    pub dir: TempDir,
}

/// In the environment of tests all of whose clients share threads, because their cards lie in files: see [`crate::crews`].
pub const SHARE_THREADS: &str = "SERVE_TESTS_SHARE_THREADS";

fn shares_threads() -> bool {
    std::env::var_os(SHARE_THREADS).is_some()
}

/// A card that answers at once, in memory; in files where clients are to share threads.
pub fn new_card(size_bytes: u64) -> Arc<Live> {
    if shares_threads() {
        return card_in_files(size_bytes, 1);
    }
    let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(size_bytes)).unwrap();
    let flash = Flash::new(card::shape(&config), Physics::IDEAL, 1).without_trace();
    let start = Start { config, timing: Timing::None, id: Some(format::CardId([7; 16])), seed: 1, explains: false };
    Arc::new(Live::format(flash, start).unwrap())
}

/// A card whose modules are files, which have no names any more.
pub fn card_in_files(size_bytes: u64, shards: u32) -> Arc<Live> {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let bytes = Live::shard_bytes(size_bytes, shards);
    let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(bytes)).unwrap();
    let config = on_files(&config);
    let paths: Vec<PathBuf> = (0..16).map(|slot| dir.path().join(format!("module-{slot}"))).collect();
    let media = Files::create_shards(card::shape(&config), shards, &paths, &Options::default()).unwrap();
    let media = media.into_iter().map(|files| Medium::Outside(Box::new(files))).collect();
    let start = Start { config, timing: Timing::None, id: Some(format::CardId([7; 16])), seed: 1, explains: false };
    Arc::new(Live::format_shards(media, &start, size_bytes).unwrap())
}

/// The usual limits, with threads that all clients share where they are to.
pub fn limits() -> Limits {
    of_mode(Limits::default())
}

fn of_mode(limits: Limits) -> Limits {
    Limits { own_threads: if shares_threads() { 0 } else { limits.own_threads }, ..limits }
}

pub fn export(name: &str, live: &Arc<Live>, read_only: bool) -> Export {
    let mut id = [7; 16];
    id[15] ^= u8::from(read_only);
    Export {
        name: name.into(),
        id,
        reservations: None,
        description: "a card".into(),
        backing: Backing::Card { live: Arc::clone(live), volume: None },
        read_only,
        lease: None,
    }
}

/// Exports `card` and, read-only, `looked-at`, which are the same card.
pub fn served(size_bytes: u64, security: Security, limits: Limits) -> Served {
    serve_card(new_card(size_bytes), security, of_mode(limits))
}

/// As [`served`], for a card that is there.
pub fn serve_card(live: Arc<Live>, security: Security, limits: Limits) -> Served {
    let dir = tempfile::tempdir().unwrap();
    let exports = vec![export("card", &live, false), export("looked-at", &live, true)];
    let nbd = vec![Address::Unix(dir.path().join("nbd.sock"))];
    let nvme = vec![Address::Tcp("127.0.0.1:0".into())];
    let services = Services { nbd, nvme, ..Services::default() };
    let server = Server::start(exports, &services, security, limits).unwrap();
    Served { server, live, dir }
}

impl Served {
    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("nbd.sock")
    }

    pub fn uri(&self) -> String {
        self.uri_of("card")
    }

    pub fn uri_of(&self, export: &str) -> String {
        format!("nbd+unix:///{export}?socket={}", self.socket().display())
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// Runs a client to its end.
pub fn client(program: &str, package: &str, args: &[&str]) -> Output {
    // nbdsh runs whichever python comes first; the one that has libnbd is Debian's.
    let path = format!("/usr/bin:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("timeout");
    command.args(["120", program]).args(args).env("PATH", path);
    let output = command.output().expect("timeout is in coreutils");
    assert_ne!(output.status.code(), Some(127), "{program} is missing: install {package}");
    output
}

/// Runs a client that is to succeed; what it prints.
pub fn succeeds(program: &str, package: &str, args: &[&str]) -> String {
    let output = client(program, package, args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {}\n{text}{errors}", output.status);
    text
}
