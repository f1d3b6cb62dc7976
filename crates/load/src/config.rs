//! Any load: its configuration, as one value that builds it and describes it in results.

use crate::{CacheConfig, Fileio, FileioConfig, Load, LoadError, LogConfig, Oltp, OltpConfig, Slob, SlobConfig};
use serde_json::{Value, json};

/// A configuration of any load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadConfig {
    /// sysbench fileio.
    Fileio(FileioConfig),
    /// SLOB.
    Slob(SlobConfig),
    /// OLTP 80/20.
    Oltp(OltpConfig),
}

impl LoadConfig {
    /// Checks every parameter.
    pub fn validate(&self) -> Result<(), LoadError> {
        match self {
            LoadConfig::Fileio(config) => config.validate(),
            LoadConfig::Slob(config) => config.validate(),
            LoadConfig::Oltp(config) => config.validate(),
        }
    }

    /// The load; its random streams derive from `seed`.
    pub fn build(&self, seed: u64) -> Result<Box<dyn Load>, LoadError> {
        Ok(match *self {
            LoadConfig::Fileio(config) => Box::new(Fileio::new(config, seed)?),
            LoadConfig::Slob(config) => Box::new(Slob::new(config, seed)?),
            LoadConfig::Oltp(config) => Box::new(Oltp::new(config, seed)?),
        })
    }

    /// What a result says of its load: `kind`, and every parameter under its own name.
    pub fn describe(&self) -> Value {
        match self {
            LoadConfig::Fileio(config) => describe_fileio(config),
            LoadConfig::Slob(config) => describe_slob(config),
            LoadConfig::Oltp(config) => describe_oltp(config),
        }
    }
}

// Each takes its structure apart without `..`, so that a new parameter can't be forgotten here.

fn describe_fileio(config: &FileioConfig) -> Value {
    let FileioConfig {
        mode,
        block_bytes,
        threads,
        queue_depth,
        file_bytes,
        start_bytes,
        misalign_bytes,
        rw_ratio,
        fsync_every,
        fsync_all,
        access,
        think_ns,
        rate_iops,
    } = *config;
    json!({
        "kind": "fileio",
        "mode": mode.name(),
        "block_bytes": block_bytes,
        "threads": threads,
        "queue_depth": queue_depth,
        "file_bytes": file_bytes,
        "start_bytes": start_bytes,
        "misalign_bytes": misalign_bytes,
        "rw_ratio": rw_ratio,
        "fsync_every": fsync_every,
        "fsync_all": fsync_all,
        "access": access.to_string(),
        "think_ns": think_ns,
        "rate_iops": rate_iops,
    })
}

fn describe_slob(config: &SlobConfig) -> Value {
    let SlobConfig {
        readers,
        writers,
        update_percent,
        scale_blocks,
        block_bytes,
        work_unit_blocks,
        access,
        cpu_per_logical_read_ns,
        cpu_per_update_ns,
        cache,
        redo_bytes_per_update,
        commit_every,
        log,
        start_bytes,
    } = *config;
    json!({
        "kind": "slob",
        "readers": readers,
        "writers": writers,
        "update_percent": update_percent,
        "scale_blocks": scale_blocks,
        "block_bytes": block_bytes,
        "work_unit_blocks": work_unit_blocks,
        "access": access.to_string(),
        "cpu_per_logical_read_ns": cpu_per_logical_read_ns,
        "cpu_per_update_ns": cpu_per_update_ns,
        "cache": describe_cache(&cache),
        "redo_bytes_per_update": redo_bytes_per_update,
        "commit_every": commit_every,
        "log": describe_log(&log),
        "start_bytes": start_bytes,
    })
}

fn describe_oltp(config: &OltpConfig) -> Value {
    let OltpConfig {
        sessions,
        select_percent,
        insert_percent,
        db_bytes,
        page_bytes,
        pages_per_select,
        pages_per_write,
        changed_pages_per_write,
        access,
        cpu_per_select_ns,
        cpu_per_write_ns,
        cpu_per_session_ns,
        think_ns,
        cache,
        wal_bytes_per_write,
        log,
        start_bytes,
    } = *config;
    json!({
        "kind": "oltp",
        "sessions": sessions,
        "select_percent": select_percent,
        "insert_percent": insert_percent,
        "db_bytes": db_bytes,
        "page_bytes": page_bytes,
        "pages_per_select": pages_per_select,
        "pages_per_write": pages_per_write,
        "changed_pages_per_write": changed_pages_per_write,
        "access": access.to_string(),
        "cpu_per_select_ns": cpu_per_select_ns,
        "cpu_per_write_ns": cpu_per_write_ns,
        "cpu_per_session_ns": cpu_per_session_ns,
        "think_ns": think_ns,
        "cache": describe_cache(&cache),
        "wal_bytes_per_write": wal_bytes_per_write,
        "log": describe_log(&log),
        "start_bytes": start_bytes,
    })
}

fn describe_cache(config: &CacheConfig) -> Value {
    let CacheConfig {
        bytes,
        hit_ratio,
        dirty_start,
        dirty_limit,
        db_writers,
        writes_in_flight,
        write_coalescing_blocks,
    } = *config;
    json!({
        "bytes": bytes,
        "hit_ratio": hit_ratio,
        "dirty_start": dirty_start,
        "dirty_limit": dirty_limit,
        "db_writers": db_writers,
        "writes_in_flight": writes_in_flight,
        "write_coalescing_blocks": write_coalescing_blocks,
    })
}

fn describe_log(config: &LogConfig) -> Value {
    let LogConfig { area_bytes, block_bytes, tail, max_write_bytes, buffer_bytes, sync } = *config;
    json!({
        "area_bytes": area_bytes,
        "block_bytes": block_bytes,
        "tail": tail.name(),
        "max_write_bytes": max_write_bytes,
        "buffer_bytes": buffer_bytes,
        "sync": sync.name(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [LoadConfig; 3] {
        [
            LoadConfig::Fileio(FileioConfig::default()),
            LoadConfig::Slob(SlobConfig::default()),
            LoadConfig::Oltp(OltpConfig::default()),
        ]
    }

    #[test]
    fn every_default_is_valid_and_says_what_it_is() {
        for (config, kind) in all().into_iter().zip(["fileio", "slob", "oltp"]) {
            config.validate().unwrap();
            assert!(config.build(1).unwrap().processes() > 0);
            assert_eq!(config.describe()["kind"], kind);
        }
    }

    #[test]
    fn a_description_names_a_parameter_as_errors_do() {
        let config = FileioConfig { block_bytes: 1000, ..FileioConfig::default() };
        let error = config.validate().unwrap_err().to_string();
        let name = error.split(' ').next().unwrap();
        assert_eq!(LoadConfig::Fileio(config).describe()[name], 1000);
        let config = SlobConfig { log: LogConfig { block_bytes: 500, ..LogConfig::ORACLE }, ..SlobConfig::default() };
        let error = config.validate().unwrap_err().to_string();
        let pointer = format!("/{}", error.split(' ').next().unwrap().replace('.', "/"));
        assert_eq!(*LoadConfig::Slob(config).describe().pointer(&pointer).unwrap(), 500);
    }
}
