//! Flash management against models of it.

mod accounts;
mod checkpoints;
mod common;
mod compression;
mod map_cache;
mod oracle;
mod oracle_self;
mod placement;
mod recover;
mod retire;
mod settings;
mod slc;
mod trim;
mod wear;
mod write_amplification;
mod zone_states;
mod zones;
