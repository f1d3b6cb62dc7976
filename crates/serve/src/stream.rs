//! The socket of a client, plain or with TLS.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use rustls::ServerConnection;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

/// Replies that a client has not taken, in bytes, beyond which no more of its requests are taken.
pub(crate) const MAX_UNSENT_BYTES: usize = 8 << 20;

pub(crate) struct Stream {
    socket: Arc<OwnedFd>,
    tls: Option<Box<ServerConnection>>,
}

/// The outcome of receiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Bytes(usize),
    /// No bytes have arrived yet.
    Nothing,
    /// The client sends no more bytes.
    End,
}

/// The socket, as rustls needs it.
struct Raw<'a>(&'a OwnedFd);

impl Read for Raw<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(recv(self.0, buffer, RecvFlags::DONTWAIT).map(|(bytes, _)| bytes)?)
    }
}

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self.0, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream {
    pub fn new(socket: Arc<OwnedFd>) -> Stream {
        Stream { socket, tls: None }
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Receives the bytes that have arrived. With `waits`, waits until there are some or the socket is shut down.
    pub fn receive(&mut self, buffer: &mut [u8], waits: bool) -> io::Result<Received> {
        let Some(tls) = &mut self.tls else {
            let flags = if waits { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
            return match recv(&*self.socket, buffer, flags) {
                Ok((0, _)) => Ok(Received::End),
                Ok((bytes, _)) => Ok(Received::Bytes(bytes)),
                Err(Errno::AGAIN | Errno::INTR) => Ok(Received::Nothing),
                Err(error) => Err(error.into()),
            };
        };
        loop {
            match tls.reader().read(buffer) {
                // Only a client that sends a close notification has ended; a client that was cut off is an error.
                Ok(0) => return Ok(Received::End),
                Ok(bytes) => return Ok(Received::Bytes(bytes)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            match tls.read_tls(&mut Raw(&self.socket)) {
                Ok(0) => return Ok(Received::End),
                Ok(_) => {
                    tls.process_new_packets().map_err(io::Error::other)?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && waits => {
                    readable(self.socket.as_fd(), None)?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Received::Nothing),
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends as many bytes as the socket takes now, and returns their number. With TLS some of them may wait here: see
    /// [`Stream::has_unsent`].
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return match send(&*self.socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) => Ok(sent),
                Err(Errno::AGAIN | Errno::INTR) => Ok(0),
                Err(error) => Err(error.into()),
            };
        };
        let taken = tls.writer().write(bytes)?;
        self.send_tls()?;
        Ok(taken)
    }

    fn send_tls(&mut self) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        while tls.wants_write() {
            match tls.write_tls(&mut Raw(&self.socket)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether bytes that were taken are not sent yet.
    pub fn has_unsent(&mut self) -> io::Result<bool> {
        self.send_tls()?;
        Ok(self.tls.as_ref().is_some_and(|tls| tls.wants_write()))
    }

    /// Negotiates TLS until `deadline`.
    pub fn start_tls(&mut self, config: &Arc<rustls::ServerConfig>, deadline: Instant) -> io::Result<()> {
        let mut tls = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        // The bytes that a client has not taken are bounded as without TLS.
        tls.set_buffer_limit(Some(MAX_UNSENT_BYTES));
        let mut raw = Raw(&self.socket);
        while tls.is_handshaking() || tls.wants_write() {
            let outcome = if tls.wants_write() { tls.write_tls(&mut raw) } else { tls.read_tls(&mut raw) };
            match outcome {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {
                    if let Err(error) = tls.process_new_packets() {
                        // The alert tells the client the reason, if it arrives.
                        let _ = tls.write_tls(&mut raw);
                        return Err(io::Error::other(error));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let flags = if tls.wants_write() { PollFlags::OUT } else { PollFlags::IN };
                    if !wait(&mut [PollFd::from_borrowed_fd(self.socket.as_fd(), flags)], Some(deadline))? {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        self.tls = Some(Box::new(tls));
        Ok(())
    }

    /// Says that nothing more is sent, and takes what the client still sends, until it ends or the time is over.
    pub fn last_words(&mut self, deadline: Instant) {
        let _ = shutdown(&*self.socket, Shutdown::Write);
        let mut rest = [0; 4096];
        while readable(self.socket.as_fd(), Some(deadline)).unwrap_or(false) && Instant::now() < deadline {
            match self.receive(&mut rest, false) {
                Ok(Received::Bytes(_) | Received::Nothing) => {}
                Ok(Received::End) | Err(_) => return,
            }
        }
    }

    /// Closes the stream, with a close notification of TLS.
    pub fn close(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            let _ = self.send_tls();
        }
        let _ = shutdown(&*self.socket, Shutdown::Both);
    }
}

fn readable(fd: BorrowedFd, deadline: Option<Instant>) -> io::Result<bool> {
    wait(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], deadline)
}

/// Waits for one of several descriptors. `false` if the deadline came first.
pub(crate) fn wait(fds: &mut [PollFd], deadline: Option<Instant>) -> io::Result<bool> {
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timeout = left.map(|left| Timespec {
            tv_sec: left.as_secs().min(i32::MAX as u64) as i64,
            tv_nsec: left.subsec_nanos().into(),
        });
        match poll(fds, timeout.as_ref()) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
