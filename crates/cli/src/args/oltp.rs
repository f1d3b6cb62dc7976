//! The options of OLTP 80/20. Defaults are the load's own, except for what must fit the device.

use super::values::{Bytes, Nanoseconds, percentage};
use clap::Args;
use load::{Access, CacheConfig, OltpConfig};

/// The options of the OLTP load.
#[derive(Debug, Args)]
pub struct OltpArgs {
    /// The number of sessions that run transactions
    #[arg(help = "Sessions", long, value_name = "N", default_value_t = OltpConfig::default().sessions)]
    pub oltp_sessions: u32,
    /// Transactions that select, percent
    #[arg(long, value_name = "PCT", default_value_t = OltpConfig::default().select_percent, value_parser = percentage)]
    pub oltp_select_pct: f64,
    /// Transactions that insert, percent; the rest updates
    #[arg(long, value_name = "PCT", default_value_t = OltpConfig::default().insert_percent, value_parser = percentage)]
    pub oltp_insert_pct: f64,
    /// Size of tables and indexes [default: 16g, or what the space in use holds]
    #[arg(long, value_name = "SIZE")]
    pub oltp_db: Option<Bytes>,
    /// Buffer cache [default: an eighth of the database]
    #[arg(long, value_name = "SIZE")]
    pub oltp_cache: Option<Bytes>,
    /// Pages that a select touches
    #[arg(long, value_name = "N", default_value_t = OltpConfig::default().pages_per_select)]
    pub oltp_pages_select: u32,
    /// Pages that an insert or an update touches; it changes up to two of them
    #[arg(long, value_name = "N", default_value_t = OltpConfig::default().pages_per_write)]
    pub oltp_pages_write: u32,
    /// The pattern of the pages
    #[arg(help = "Which pages are touched: uniform, zipf:THETA, hot-cold:SPACE/ACCESSES, jesd219", long, value_name = "PATTERN", default_value_t = OltpConfig::default().access)]
    pub oltp_access: Access,
    /// Write-ahead log that an insert or an update makes
    #[arg(long, value_name = "SIZE", default_value_t = Bytes(OltpConfig::default().wal_bytes_per_write.into()))]
    pub oltp_wal: Bytes,
    /// CPU time of a select
    #[arg(long, value_name = "TIME", default_value_t = Nanoseconds(OltpConfig::default().cpu_per_select_ns))]
    pub oltp_cpu_select: Nanoseconds,
    /// CPU time of an insert or an update
    #[arg(long, value_name = "TIME", default_value_t = Nanoseconds(OltpConfig::default().cpu_per_write_ns))]
    pub oltp_cpu_write: Nanoseconds,
    /// CPU time of each transaction for each session (snapshots of PostgreSQL before 14)
    #[arg(long, value_name = "TIME", default_value_t = Nanoseconds(OltpConfig::default().cpu_per_session_ns))]
    pub oltp_cpu_session: Nanoseconds,
    /// Sleep of a session between two transactions
    #[arg(long, value_name = "TIME", default_value_t = Nanoseconds(OltpConfig::default().think_ns))]
    pub oltp_think: Nanoseconds,
}

impl OltpArgs {
    /// The load, on a device with so many bytes in use.
    pub fn config(&self, fill_bytes: u64) -> OltpConfig {
        let defaults = OltpConfig::default();
        let page_bytes = u64::from(defaults.page_bytes);
        let room_bytes = fill_bytes.saturating_sub(defaults.log.area_bytes);
        let fitting_bytes = defaults.db_bytes.min(room_bytes / page_bytes * page_bytes);
        let db_bytes = self.oltp_db.map_or(fitting_bytes, |size| size.0);
        // A database that was made smaller keeps the default's share of it in memory, and with it the misses.
        let cache_share = defaults.db_bytes / defaults.cache.bytes;
        let cache_bytes = self.oltp_cache.map_or(db_bytes / cache_share, |size| size.0);
        OltpConfig {
            sessions: self.oltp_sessions,
            select_percent: self.oltp_select_pct,
            insert_percent: self.oltp_insert_pct.min(100.0 - self.oltp_select_pct),
            db_bytes,
            pages_per_select: self.oltp_pages_select,
            pages_per_write: self.oltp_pages_write,
            changed_pages_per_write: defaults.changed_pages_per_write.min(self.oltp_pages_write),
            access: self.oltp_access,
            cpu_per_select_ns: self.oltp_cpu_select.0,
            cpu_per_write_ns: self.oltp_cpu_write.0,
            cpu_per_session_ns: self.oltp_cpu_session.0,
            think_ns: self.oltp_think.0,
            cache: CacheConfig { bytes: cache_bytes, ..defaults.cache },
            // The load refuses what is beyond its limit, which 32 bits hold.
            wal_bytes_per_write: u32::try_from(self.oltp_wal.0).unwrap_or(u32::MAX),
            ..defaults
        }
    }
}
