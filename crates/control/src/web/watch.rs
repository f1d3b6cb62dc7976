//! The thread that looks at the cards once a second, and those who are told.

use super::happenings::{Happening, changes};
use super::history::{History, Seen};
use super::row::Row;
use super::standing::Standing;
use crate::served::Served;
use axum::body::Bytes;
use live::Snapshot;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Viewers at once.
pub(crate) const MOST_VIEWERS: usize = 64;
/// Messages that a viewer may be behind; then it is let go, and gets everything when it comes again.
const MOST_BEHIND: usize = 16;
const SECOND: Duration = Duration::from_secs(1);

/// The seconds that were seen, and the viewers who are told.
pub(crate) struct Watch {
    kept: Mutex<Kept>,
    ends: AtomicBool,
}

struct Kept {
    history: History,
    viewers: Vec<Sender<Bytes>>,
}

impl Watch {
    /// Another viewer: the receiver of its messages, the first of which is all that is kept. `None`: there are as many as
    /// may be.
    pub fn join(&self) -> Option<Receiver<Bytes>> {
        let mut kept = self.kept();
        kept.viewers.retain(|viewer| !viewer.is_closed());
        if kept.viewers.len() == MOST_VIEWERS {
            return None;
        }
        let (sender, receiver) = channel(MOST_BEHIND);
        sender.try_send(kept.history.whole()).expect("it has room");
        kept.viewers.push(sender);
        Some(receiver)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, seen: &[Seen], happenings: Vec<Happening>) {
        let mut kept = self.kept();
        let message = kept.history.add(seen, happenings);
        kept.viewers.retain(|viewer| viewer.try_send(message.clone()).is_ok());
    }
}

/// The thread that looks. It ends when this is dropped.
pub(crate) struct Watcher {
    pub watch: Arc<Watch>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    pub fn begin(served: Vec<Served>) -> io::Result<Watcher> {
        let kept = Kept { history: History::new(&served), viewers: Vec::new() };
        let watch = Arc::new(Watch { kept: Mutex::new(kept), ends: AtomicBool::new(false) });
        let for_thread = Arc::clone(&watch);
        let look = move || look_on(&served, &for_thread);
        let thread = std::thread::Builder::new().name("live view".into()).spawn(look)?;
        Ok(Watcher { watch, thread: Some(thread) })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.watch.ends.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of the thread is its own message.
            let _ = thread.join();
        }
        self.watch.kept().viewers.clear();
    }
}

/// A card at the moment when it was last looked at.
struct Look {
    at: Instant,
    snapshot: Snapshot,
    standing: Standing,
}

impl Look {
    fn at(served: &Served) -> Look {
        let snapshot = served.live.snapshot();
        let standing = Standing::of(served, &snapshot);
        Look { at: Instant::now(), snapshot, standing }
    }
}

fn look_on(served: &[Served], watch: &Watch) {
    let mut before: Vec<Look> = served.iter().map(Look::at).collect();
    let mut next = Instant::now() + SECOND;
    while !watch.ends.load(Ordering::SeqCst) {
        let now = Instant::now();
        if now < next {
            std::thread::park_timeout(next - now);
            continue;
        }
        // Seconds that were missed, as while a card was started, are not made up for.
        next = (next + SECOND).max(now + SECOND / 2);
        let t = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_millis() as u64;
        let (mut seen, mut happenings) = (Vec::new(), Vec::new());
        for (card, (served, before)) in served.iter().zip(&mut before).enumerate() {
            let look = Look::at(served);
            let row = Row::of(&before.snapshot, &look.snapshot, look.at - before.at, t);
            served.live.slow_above(row.slow_above());
            let changes = changes(&before.standing, &look.standing);
            happenings.extend(changes.into_iter().map(|(weight, text)| Happening { t, card, weight, text }));
            seen.push(Seen { row, standing: look.standing.clone() });
            *before = look;
        }
        watch.tell(&seen, happenings);
    }
}
