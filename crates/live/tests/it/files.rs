//! A live card whose modules lie in files.

use files::{Files, Options};
use live::{Action, Bell, Ear, Hearer, Live, Port, Reply, Request, Start, Timing, on_files};
use media::Medium;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

struct Rings(SyncSender<()>);

impl Bell for Rings {
    fn ring(&self) {
        let _ = self.0.try_send(());
    }
}

/// It hears the medium itself where it may.
pub struct Client {
    port: Port,
    rings: Receiver<()>,
    media: Vec<Arc<Ear>>,
}

impl Client {
    fn new(live: &Live) -> Client {
        let (sender, rings) = sync_channel(1);
        Client { port: live.port(Arc::new(Rings(sender))), rings, media: Vec::new() }
    }

    pub fn of_volume(live: &Live, id: u32) -> Client {
        let (sender, rings) = sync_channel(1);
        let port = live.volume_port(id, Arc::new(Rings(sender))).expect("it is there");
        Client { port, rings, media: Vec::new() }.that_listens(live)
    }

    pub fn listening(live: &Live) -> Client {
        Client::new(live).that_listens(live)
    }

    fn that_listens(self, live: &Live) -> Client {
        let mut client = self;
        client.media = client.port.listen(Hearer::new());
        assert_eq!(client.media.len(), live.shards() as usize);
        client
    }

    pub fn call(&mut self, request: Request) -> Reply {
        self.ask(&[request]).pop().expect("one")
    }

    /// Asks for all at once, and waits for a reply to each.
    pub fn ask(&mut self, requests: &[Request]) -> Vec<Reply> {
        let replies = self.begin(requests);
        self.wait(replies, requests.len())
    }

    /// Asks for all at once; the replies that are there already.
    pub fn begin(&mut self, requests: &[Request]) -> Vec<Reply> {
        let mut replies = Vec::new();
        self.port.submit(requests, &mut replies);
        replies
    }

    /// Waits until there are so many replies.
    pub fn wait(&mut self, mut replies: Vec<Reply>, count: usize) -> Vec<Reply> {
        let began = Instant::now();
        while replies.len() < count {
            assert!(began.elapsed() < Duration::from_secs(20), "no reply");
            let heard = self.heard();
            if heard.is_empty() {
                let _ = self.rings.recv_timeout(Duration::from_secs(20));
                self.port.replies(&mut replies);
                continue;
            }
            let mut fds: Vec<PollFd> =
                heard.iter().map(|shard| PollFd::new(&*self.media[*shard], PollFlags::IN)).collect();
            // Short, because the bell may ring meanwhile.
            poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 5_000_000 })).unwrap();
            heard.into_iter().for_each(|shard| self.port.hear(shard, &mut replies));
            self.port.replies(&mut replies);
        }
        replies
    }

    /// The shards whose media this client hears.
    pub fn heard(&self) -> Vec<usize> {
        (0..self.media.len()).filter(|shard| self.media[*shard].hears()).collect()
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

/// A card in files of a folder.
pub struct Card {
    paths: Vec<PathBuf>,
    shards: u32,
    start: Start,
}

impl Card {
    pub fn new(dir: &Path, shards: u32) -> (Card, Live) {
        let bytes = Live::shard_bytes(SIZE, shards);
        let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(bytes)).unwrap();
        let config = on_files(&config);
        let paths: Vec<PathBuf> = (0..16).map(|slot| dir.join(format!("module-{slot}"))).collect();
        let media = Files::create_shards(card::shape(&config), shards, &paths, &Options::default()).unwrap();
        let start = Start { config, timing: Timing::None, id: Some(format::CardId([7; 16])), seed: 1, explains: true };
        let live = Live::format_shards(media.into_iter().map(medium).collect(), &start, SIZE).unwrap();
        (Card { paths, shards, start }, live)
    }

    pub fn open(&self) -> Live {
        let paths: Vec<_> = self.paths.iter().cloned().map(Some).collect();
        let media = Files::open_shards(&paths, self.shards).unwrap();
        Live::open_shards(media.into_iter().map(medium).collect(), &self.start, SIZE).unwrap()
    }
}

fn medium(files: Files) -> Medium {
    Medium::Outside(Box::new(files))
}

#[test]
fn a_module_that_was_away_is_filled_again_while_nobody_asks() {
    for shards in [1, 3] {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (mut card, mut live) = Card::new(dir.path(), shards);
        let mut client = if shards == 1 { Client::new(&live) } else { Client::listening(&live) };
        client.write_all(1);
        live.act(Action::Pull { slot: 3, force: false }).unwrap();
        client.is_all(1);
        client.write_all(2);
        assert!(live.module_paths()[3].is_none());
        live.act(Action::Insert { slot: 3, new: false }).unwrap();
        assert!(live.act(Action::Insert { slot: 3, new: false }).is_err());
        is_whole(&live);
        client.is_all(2);
        // And another, with nothing written while it is away.
        live.act(Action::Pull { slot: 5, force: false }).unwrap();
        live.act(Action::Insert { slot: 5, new: false }).unwrap();
        is_whole(&live);
        client.is_all(2);
        // A module that is there is refused, and a new one has a region for each shard.
        live.act(Action::Pull { slot: 5, force: false }).unwrap();
        assert!(live.insert_new(5, &card.paths[5]).is_err());
        let new = dir.path().join("new");
        live.insert_new(5, &new).unwrap();
        card.paths[5] = new;
        is_whole(&live);
        client.is_all(2);
        // A power cut and an orderly end are told apart by what is found.
        live.act(Action::PowerCut).unwrap();
        live.act(Action::PowerOn).unwrap();
        client.is_all(2);
        client.write_all(3);
        live.shut_down();
        drop((client, live));
        let live = card.open();
        Client::new(&live).is_all(3);
    }
}
