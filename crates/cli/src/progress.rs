//! A progress bar, for work that takes long enough to want one.
//!
//! The thread that works only stores numbers; another one paints. Nothing is painted during the first two seconds, nor
//! when nobody looks.

use crate::cancel;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use target::Progress;

const QUIET: Duration = Duration::from_secs(2);
const REPAINT: Duration = Duration::from_millis(100);

/// Progress on standard error, and Ctrl-C.
pub struct Watch {
    shared: Arc<Shared>,
    painter: Option<JoinHandle<()>>,
    stopped: AtomicBool,
}

#[derive(Default)]
struct Shared {
    done: AtomicU64,
    phase: Mutex<Phase>,
    /// Wakes the painter when the work is over.
    over: Condvar,
}

#[derive(Clone)]
struct Phase {
    number: u32,
    name: String,
    total: u64,
    began: Instant,
    over: bool,
}

impl Default for Phase {
    fn default() -> Phase {
        Phase { number: 0, name: String::new(), total: 0, began: Instant::now(), over: false }
    }
}

impl Phase {
    /// If it goes on as it went so far.
    fn time_left(&self, done: u64) -> Option<Duration> {
        let share = done.min(self.total) as f64 / self.total as f64;
        Duration::try_from_secs_f64(self.began.elapsed().as_secs_f64() * (1.0 - share) / share).ok()
    }
}

impl Watch {
    /// A bar if standard error is a terminal, else only an ear for Ctrl-C.
    pub fn new() -> Watch {
        let shared = Arc::new(Shared::default());
        let painter = stderr().is_terminal().then(|| {
            let shared = shared.clone();
            std::thread::spawn(move || paint(&shared))
        });
        Watch { shared, painter, stopped: AtomicBool::new(false) }
    }

    /// The work saw that it should stop: its result is only a part.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Default for Watch {
    fn default() -> Watch {
        Watch::new()
    }
}

impl Progress for Watch {
    fn begin(&self, phase: &str, total: u64) {
        let mut current = self.shared.phase.lock().expect("the painter does not panic");
        self.shared.done.store(0, Ordering::Relaxed);
        let (number, began) = (current.number + 1, Instant::now());
        *current = Phase { number, name: phase.to_owned(), total, began, over: false };
    }

    fn step(&self, what: &str) {
        what.clone_into(&mut self.shared.phase.lock().expect("the painter does not panic").name);
    }

    fn at(&self, done: u64) {
        self.shared.done.store(done, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        let requested = cancel::requested();
        if requested {
            self.stopped.store(true, Ordering::Relaxed);
        }
        requested
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Ok(mut phase) = self.shared.phase.lock() {
            phase.over = true;
        }
        self.shared.over.notify_all();
        if let Some(painter) = self.painter.take() {
            // The bar must be gone before the result is printed. A painter that died has nothing to clear.
            let _ = painter.join();
        }
    }
}

fn paint(shared: &Shared) {
    let started = Instant::now();
    let mut bar: Option<(u32, ProgressBar)> = None;
    let Ok(mut phase) = shared.phase.lock() else { return };
    while !phase.over {
        if started.elapsed() >= QUIET && phase.number > 0 {
            if bar.as_ref().is_none_or(|(number, _)| *number != phase.number) {
                if let Some((_, old)) = bar.take() {
                    old.finish_and_clear();
                }
                bar = Some((phase.number, new_bar(&phase)));
            }
            if let Some((_, bar)) = &bar {
                let done = shared.done.load(Ordering::Relaxed).min(phase.total);
                bar.set_position(done);
                let left = phase.time_left(done).map(|left| format!(", {} left", rough(left)));
                bar.set_prefix(left.unwrap_or_default());
                bar.set_message(phase.name.clone());
            }
        }
        let Ok((next, _)) = shared.over.wait_timeout(phase, REPAINT) else { return };
        phase = next;
    }
    if let Some((_, bar)) = bar {
        bar.finish_and_clear();
    }
}

/// `40 s`, `7 min`, `2 h 5 min`: nobody wants the seconds of hours.
fn rough(left: Duration) -> String {
    match left.as_secs_f64().ceil() as u64 {
        s @ 0..120 => format!("{s} s"),
        s @ 120..7200 => format!("{} min", s.div_ceil(60)),
        s => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

fn new_bar(phase: &Phase) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(phase.total), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} %{prefix}");
    bar.set_style(style.expect("a constant template").progress_chars("=> "));
    bar.set_message(phase.name.clone());
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_known_only_when_something_is_done() {
        let began = Instant::now().checked_sub(Duration::from_secs(10)).expect("the machine runs for ten seconds");
        let phase = |total| Phase { total, began, ..Phase::default() };
        assert_eq!(phase(100).time_left(0), None);
        assert_eq!(phase(0).time_left(0), None);
        let left = phase(100).time_left(20).unwrap();
        assert!((39.9..41.0).contains(&left.as_secs_f64()), "{left:?}");
        assert_eq!(phase(100).time_left(200).unwrap(), Duration::ZERO);
    }
}
