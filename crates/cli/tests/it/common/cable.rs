//! A cable between two hosts, which can be unplugged: what was sent meanwhile arrives when it is plugged in again.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// See the module.
pub struct Cable {
    pub address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    is_unplugged: AtomicBool,
    is_gone: AtomicBool,
}

impl State {
    /// Waits until it is plugged in; `false`: it is gone.
    fn carries(&self) -> bool {
        while self.is_unplugged.load(Ordering::SeqCst) && !self.is_gone.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        !self.is_gone.load(Ordering::SeqCst)
    }

    fn carry(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = vec![0; 256 << 10];
        while let Ok(count) = from.read(&mut bytes)
            && count > 0
            && self.carries()
            && to.write_all(&bytes[..count]).is_ok()
        {}
        let _ = to.shutdown(std::net::Shutdown::Both);
        let _ = from.shutdown(std::net::Shutdown::Both);
    }
}

impl Cable {
    pub fn to(address: &str) -> Cable {
        let far: SocketAddr = address.parse().unwrap();
        let near = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, state) = (near.local_addr().unwrap(), Arc::new(State::default()));
        let of_thread = Arc::clone(&state);
        std::thread::spawn(move || {
            while let Ok((from, _)) = near.accept() {
                let state = Arc::clone(&of_thread);
                std::thread::spawn(move || {
                    if !state.carries() {
                        return;
                    }
                    let Ok(to) = TcpStream::connect(far) else { return };
                    let _ = (from.set_nodelay(true), to.set_nodelay(true));
                    let (back_from, back_to) = (to.try_clone().unwrap(), from.try_clone().unwrap());
                    let back = Arc::clone(&state);
                    std::thread::spawn(move || back.carry(back_from, back_to));
                    state.carry(from, to);
                });
            }
        });
        Cable { address, state }
    }

    pub fn unplug(&self, is_unplugged: bool) {
        self.state.is_unplugged.store(is_unplugged, Ordering::SeqCst);
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.state.is_gone.store(true, Ordering::SeqCst);
    }
}
