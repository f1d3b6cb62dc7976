//! A progress bar, for work that takes long enough to want one.
//!
//! The thread that works only stores numbers; another one paints. Nothing is painted during the first two seconds, nor
//! when nobody looks. A program that called the command looks at the numbers itself.

use crate::call::{self, Call};
use crate::cancel;
use crate::stage::{Phase, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use target::Progress;

const QUIET: Duration = Duration::from_secs(2);
const REPAINT: Duration = Duration::from_millis(100);

/// Progress on standard error, and Ctrl-C; or both for the program that called.
pub struct Watch {
    stage: Arc<Stage>,
    painter: Option<JoinHandle<()>>,
    call: Option<Arc<Call>>,
    stopped: AtomicBool,
}

impl Watch {
    /// A bar if standard error is a terminal, else only an ear for Ctrl-C.
    pub fn new() -> Watch {
        let stage = Arc::new(Stage::default());
        let call = call::current();
        if let Some(call) = &call {
            call.shows(&stage);
        }
        let painter = (call.is_none() && stderr().is_terminal()).then(|| {
            let stage = stage.clone();
            std::thread::spawn(move || paint(&stage))
        });
        Watch { stage, painter, call, stopped: AtomicBool::new(false) }
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
        self.stage.begin(phase, total);
    }

    fn step(&self, what: &str) {
        self.stage.rename(what);
    }

    fn at(&self, done: u64) {
        self.stage.at(done);
    }

    fn cancelled(&self) -> bool {
        let requested = self.call.as_ref().map_or_else(cancel::requested, |call| call.is_stopped());
        if requested {
            self.stopped.store(true, Ordering::Relaxed);
        }
        requested
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stage.end();
        if let Some(painter) = self.painter.take() {
            // The bar must be gone before the result is printed. A painter that died has nothing to clear.
            let _ = painter.join();
        }
    }
}

fn paint(stage: &Stage) {
    let started = Instant::now();
    let mut bar: Option<(u32, ProgressBar)> = None;
    let mut phase = stage.phase();
    while !phase.over {
        if started.elapsed() >= QUIET && phase.number > 0 {
            if bar.as_ref().is_none_or(|(number, _)| *number != phase.number) {
                if let Some((_, old)) = bar.take() {
                    old.finish_and_clear();
                }
                bar = Some((phase.number, new_bar(&phase)));
            }
            if let Some((_, bar)) = &bar {
                let done = stage.done().min(phase.total);
                bar.set_position(done);
                let left = phase.time_left(done).map(|left| format!(", {} left", rough(left)));
                bar.set_prefix(left.unwrap_or_default());
                bar.set_message(phase.name.clone());
            }
        }
        phase = stage.wait(phase, REPAINT);
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
