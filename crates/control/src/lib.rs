//! What does an operator ask of a running card?
//!
//! HTTP with JSON over a unix socket: how it stands, its modules, its health, metrics for Prometheus; pull and insert
//! modules, cut the power, scrub, trim, change how it works. `docs/control-api.openapi.json` is the interface; a test holds
//! it against the server. [`serve`] is the server's side, [`Client`] the other one. [`web_server`] shows the same to a
//! browser, second by second, and changes nothing.
//!
//! Invariants:
//! - the server has one thread, and what it does to the card it does there, one request after the other: whoever waits for
//!   a start after a power cut keeps other operators waiting, and nobody who reads or writes;
//! - connections, bodies and times have limits; what comes over the socket never panics;
//! - a client of the socket may do anything to the card: the socket's permissions are the only guard.

mod answer;
mod client;
mod controller;
mod drives;
mod error;
mod metrics;
mod ownership;
mod page;
mod routes;
mod served;
mod server;
mod socket;
mod spread;
mod volumes;
mod web;
mod words;

pub use client::Client;
pub use controller::{Controller, Ownership, OwnershipReply, Part};
pub use error::{ClientError, Quoted, ServeError};
pub use metrics::{METRICS_TYPE, metrics};
pub use routes::routes;
pub use served::Served;
pub use server::{ControlServer, MetricsServer, metrics_server, serve, serve_standby};
pub use socket::{Access, SOCKET_IN_DIR, default_socket, find_socket, group};
pub use spread::{Spread, between, percentiles};
pub use web::{WebAddress, WebServer, web_server};
pub use words::{
    BeyondParity, Connection, CriticalWarning, Drive, Export, Frontend, Frontends, Grow, Insert, Latencies, NewVolume,
    Pull, Pulled, Range, Smart, StatusReply, Volume, Volumes,
};
