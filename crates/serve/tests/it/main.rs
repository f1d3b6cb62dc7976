//! A server of real clients, and what it says to hostile ones.

mod clients;
mod common;
mod crews;
mod hostile;
mod nvme;
mod remote;
mod slow;
mod tls;
mod wire;
