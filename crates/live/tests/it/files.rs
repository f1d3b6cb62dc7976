//! A live card whose modules lie in files.

use files::{Files, Options};
use live::{Action, Bell, Live, Port, Reply, Request, Start, Timing, on_files};
use media::Medium;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

struct Rings(SyncSender<()>);

impl Bell for Rings {
    fn ring(&self) {
        let _ = self.0.try_send(());
    }
}

struct Client {
    port: Port,
    rings: Receiver<()>,
}

impl Client {
    fn new(live: &Live) -> Client {
        let (sender, rings) = sync_channel(1);
        Client { port: live.port(Arc::new(Rings(sender))), rings }
    }

    fn call(&mut self, request: Request) -> Reply {
        let mut replies = Vec::new();
        self.port.submit(&[request], &mut replies);
        while replies.is_empty() {
            self.rings.recv_timeout(Duration::from_secs(20)).expect("a reply");
            self.port.replies(&mut replies);
        }
        replies.pop().expect("one")
    }

    fn write_all(&mut self, fill: u8) {
        for mib in 0..SIZE >> 20 {
            let bytes = vec![fill ^ mib as u8; 1 << 20];
            self.call(Request::write(1, mib << 20, &bytes)).result.expect("written");
        }
        self.call(Request::flush(1)).result.expect("flushed");
    }

    fn is_all(&mut self, fill: u8) {
        for mib in 0..SIZE >> 20 {
            let read = self.call(Request::read(1, mib << 20, 1 << 20)).result.expect("read").to_vec();
            assert!(read == vec![fill ^ mib as u8; 1 << 20], "MiB {mib}");
        }
    }
}

const SIZE: u64 = 48 << 20;

fn is_whole(live: &Live) {
    let began = Instant::now();
    while live.status().degraded {
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", live.status());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_module_that_was_away_is_filled_again_while_nobody_asks() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(SIZE)).unwrap();
    let config = on_files(&config);
    let paths: Vec<PathBuf> = (0..16).map(|slot| dir.path().join(format!("module-{slot}"))).collect();
    let medium = Files::create(card::shape(&config), &paths, &Options::default()).unwrap();
    let start = Start { config, timing: Timing::None, id: Some(format::CardId([7; 16])), seed: 1 };
    let mut live = Live::format(Medium::Outside(Box::new(medium)), start.clone()).unwrap();
    let mut client = Client::new(&live);
    client.write_all(1);
    live.act(Action::Pull { slot: 3, force: false }).unwrap();
    client.is_all(1);
    client.write_all(2);
    live.act(Action::Insert { slot: 3, new: false }).unwrap();
    is_whole(&live);
    client.is_all(2);
    // And another, with nothing written while it is away.
    live.act(Action::Pull { slot: 5, force: false }).unwrap();
    live.act(Action::Insert { slot: 5, new: false }).unwrap();
    is_whole(&live);
    client.is_all(2);
    // A power cut and an orderly end are told apart by what is found.
    live.act(Action::PowerCut).unwrap();
    live.act(Action::PowerOn).unwrap();
    client.is_all(2);
    live.shut_down();
    drop((client, live));
    let medium = Files::open(&paths.into_iter().map(Some).collect::<Vec<_>>()).unwrap();
    let live = Live::open(Medium::Outside(Box::new(medium)), start).unwrap();
    Client::new(&live).is_all(2);
}
