//! The thread that replies to what the card answers later.

use crate::fuse::lane::Lane;
use live::{Bell, Live};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{JoinHandle, Thread};

/// The lanes that have answers, and the thread to wake for them.
#[derive(Default)]
struct Rung {
    lanes: Vec<AtomicBool>,
    stops: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Rung {
    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

struct LaneBell {
    rung: Arc<Rung>,
    lane: usize,
}

impl Bell for LaneBell {
    fn ring(&self) {
        self.rung.lanes[self.lane].store(true, Ordering::Release);
        self.rung.wake();
    }
}

/// All lanes, and their thread, which ends when this is dropped.
pub(in crate::fuse) struct Answers {
    pub lanes: Arc<[Lane]>,
    rung: Arc<Rung>,
    thread: Option<JoinHandle<()>>,
}

impl Answers {
    pub fn new(live: &Live, volume: Option<u32>, lanes: usize) -> io::Result<Answers> {
        let rung = Arc::new(Rung { lanes: (0..lanes).map(|_| AtomicBool::new(false)).collect(), ..Rung::default() });
        let lane = |lane| {
            let bell = Arc::new(LaneBell { rung: Arc::clone(&rung), lane });
            let port = match volume {
                None => Some(live.port(bell)),
                Some(id) => live.volume_port(id, bell),
            };
            // A volume was deleted since it was asked for.
            Ok(Lane::new(port.ok_or(io::ErrorKind::NotFound)?))
        };
        let lanes: Arc<[Lane]> = (0..lanes).map(lane).collect::<io::Result<Vec<Lane>>>()?.into();
        let (for_thread, lanes_of_thread) = (Arc::clone(&rung), Arc::clone(&lanes));
        let thread = std::thread::Builder::new()
            .name("fuse-answers".into())
            .spawn(move || run(&for_thread, &lanes_of_thread))?;
        // Nothing was asked yet, so nothing has rung.
        rung.thread.set(thread.thread().clone()).expect("set once");
        Ok(Answers { lanes, rung, thread: Some(thread) })
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.rung.stops.store(true, Ordering::Release);
        self.rung.wake();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is its own message.
            let _ = thread.join();
        }
    }
}

fn run(rung: &Rung, lanes: &[Lane]) {
    while !rung.stops.load(Ordering::Acquire) {
        let mut any = false;
        for (rang, lane) in rung.lanes.iter().zip(lanes) {
            if rang.swap(false, Ordering::AcqRel) {
                lane.answered();
                any = true;
            }
        }
        if !any {
            std::thread::park();
        }
    }
}
