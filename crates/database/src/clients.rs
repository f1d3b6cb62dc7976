//! Sessions of our own: connected one after the other, released together, stopped together.

use crate::DatabaseError;
use postgres::{Client, Config, NoTls};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use target::Progress;

/// Between two looks at whether it is over.
const TICK: Duration = Duration::from_millis(100);

/// Signals to a session.
pub(crate) struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    over: AtomicBool,
}

impl Gate {
    /// Returns whether sessions are to stop.
    pub fn over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn wait(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(open, |open| !*open).unwrap_or_else(PoisonError::into_inner));
    }

    fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }
}

/// Runs sessions for so many seconds. `setup` prepares a session's connection, `work` is what it does until the gate
/// says that it is over; `tick` is called ten times a second meanwhile. A session that fails ends all.
pub(crate) fn together<S: Send, T: Send>(
    config: &Config,
    sessions: u32,
    seconds: f64,
    progress: &dyn Progress,
    setup: impl Fn(u32, &mut Client) -> Result<S, DatabaseError>,
    work: impl Fn(u32, &mut Client, S, &Gate) -> Result<T, DatabaseError> + Sync,
    mut tick: impl FnMut() -> Result<(), DatabaseError>,
) -> Result<Vec<T>, DatabaseError> {
    let mut ready = Vec::new();
    for number in 0..sessions {
        let mut client = config.connect(NoTls).map_err(DatabaseError::sql("connecting"))?;
        let state = setup(number, &mut client)?;
        ready.push((number, client, state));
        if progress.cancelled() {
            return Err(DatabaseError::Cancelled);
        }
    }
    let gate = Gate { open: Mutex::new(false), opened: Condvar::new(), over: AtomicBool::new(false) };
    let (done, ticked) = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        let mut ticked = Ok(());
        for (number, mut client, state) in ready {
            let (gate, work) = (&gate, &work);
            let session = move || {
                gate.wait();
                let done = work(number, &mut client, state, gate);
                if done.is_err() {
                    gate.over.store(true, Ordering::Relaxed);
                }
                done
            };
            // A machine may refuse so many threads: those that there are must not wait for the others.
            match std::thread::Builder::new().spawn_scoped(scope, session) {
                Ok(thread) => threads.push(thread),
                Err(error) => ticked = Err(DatabaseError::io("a session's thread")(error)),
            }
        }
        gate.open();
        let began = Instant::now();
        while began.elapsed().as_secs_f64() < seconds && !gate.over() && !progress.cancelled() && ticked.is_ok() {
            let left = Duration::try_from_secs_f64(seconds - began.elapsed().as_secs_f64()).unwrap_or_default();
            std::thread::sleep(TICK.min(left));
            ticked = tick();
        }
        gate.over.store(true, Ordering::Relaxed);
        let done: Vec<Result<T, DatabaseError>> =
            threads.into_iter().map(|thread| thread.join().expect("a session does not panic")).collect();
        (done, ticked)
    });
    if progress.cancelled() {
        return Err(DatabaseError::Cancelled);
    }
    ticked?;
    done.into_iter().collect()
}

/// A long statement that Ctrl-C ends.
pub(crate) fn execute(
    client: &mut Client,
    what: &str,
    sql: &str,
    progress: &dyn Progress,
) -> Result<(), DatabaseError> {
    let token = client.cancel_token();
    let over = AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                if progress.cancelled() {
                    // If it does not hear, the server is stopped later.
                    let _ = token.cancel_query(NoTls);
                }
                std::thread::park_timeout(TICK);
            }
        });
        let done = client.batch_execute(sql);
        over.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        done
    });
    if progress.cancelled() {
        return Err(DatabaseError::Cancelled);
    }
    done.map_err(DatabaseError::sql(what))
}
