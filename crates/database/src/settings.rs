//! The settings of the server.

/// In the order in which they are printed, with why.
pub(crate) fn settings(shared_buffers_bytes: u64, max_wal_bytes: u64, max_sessions: u32) -> Vec<(String, String)> {
    let mib = |bytes: u64| format!("{}MB", (bytes >> 20).max(1));
    let set = |name: &str, value: String| (name.to_owned(), value);
    let fixed = [
        // Nothing but the socket.
        ("listen_addresses", ""),
        ("unix_socket_permissions", "0700"),
        // Safe, as a database on this device would be.
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("wal_level", "replica"),
        ("max_wal_senders", "0"),
        ("checkpoint_timeout", "5min"),
        ("checkpoint_completion_target", "0.9"),
        // One block at a time, and no plan but the one that is meant.
        ("max_parallel_workers_per_gather", "0"),
        ("jit", "off"),
        ("random_page_cost", "1.1"),
        // Measurements need these statistics.
        ("track_io_timing", "on"),
        ("log_checkpoints", "on"),
        ("logging_collector", "off"),
    ];
    let mut all = vec![
        set("shared_buffers", mib(shared_buffers_bytes)),
        set("max_wal_size", mib(max_wal_bytes)),
        set("max_connections", (max_sessions + 20).to_string()),
    ];
    all.extend(fixed.map(|(name, value)| set(name, value.to_owned())));
    all
}

/// Returns the settings that a version adds.
pub(crate) fn since(major: u32) -> Vec<(String, String)> {
    let known = [("track_wal_io_timing", "on", 14)];
    known.into_iter().filter(|k| k.2 <= major).map(|(n, v, _)| (n.to_owned(), v.to_owned())).collect()
}

/// In place of some of them while data is loaded: nothing of it has to be logged.
pub(crate) const LOADING: [(&str, &str); 3] =
    [("wal_level", "minimal"), ("autovacuum", "off"), ("maintenance_work_mem", "256MB")];
