//! The server: a thread with a runtime of its own, at a socket or an address.

use crate::controller::Controller;
use crate::error::ServeError;
use crate::ownership;
use crate::routes;
use crate::served::Served;
use crate::socket::{Access, Held, bind};
use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};

/// Connections of operators and of who asks for metrics.
const MAX_CONNECTIONS: usize = 64;
/// Bound on the time for which a connected client may say nothing.
const SILENCE: Duration = Duration::from_secs(10);
/// Bound on the time that a connection lasts.
const LONGEST_CONNECTION: Duration = Duration::from_secs(3600);

/// A server at a unix socket. It ends when this is dropped, and its socket is gone then.
pub struct ControlServer {
    // Newcomers are refused before the socket goes.
    _running: Running,
    held: Held,
}

impl ControlServer {
    /// Returns the path on which it listens.
    pub fn socket(&self) -> &Path {
        self.held.path()
    }
}

/// A server of metrics at an address. It ends when this is dropped.
pub struct MetricsServer {
    _running: Running,
    address: SocketAddr,
}

impl MetricsServer {
    /// Returns the address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Answers whoever may connect to a unix socket. A socket that a server left behind is replaced; one at which somebody
/// answers is not.
pub fn serve(served: Served, socket: &Path, access: Access) -> Result<ControlServer, ServeError> {
    serve_at(routes::control(Arc::new(served)), socket, access)
}

/// As [`serve`], for a controller that does not own its card: it tells who does, and may be told to take it over.
pub fn serve_standby(
    controller: Arc<dyn Controller>,
    socket: &Path,
    access: Access,
) -> Result<ControlServer, ServeError> {
    serve_at(ownership::of_standby(controller), socket, access)
}

fn serve_at(router: Router, socket: &Path, access: Access) -> Result<ControlServer, ServeError> {
    let (listener, held) = bind(socket, access)?;
    let listen = || {
        listener.set_nonblocking(true)?;
        tokio::net::UnixListener::from_std(listener)
    };
    let running = Running::begin("control", listen, router, MAX_CONNECTIONS);
    let running = running.map_err(|source| ServeError::Socket { socket: socket.to_owned(), source })?;
    Ok(ControlServer { _running: running, held })
}

/// Answers `GET /metrics` of cards at an address, `HOST:PORT`, and nothing else: whoever can reach it may ask. Cards of
/// one name can't be told apart.
pub fn metrics_server(served: Vec<Served>, address: &str) -> Result<MetricsServer, ServeError> {
    let failed = |source| ServeError::Address { address: address.into(), source };
    let listener = TcpListener::bind(address).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    let listen = || {
        listener.set_nonblocking(true)?;
        tokio::net::TcpListener::from_std(listener)
    };
    let running = Running::begin("metrics", listen, routes::metrics_only(served), MAX_CONNECTIONS).map_err(failed)?;
    Ok(MetricsServer { _running: running, address: bound })
}

/// A thread that answers until this is dropped.
pub(crate) struct Running {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Serves so many connections at once; who comes later waits.
    pub fn begin<L>(
        name: &str,
        listen: impl FnOnce() -> io::Result<L>,
        router: Router,
        connections: usize,
    ) -> io::Result<Running>
    where
        L: Listener,
        L::Io: Unpin,
    {
        let runtime: Runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = {
            let _within = runtime.enter();
            listen()?
        };
        let (stop, stopped) = oneshot::channel();
        let answer = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, router, connections) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(answer)?;
        Ok(Running { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is its own message.
            let _ = thread.join();
        }
    }
}

async fn accept<L>(mut listener: L, router: Router, connections: usize)
where
    L: Listener,
    L::Io: Unpin,
{
    let room = Arc::new(Semaphore::new(connections));
    loop {
        let place = Arc::clone(&room).acquire_owned().await.expect("it is never closed");
        let (stream, _) = listener.accept().await;
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(SILENCE);
            let connection = http.serve_connection(TokioIo::new(stream), service);
            if let Ok(Err(error)) = tokio::time::timeout(LONGEST_CONNECTION, connection).await {
                tracing::debug!(%error, "a connection of the control plane ended early");
            }
            drop(place);
        });
    }
}
