//! The device and the load of a run, in words.

use crate::units::{self, capacity, counted, io_size};
use load::{Access, FileioConfig, LoadConfig, OltpConfig, RedoConfig, ReplicaConfig, SlobConfig, TpccConfig};
use profile::Profile;

/// The card, its size, and what was changed of it.
pub fn device_words(profile: &Profile, user_bytes: u64, scale: f64) -> String {
    let changed: String = profile.changed().iter().map(|setting| format!(", {setting}")).collect();
    let scale = if scale < 1.0 { format!(" at {}", units::scale(scale)) } else { String::new() };
    format!("{}{scale}{changed}: {}", profile.title(), capacity(user_bytes))
}

/// The load in words: its mode, sizes and threads.
pub fn load_words(load: &LoadConfig) -> String {
    match load {
        LoadConfig::Fileio(config) => fileio_words(config),
        LoadConfig::Redo(config) => redo_words(config),
        LoadConfig::Slob(config) => slob_words(config),
        LoadConfig::Oltp(config) => oltp_words(config),
        LoadConfig::Tpcc(config) => tpcc_words(config),
        LoadConfig::Replica(config) => replica_words(config),
    }
}

fn fileio_words(config: &FileioConfig) -> String {
    let mut words = format!(
        "{} {}, {}",
        config.mode,
        io_size(config.block_bytes.into()),
        counted(config.threads.into(), "thread"),
    );
    if config.queue_depth > 1 {
        words.push_str(&format!(" with {} requests each", config.queue_depth));
    }
    words.push_str(&format!(", {} file", capacity(config.file_bytes)));
    if config.own_regions {
        words.push_str(", a region for each thread");
    }
    if !config.mode.is_sequential() && config.access != Access::Uniform {
        words.push_str(&format!(", {}", config.access));
    }
    if config.fsync_all {
        words.push_str(", flush after each write");
    } else if config.fsync_every > 0 {
        words.push_str(&format!(", flush every {}", counted(config.fsync_every.into(), "request")));
    }
    words
}

fn redo_words(config: &RedoConfig) -> String {
    let sync = if config.sync { "a flush after each" } else { "no flushes" };
    format!(
        "redo, {} of {} with {sync}, {} of {} in {}",
        counted(config.log_writers.into(), "log writer"),
        io_size(config.log_block_bytes.into()),
        counted(config.readers.into(), "reader"),
        io_size(config.read_block_bytes.into()),
        capacity(config.data_bytes),
    )
}

fn slob_words(config: &SlobConfig) -> String {
    format!(
        "slob, {} and {}, {} of {} blocks, {} cache",
        counted(config.readers.into(), "reader"),
        counted(config.writers.into(), "writer"),
        capacity(config.data_bytes()),
        io_size(config.block_bytes.into()),
        io_size(config.cache.bytes),
    )
}

fn oltp_words(config: &OltpConfig) -> String {
    format!(
        "oltp, {}, {} % select, {} database, {} cache",
        counted(config.sessions.into(), "session"),
        config.select_percent,
        capacity(config.db_bytes),
        io_size(config.cache.bytes),
    )
}

fn tpcc_words(config: &TpccConfig) -> String {
    format!(
        "tpcc, {}, {} of {}, {} cache",
        counted(config.sessions.into(), "session"),
        counted(config.warehouses.into(), "warehouse"),
        capacity(config.data_bytes()),
        io_size(config.cache.bytes),
    )
}

fn replica_words(config: &ReplicaConfig) -> String {
    format!(
        "replica, {} behind {}, {} of {}, {} cache",
        counted(config.workers.into(), "applier"),
        counted(config.master.sessions.into(), "session"),
        counted(config.master.warehouses.into(), "warehouse"),
        capacity(config.master.data_bytes()),
        io_size(config.master.cache.bytes),
    )
}
