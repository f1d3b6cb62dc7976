//! One command, on a thread of its own, while the interpreter goes on.

use cli::{Answer, Call, Position, Refused};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::any::Any;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time between two looks at signals: Ctrl-C is heard within it.
const LOOK: Duration = Duration::from_millis(20);
/// Time between two calls of a listener.
const TELL: Duration = Duration::from_millis(100);
/// As large as that of a program's first thread, on which the command runs.
const STACK_BYTES: usize = 8 << 20;

type Outcome = Result<Result<Answer, Refused>, Box<dyn Any + Send>>;

/// Carries out a command and returns its exit code, what it printed, what it noted beside that, and whether Ctrl-C
/// stopped it. `listener` is told the name of the work, how much of it is done, and how much there is. `exchange` divides the
/// simulations of a fit with other processes: it takes a question and returns an answer, both JSON, or None.
///
/// Raises ValueError with the command's line where it is refused, and RuntimeError where Flashrig has a bug.
#[pyfunction]
#[pyo3(signature = (words, listener=None, exchange=None))]
pub fn call(
    py: Python<'_>,
    words: Vec<OsString>,
    listener: Option<Py<PyAny>>,
    exchange: Option<Py<PyAny>>,
) -> PyResult<(u8, String, String, bool)> {
    let call = Arc::new(exchange.map_or_else(Call::default, |exchange| {
        // Where it raises, nobody answers, and the work is done here.
        let ask = move |question: &str| {
            Python::attach(|py| exchange.call1(py, (question,)).ok()?.extract::<Option<String>>(py).ok().flatten())
        };
        Call::with_others(Box::new(ask))
    }));
    let (tell, hear) = sync_channel::<Outcome>(1);
    let inside = call.clone();
    let work = move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| cli::call(words, &inside)));
        // A caller that gave up hears nothing.
        let _ = tell.send(outcome);
    };
    let thread = thread::Builder::new().name("flashrig".into()).stack_size(STACK_BYTES).spawn(work);
    thread.map_err(|error| PyRuntimeError::new_err(format!("no thread for the work: {error}")))?;
    let (outcome, interrupted) = Waiting { call: &call, hear: hear.into(), listener, told: None }.wait(py)?;
    match outcome {
        Ok(Ok(Answer { code, output })) => Ok((code, output.printed, output.noted, interrupted)),
        Ok(Err(Refused::Stopped)) => Ok((STOPPED, String::new(), String::new(), interrupted)),
        Ok(Err(Refused::Wrong(line))) => Err(PyValueError::new_err(line)),
        Err(panic) => Err(PyRuntimeError::new_err(format!("this is a bug of Flashrig: {}", words_of(&*panic)))),
    }
}

/// Exit code of a command that was stopped.
const STOPPED: u8 = 130;

struct Waiting<'a> {
    call: &'a Call,
    hear: Mutex<Receiver<Outcome>>,
    listener: Option<Py<PyAny>>,
    told: Option<(Instant, Position)>,
}

impl Waiting<'_> {
    /// Waits for the end, with the interpreter free for other threads. The first Ctrl-C asks the work to stop, the second
    /// one leaves it to itself.
    fn wait(mut self, py: Python<'_>) -> PyResult<(Outcome, bool)> {
        let mut interrupted = false;
        loop {
            let hear = &self.hear;
            match py.detach(|| hear.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK)) {
                Ok(outcome) => return Ok((outcome, interrupted)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the work's thread has gone"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(raised) = py.check_signals().and_then(|()| self.tell(py)) {
                self.call.stop();
                if interrupted || !raised.is_instance_of::<PyKeyboardInterrupt>(py) {
                    return Err(raised);
                }
                interrupted = true;
            }
        }
    }

    fn tell(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(listener) = &self.listener else { return Ok(()) };
        let Some(position) = self.call.position() else { return Ok(()) };
        if self.told.as_ref().is_some_and(|(when, last)| when.elapsed() < TELL || *last == position) {
            return Ok(());
        }
        listener.call1(py, (&position.name, position.done, position.total))?;
        self.told = Some((Instant::now(), position));
        Ok(())
    }
}

fn words_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without words")
}
