//! The thread that asks a shelf for signs of life, so that a lost one is told from a slow drive.

use crate::nvme::Status;
use crate::nvme::initiator::Ask;
use crate::remote::link::Link;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// See the module. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Keeper {
    _stop: Sender<()>,
}

impl Keeper {
    /// Asks twice within each timeout. When an answer does not come within it, the connection of the module's requests is
    /// cut, which wakes whoever waits for one.
    pub fn start(mut admin: Link, io: &TcpStream, timeout: Duration) -> io::Result<Keeper> {
        let io = io.try_clone()?;
        let (stop, stops) = channel::<()>();
        let keep = move || {
            while stops.recv_timeout(timeout / 2) == Err(RecvTimeoutError::Timeout) {
                if !admin.ask(&Ask::keep_alive(), &[]).is_ok_and(|answered| answered.status == Status::SUCCESS) {
                    let _ = io.shutdown(Shutdown::Both);
                    return;
                }
            }
        };
        std::thread::Builder::new().name("shelf".into()).stack_size(256 << 10).spawn(keep)?;
        Ok(Keeper { _stop: stop })
    }
}
