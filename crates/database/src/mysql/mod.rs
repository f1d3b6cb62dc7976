//! MariaDB or MySQL with InnoDB: sysbench's `oltp_read_write` against sessions, and power cuts under committing sessions.
//!
//! The server is one of its own, as PostgreSQL's cluster is: in a new directory on the device, without privileges, on a socket
//! that nobody else gets to. Commits are durable, and InnoDB reads and writes past the page cache.

mod client;
mod crash;
mod programs;
mod review;
mod server;
mod sysbench;

pub(crate) use programs::Programs;
pub(crate) use review::{Run, settings};
