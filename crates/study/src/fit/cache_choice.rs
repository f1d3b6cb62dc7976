//! A cache of faster cells, as figures show it.

/// Knowledge of a cache of cells with one bit each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CacheChoice {
    /// Nothing: it is the base's.
    AsBase,
    /// There is none.
    Without,
    With(Cache),
}

/// A cache as it shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cache {
    /// Number of bytes that it holds.
    pub bytes: f64,
    /// Rate at which it takes them.
    pub bytes_per_s: f64,
    /// Time in which its cells are programmed; `None`: as the rate says.
    pub program_ns: Option<f64>,
    /// `None`: as fast as goes.
    pub fold_bytes_per_s: Option<f64>,
}

/// Times of a cache's cells that no figure tells.
pub(crate) struct CacheTimes {
    pub read_ns: f64,
    pub erase_ns: f64,
}
