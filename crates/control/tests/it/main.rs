//! An operator's requests over the socket.

mod common;
mod control;
mod grafana;
mod metrics;
mod openapi;
mod socket;
mod web;
mod web_page;
