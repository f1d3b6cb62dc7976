//! The server: listens, and gives each client a thread, or a place in a crew's.

use crate::address::Address;
use crate::budget::Budget;
use crate::client_bell::ClientBell;
use crate::connection::Client;
use crate::conversation::{Conversation, serve_alone};
use crate::crew::Left;
use crate::crews::Crews;
use crate::export::Export;
use crate::exported::{Current, Exported};
use crate::hub::Hub;
use crate::kept::KeptError;
use crate::line::Ended;
use crate::nvme::Secrets;
use crate::nvme_connection::Host;
use crate::registry::{ClientStatus, Protocol, Registry};
use crate::shared::{Limits, Shared, for_clients};
use crate::stream::{Stream, wait};
use crate::tls::Security;
use crate::turned_away::TurnedAway;
use crate::waker::Waker;
use crate::wire::{self, ExportName};
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The reason why a server does not start.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ServeError {
    /// The system refuses to listen on the address.
    #[error("{address}: {source}")]
    Listen { address: Address, source: io::Error },
    /// Another server listens on the address.
    #[error("{address}: another server listens there")]
    InUse { address: Address },
    /// The path of the socket names a file that is no socket.
    #[error("{address}: there is a file that is no socket")]
    NoSocket { address: Address },
    /// Anybody in the network could read and write the cards.
    #[error(
        "{protocol} at {address} would be open to others than this machine, without authentication: listen at 127.0.0.1 or \
         [::1], {remedy}, or add --insecure",
        remedy = match .protocol {
            Protocol::Nbd => "add --tls-certificate, --tls-key and --tls-client-authority",
            Protocol::Nvme => "add --nvme-secret",
        }
    )]
    Unprotected { protocol: Protocol, address: Address },
    /// NVMe over a socket of the file system is nothing that hosts know.
    #[error("{address}: NVMe over TCP needs HOST:PORT")]
    NotTcp { address: Address },
    /// The address of another controller has no meaning.
    #[error("{address}, where another controller is to be reached: {source}")]
    Peer { address: Address, source: io::Error },
    /// Hosts could not tell two cards from each other.
    #[error("{first:?} and {second:?} have the same UUID, one is a copy: NVMe hosts would take them for one card")]
    SameCard { first: ExportName, second: ExportName },
    /// The reservations of a card are not known.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// The exports can't be offered together.
    #[error(transparent)]
    Exports(#[from] wire::ExportsError),
    /// The system refuses a thread or a descriptor.
    #[error("the system refuses what a server needs: {0}")]
    System(#[from] io::Error),
}

/// The addresses of a server, by protocol.
#[derive(Clone, Debug, Default)]
pub struct Services {
    /// Addresses for NBD clients.
    pub nbd: Vec<Address>,
    /// Addresses for NVMe hosts, on TCP.
    pub nvme: Vec<Address>,
    /// Secrets of NVMe hosts; without them hosts are not authenticated.
    pub secrets: Option<Secrets>,
    /// Others than this machine may come without authentication.
    pub insecure: bool,
    /// The number of this controller among those that share cards: NVMe hosts see identifiers that no other one gives.
    pub controller_number: Option<u8>,
    /// The addresses at which NVMe hosts reach the other controllers that share the cards.
    pub peers: Vec<Address>,
}

enum Listener {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
}

/// A running server. It stops when it is dropped.
pub struct Server {
    shared: Arc<Shared>,
    crews: Arc<Crews>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// The addresses that it listens on; port 0 is replaced by the real port.
    addresses: Vec<(Protocol, Address)>,
    sockets: Mutex<Vec<PathBuf>>,
    /// Exports are changed by one thread at a time.
    changes: Mutex<()>,
}

/// The time that clients have to take their last replies when the server stops.
const LAST_REPLIES: Duration = Duration::from_secs(5);

impl Server {
    /// Listens on all addresses.
    pub fn start(
        exports: Vec<Export>,
        services: &Services,
        security: Security,
        limits: Limits,
    ) -> Result<Server, ServeError> {
        if !services.nvme.is_empty() {
            check_for_nvme(&exports)?;
        }
        let peers = services.peers.iter().map(resolved).collect::<Result<_, _>>()?;
        let budget = Budget::new(limits.memory_bytes, limits.connections);
        let is_open_for_nvme = services.insecure || services.secrets.is_some();
        let is_open = services.insecure || matches!(security, Security::Tls(_));
        let shared = Arc::new(Shared {
            hub: Hub::new(&exports, services.controller_number, peers)?,
            serves_nvme: !services.nvme.is_empty(),
            exported: Current::new(Exported::new(exports)?),
            secrets: services.secrets.clone(),
            security,
            limits,
            registry: Registry::default(),
            budget,
            turned_away: TurnedAway::default(),
            stop: Waker::new()?,
        });
        let crews = Arc::new(Crews::new(for_clients(), end)?);
        let (threads, sockets, changes) = Default::default();
        let mut server = Server { shared, crews, threads, addresses: Vec::new(), sockets, changes };
        let nbd = services.nbd.iter().map(|address| (Protocol::Nbd, address, is_open));
        let nvme = services.nvme.iter().map(|address| (Protocol::Nvme, address, is_open_for_nvme));
        for (protocol, address, is_open) in nbd.chain(nvme) {
            let listener = listen(protocol, address, is_open)?;
            let real = match &listener {
                Listener::Tcp(listener) => Address::Tcp(listener.local_addr()?.to_string()),
                Listener::Unix(..) => address.clone(),
            };
            server.addresses.push((protocol, real));
            if let Listener::Unix(_, path) = &listener {
                server.sockets.lock().push(path.clone());
            }
            let (shared, crews) = (Arc::clone(&server.shared), Arc::clone(&server.crews));
            let name = protocol.name().to_owned();
            let accepts = move || accept(&shared, &crews, protocol, &listener);
            let thread = std::thread::Builder::new().name(name).spawn(accepts)?;
            server.threads.lock().push(thread);
        }
        Ok(server)
    }

    /// The addresses that the server listens on for a protocol, with real ports.
    pub fn addresses(&self, protocol: Protocol) -> impl Iterator<Item = &Address> {
        self.addresses.iter().filter(move |(of, _)| *of == protocol).map(|(_, address)| address)
    }

    /// Has these exports from now on. Clients that are connected go on with what they have chosen; hosts see another size
    /// when they look again.
    ///
    /// An export that has a lease may have another backing than before. Requests in flight are answered by the card that
    /// was asked. Then an NVMe host goes on with the new one, and an NBD client is let go. Each connection owns its card:
    /// when the caller is the last owner of the old one, no connection can ask it any more. Clients of an export without
    /// a lease are cut off.
    pub fn set_exports(&self, exports: Vec<Export>) -> Result<(), ServeError> {
        if self.shared.serves_nvme {
            check_for_nvme(&exports)?;
        }
        let Shared { exported, hub, registry, .. } = &*self.shared;
        let _one_at_a_time = self.changes.lock();
        let before = exported.now();
        let now = before.with(exports)?;
        let is_other = |place: usize| now.changes(place).is_some_and(|changes| before.changes(place) != Some(changes));
        let alone: Vec<usize> = before
            .there()
            .filter(|(place, export)| !export.is_shared() && is_other(*place))
            .map(|(place, _)| place)
            .collect();
        hub.exports_changed(&before, now, exported)?;
        registry.keeps_off.store(false, Ordering::SeqCst);
        registry.cut_off_where(|place, _| alone.contains(&place));
        registry.wake_all();
        Ok(())
    }

    /// Cuts off all clients of exports that have a lease, at once. Requests in flight are not answered. Cards with a lease
    /// have no clients from then on until exports are set again.
    pub fn cut_off_clients(&self) {
        self.shared.registry.keeps_off.store(true, Ordering::SeqCst);
        self.shared.registry.cut_off_where(|_, is_shared| is_shared);
    }

    /// The NVMe qualified names of the exports, in their order.
    pub fn subsystems(&self) -> Vec<String> {
        self.shared.hub.target().subsystems().map(|subsystem| subsystem.nqn.clone()).collect()
    }

    /// The connected clients.
    pub fn clients(&self) -> Vec<ClientStatus> {
        self.shared.registry.status()
    }

    /// The number of clients that were turned away, because there were too many.
    pub fn turned_away(&self) -> u64 {
        self.shared.turned_away.count()
    }

    /// Answers the requests in flight, and stops.
    pub fn stop(&self) {
        self.shared.registry.stop();
        self.shared.stop.wake();
        for thread in self.threads.lock().drain(..) {
            // A thread that panicked has printed its own message.
            let _ = thread.join();
        }
        let deadline = Instant::now() + LAST_REPLIES;
        while self.shared.registry.count() > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.shared.registry.cut_off();
        let deadline = Instant::now() + LAST_REPLIES;
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

/// Hosts tell cards from each other by their UUIDs.
fn check_for_nvme(exports: &[Export]) -> Result<(), ServeError> {
    for (at, second) in exports.iter().enumerate() {
        if let Some(first) = exports[..at].iter().find(|first| first.id == second.id) {
            let name = |export: &Export| ExportName::from(export.name.as_str());
            return Err(ServeError::SameCard { first: name(first), second: name(second) });
        }
    }
    Ok(())
}

/// The address at which hosts reach another controller.
fn resolved(address: &Address) -> Result<SocketAddr, ServeError> {
    let failed = |source| ServeError::Peer { address: address.clone(), source };
    match address {
        Address::Tcp(text) => {
            let mut resolved = text.to_socket_addrs().map_err(failed)?;
            resolved.next().ok_or_else(|| failed(io::ErrorKind::AddrNotAvailable.into()))
        }
        Address::Unix(_) => Err(ServeError::NotTcp { address: address.clone() }),
    }
}

fn listen(protocol: Protocol, address: &Address, is_open: bool) -> Result<Listener, ServeError> {
    let failed = |source| ServeError::Listen { address: address.clone(), source };
    match address {
        Address::Tcp(text) => {
            let mut resolved = text.to_socket_addrs().map_err(failed)?;
            let first = resolved.next().ok_or_else(|| failed(io::ErrorKind::AddrNotAvailable.into()))?;
            if !is_open && !first.ip().to_canonical().is_loopback() {
                return Err(ServeError::Unprotected { protocol, address: address.clone() });
            }
            let listener = TcpListener::bind(first).map_err(failed)?;
            listener.set_nonblocking(true)?;
            Ok(Listener::Tcp(listener))
        }
        Address::Unix(_) if protocol == Protocol::Nvme => Err(ServeError::NotTcp { address: address.clone() }),
        Address::Unix(path) => {
            if let Ok(found) = std::fs::symlink_metadata(path) {
                if !found.file_type().is_socket() {
                    return Err(ServeError::NoSocket { address: address.clone() });
                }
                if UnixStream::connect(path).is_ok() {
                    return Err(ServeError::InUse { address: address.clone() });
                }
                // A server that was killed has left its socket behind.
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

    /// A client: its socket, its address, and the address that it has reached.
    fn accept(&self) -> io::Result<(OwnedFd, String, SocketAddr)> {
        match self {
            Listener::Unix(listener, path) => {
                let (stream, _): (UnixStream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                Ok((stream.into(), format!("unix:{}", path.display()), SocketAddr::from(([0; 4], 0))))
            }
            Listener::Tcp(listener) => {
                let (stream, peer): (TcpStream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                // Replies are whole messages, and waiting for more of them only makes them late.
                stream.set_nodelay(true)?;
                let local = stream.local_addr()?;
                Ok((stream.into(), peer.to_string(), local))
            }
        }
    }
}

fn accept(shared: &Arc<Shared>, crews: &Arc<Crews>, protocol: Protocol, listener: &Listener) {
    while !shared.registry.stops() {
        let mut fds = [
            PollFd::from_borrowed_fd(listener.fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(shared.stop.fd(), PollFlags::IN),
        ];
        if wait(&mut fds, None).is_err() || shared.registry.stops() {
            return;
        }
        match listener.accept() {
            Ok((socket, peer, local)) => welcome(shared, crews, protocol, (socket, peer, local)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                tracing::warn!(%error, "a client could not be taken");
                // Without free descriptors the error comes again at once, so other clients get time to end.
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

fn welcome(
    shared: &Arc<Shared>,
    crews: &Arc<Crews>,
    protocol: Protocol,
    (socket, peer, local): (OwnedFd, String, SocketAddr),
) {
    if shared.registry.count() >= shared.limits.connections {
        if let Some(turned_away) = shared.turned_away.add(Instant::now()) {
            let connections = shared.limits.connections;
            tracing::warn!(%peer, connections, turned_away, "too many clients (--max-clients): more are turned away");
        }
        return;
    }
    let bell = match ClientBell::new() {
        Ok(bell) => bell,
        Err(error) => return tracing::warn!(%peer, %error, "a client could not be taken"),
    };
    let socket = Arc::new(socket);
    let number = shared.registry.enter(protocol, peer.clone(), Arc::clone(&socket), Arc::clone(&bell));
    let (for_thread, crews) = (Arc::clone(shared), Arc::clone(crews));
    let serve = move || {
        let stream = Stream::new(socket);
        tracing::info!(number, protocol = protocol.name(), %peer, "a client has come");
        let conversation: Box<dyn Conversation> = match protocol {
            Protocol::Nbd => Box::new(Client::new(number, stream, &for_thread, bell)),
            Protocol::Nvme => Box::new(Host::new(number, stream, &for_thread, bell, local)),
        };
        serve_client(&for_thread, &crews, conversation);
    };
    if let Err(error) =
        std::thread::Builder::new().name(format!("{} {number}", protocol.name())).stack_size(512 << 10).spawn(serve)
    {
        tracing::warn!(%error, "no thread for a client: it is turned away");
        shared.registry.leave(number);
    }
}

/// Serves a client in this thread, until there are so many that it joins a crew.
fn serve_client(shared: &Shared, crews: &Crews, mut conversation: Box<dyn Conversation>) {
    let mut joins = true;
    loop {
        let is_crowded = || joins && shared.registry.count() > shared.limits.own_threads;
        if let Err(ended) = serve_alone(&mut *conversation, is_crowded) {
            return end((conversation, ended));
        }
        let (first, shards) = shared.exported.now().card_of(conversation.line().place());
        match crews.join(conversation, first, shards) {
            Ok(()) => return,
            Err(back) => (conversation, joins) = (back, false),
        }
    }
}

/// Ends the connection of a client.
fn end((mut conversation, ended): Left) {
    let number = conversation.line().number;
    match conversation.end(ended) {
        Ended::Nbd(reason) => tracing::info!(number, %reason, "a client has gone"),
        Ended::Nvme(reason) if reason.termination().is_none() => {
            tracing::info!(number, %reason, "a client has gone")
        }
        ended => tracing::warn!(number, reason = %ended, "a client was let go"),
    }
}
