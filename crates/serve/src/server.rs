//! Listens, and gives each client a thread.

use crate::connection::{Client, Ended, Waker};
use crate::registry::{ClientStatus, Registry};
use crate::stream::{Stream, wait};
use crate::tls::Security;
use crate::wire::{self, BlockSizes, Features};
use live::Live;
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags};
use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A card that clients may choose.
#[derive(Clone)]
pub struct Export {
    /// The name that they choose it by. The first one is also chosen by the empty name.
    pub name: String,
    /// What it is, for people.
    pub description: String,
    /// The card.
    pub live: Arc<Live>,
    /// Clients may only read.
    pub read_only: bool,
}

/// What clients may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Clients at once.
    pub connections: usize,
    /// To choose an export in.
    pub handshake: Duration,
    /// To go on in, in the middle of a request or of an answer.
    pub stall: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections: 512, handshake: Duration::from_secs(10), stall: Duration::from_secs(60) }
    }
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A host name or address, and a port.
    Tcp(String),
}

/// Why a text is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Neither.
    #[error("{text:?} is no address: write unix:PATH or HOST:PORT")]
    Neither {
        /// What was written.
        text: String,
    },
    /// A path that the system has no room for.
    #[error("{path:?}: paths of sockets have at most 107 bytes")]
    LongPath {
        /// The path.
        path: PathBuf,
    },
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        if let Some(path) = text.strip_prefix("unix:") {
            if path.is_empty() {
                return Err(AddressError::Neither { text: text.into() });
            }
            let path = PathBuf::from(path);
            return if path.as_os_str().len() > 107 {
                Err(AddressError::LongPath { path })
            } else {
                Ok(Address::Unix(path))
            };
        }
        match text.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(Address::Tcp(text.into())),
            _ => Err(AddressError::Neither { text: text.into() }),
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Tcp(text) => f.write_str(text),
        }
    }
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It can't listen there.
    #[error("{address}: {source}")]
    Listen {
        /// Where.
        address: Address,
        /// Why.
        source: io::Error,
    },
    /// Another server does.
    #[error("{address}: another server listens there")]
    InUse {
        /// Where.
        address: Address,
    },
    /// There is something that is no socket.
    #[error("{address}: there is a file that is no socket")]
    NoSocket {
        /// Where.
        address: Address,
    },
    /// The exports can't stand beside each other.
    #[error(transparent)]
    Exports(#[from] wire::ExportsError),
    /// The system refuses a thread or a descriptor.
    #[error("the system refuses what a server needs: {0}")]
    System(#[from] io::Error),
}

enum Listener {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
}

/// What the threads share.
pub(crate) struct Shared {
    pub exports: Vec<Export>,
    pub table: Arc<wire::Exports>,
    pub security: Security,
    pub limits: Limits,
    pub registry: Registry,
    /// Wakes those who listen when the server stops.
    stop: Arc<Waker>,
}

/// A running NBD server. It stops when it is dropped.
pub struct Server {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Where it listens; the port is the real one where 0 was asked for.
    addresses: Vec<Address>,
    sockets: Mutex<Vec<PathBuf>>,
}

/// How long clients have to take their last answers when the server stops.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

impl Server {
    /// Listens on all addresses.
    pub fn start(
        exports: Vec<Export>,
        addresses: &[Address],
        security: Security,
        limits: Limits,
    ) -> Result<Server, ServeError> {
        let table = exports.iter().map(described).collect();
        let shared = Arc::new(Shared {
            table: Arc::new(wire::Exports::new(table)?),
            exports,
            security,
            limits,
            registry: Registry::default(),
            stop: Waker::new()?,
        });
        let mut server = Server { shared, threads: Mutex::default(), addresses: Vec::new(), sockets: Mutex::default() };
        for address in addresses {
            let listener = listen(address)?;
            server.addresses.push(match &listener {
                Listener::Tcp(listener) => Address::Tcp(listener.local_addr()?.to_string()),
                Listener::Unix(..) => address.clone(),
            });
            if let Listener::Unix(_, path) = &listener {
                server.sockets.lock().push(path.clone());
            }
            let shared = Arc::clone(&server.shared);
            let thread = std::thread::Builder::new().name("nbd".into()).spawn(move || accept(&shared, &listener))?;
            server.threads.lock().push(thread);
        }
        Ok(server)
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Who is connected.
    pub fn clients(&self) -> Vec<ClientStatus> {
        self.shared.registry.status()
    }

    /// Answers what is under way, and ends.
    pub fn stop(&self) {
        self.shared.registry.stop();
        self.shared.stop.wake();
        for thread in self.threads.lock().drain(..) {
            // A panic of the thread is its own message.
            let _ = thread.join();
        }
        let deadline = Instant::now() + LAST_ANSWERS;
        while self.shared.registry.count() > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.shared.registry.cut_off();
        let deadline = Instant::now() + LAST_ANSWERS;
        while self.shared.registry.count() > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        for path in self.sockets.lock().drain(..) {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn described(export: &Export) -> wire::Export {
    wire::Export {
        name: export.name.clone(),
        description: export.description.clone(),
        size_bytes: export.live.size_bytes(),
        read_only: export.read_only,
        blocks: BlockSizes::default(),
        features: Features::ALL,
    }
}

fn listen(address: &Address) -> Result<Listener, ServeError> {
    let failed = |source| ServeError::Listen { address: address.clone(), source };
    match address {
        Address::Tcp(text) => {
            let mut resolved = text.to_socket_addrs().map_err(failed)?;
            let first = resolved.next().ok_or_else(|| failed(io::ErrorKind::AddrNotAvailable.into()))?;
            let listener = TcpListener::bind(first).map_err(failed)?;
            listener.set_nonblocking(true)?;
            Ok(Listener::Tcp(listener))
        }
        Address::Unix(path) => {
            if let Ok(found) = std::fs::symlink_metadata(path) {
                if !found.file_type().is_socket() {
                    return Err(ServeError::NoSocket { address: address.clone() });
                }
                if UnixStream::connect(path).is_ok() {
                    return Err(ServeError::InUse { address: address.clone() });
                }
                // Left behind by a server that was killed.
                std::fs::remove_file(path).map_err(failed)?;
            }
            let listener = UnixListener::bind(path).map_err(failed)?;
            listener.set_nonblocking(true)?;
            Ok(Listener::Unix(listener, path.clone()))
        }
    }
}

impl Listener {
    fn fd(&self) -> std::os::fd::BorrowedFd<'_> {
        match self {
            Listener::Unix(listener, _) => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        }
    }

    fn accept(&self) -> io::Result<(OwnedFd, String)> {
        match self {
            Listener::Unix(listener, path) => {
                let (stream, _): (UnixStream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                Ok((stream.into(), format!("unix:{}", path.display())))
            }
            Listener::Tcp(listener) => {
                let (stream, peer): (TcpStream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                // Answers are whole messages: waiting for more of them only makes them late.
                stream.set_nodelay(true)?;
                Ok((stream.into(), peer.to_string()))
            }
        }
    }
}

fn accept(shared: &Arc<Shared>, listener: &Listener) {
    while !shared.registry.stops() {
        let mut fds = [
            PollFd::from_borrowed_fd(listener.fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(shared.stop.fd(), PollFlags::IN),
        ];
        if wait(&mut fds, None).is_err() || shared.registry.stops() {
            return;
        }
        match listener.accept() {
            Ok((socket, peer)) => welcome(shared, socket, peer),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                tracing::warn!(%error, "a client could not be taken");
                // Without descriptors it comes again at once: let others end.
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

fn welcome(shared: &Arc<Shared>, socket: OwnedFd, peer: String) {
    if shared.registry.count() >= shared.limits.connections {
        tracing::warn!(%peer, connections = shared.limits.connections, "too many clients: this one is turned away");
        return;
    }
    let waker = match Waker::new() {
        Ok(waker) => waker,
        Err(error) => return tracing::warn!(%peer, %error, "a client could not be taken"),
    };
    let socket = Arc::new(socket);
    let number = shared.registry.enter(peer.clone(), Arc::clone(&socket), Arc::clone(&waker));
    let for_thread = Arc::clone(shared);
    let serve = move || {
        let shared = &*for_thread;
        let leave = Leave { shared, number };
        let stream = Stream::new(socket);
        let mut client = Client::new(number, stream, shared, waker);
        tracing::info!(number, %peer, "a client has come");
        match client.run() {
            Ended::Close(reason) => tracing::info!(number, %reason, "a client has gone"),
            ended => tracing::warn!(number, reason = %ended, "a client was let go"),
        }
        drop(leave);
    };
    if let Err(error) = std::thread::Builder::new().name(format!("nbd {number}")).stack_size(512 << 10).spawn(serve) {
        tracing::warn!(%error, "no thread for a client: it is turned away");
        shared.registry.leave(number);
    }
}

/// Takes a client off the list, however its thread ends.
struct Leave<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.shared.registry.leave(self.number);
    }
}
