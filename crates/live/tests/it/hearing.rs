//! A thread that hears slow media for several clients.

use crate::files::Card;
use live::{Bell, Ear, Hearer, Live, Port, Reply, Request};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const BLOCK: u32 = 8 << 10;
const BLOCKS: u64 = 256;
/// The distance of blocks: they lie in all shards.
const DISTANCE: u64 = 64 << 10;

#[derive(Default)]
struct Rings(AtomicBool);

impl Bell for Rings {
    fn ring(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

struct Client {
    port: Port,
    rings: Arc<Rings>,
    ears: Vec<Arc<Ear>>,
    replies: Vec<Reply>,
}

impl Client {
    fn new(live: &Live, hearer: Hearer) -> Client {
        let rings = Arc::<Rings>::default();
        let mut port = live.port(Arc::clone(&rings) as Arc<dyn Bell>);
        let ears = port.listen(hearer);
        Client { port, rings, ears, replies: Vec::new() }
    }

    /// Takes the replies that the bell has rung for.
    fn look(&mut self) {
        if self.rings.0.swap(false, Ordering::SeqCst) {
            self.port.replies(&mut self.replies);
        }
    }
}

/// Waits as the one thread of all clients, and has the client in a place hear the media, until each has so many replies.
fn wait(clients: &mut [Client], hears: usize, count: usize) {
    let began = Instant::now();
    while clients.iter().any(|client| client.replies.len() < count) {
        assert!(began.elapsed() < Duration::from_secs(20), "no reply");
        let ears = clients[hears].ears.clone();
        let heard: Vec<usize> = (0..ears.len()).filter(|shard| ears[*shard].hears()).collect();
        let mut fds: Vec<PollFd> = heard.iter().map(|shard| PollFd::new(&*ears[*shard], PollFlags::IN)).collect();
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 2_000_000 })).unwrap();
        let Client { port, replies, .. } = &mut clients[hears];
        heard.into_iter().for_each(|shard| port.hear(shard, replies));
        clients.iter_mut().for_each(Client::look);
    }
}

fn bytes(at: u64, round: u8) -> Vec<u8> {
    (0..BLOCK).map(|byte| (byte as u64 * 7 + at * 31) as u8 ^ round).collect()
}

#[test]
fn a_thread_hears_for_all_of_its_clients_what_it_has_handed_over_together() {
    for shards in [1, 3] {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (_, live) = Card::new(dir.path(), shards);
        let hearer = Hearer::new();
        let mut clients: Vec<Client> = (0..4).map(|_| Client::new(&live, hearer)).collect();
        for shard in 0..shards as usize {
            assert!(clients.iter().all(|client| Arc::ptr_eq(&client.ears[shard], &clients[0].ears[shard])));
        }
        // Each writes its own blocks and has them flushed; the last one's flush covers what the others have written.
        for (client, of) in (0..).zip(&mut clients) {
            let written: Vec<(u64, Vec<u8>)> =
                (client..BLOCKS).step_by(4).map(|at| (at * DISTANCE, bytes(at, 0))).collect();
            let writes = (0..).zip(&written).map(|(tag, (place, bytes))| Request::write(tag, *place, bytes));
            of.port.submit_more(&writes.collect::<Vec<_>>(), &mut of.replies);
            of.port.submit_more(&[Request::flush(999)], &mut of.replies);
        }
        assert!(clients[0].ears.iter().all(|ear| ear.owes()));
        let Client { port, replies, ears, .. } = &mut clients[1];
        (0..ears.len()).for_each(|shard| port.hear(shard, replies));
        assert!(!ears.iter().any(|ear| ear.owes()));
        let all = BLOCKS as usize / 4 + 1;
        wait(&mut clients, 1, all);
        for client in &mut clients {
            assert!(client.replies.len() == all && client.replies.drain(..).all(|reply| reply.result.is_ok()));
        }
        // Reads of all are with the disk together. The one that hears has none of its own.
        for (client, of) in (0..3).zip(&mut clients) {
            let reads = (client..BLOCKS).step_by(4).map(|at| Request::read(at, at * DISTANCE, BLOCK));
            of.port.submit_more(&reads.collect::<Vec<_>>(), &mut of.replies);
        }
        let Client { port, replies, ears, .. } = &mut clients[3];
        assert!(ears.iter().all(|ear| ear.hears()));
        (0..ears.len()).for_each(|shard| port.hear(shard, replies));
        wait(&mut clients[..3], 2, all - 1);
        for client in &mut clients[..3] {
            assert_eq!(client.replies.len(), all - 1);
            for reply in client.replies.drain(..) {
                assert!(reply.result.unwrap().to_vec() == bytes(reply.tag, 0), "block {}", reply.tag);
            }
        }
        assert!(!clients[0].ears.iter().any(|ear| ear.hears()), "nobody waits");
        // One that leaves with requests in flight takes nothing of the others along.
        for of in &mut clients {
            let reads = (0..16).map(|at| Request::read(at, at * DISTANCE, BLOCK));
            of.port.submit(&reads.collect::<Vec<_>>(), &mut of.replies);
        }
        clients.remove(0);
        wait(&mut clients, 0, 16);
        // One that goes to another thread hears there, and the card's own thread for those that have gone to sleep.
        let reads: Vec<Request> = (0..16).map(|at| Request::read(at, at * DISTANCE, BLOCK)).collect();
        for of in &mut clients {
            of.replies.clear();
            of.port.submit(&reads, &mut of.replies);
        }
        let mut gone = clients.remove(0);
        gone.ears = gone.port.listen(Hearer::new());
        assert!(!Arc::ptr_eq(&gone.ears[0], &clients[0].ears[0]));
        wait(std::slice::from_mut(&mut gone), 0, 16);
        wait(&mut clients, 0, 16);
    }
}
