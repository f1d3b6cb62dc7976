//! The session against a device that is nothing but a copy of its bytes.

mod clients;
mod flush;
mod model;
mod order;
mod ownership;
mod pieces;
mod replies;
mod shards;
mod volumes;
mod waiting;
mod write_through;
