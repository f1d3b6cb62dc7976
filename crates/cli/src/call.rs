//! A command that a program calls within its own process.
//!
//! Its output is collected in place of being printed, the caller asks it to stop in place of Ctrl-C, and the caller looks at
//! its progress. No stream, signal or exit of the process is touched, so several calls may run side by side.

use crate::stage::Stage;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

thread_local! {
    static CURRENT: RefCell<Option<Arc<Call>>> = const { RefCell::new(None) };
}

/// One call, shared by the thread that carries it out and whoever waits for it.
#[derive(Default)]
pub struct Call {
    stopped: AtomicBool,
    output: Mutex<Output>,
    stage: Mutex<Option<Arc<Stage>>>,
    exchange: Option<Box<Exchange>>,
}

/// Divides the simulations of a fit with other processes that carry out the same: see [`study::fit::Exchange`].
pub type Exchange = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The texts that a command would print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Standard output of the command.
    pub printed: String,
    /// Standard error of the command, but for its own failure.
    pub noted: String,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Grows with each piece of work.
    pub number: u32,
    /// Name of the work, in a few words.
    pub name: String,
    /// Units of work that are done.
    pub done: u64,
    /// Units of the whole piece of work.
    pub total: u64,
}

impl Call {
    /// A call whose work is divided with other processes, where it can be.
    pub fn with_others(exchange: Box<Exchange>) -> Call {
        Call { exchange: Some(exchange), ..Call::default() }
    }

    pub(crate) fn shares(&self) -> bool {
        self.exchange.is_some()
    }

    pub(crate) fn share(&self, question: &str) -> Option<String> {
        self.exchange.as_ref().and_then(|exchange| exchange(question))
    }

    /// Asks the command to stop; what it has until then is still its result.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns whether the caller asked the command to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Returns how far the command is, once it has begun something that takes time.
    pub fn position(&self) -> Option<Position> {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let phase = stage.phase();
        let position = Position {
            number: phase.number,
            name: phase.name.clone(),
            done: stage.done().min(phase.total),
            total: phase.total,
        };
        (position.number > 0).then_some(position)
    }

    /// The stage of the work that begins now.
    pub(crate) fn shows(&self, stage: &Arc<Stage>) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some(stage.clone());
    }

    pub(crate) fn print(&self, text: &str) {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).printed.push_str(text);
    }

    pub(crate) fn note(&self, line: &str) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.noted.push_str(line);
        output.noted.push('\n');
    }

    pub(crate) fn take_output(&self) -> Output {
        std::mem::take(&mut self.output.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes `work` the work of this call: what it prints on this thread goes to the call.
    pub(crate) fn carry_out<T>(self: &Arc<Call>, work: impl FnOnce() -> T) -> T {
        struct Before(Option<Arc<Call>>);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let _before = Before(CURRENT.replace(Some(self.clone())));
        work()
    }
}

/// Returns the call that this thread carries out; none in the command itself.
pub(crate) fn current() -> Option<Arc<Call>> {
    CURRENT.with_borrow(Clone::clone)
}
