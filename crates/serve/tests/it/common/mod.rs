//! A server with a card in memory, for tests.

use live::{Live, Start, Timing};
use media::{Flash, Physics};
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

pub fn memory_card(size_bytes: u64) -> Arc<Live> {
    let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(size_bytes)).unwrap();
    let flash = Flash::new(card::shape(&config), Physics::IDEAL, 1).without_trace();
    let start = Start { config, timing: Timing::None, id: Some(format::CardId([7; 16])), seed: 1, explains: false };
    Arc::new(Live::format(flash, start).unwrap())
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
    let dir = tempfile::tempdir().unwrap();
    let live = memory_card(size_bytes);
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
