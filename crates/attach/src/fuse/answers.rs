//! The thread that replies to what the card answers later.
//!
//! Waking a thread costs more than most requests do. Where the card's modules are files, this thread hears them itself: a
//! request wakes the thread that takes it from the kernel, and this one when the disk has answered.

use crate::fuse::bell::{LaneBell, MountBell};
use crate::fuse::lane::Lane;
use live::{Ear, Hearer, Live};
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

/// All lanes, and their thread, which ends when this is dropped.
pub(in crate::fuse) struct Answers {
    pub lanes: Arc<[Lane]>,
    bell: Arc<MountBell>,
    thread: Option<JoinHandle<()>>,
}

impl Answers {
    /// Ways to the card for so many threads that take requests from the kernel. A slow medium has one way for all of them.
    pub fn new(live: &Live, volume: Option<u32>, threads: usize) -> io::Result<Answers> {
        let bell = MountBell::new(threads)?;
        let port = |lane| {
            let bell = Arc::new(LaneBell { bell: Arc::clone(&bell), lane });
            let port = match volume {
                None => Some(live.port(bell)),
                Some(id) => live.volume_port(id, bell),
            };
            // A volume was deleted since it was asked for.
            port.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
        };
        let mut first = port(0)?;
        let media = first.listen(Hearer::new());
        let mut lanes = vec![Lane::new(first, media.clone(), &bell)];
        if media.is_empty() {
            for lane in 1..threads {
                lanes.push(Lane::new(port(lane)?, Vec::new(), &bell));
            }
        }
        let lanes: Arc<[Lane]> = lanes.into();
        let (for_thread, lanes_of_thread) = (Arc::clone(&bell), Arc::clone(&lanes));
        let thread = std::thread::Builder::new()
            .name("fuse-answers".into())
            .spawn(move || run(&for_thread, &lanes_of_thread, &media))?;
        Ok(Answers { lanes, bell, thread: Some(thread) })
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.bell.stop();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is its own message.
            let _ = thread.join();
        }
    }
}

/// `media` are those of the first lane, by shard.
fn run(bell: &MountBell, lanes: &[Lane], media: &[Arc<Ear>]) {
    let mut readable = Vec::new();
    while !bell.stops() {
        let watched: Vec<usize> = lanes[0].watched();
        let of_shards: Vec<(usize, &Ear)> = watched.iter().map(|shard| (*shard, &*media[*shard])).collect();
        if bell.wait(&of_shards, &mut readable).is_err() {
            // Without memory to wait with, the card is asked at once.
            readable.extend(&watched);
        }
        (0..lanes.len()).filter(|lane| bell.rang_for(*lane)).for_each(|lane| lanes[lane].answered());
        readable.drain(..).for_each(|shard| lanes[0].hear(shard));
    }
}
