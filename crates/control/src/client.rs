//! The client of a card's control socket.

use crate::controller::OwnershipReply;
use crate::error::ClientError;
use crate::words::{
    Connection, Drive, Export, Grow, Insert, Latencies, NewVolume, Pull, Pulled, Range, Smart, StatusReply, Volumes,
};
use axum::body::Bytes;
use axum::http::{Method, Request, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use live::{Change, ModuleStatus, Settings};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};

/// Most bytes of an answer.
const MAX_ANSWER_BYTES: usize = 16 << 20;
/// Bound on the time that an answer may take: a start after a power cut reads the media.
const LONGEST_ANSWER: Duration = Duration::from_secs(600);

#[derive(Deserialize)]
struct Refused {
    error: String,
}

#[derive(Deserialize)]
struct Modules {
    modules: Vec<ModuleStatus>,
}

#[derive(Deserialize)]
struct Drives {
    drives: Vec<Drive>,
}

#[derive(Deserialize)]
struct Clients {
    clients: Vec<Connection>,
}

#[derive(Deserialize)]
struct Exports {
    exports: Vec<Export>,
}

/// Asks the server at a socket. Each question has a connection of its own.
#[derive(Debug)]
pub struct Client {
    socket: PathBuf,
    runtime: Runtime,
    patience: Duration,
}

impl Client {
    /// Asks nothing yet.
    pub fn new(socket: PathBuf) -> Result<Client, ClientError> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build().map_err(ClientError::System)?;
        Ok(Client { socket, runtime, patience: LONGEST_ANSWER })
    }

    /// Waits no longer than this for an answer, in place of ten minutes.
    pub fn with_patience(self, patience: Duration) -> Client {
        Client { patience, ..self }
    }

    /// Returns the path of the socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Requests the card's status.
    pub fn status(&self) -> Result<StatusReply, ClientError> {
        self.get("/v1/status")
    }

    /// Its modules, by slot.
    pub fn modules(&self) -> Result<Vec<ModuleStatus>, ClientError> {
        self.get("/v1/modules").map(|Modules { modules }| modules)
    }

    /// The drives that its modules lie on, by slot.
    pub fn drives(&self) -> Result<Vec<Drive>, ClientError> {
        self.get("/v1/drives").map(|Drives { drives }| drives)
    }

    /// Requests the card's health.
    pub fn smart(&self) -> Result<Smart, ClientError> {
        self.get("/v1/smart")
    }

    /// Its latencies since the start.
    pub fn latencies(&self) -> Result<Latencies, ClientError> {
        self.get("/v1/latencies")
    }

    /// Requests the list of connections that read and write it.
    pub fn clients(&self) -> Result<Vec<Connection>, ClientError> {
        self.get("/v1/clients").map(|Clients { clients }| clients)
    }

    /// Under which names it can be asked.
    pub fn exports(&self) -> Result<Vec<Export>, ClientError> {
        self.get("/v1/exports").map(|Exports { exports }| exports)
    }

    /// Takes a module out.
    pub fn pull(&self, slot: u32, pull: Pull) -> Result<Pulled, ClientError> {
        self.post(&format!("/v1/modules/{slot}/pull"), Some(&pull))
    }

    /// Puts a module in.
    pub fn insert(&self, slot: u32, module: &Insert) -> Result<ModuleStatus, ClientError> {
        self.post(&format!("/v1/modules/{slot}/insert"), Some(module))
    }

    /// Cuts the power.
    pub fn power_cut(&self) -> Result<Value, ClientError> {
        self.post("/v1/power/cut", None::<&()>)
    }

    /// Gives it power again.
    pub fn power_on(&self) -> Result<Value, ClientError> {
        self.post("/v1/power/on", None::<&()>)
    }

    /// Has it read all that it holds.
    pub fn scrub(&self) -> Result<Value, ClientError> {
        self.post("/v1/scrub", None::<&()>)
    }

    /// Declares a range unused.
    pub fn trim(&self, range: Range) -> Result<Value, ClientError> {
        self.post("/v1/trim", Some(&range))
    }

    /// The volumes that the card is divided into.
    pub fn volumes(&self) -> Result<Volumes, ClientError> {
        self.get("/v1/volumes")
    }

    /// Makes a volume.
    pub fn create_volume(&self, volume: &NewVolume) -> Result<Volumes, ClientError> {
        self.post("/v1/volumes", Some(volume))
    }

    /// Gives a volume more addresses. Its name is one that a volume can have.
    pub fn grow_volume(&self, name: &str, grow: Grow) -> Result<Volumes, ClientError> {
        self.send(Method::PATCH, &format!("/v1/volumes/{name}"), Some(&grow))
    }

    /// Deletes a volume. Its name is one that a volume can have.
    pub fn delete_volume(&self, name: &str) -> Result<Volumes, ClientError> {
        self.send(Method::DELETE, &format!("/v1/volumes/{name}"), None::<&()>)
    }

    /// The owner of the card, if it is shared.
    pub fn ownership(&self) -> Result<OwnershipReply, ClientError> {
        self.get("/v1/ownership")
    }

    /// Has the controller own the card.
    pub fn take_over(&self) -> Result<OwnershipReply, ClientError> {
        self.post("/v1/ownership/take-over", None::<&()>)
    }

    /// Has another controller own the card.
    pub fn release(&self) -> Result<OwnershipReply, ClientError> {
        self.post("/v1/ownership/release", None::<&()>)
    }

    /// Changes how it works.
    pub fn set(&self, change: &Change) -> Result<Settings, ClientError> {
        self.send(Method::PATCH, "/v1/settings", Some(change))
    }

    fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.send(Method::GET, path, None::<&()>)
    }

    fn post<T: DeserializeOwned>(&self, path: &str, body: Option<&impl Serialize>) -> Result<T, ClientError> {
        self.send(Method::POST, path, body)
    }

    fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
    ) -> Result<T, ClientError> {
        let body = body.map(|body| serde_json::to_vec(body).expect("keys are text")).unwrap_or_default();
        let request = Request::builder().method(method).uri(path).header(header::HOST, "card");
        let request = request.header(header::CONTENT_TYPE, "application/json").body(Full::new(Bytes::from(body)));
        let request = request.expect("made of constants and numbers");
        let (status, answer) = self.runtime.block_on(async {
            let answer = tokio::time::timeout(self.patience, self.exchange(request)).await;
            answer.unwrap_or_else(|_| Err(self.no_answer(format!("it took longer than {} s", self.patience.as_secs()))))
        })?;
        if !(200..300).contains(&status) {
            let refused = serde_json::from_slice(&answer);
            let Refused { error: message } = refused.map_err(|_| self.no_answer(format!("status {status}")))?;
            return Err(ClientError::Refused { status, message: message.into() });
        }
        serde_json::from_slice(&answer).map_err(|error| self.no_answer(error))
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<(u16, Bytes), ClientError> {
        let stream = UnixStream::connect(&self.socket)
            .await
            .map_err(|source| ClientError::NoServer { socket: self.socket.clone(), source })?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| self.no_answer(error))?;
        let carry = tokio::spawn(connection);
        let exchange = async {
            let answer = sender.send_request(request).await.map_err(|error| self.no_answer(error))?;
            let status = answer.status().as_u16();
            let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await;
            Ok((status, body.map_err(|error| self.no_answer(error))?.to_bytes()))
        };
        let exchanged = exchange.await;
        carry.abort();
        exchanged
    }

    fn no_answer(&self, why: impl ToString) -> ClientError {
        ClientError::NoAnswer { socket: self.socket.clone(), why: why.to_string().into() }
    }
}
