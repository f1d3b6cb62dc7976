//! Any load: its configuration, as one value that builds it and describes it in results.

use crate::{
    CacheConfig, Fileio, FileioConfig, Load, LoadError, LogConfig, Oltp, OltpConfig, Redo, RedoConfig, ReplicaConfig,
    ReplicaLoad, Slob, SlobConfig, Tpcc, TpccConfig, TpccMix,
};
use serde_json::{Value, json};

/// A configuration of any load.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum LoadConfig {
    Fileio(FileioConfig),
    /// Commits beside random reads.
    Redo(RedoConfig),
    Slob(SlobConfig),
    Oltp(OltpConfig),
    Tpcc(TpccConfig),
    /// A replica that applies the log of such a database.
    Replica(ReplicaConfig),
}

impl LoadConfig {
    /// Checks every parameter.
    pub fn validate(&self) -> Result<(), LoadError> {
        match self {
            LoadConfig::Fileio(config) => config.validate(),
            LoadConfig::Redo(config) => config.validate(),
            LoadConfig::Slob(config) => config.validate(),
            LoadConfig::Oltp(config) => config.validate(),
            LoadConfig::Tpcc(config) => config.validate(),
            LoadConfig::Replica(config) => config.validate(),
        }
    }

    /// The load; its random streams derive from `seed`.
    pub fn build(&self, seed: u64) -> Result<Box<dyn Load>, LoadError> {
        Ok(match *self {
            LoadConfig::Fileio(config) => Box::new(Fileio::new(config, seed)?),
            LoadConfig::Redo(config) => Box::new(Redo::new(config, seed)?),
            LoadConfig::Slob(config) => Box::new(Slob::new(config, seed)?),
            LoadConfig::Oltp(config) => Box::new(Oltp::new(config, seed)?),
            LoadConfig::Tpcc(config) => Box::new(Tpcc::new(config, seed)?),
            LoadConfig::Replica(config) => Box::new(ReplicaLoad::new(config, seed)?),
        })
    }

    /// Bytes from the start of the device that requests of a valid load may touch.
    pub fn footprint_bytes(&self) -> u64 {
        match self {
            LoadConfig::Fileio(config) => config.footprint_bytes(),
            LoadConfig::Redo(config) => config.footprint_bytes(),
            LoadConfig::Slob(config) => config.footprint_bytes(),
            LoadConfig::Oltp(config) => config.footprint_bytes(),
            LoadConfig::Tpcc(config) => config.footprint_bytes(),
            LoadConfig::Replica(config) => config.footprint_bytes(),
        }
    }

    /// Returns whether it ever writes: whether it destroys what a real device holds, and changes the state of a
    /// modelled one.
    pub fn writes(&self) -> bool {
        match self {
            LoadConfig::Fileio(config) => config.mode.writes(),
            LoadConfig::Redo(_) => true,
            LoadConfig::Slob(config) => config.writers > 0 && config.update_percent > 0.0,
            LoadConfig::Oltp(config) => config.select_percent < 100.0,
            LoadConfig::Tpcc(config) => config.writes(),
            LoadConfig::Replica(config) => config.master.writes(),
        }
    }

    /// Describes the load for a result: `kind`, and every parameter under its own name.
    pub fn describe(&self) -> Value {
        match self {
            LoadConfig::Fileio(config) => describe_fileio(config),
            LoadConfig::Redo(config) => describe_redo(config),
            LoadConfig::Slob(config) => describe_slob(config),
            LoadConfig::Oltp(config) => describe_oltp(config),
            LoadConfig::Tpcc(config) => describe_tpcc(config),
            LoadConfig::Replica(config) => describe_replica(config),
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
        own_regions,
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
        "own_regions": own_regions,
    })
}

fn describe_redo(config: &RedoConfig) -> Value {
    let RedoConfig {
        log_writers,
        log_block_bytes,
        log_area_bytes,
        sync,
        log_rate_iops,
        readers,
        read_block_bytes,
        access,
        data_bytes,
        start_bytes,
    } = *config;
    json!({
        "kind": "redo",
        "log_writers": log_writers,
        "log_block_bytes": log_block_bytes,
        "log_area_bytes": log_area_bytes,
        "sync": sync,
        "log_rate_iops": log_rate_iops,
        "readers": readers,
        "read_block_bytes": read_block_bytes,
        "access": access.to_string(),
        "data_bytes": data_bytes,
        "start_bytes": start_bytes,
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

fn describe_tpcc(config: &TpccConfig) -> Value {
    let TpccConfig {
        sessions,
        warehouses,
        mix,
        page_bytes,
        cpu_per_transaction_ns,
        cpu_per_page_ns,
        cache,
        log,
        start_bytes,
    } = *config;
    let TpccMix { payment_percent, order_status_percent, delivery_percent, stock_level_percent } = mix;
    json!({
        "kind": "tpcc",
        "sessions": sessions,
        "warehouses": warehouses,
        "mix": {
            "new_order_percent": mix.new_order_percent(),
            "payment_percent": payment_percent,
            "order_status_percent": order_status_percent,
            "delivery_percent": delivery_percent,
            "stock_level_percent": stock_level_percent,
        },
        "page_bytes": page_bytes,
        "cpu_per_transaction_ns": cpu_per_transaction_ns,
        "cpu_per_page_ns": cpu_per_page_ns,
        "cache": describe_cache(&cache),
        "log": describe_log(&log),
        "start_bytes": start_bytes,
    })
}

fn describe_replica(config: &ReplicaConfig) -> Value {
    let ReplicaConfig { master, master_tps, workers, cpu_per_transaction_ns, cpu_per_page_ns } = *config;
    json!({
        "kind": "replica",
        "master": describe_tpcc(&master),
        "master_tps": master_tps,
        "workers": workers,
        "cpu_per_transaction_ns": cpu_per_transaction_ns,
        "cpu_per_page_ns": cpu_per_page_ns,
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
    use crate::FileioMode;
    use crate::testing::{Machine, run};
    use device::Operation;

    fn all() -> [LoadConfig; 6] {
        [
            LoadConfig::Fileio(FileioConfig::default()),
            LoadConfig::Redo(RedoConfig::default()),
            LoadConfig::Slob(SlobConfig::default()),
            LoadConfig::Oltp(OltpConfig::default()),
            LoadConfig::Tpcc(TpccConfig::default()),
            LoadConfig::Replica(ReplicaConfig::default()),
        ]
    }

    #[test]
    fn every_default_is_valid_and_says_what_it_is() {
        for (config, kind) in all().into_iter().zip(["fileio", "redo", "slob", "oltp", "tpcc", "replica"]) {
            config.validate().unwrap();
            assert!(config.build(1).unwrap().processes() > 0);
            assert_eq!(config.describe()["kind"], kind);
        }
    }

    #[test]
    fn a_footprint_is_known_without_building() {
        for config in all() {
            assert_eq!(config.footprint_bytes(), config.build(1).unwrap().footprint_bytes());
        }
        let shifted = FileioConfig { start_bytes: 1 << 20, ..FileioConfig::default() };
        assert_eq!(LoadConfig::Fileio(shifted).footprint_bytes(), (1 << 20) + shifted.file_bytes);
    }

    #[test]
    fn a_load_says_that_it_writes_exactly_if_it_does() {
        let small = CacheConfig { bytes: 100 * 8192, dirty_start: 0.0, ..CacheConfig::default() };
        let slob = SlobConfig { readers: 1, writers: 1, scale_blocks: 50, cache: small, ..SlobConfig::default() };
        let oltp = OltpConfig { db_bytes: 1 << 20, cache: small, ..OltpConfig::default() };
        let tpcc = TpccConfig { warehouses: 1, cache: small, ..TpccConfig::default() };
        let reads = TpccMix {
            payment_percent: 0.0,
            order_status_percent: 50.0,
            delivery_percent: 0.0,
            stock_level_percent: 50.0,
        };
        let fileio = FileioMode::ALL.map(|mode| LoadConfig::Fileio(FileioConfig { mode, ..FileioConfig::default() }));
        let others = [
            LoadConfig::Redo(RedoConfig::default()),
            LoadConfig::Redo(RedoConfig { readers: 0, ..RedoConfig::default() }),
            LoadConfig::Slob(slob),
            LoadConfig::Slob(SlobConfig { writers: 0, ..slob }),
            LoadConfig::Slob(SlobConfig { update_percent: 0.0, ..slob }),
            LoadConfig::Oltp(oltp),
            LoadConfig::Oltp(OltpConfig { select_percent: 100.0, insert_percent: 0.0, ..oltp }),
            LoadConfig::Tpcc(tpcc),
            LoadConfig::Replica(ReplicaConfig { master: tpcc, ..ReplicaConfig::default() }),
            LoadConfig::Tpcc(TpccConfig { mix: reads, ..tpcc }),
        ];
        let machine = Machine { read_ns: 100_000, write_ns: 50_000, flush_ns: 10_000, cores: None };
        for config in fileio.into_iter().chain(others) {
            let trace = run(config.build(1).unwrap().as_mut(), machine, 0, 100_000_000);
            let wrote = trace.requests.iter().any(|r| r.request.operation == Operation::Write);
            assert_eq!(config.writes(), wrote, "{config:?}");
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
