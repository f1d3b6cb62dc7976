//! A small card in memory, served.

use control::{Access, Client, Connection, ControlServer, Export, Frontend, Frontends, Ownership, Part, Served, serve};
use live::{Bell, Live, ReplyError, Request, Start, Timing};
use media::{Flash, Physics};
use serde_json::Value;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const SIZE: u64 = 64 << 20;

pub struct Rings(pub SyncSender<()>);

impl Bell for Rings {
    fn ring(&self) {
        let _ = self.0.try_send(());
    }
}

/// Submits one request, and waits for the reply.
pub fn call(live: &Live, request: Request) -> Result<Vec<u8>, ReplyError> {
    let (sender, rings) = sync_channel(1);
    let mut port = live.port(Arc::new(Rings(sender)));
    let mut replies = Vec::new();
    port.submit(&[request], &mut replies);
    while replies.is_empty() {
        rings.recv_timeout(Duration::from_secs(20)).expect("a reply");
        port.replies(&mut replies);
    }
    replies.pop().expect("one").result.map(|data| data.to_vec())
}

/// Overwrites all of it so many times, in pieces of 64 KiB.
pub fn overwrite(live: &Live, times: u32) {
    for _ in 0..times {
        for offset in (0..SIZE).step_by(64 << 10) {
            call(live, Request::write(0, offset, &[7; 64 << 10])).unwrap();
        }
    }
}

struct Nbd;

impl Frontends for Nbd {
    fn status(&self) -> Frontend {
        Frontend {
            turned_away: 7,
            exports: vec![Export {
                name: "disk".into(),
                size_bytes: SIZE,
                read_only: false,
                addresses: vec!["nbd://127.0.0.1:10809/disk".into()],
            }],
            clients: vec![Connection {
                number: 3,
                protocol: "nbd".into(),
                peer: "127.0.0.1:50000".into(),
                export: Some("disk".into()),
                tls: true,
                connected_seconds: 12.5,
                requests: 1_000,
                in_flight: 2,
                read_bytes: 1 << 20,
                written_bytes: 2 << 20,
            }],
        }
    }
}

/// A card of 64 MiB, its server and somebody who asks it.
pub struct Rig {
    pub live: Arc<Live>,
    pub server: ControlServer,
    pub client: Client,
    pub socket: PathBuf,
    pub dir: tempfile::TempDir,
}

pub fn served(live: &Arc<Live>) -> Served {
    named(live, "test \"card\"")
}

pub fn named(live: &Arc<Live>, name: &str) -> Served {
    let (live, name, card, frontends) = (Arc::clone(live), name.into(), "tachion-400".into(), Some(Arc::new(Nbd) as _));
    Served { live, name, card, frontends, controller: None }
}

/// Controller 1 of a shared card, which does what it is told at once.
pub struct Controller(pub Mutex<Part>);

impl control::Controller for Controller {
    fn ownership(&self) -> Ownership {
        let part = *self.0.lock().unwrap();
        Ownership {
            controller: 1,
            part,
            generation: 3,
            claimant: Some(if part == Part::Owner { 1 } else { 2 }),
            modules: 6,
            reached: 6,
            held: if part == Part::Owner { 6 } else { 0 },
            lease_left_ms: if part == Part::Owner { 1200 } else { 0 },
        }
    }
    fn take_over(&self) {
        *self.0.lock().unwrap() = Part::Owner;
    }
    fn release(&self) {
        *self.0.lock().unwrap() = Part::Standby;
    }
}

pub fn card() -> Arc<Live> {
    card_that(Timing::None, false)
}

/// A card that keeps where the time of requests goes.
pub fn explaining() -> Arc<Live> {
    card_that(Timing::None, true)
}

/// A card whose flash takes its time.
pub fn as_fast_as_flash() -> Arc<Live> {
    card_that(Timing::Model, false)
}

fn card_that(timing: Timing, explains: bool) -> Arc<Live> {
    let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(SIZE)).unwrap();
    let start = Start { config, timing, id: Some(format::CardId([7; 16])), seed: 1, explains };
    let flash = Flash::new(card::shape(&start.config), Physics::IDEAL, 1);
    Arc::new(Live::format(flash, start).unwrap())
}

impl Rig {
    pub fn new() -> Rig {
        Rig::of(card())
    }

    /// Its card is divided into volumes, of which there are none yet.
    pub fn divided() -> Rig {
        let mut live = Arc::into_inner(card()).expect("nobody else has it");
        live.format_volumes(format::CardId([7; 16])).unwrap();
        Rig::of(Arc::new(live))
    }

    /// Other controllers serve its card as well.
    pub fn shared() -> Rig {
        let controller: Arc<dyn control::Controller> = Arc::new(Controller(Mutex::new(Part::Owner)));
        let live = card();
        Rig::serving(Served { controller: Some(controller), ..served(&live) }, live)
    }

    fn of(live: Arc<Live>) -> Rig {
        Rig::serving(served(&live), live)
    }

    fn serving(served: Served, live: Arc<Live>) -> Rig {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("control.sock");
        let server = serve(served, &socket, Access::Owner).unwrap();
        let client = Client::new(socket.clone()).unwrap();
        Rig { live, server, client, socket, dir }
    }

    /// Status code, head and body of the answer to a request as bytes.
    pub fn raw(&self, request: &[u8]) -> (u16, String, String) {
        exchange(UnixStream::connect(&self.socket).unwrap(), request)
    }

    /// Status code and JSON of an answer.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let (status, _, text) = self.raw(request(method, path, body).as_bytes());
        (status, serde_json::from_str(&text).unwrap_or_else(|e| panic!("{method} {path}: {e}: {text}")))
    }

    pub fn until(&self, what: &str, is_so: impl Fn(&live::Status) -> bool) {
        let began = std::time::Instant::now();
        while !is_so(&self.live.status()) {
            assert!(began.elapsed() < Duration::from_secs(60), "{what}: {:?}", self.live.status());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

pub fn request(method: &str, path: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: card\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

pub fn exchange(mut stream: impl Read + Write, request: &[u8]) -> (u16, String, String) {
    // A server that refuses early may close before all was sent.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap();
    let body =
        if head.to_lowercase().contains("transfer-encoding: chunked") { unchunked(body) } else { body.to_owned() };
    (status, head.to_owned(), body)
}

fn unchunked(mut body: &str) -> String {
    let mut out = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        out.push_str(&rest[..size]);
        body = rest[size..].trim_start_matches("\r\n");
    }
    out
}

/// A file of the repository.
pub fn file(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}
