//! Ctrl-C. The first asks the run to stop, so that it can print what it has; the second ends the program.

use crate::call;
use crate::error::StreamFailure;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of a command that Ctrl-C stopped: 128 + SIGINT.
pub const EXIT_CODE: u8 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Listens from now on. To be called once; in a call, the caller listens.
pub fn listen() -> Result<(), StreamFailure> {
    if call::current().is_some() {
        return Ok(());
    }
    Ok(ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(EXIT_CODE.into());
        }
    })?)
}

/// Listens from now on, and never ends the program: what it has started must be stopped and removed. To be called once;
/// in a call, the caller listens.
pub fn listen_patiently() -> Result<(), StreamFailure> {
    if call::current().is_some() {
        return Ok(());
    }
    Ok(ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            eprintln!("flashrig: is stopping what it has started, and removing what it has made");
        }
    })?)
}

/// Whether Ctrl-C was pressed.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
